"""Figures said to be reached above the peak, units spelled out, totals that the sheet counts."""

import pytest

from tierspan.answers.audit.audit import audit
from tierspan.formats.sheets import sheet_of_text


def found(text, severities=("error", "warning")):
    return [f.id for f in audit([sheet_of_text(text)]).findings if f.severity in severities]


@pytest.mark.parametrize(
    "text",
    [
        "H100 reaches 1,200 TFLOPS BF16 in training",
        "16,384 H100 train Llama 3.1 405B at 1,200 TFLOPS per GPU in BF16",
        "H100 训练实测每卡 1,200 TFLOPS（BF16）",
        "B200 sustained 6 PFLOPS FP8 per GPU in training",
    ],
)
def test_nobody_trains_above_the_dense_peak(text):
    assert "audit.above_peak" in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "H100 reaches 700 TFLOPS BF16 in training",
        "H100 reaches 1,400 TFLOPS FP8 in training",
        "H100 training peak 1,979 TFLOPS FP8",
        "H100 训练实测每卡 400 TFLOPS（BF16）",
        "16,384 H100 train at 6.5 EFLOPS in all",
    ],
)
def test_what_can_be_is_left_alone(text):
    assert "audit.above_peak" not in found(text)


@pytest.mark.parametrize(("text", "value"), [("72 petaFLOPS", 72e15), ("989 teraFLOPS", 989e12), ("1.44 exaflops", 1.44e18), ("5 PetaFLOP/s", 5e15)])
def test_units_spelled_out_are_read(text, value):
    (reading,) = audit([sheet_of_text(f"XPU peak {text} FP8")]).readings
    assert reading.printed_si == pytest.approx(value)
    assert reading.quantity == "compute rate"


def test_the_sum_of_as_many_as_the_sheet_counts_is_no_mistake():
    sheet = "华为 CloudMatrix384 超节点\n384 颗昇腾910C，192 颗鲲鹏CPU\nHBM 49.2 TB\n"
    assert "audit.known_ratio" not in found(sheet)


@pytest.mark.parametrize("text", ["GPU Memory: 1,440GB total", "总带宽 1,184 GB/s", "HBM3 80 GB"])
def test_a_thousands_separator_is_no_end_of_a_number(text):
    assert "audit.unit_missing" not in found(text, ("question",))


@pytest.mark.parametrize(
    "text",
    [
        "256 nodes x 8 B200\nEach B200: 2.25 PFLOPS BF16 dense\nTotal: 2,048 x 2.25 PFLOPS = 4.6 EFLOPS BF16 dense\n",
        "CloudMatrix384，384 张 910C\n整机柜功率 34.9 kW，液冷\n",
        "DGX B200: 8 GPUs, 14.3 kW max, 1,440 GB, NVLink 14.4 TB/s aggregate",
    ],
)
def test_sums_and_shares_of_a_known_system_are_true(text):
    assert found(text) == []
