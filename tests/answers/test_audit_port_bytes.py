"""A port's rate in bytes where ports are rated in bits."""

import pytest

from tierspan.answers.audit.audit import audit
from tierspan.formats.sheets import sheet_of_text
from tierspan.quantities import messages

RULE = "audit.port_in_bytes"


def found(text: str) -> list[str]:
    return [finding.id for finding in audit([sheet_of_text(text, "sheet.txt")]).findings]


@pytest.mark.parametrize(
    "text", ["InfiniBand NDR: 400 GB/s per direction", "DGX H200 scale-out: RoCE 400 GB/s per GPU", "集群网络 InfiniBand XDR 单向 800 GB/s"]
)
def test_a_port_rate_in_bytes_is_told(text: str):
    assert RULE in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "InfiniBand NDR: 400 Gb/s per direction",
        "InfiniBand NDR: 50 GB/s per direction",
        "8 x 400G InfiniBand, 400 GB/s per node in total",
        "measured busbw over RoCE: 100 GB/s",
    ],
)
def test_bits_sums_and_measurements_are_left_alone(text: str):
    assert RULE not in found(text)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_it_is_told_with_reason_and_remedy(lang: str):
    finding = next(f for f in audit([sheet_of_text("InfiniBand NDR: 400 GB/s per direction", "s.txt")]).findings if f.id == RULE)
    for end in ("", ".why", ".remedy"):
        told = messages.fill(f"{RULE}{end}", lang, finding.values)
        assert told
        assert "{" not in told
    assert "400 Gb/s" in messages.fill(RULE, lang, finding.values)
