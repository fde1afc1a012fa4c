"""A link that a sheet denies and has."""

import pytest

from tierspan.answers.audit.audit import audit
from tierspan.formats.sheets import sheet_of_text


def found(text):
    return [(f.id, f.severity) for f in audit([sheet_of_text(text)]).findings if f.id.startswith("audit.absent")]


@pytest.mark.parametrize(
    "text",
    ["H100 PCIe: 350W, NVLink: none\nH100 PCIe + bridge: 600 GB/s GPU-to-GPU\n", "H100 PCIe，NVLink：无\nH100 PCIe NVLink 桥 600 GB/s 双向\n"],
)
def test_none_and_a_figure_of_it_are_a_conflict(text):
    assert found(text) == [("audit.absent_and_present", "warning")]


def test_none_where_the_catalogue_has_it_is_asked():
    assert found("H100 SXM, 80 GB, NVLink: none") == [("audit.absent_but_known", "question")]


@pytest.mark.parametrize("text", ["H100 PCIe: 350W\nH100 SXM: NVLink 900 GB/s", "L40S: NVLink: none", "A sheet: NVLink: none", "MI300X: no NVLink"])
def test_what_is_true_is_left_alone(text):
    assert found(text) == []
