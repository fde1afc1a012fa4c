"""The Python face: the verbs as functions that take what the command line takes, by keyword, or a ``Question`` that was built before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from tierspan.quantities import display

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

    from tierspan.answers.audit.result import Audit
    from tierspan.answers.question import Given, Question
    from tierspan.answers.results import Comparison, Fitting, PairView, Prediction, Scaling
    from tierspan.specs.profile.profile import Profile
    from tierspan.specs.trace import Trace


def question(scenario: str | Path | None = None, **given: Unpack[Given]) -> Question:
    """Complete a question from a scenario file and from keywords (which win); what nobody said is in its ``assumptions``.

    Raises:
        InputError: a value cannot be used or one that nobody may guess is missing.
    """
    from tierspan.answers.question import build_question

    return build_question(scenario, **given)


def predict(
    asked: Question | str | Path | None = None,
    *,
    profile: Profile | str | Path | None = None,
    timeline: bool = False,
    pairs: Sequence[tuple[int, int]] = (),
    **given: Unpack[Given],
) -> Prediction:
    """Step time with its interval, breakdown by tier, memory and sources.

    Args:
        asked: a question, a scenario file, or nothing (then all keywords are needed).
        profile: constants of your own, or the file that holds them.
        timeline: play the step task by task as well (``Prediction.timeline``).
        pairs: ranks, two by two, for which the tier between them is told (``Prediction.pairs``).
        given: as for ``question``.

    Raises:
        InputError: as for ``question``.
    """
    from tierspan.answers.predict import predict as answer

    return answer(_question(asked, given), profile=_profile(profile), timeline=timeline, pairs=pairs)


def tier_between(asked: Question | str | Path | None, first: int, second: int, /, **given: Unpack[Given]) -> PairView:
    """The tier that joins two ranks of a job, its bandwidth and latency, and the parallel groups that hold both.

    Args:
        asked: a question, a scenario file, or ``None`` (then all keywords are needed).
        first: a rank, from 0; ranks fill domains in order.
        second: another rank.
        given: as for ``question``.

    Raises:
        InputError: as for ``question``, or a rank that is none of the job.
    """
    from tierspan.answers.predict import predict as answer

    return answer(_question(asked, given), pairs=((first, second),)).pairs[0]


def trace(asked: Question | str | Path | None = None, *, profile: Profile | str | Path | None = None, **given: Unpack[Given]) -> Trace:
    """The step played task by task, every span of it; ``write_trace`` makes a file for ui.perfetto.dev of it. Arguments as for ``predict``.

    Raises:
        InputError: as for ``question``, or the plan cannot run.
    """
    from tierspan.answers.traced import trace as answer

    return answer(_question(asked, given), profile=_profile(profile))


def fit(asked: Question | str | Path | None = None, **given: Unpack[Given]) -> Fitting:
    """Memory of the heaviest rank, its margin, and the least that fits; arguments as for ``predict``."""
    from tierspan.answers.fit import fit as answer

    return answer(_question(asked, given))


def scale(
    sizes: Sequence[int],
    asked: Question | str | Path | None = None,
    *,
    weak: bool = False,
    node_sizes: Sequence[int] | None = None,
    profile: Profile | str | Path | None = None,
    **given: Unpack[Given],
) -> Scaling:
    """The curve over ``sizes`` (the first is the reference) and the cause of each loss; other arguments as for ``predict``."""
    from tierspan.answers.scale import scale as answer

    if asked is not None and not isinstance(asked, str | Path):
        return answer(asked, sizes, weak=weak, node_sizes=node_sizes, profile=_profile(profile))
    given.setdefault("accelerators", sizes[0] if sizes else None)
    return answer(_question(asked, given), sizes, weak=weak, node_sizes=node_sizes, profile=_profile(profile))


def compare_systems(a: Prediction, b: Prediction) -> Comparison:
    """Two predictions of the same job side by side: per step, per accelerator, per watt, and why they differ."""
    from tierspan.answers.beside import compare_systems as answer

    return answer(a, b)


def audit(*files: str | Path, text: str | None = None, site: str | Path | None = None) -> Audit:
    """What the figures of sheets mean, what of them cannot be true, and what to ask; the verb ``audit``.

    Args:
        files: spec sheets and offers: text, Markdown, CSV, XLSX, YAML, JSON, PDF.
        text: pasted text, read beside the files.
        site: file of the room that the machine is to stand in.

    Raises:
        InputError: a file cannot be read, or there is nothing to read.
    """
    from tierspan.answers.audit.audit import audit as answer
    from tierspan.formats.sheets import read_sheets, sheet_of_text
    from tierspan.formats.site import read_site
    from tierspan.quantities.errors import InputError

    documents = [*(read_sheets(files) if files else ()), *([sheet_of_text(text)] if text is not None else [])]
    if not documents:
        raise InputError("audit.no_files")
    return answer(documents, site=read_site(site) if site is not None else None)


def report(
    answer: Prediction | Fitting | Scaling | Comparison | Audit, path: str | Path, *, lang: str = "en", placed: Prediction | None = None
) -> int:
    """Write the page of an answer: one HTML file that opens offline, as ``--report`` does.

    Args:
        answer: what ``predict``, ``fit``, ``scale`` or ``compare_systems`` returned.
        path: where the page goes.
        lang: ``en`` or ``zh``.
        placed: for the page of a ``Fitting``, the prediction of the same plan: it tells where the groups run.

    Returns:
        Size of the page, bytes.

    Raises:
        InputError: the file cannot be written.
        TypeError: the answer has no page.
    """
    from tierspan.faces.report.answers import document
    from tierspan.faces.report.page import write_page

    return write_page(path, document(answer, lang, placed=placed))


def figure(answer: Prediction | Fitting | Scaling | Comparison, name: str = "", *, lang: str = "en") -> Figure:
    """A figure of the page of an answer as a Plotly object, to show in a notebook or to change.

    Args:
        answer: what ``predict``, ``fit``, ``scale`` or ``compare_systems`` returned.
        name: ``step``, ``memory`` or ``neighbours`` of a prediction; ``memory`` of a fitting; ``curve``, ``losses`` or ``shares`` of a
            scaling; ``sides`` of a comparison. Default: the first of them.
        lang: ``en`` or ``zh``.

    Raises:
        UnknownNameError: the answer has no figure of this name.
        TypeError: the answer has no figures.
    """
    from tierspan.faces.figures.named import figure_of

    return figure_of(answer, name, lang)


def to_json(answer: object, *, indent: int | None = 2) -> str:
    """The JSON text that a verb prints with ``--json``: SI values with the unit in the key, what has no number is null.

    Raises:
        TypeError: ``answer`` holds a type that has no plain form.
    """
    import json

    from tierspan.faces.cli.plain import plain

    to_dict, report = getattr(answer, "to_dict", None), getattr(answer, "report", None)
    printed = to_dict() if callable(to_dict) else answer if report is None else report
    return json.dumps(plain(printed), indent=indent, ensure_ascii=False, allow_nan=False)


def _show(value: object, form: display.Form) -> str | None:
    from tierspan.faces.notebook import show

    return show(value, form)


display.register(_show)


def _question(asked: Question | str | Path | None, given: Given) -> Question:
    from tierspan.answers.question import Question, build_question
    from tierspan.quantities.errors import InputError

    if isinstance(asked, Question):
        if given:
            raise InputError("question.built_already", names=", ".join(given))
        return asked
    return build_question(asked, **given)


def _profile(profile: Profile | str | Path | None) -> Profile | None:
    if profile is None or not isinstance(profile, str | Path):
        return profile
    from tierspan.specs.profile.load import load_profile

    return load_profile(profile)
