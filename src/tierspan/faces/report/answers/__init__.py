"""Pages of the answers about a job: ``document`` picks the page that an answer has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tierspan.answers.audit.result import Audit
    from tierspan.answers.results import Comparison, Fitting, Prediction, Scaling
    from tierspan.faces.report.parts import Page


def document(
    answer: Prediction | Fitting | Scaling | Comparison | Audit, lang: str, commands: Sequence[str] = (), *, placed: Prediction | None = None
) -> Page:
    """The page of an answer.

    Args:
        answer: what ``predict``, ``fit``, ``scale`` or ``compare_systems`` returned.
        lang: language of the texts.
        commands: what makes the page anew.
        placed: for a ``Fitting``, the prediction of the same plan, which tells where its groups run.

    Raises:
        TypeError: the answer has no page.
    """
    from tierspan.answers.results import Comparison, Fitting, Prediction, Scaling

    if isinstance(answer, Prediction):
        from tierspan.faces.report.answers.prediction import prediction_page

        return prediction_page(answer, lang, commands)
    if isinstance(answer, Fitting):
        from tierspan.faces.report.answers.fitting import fitting_page

        return fitting_page(answer, lang, commands, placed=placed)
    if isinstance(answer, Scaling):
        from tierspan.faces.report.answers.scaling import scaling_page

        return scaling_page(answer, lang, commands)
    if isinstance(answer, Comparison):
        from tierspan.faces.report.answers.comparison import comparison_page

        return comparison_page(answer, lang, commands)
    from tierspan.answers.audit.result import Audit

    if isinstance(answer, Audit):
        from tierspan.faces.report.answers.audit import audit_page

        return audit_page(answer, lang, commands)
    raise TypeError(f"{type(answer).__name__} has no page")
