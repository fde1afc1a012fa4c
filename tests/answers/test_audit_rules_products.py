"""Rules about products: each is shown what is true and what is not, and tells it in both languages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.audit.closing.expression import equations
from tierspan.answers.audit.closing.telltale import hypothesis
from tierspan.answers.audit.rules.base import Rule, Sheet
from tierspan.formats.figures import read_figures
from tierspan.formats.sheets import sheet_of_text
from tierspan.quantities import messages
from tierspan.quantities.findings import Finding

MODULES = (
    "dies", "each", "efficiency", "electric", "equations", "fabric_bill", "known_ratio", "links", "nics", "peak_total", "planes", "ports", "racks",
    "shares", "totals",
)  # fmt: skip
RULES: tuple[Rule, ...] = tuple(rule for name in MODULES for rule in import_module(f"tierspan.answers.audit.rules.{name}").RULES)
SHARED = Path(__file__).parents[2].parent / "shared" / "cases" / "inputs"


# ruff: noqa: E501
# id, a text that is true, the same with one mistake
PAIRS = (
    ("audit.equation", "H100: 18 links x 50 GB/s = 900 GB/s both directions", "H100: 18 links x 50 GB/s = 1,800 GB/s both directions"),
    ("audit.equation", "H100: 18 x 25 GB/s each way = 900 GB/s both directions", "H100: 18 x 25 GB/s each way = 900 GB/s each way"),
    ("audit.equation", "机柜：54 V x 2,222 A = 120 kW", "机柜：54 V x 2,222 A = 132 kW"),
    ("audit.equation", "合计：4 x (32+32+16) = 320 台交换机", "合计：4 x (32+32+16) = 300 台交换机"),
    ("audit.equation", "√3 x 415 V x 32 A = 23 kW", "√3 x 415 V x 32 A = 46 kW"),
    ("audit.links", "H100\n- NVLink per GPU: 900 GB/s both directions\n- Per link: 50 GB/s both directions\n- Links: 18",
     "H100\n- NVLink per GPU: 900 GB/s both directions\n- Per link: 50 GB/s both directions\n- Links: 12"),
    ("audit.links", "卡间互联：6 条链路，每条链路双向 128 GB/s，单卡双向 768 GB/s", "卡间互联：6 条链路，每条链路双向 128 GB/s，单卡双向 128 GB/s"),
    ("audit.total", "DGX H100：单卡 NVLink 双向 900 GB/s，8 卡合计 7.2 TB/s", "DGX H100：单卡 NVLink 双向 900 GB/s，8 卡合计 57.6 TB/s"),
    ("audit.total", "HGX H100 整机 BF16 稠密算力 7.912 PFLOPS（8 卡 × 989 TFLOPS）", "HGX H100 整机 BF16 稠密算力 15.8 PFLOPS（8 卡 × 989 TFLOPS）"),
    ("audit.each", "1,024 modules 800G SR8, 15 W per module, 15.36 kW in all", "1,024 modules 800G SR8, 15 W per module, 30.7 kW in all"),
    ("audit.each", "服务器含 8 张 GPU，每张显存 80 GB，共 640 GB", "服务器含 8 张 GPU，每张显存 80 GB，共 1,280 GB"),
    ("audit.ports", "Tomahawk 5: 51.2 Tb/s switch per direction, 64 ports of 800 Gb/s", "Tomahawk 5: 51.2 Tb/s switch per direction, 48 ports of 800 Gb/s"),
    ("audit.nics", "DGX H100 has 8 compute NICs of 400 Gb/s each, 3.2 Tb/s per node.", "DGX H100 has 8 compute NICs of 400 Gb/s each, 6.4 Tb/s per node."),
    ("audit.nics.storage_counted", "DGX B200: 10 NICs of 400 Gb/s, 8 for the compute fabric and 2 for storage; compute network 3.2 Tb/s per node",
     "DGX B200: 10 NICs of 400 Gb/s, 8 for the compute fabric and 2 for storage; compute network 4 Tb/s per node"),
    ("audit.nics.split", "DGX B200：共 10 张 400G 网卡，其中计算网 8 张、存储网 2 张，计算网带宽合计 3.2 Tb/s",
     "DGX B200：共 10 张 400G 网卡，其中计算网 10 张、存储网 2 张，计算网带宽合计 4 Tb/s"),
    ("audit.pcie", "Host link: PCIe Gen5 x16, 63 GB/s in each direction", "Host link: PCIe Gen5 x8, 63 GB/s in each direction"),
    ("audit.pcie.nic", "Each 400G NIC sits on PCIe Gen5 x16.", "Each 400G NIC sits on PCIe Gen4 x16."),
    ("audit.power", "Busbar: 2,222 A at 54 V, 120 kW", "Busbar: 2,222 A at 54 V, 240 kW"),
    ("audit.power.both_feeds", "Per rack: 17 kW, 3-phase 415 V 32 A x 2 feeds (A/B)", "Per rack: 40 kW, 3-phase 415 V 32 A x 2 feeds (A/B)"),
    ("audit.share", "148 of 419 interruptions (35.3 %) were faulty GPUs.", "148 of 419 interruptions (30.1 %) were faulty GPUs."),
    ("audit.share", "419 次意外中断中有 148 次为故障 GPU，占 35.3%", "419 次意外中断中有 148 次为故障 GPU，占 30.1%"),
    ("audit.of_peak", "H100: 612 TFLOPS of 989 TFLOPS BF16 dense reached, 61.9 % of peak", "H100: 612 TFLOPS of 989 TFLOPS BF16 dense reached, 78 % of peak"),
    ("audit.efficiency", "FP16 256 TFLOPS，功耗 350W，能效 0.73 TFLOPS/W", "FP16 256 TFLOPS，功耗 350W，能效 5.2 TFLOPS/W"),
    ("audit.planes", "Ascend 910C: UB 392 GB/s per direction; scale-out RoCE 50 GB/s per direction, a separate network.",
     "Ascend 910C: UB 392 GB/s per direction; scale-out RoCE 50 GB/s per direction. Together 442 GB/s per accelerator."),
    ("audit.dies", "910C 由两个 Die 组成：整封装 BF16 稠密算力 752 TFLOPS，单 Die 376 TFLOPS", "910C 由两个 Die 组成：整封装 BF16 稠密算力 752 TFLOPS，单 Die 752 TFLOPS"),
    ("audit.dies.superchip", "GB200: 2,500 TFLOPS BF16 dense per GPU; the superchip with two GPUs 5,000 TFLOPS",
     "GB200: 2,500 TFLOPS BF16 dense per GPU; the superchip with two GPUs 2,500 TFLOPS"),
    ("audit.racks.sum", "16 racks: 12 compute racks and 4 network racks", "16 racks: 16 compute racks and 4 network racks"),
    ("audit.racks.servers", "20 racks, 21 kW per rack.\nWant 32 servers, 10.2 kW max each.", "20 racks, 17 kW per rack.\nWant 32 servers, 10.2 kW max each."),
    ("audit.racks.cards", "256 H100, 32 servers x 8 GPU", "512 H100, 32 servers x 8 GPU"),
    ("audit.known_ratio", "The H100 reaches its peers over NVLink at 450 GB/s per direction.", "The H100 reaches its peers over NVLink at 1,800 GB/s per direction."),
    ("audit.known_ratio", "H100: NVLink 900 GB/s bidirectional per GPU", "H100: NVLink 900 GB/s bidirectional per link"),
    ("audit.known_ratio", "H100 SXM\nGPU memory: 80 GB", "H100 SXM\nGPU memory: 640 GB"),
    ("audit.known_ratio", "H100 SXM: scale-out InfiniBand NDR 400 Gb/s per GPU", "H100 SXM: scale-out InfiniBand NDR 400 GB/s per GPU"),
    ("audit.bill.spine", "Leaf: 32 pcs, 32 x 400G down + 32 x 400G up\nSpine: 16 pcs, 64 x 400G each", "Leaf: 32 pcs, 32 x 400G down + 32 x 400G up\nSpine: 8 pcs, 64 x 400G each"),
    ("audit.bill.endpoints", "128 servers x 8 NICs of 400G. Leaf: 32 pcs, 32 x 400G down + 32 x 400G up", "160 servers x 8 NICs of 400G. Leaf: 32 pcs, 32 x 400G down + 32 x 400G up"),
    ("audit.bill.direction", 'Leaf: 32 pcs, 32 x 400G down + 16 x 400G up, 2:1 oversubscribed', 'Leaf: 32 pcs, 32 x 400G down + 16 x 400G up, 1:2 oversubscribed'),
    ("audit.bill.ratio", "Leaf 32 台，下行 32×400G，上行 32×400G，无阻塞", "Leaf 32 台，下行 32×400G，上行 16×400G，无阻塞"),
    ("audit.bill.total", "4个SuperPod，每SuperPod：32 Leaf + 32 Spine + 16 Core\n合计 IB 交换机 320 台", "4个SuperPod，每SuperPod：32 Leaf + 32 Spine + 16 Core\n合计 IB 交换机 240 台"),
)  # fmt: skip
# id, a text that must be asked about or told, though nothing in it is wrong
ASKED = (
    ("audit.peak_total", "PPU：HBM2e 96GB\n16384卡 共 1945P"),
    ("audit.nics.roles", "accelerators_per_node: 8\nhost_network_card_count: 10x 400G Infiniband"),
    ("audit.nics.dual", "H20 8卡机 x 2 台\n网络：RoCE 4张 400G 双口（bond）网卡"),
    ("audit.nics.shared", "8 GPUs per server\n4 NICs of 400G per server"),
    ("audit.ports.count", "Switch: 51.2T, 800G ports"),
    ("audit.ports.both", "Quantum-2 switch: 51.2 Tb/s, 64 ports of 400 Gb/s"),
    ("audit.power.feeds", "3-phase 415V 32A x 2 feeds (A/B)"),
    ("audit.bill.closes", "4个SuperPod，每SuperPod：32 Leaf + 32 Spine + 16 Core\n合计 IB 交换机 320 台"),
    ("audit.bill.spare", "16 servers x 8 NICs of 400G. Leaf: 32 pcs, 32 x 400G down + 32 x 400G up"),
)


def findings(text: str, name: str = "sheet.txt") -> list[Finding]:
    document = sheet_of_text(text, name)
    sheet = Sheet((document,), read_figures([document]))
    return [finding for rule in RULES for finding in rule.find(sheet)]


def alarms(text: str) -> list[str]:
    return [f.id for f in findings(text) if f.severity in ("error", "warning")]


def told(finding: Finding) -> list[str]:
    strict = messages.set_strict(True)
    try:
        return [messages.fill(f"{finding.id}{part}", lang, finding.values) for lang in ("en", "zh") for part in ("", ".why", ".remedy")]
    finally:
        messages.set_strict(strict)


@pytest.mark.parametrize(("rule", "true", "false"), PAIRS, ids=[f"{i}-{p[0]}" for i, p in enumerate(PAIRS)])
def test_a_mistake_is_told_and_the_truth_is_left_alone(rule, true, false):
    assert alarms(true) == []
    found = [f for f in findings(false) if f.id == rule]
    assert found, [f.id for f in findings(false)]
    for finding in found:
        assert finding.severity in ("error", "warning")
        assert finding.place.file == "sheet.txt"
        assert finding.place.line
        assert all(text and "{" not in text for text in told(finding))


@pytest.mark.parametrize(("rule", "text"), ASKED)
def test_what_must_be_asked_or_known_is_no_alarm(rule, text):
    found = [f for f in findings(text) if f.id == rule]
    assert found, [f.id for f in findings(text)]
    assert found[0].severity in ("question", "info")
    assert all(text and "{" not in text for text in told(found[0]))


def test_every_rule_is_shown_a_mistake():
    shown = {p[0] for p in PAIRS} | {a[0] for a in ASKED}
    assert {rule.id for rule in RULES} <= {".".join(name.split(".")[:2]) for name in shown}
    assert all(rule.sources for rule in RULES)
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_finding_tells_the_arithmetic_in_the_unit_of_the_sheet():
    finding = next(f for f in findings("H100: 18 links x 50 GB/s = 1,800 GB/s both directions") if f.id == "audit.equation")
    text, why, remedy, *chinese = told(finding)
    assert text == (
        '"18 links x 50 GB/s = 1,800 GB/s" does not hold: the left side gives 900 GB/s, printed is 1,800 GB/s. '
        "It is twice that: both directions were added where one was meant."
    )
    assert why.startswith("Arithmetic that a sheet writes out")
    assert "900 GB/s" in remedy
    assert (
        chinese[0] == "“18 links x 50 GB/s = 1,800 GB/s” 不成立：左边算得 900 GB/s，写的是 1,800 GB/s。正好两倍：本应是单向，却把两个方向加在了一起。"
    )


def test_sheets_of_the_cases_get_what_they_are_listed_for():
    if not SHARED.is_dir():
        pytest.skip("the shared cases are not here")
    expected = {
        "spec_en/quote_1024gpu_fabric.txt": {"audit.bill.spine", "audit.bill.direction"},
        "spec_en/dc_power_wish.txt": {"audit.racks.servers", "audit.power.feeds"},
        "spec_en/mlperf_system_h200.json": {"audit.nics.roles"},
        "spec_en/nic_ambiguous.txt": {"audit.ports.count"},
        "spec_zh/910b_conflict.txt": {"audit.efficiency"},
        "spec_zh/fabric_512.txt": {"audit.bill.closes"},
        "spec_zh/h20_purchase.txt": {"audit.nics.dual"},
        "spec_zh/ppu_compare.txt": {"audit.peak_total"},
    }
    for name, ids in expected.items():
        found = {f.id for f in findings((SHARED / name).read_text(encoding="utf-8"), Path(name).name)}
        assert ids <= found, (name, found)
    quote = (SHARED / "spec_en/quote_1024gpu_fabric.txt").read_text(encoding="utf-8")
    spine = next(f for f in findings(quote) if f.id == "audit.bill.spine")
    assert (spine.values["uplinks"], spine.values["ports"], spine.values["larger"]) == ("32 x 16 = 512", "8 x 32 = 256", "8 x 64")


@given(links=st.integers(2, 64), rate=st.integers(25, 400))
@settings(max_examples=40, deadline=None)
def test_links_close_at_any_scale_and_in_any_order(links, rate):
    lines = [f"NVLink per GPU: {links * rate} GB/s both directions", f"Per link: {rate} GB/s both directions", f"Links: {links}"]
    more = [lines[0], lines[1], f"Links: {links + max(1, links // 4)}"]
    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        assert alarms("\n".join(lines[i] for i in order)) == []
        assert "audit.links" in alarms("\n".join(more[i] for i in order))


@given(count=st.integers(2, 5000), one=st.integers(1, 900), unit=st.sampled_from(["W", "GB", "TFLOPS", "Gb/s"]))
@settings(max_examples=60, deadline=None)
def test_an_equation_holds_at_any_scale(count, one, unit):
    assert "audit.equation" not in alarms(f"{count} x {one} {unit} = {count * one:,} {unit}")
    assert "audit.equation" in alarms(f"{count} x {one} {unit} = {count * one * 3:,} {unit}")


@given(leaves=st.integers(2, 128), up=st.sampled_from([8, 16, 24, 32]), ports=st.sampled_from([32, 64, 128]))
@settings(max_examples=40, deadline=None)
def test_a_bill_closes_exactly_where_the_ports_do(leaves, up, ports):
    enough = -(-leaves * up // ports)
    text = f"Leaf: {leaves} pcs, 32 x 400G down + {up} x 400G up\nSpine: {{}} pcs, {ports} x 400G each"
    assert "audit.bill.spine" not in alarms(text.format(enough))
    if enough > 1:
        assert "audit.bill.spine" in alarms(text.format(enough - 1))


@given(part=st.integers(1, 999), whole=st.integers(2, 999))
@settings(max_examples=60, deadline=None)
def test_a_share_is_believed_only_where_it_is_right(part, whole):
    if part > whole:
        part, whole = whole, part
    right = 100 * part / whole
    assert alarms(f"{part} of {whole} interruptions ({right:.1f} %) were faulty GPUs.") == []
    wrong = right + 7
    if wrong < 100 and abs(100 - right - wrong) > 1:
        assert "audit.share" in alarms(f"{part} of {whole} interruptions ({wrong:.1f} %) were faulty GPUs.")


@pytest.mark.parametrize(
    ("printed", "expected", "unit", "phrase"),
    [
        (900e9, 450e9, "B/s", "audit.ratio.both"), (400e9, 50e9, "B/s", "audit.ratio.bits"), (478e9, 450e9, "B/s", "audit.ratio.raw"),
        (392e9, 350e9, "B/s", "audit.ratio.lane112"), (1978e12, 989e12, "FLOP/s", "audit.ratio.sparse"), (86e9, 80e9, "B", "audit.ratio.binary"),
        (2998.0, 1360.0, "kg", "audit.ratio.pounds"), (448e9, 64e9, "B/s", "audit.ratio.mesh"), (132.0, 132e3, "W", "audit.ratio.thousandth"),
    ],
)  # fmt: skip
def test_a_ratio_names_its_mistake(printed, expected, unit, phrase):
    found = hypothesis(printed, expected, unit)
    assert found is not None
    assert phrase in {found.id, *(p.id for p in found.values.values() if hasattr(p, "id"))}
    assert hypothesis(printed, printed, unit) is None
    assert hypothesis(printed, printed * 1.37, unit) is None
    # only the ratio counts, not the size
    assert hypothesis(printed * 1e3, expected * 1e3, unit) == found


def test_all_links_and_all_accelerators_are_told_by_their_number():
    assert hypothesis(900e9, 50e9, "B/s", links=18.0).id in ("audit.ratio.all_links", "audit.ratio.or")
    assert hypothesis(640e9, 80e9, "B", accelerators=(8.0,)).values["first"].values == {"number": "8"}


@pytest.mark.parametrize(
    "text", ["a = b", "x = 3", "H100 (80GB) = 2 x A100", "MFU = 38 %", "tp=8 pp=4 = 32", "8x H100 = 640 GB", "==", "3 = = 4", "1 x = 2", ") x 3 = ("]
)
def test_what_is_no_arithmetic_is_passed_over(text):
    assert list(equations(text)) == []


@given(st.text(alphabet="0123456789 x×*+=/().,，：GBTWAVs%张条links", max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_the_rules(text):
    findings(f"H100 {text}")
