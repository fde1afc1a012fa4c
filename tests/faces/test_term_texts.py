"""Every term of a step has its name, its sentence and its advice in every language."""

from __future__ import annotations

import pytest

from tierspan.estimates.cases import Case, arrays_of
from tierspan.estimates.step import COMMUNICATION, estimate_step
from tierspan.quantities.messages import catalogue, languages
from tierspan.specs.catalog import cluster
from tierspan.specs.models import model
from tierspan.specs.profile.profile import Profile
from tierspan.specs.stacks.stack import stack
from tierspan.specs.strategy import Job, Strategy


def terms() -> set[str]:
    case = Case(model("llama-3.1-8b"), cluster("dgx-h100", 16), Job(4096, 64), Strategy(tp=2, pp=2), stack("nanotron"))
    return set(estimate_step(arrays_of([case], Profile("priors", {}))).terms) | set(COMMUNICATION)


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("head", ["term", "cause", "binds", "scale.advice"])
def test_every_term_has_its_texts(lang: str, head: str) -> None:
    texts = catalogue(lang)
    assert [name for name in sorted(terms()) if f"{head}.{name}" not in texts] == []
