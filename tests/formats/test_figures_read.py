"""Figures are found with their context and brought to one basis."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.formats.figures import read_figures
from tierspan.formats.figures.heads import unit_cell, with_unit
from tierspan.formats.figures.spans import spans_of
from tierspan.formats.sheets import sheet_of_text


def read(text):
    return read_figures([sheet_of_text(text)])


@pytest.mark.parametrize(
    ("text", "value", "unit", "fields"),
    [
        ("H100 SXM: NVLink 900 GB/s", 450e9, "B/s", {"tier": "scale-up", "direction": "both-directions", "status": "assumed"}),
        ("H100 SXM：NVLink 单向 450GB/s", 450e9, "B/s", {"tier": "scale-up", "direction": "per-direction", "status": "certain"}),
        ("H100 SXM: BF16 989 TFLOPS dense", 989e12, "FLOP/s", {"density": "dense", "precision": "bf16", "status": "certain"}),
        ("H100：FP8 稀疏算力 3,958 TFLOPS", 1979e12, "FLOP/s", {"density": "sparse", "precision": "fp8", "status": "certain"}),
        ("GB200 NVL72: 130 TB/s NVLink domain", 902.8e9, "B/s", {"scope": "domain", "direction": "both-directions"}),
        ("GB200 NVL72 FP8 720 PFLOPS", 5e15, "FLOP/s", {"density": "sparse", "scope": "rack"}),
        ("GB200 NVL72: HBM3e 13.4 TB", 186e9, "B", {"quantity": "memory", "scope": "rack"}),
        ("8 x 400G NIC per server", 50e9, "B/s", {"tier": "scale-out", "direction": "per-direction", "count": 8.0}),
        ("H20 141G", 141e9, "B", {"quantity": "memory"}),
        ("PCIe Gen5 x16 128 GB/s", 64e9, "B/s", {"tier": "host", "direction": "both-directions"}),
        ("switch latency 250 ns", 250e-9, "s", {"quantity": "latency", "latency_basis": "chip"}),
        ("GPU-to-GPU latency 2 us", 2e-6, "s", {"latency_basis": "accelerator to accelerator", "status": "certain"}),
        ("latency 2 us", 2e-6, "s", {"latency_basis": "", "status": "ambiguous"}),
        ("XPU interconnect between cards 700 GB/s", 700e9, "B/s", {"status": "ambiguous"}),
        ("１，９７９ TFLOPS，H100", None, None, {}),
        ("功耗 350W", 350.0, "W", {"quantity": "power"}),
    ],
)
def test_a_figure_is_read(text, value, unit, fields):
    found = read(text)
    if value is None:
        assert found
        return
    best = [r for r in found if r.unit_si == unit]
    assert len(best) == 1
    assert best[0].value_si == pytest.approx(value, rel=3e-3)
    assert {name: getattr(best[0], name) for name in fields} == fields


def test_the_value_is_the_printed_one_times_the_factor():
    for r in read("GB200 NVL72: 130 TB/s NVLink, FP4 1,440 PFLOPS, 576 TB/s memory bandwidth; H100 NVLink 900 GB/s, 18 links x 25 GB/s"):
        assert r.value_si == pytest.approx(r.printed_si * r.factor, rel=3e-3)


def test_names_of_parts_are_no_figures():
    assert [s.text for s in spans_of("昇腾910B", [(2, 6)])] == []
    assert read("NVIDIA H200-SXM-141GB") == ()


def test_footnotes_reach_their_figures():
    by_text = {r.text: r for r in read("H100 SXM\nBF16   1,979 TFLOPS*\nBF16   989 TFLOPS\n* with sparsity\n")}
    assert (by_text["1,979 TFLOPS"].density, by_text["1,979 TFLOPS"].status) == ("sparse", "certain")
    assert by_text["989 TFLOPS"].density == "dense"


@pytest.mark.parametrize(
    ("number", "column", "row", "unit", "text"),
    [
        ("1,979", "BF16 (TFLOPS)", "H100", "", "1,979 TFLOPS"),
        ("80", "显存（GB）", "H100", "", "80 GB"),
        ("900", "NVLink GB/s", "H100", "", "900 GB/s"),
        ("700", "TDP [W]", "", "", "700 W"),
        ("900", "Value", "NVLink", "GB/s", "900 GB/s"),
        ("10.2", "power_kW", "", "", "10.2 kW"),
        ("8", "GPUs", "DGX", "", ""),
        ("2024", "Year", "DGX", "", ""),
    ],
)
def test_a_bare_number_takes_the_unit_of_its_heads(number, column, row, unit, text):
    assert with_unit(number, column, row, unit) == text


def test_a_column_of_units_is_found():
    assert unit_cell(("a", "1", "GB"), ("name", "value", "Unit")) == "GB"
    assert unit_cell(("a", "1", "GB"), ("名称", "数值", "单位")) == "GB"
    assert unit_cell(("a", "1"), ("name", "value")) == ""


def test_tables_with_units_in_their_heads_are_read():
    peak, memory, link = read("Part,BF16 (TFLOPS),Memory (GB),NVLink GB/s\nH100 SXM,989,80,900\n")
    assert (peak.value_si, memory.value_si, link.value_si) == (989e12, 80e9, 450e9)
    assert peak.catalog_id == "h100-sxm5-80gb"


@given(st.text(alphabet="0123456789 .,xGTBbps/W%:：\n|-H100NVLink每卡双向（）", max_size=80))
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_reader(text):
    for r in read(text) if text.strip() else ():
        assert r.status in ("certain", "assumed", "ambiguous")
        assert r.printed_si == r.printed_si
