"""What holds for every test of a face: the plain environment, and a message without text or value is an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tierspan.quantities.messages import set_strict


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    earlier = set_strict(True)
    yield
    set_strict(earlier)
