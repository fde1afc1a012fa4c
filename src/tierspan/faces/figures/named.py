"""The figures of an answer by name, for Python and notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tierspan.answers.results import Comparison, Fitting, Prediction, Scaling
from tierspan.faces.cli.render.comparison import system_name
from tierspan.faces.cli.render.parts import whole
from tierspan.faces.figures import memory, scaling, step
from tierspan.quantities.errors import UnknownNameError

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def figure_of(answer: object, name: str, lang: str) -> Figure:
    """The figure ``name`` of an answer, the first one for an empty name.

    Raises:
        UnknownNameError: the answer has no figure of this name.
        TypeError: the answer has no figures.
    """
    made = _figures(answer, lang)
    if not name:
        return next(iter(made.values()))()
    if name not in made:
        raise UnknownNameError("figure.unknown", name, list(made), listed=", ".join(made))
    return made[name]()


def _figures(answer: object, lang: str) -> dict[str, Callable[[], Figure]]:
    if isinstance(answer, Prediction):
        return {
            "step": lambda: step.step_breakdown([answer], lang),
            "memory": lambda: memory.memory_stack(answer.memory, lang),
            "neighbours": lambda: step.neighbours(answer, lang),
        }
    if isinstance(answer, Fitting):
        return {"memory": lambda: memory.memory_by_stage(answer, lang)}
    if isinstance(answer, Scaling):
        labels = [whole(p.case.accelerators) for p in answer.predictions]
        return {
            "curve": lambda: scaling.throughput_curve(answer, lang),
            "losses": lambda: scaling.losses_by_cause(answer, lang),
            "shares": lambda: step.step_breakdown(answer.predictions, lang, labels=labels, share=True),
        }
    if isinstance(answer, Comparison):
        both = (answer.a, answer.b)
        return {"sides": lambda: step.step_breakdown(both, lang, labels=[system_name(p) for p in both])}
    raise TypeError(f"{type(answer).__name__} has no figures")
