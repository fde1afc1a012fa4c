"""Answers as a notebook and a Python session show them; ``show`` is what the results ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from tierspan.faces.cli.language import take_language
from tierspan.faces.notebook import answers, knowledge, short
from tierspan.quantities.display import Form
from tierspan.quantities.errors import TierspanError
from tierspan.quantities.messages import DEFAULT_LANGUAGE

Telling = Callable[[Any, str], str]

_FORMS: Final[Mapping[str, Mapping[Form, Telling]]] = {
    "Prediction": {"html": answers.prediction, "sentence": short.prediction_sentence, "short": short.prediction},
    "Fitting": {"html": answers.fitting, "sentence": short.fitting_sentence, "short": short.fitting},
    "Scaling": {"html": answers.scaling, "sentence": short.scaling_sentence, "short": short.scaling},
    "Comparison": {"html": answers.comparison, "sentence": short.comparison_sentence, "short": short.comparison},
    "CollectiveAnswer": {"html": answers.collective, "sentence": short.collective_sentence, "short": short.collective},
    "CompareAnswer": {"html": answers.compare, "sentence": short.compare_sentence, "short": short.compare},
    "Audit": {"html": knowledge.audit_page, "sentence": knowledge.audit, "short": knowledge.audit},
    "AcceleratorSheet": {"html": knowledge.accelerator_page, "sentence": knowledge.accelerator, "short": knowledge.accelerator},
    "SystemSheet": {"html": knowledge.system_page, "sentence": knowledge.system, "short": knowledge.system},
    "PartSheet": {"html": knowledge.part_page, "sentence": knowledge.part, "short": knowledge.part},
    "CatalogList": {"html": knowledge.entries_page, "sentence": knowledge.entries, "short": knowledge.entries},
    "PartsComparison": {"html": knowledge.compared_page, "sentence": knowledge.compared, "short": knowledge.compared},
    "ModelAnswer": {"html": knowledge.model_page, "sentence": knowledge.model, "short": knowledge.model},
    "Question": {"html": knowledge.question_page, "sentence": knowledge.question, "short": knowledge.question},
    "Trace": {"html": knowledge.trace_page, "sentence": short.trace, "short": short.trace},
    "Calibration": {"html": knowledge.calibration_page, "sentence": knowledge.calibration, "short": knowledge.calibration},
    "Profile": {"html": knowledge.profile_page, "sentence": knowledge.profile, "short": knowledge.profile},
    "Validation": {"html": knowledge.validation_page, "sentence": knowledge.validation, "short": knowledge.validation},
}
"""Class of a result (by name: its module need not be loaded) -> how it is told."""


def show(value: object, form: Form) -> str | None:
    """``value`` in this form, in the language of ``TIERSPAN_LANG``; ``None`` for what is no answer."""
    told = _FORMS.get(type(value).__name__)
    return None if told is None else told[form](value, language())


def language() -> str:
    """The language of ``TIERSPAN_LANG``, English where it names none that has texts."""
    try:
        return take_language([], os.environ)[0]
    except TierspanError:
        return DEFAULT_LANGUAGE
