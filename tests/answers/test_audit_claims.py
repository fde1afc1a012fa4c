"""Sentences with figures are computed again, in both languages; what cannot be known is never refuted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.answers.audit import claims
from tierspan.answers.audit.claims import claims_of, kinds
from tierspan.formats.figures import read_figures
from tierspan.formats.sheets.reader import sheet_of_text
from tierspan.quantities import messages
from tierspan.quantities.messages import fill

CLAIMED = [
    # sets, racks, servers
    ("100,000 cards need 432 sets of CloudMatrix384", "sets", "refuted"),
    ("To reach 100,000 GPUs you need 432 sets (of 384)", "sets", "refuted"),
    ("10万卡需要432套超节点，每套384卡", "sets", "refuted"),
    ("十万卡需要261套CloudMatrix384", "sets", "confirmed"),
    ("432 CloudMatrix384 = 160k cards", "sets", "confirmed"),
    ("432套CloudMatrix384共16.6万卡", "sets", "confirmed"),
    ("100k cards would be 1,389 racks of NVL72", "sets", "confirmed"),
    ("100,000 cards need 6,912 racks of CloudMatrix384", "sets", "refuted"),
    ("100,000 cards need 432 sets", "sets", "unanswerable"),
    ("Want 256 H100 (32 servers)", "sets", "confirmed"),
    # products and sums
    ("384 x 432 = 165,888", "product", "confirmed"),
    ("384 × 432 = 155,888", "product", "refuted"),
    ("6,912 racks = 432 x 16", "product", "confirmed"),
    ("261 x 559 kW = 146 MW", "product", "confirmed"),
    ("18 links x 50 GB/s = 1800 GB/s", "product", "refuted"),
    ("12 + 4 = 16 racks", "product", "confirmed"),
    ("450:50 = 9", "product", "confirmed"),
    ("384乘以432等于165,888", "product", "confirmed"),
    ("132 kW / 50 V = 2,640 A", "product", "confirmed"),
    # bandwidth
    ("NVLink 5 is 7x PCIe Gen6", "bandwidth ratio", "confirmed"),
    ("7x PCIe Gen6: NVLink 1.8 TB/s against 256 GB/s", "bandwidth ratio", "confirmed"),
    ("NVLink 5 offers 28x the bandwidth of PCIe Gen5", "bandwidth ratio", "refuted"),
    ("第5代NVLink带宽是PCIe Gen6的7倍", "bandwidth ratio", "confirmed"),
    ("H100 scale-up bandwidth is 9x its scale-out bandwidth", "bandwidth ratio", "confirmed"),
    ("The fabric at 700 GB/s is 7x the other at 100 GB/s", "bandwidth ratio", "unanswerable"),
    # latency
    ("Latency is 10 us against 0.1 us, 100x lower", "latency ratio", "unanswerable"),
    ("IB latency is 10 us end to end while the switch latency is 0.1 us, 100 times lower", "latency ratio", "unanswerable"),
    ("GPU-to-GPU latency falls from 10 us to 0.1 us, 100x lower", "latency ratio", "confirmed"),
    ("GPU-to-GPU latency falls from 10 us to 0.1 us, 10x lower", "latency ratio", "refuted"),
    ("卡到卡时延从2us降到200ns，降低90%", "latency ratio", "confirmed"),
    ("时延从10us降到0.1us，降低100倍", "latency ratio", "unanswerable"),
    # shares and multiples
    ("148 of 419 interruptions (35.3%) were GPU faults", "share", "confirmed"),
    ("148 of 419 interruptions (30.1%) were GPU faults", "share", "refuted"),
    ("419次中断中有148次（30.1%）是GPU故障", "share", "refuted"),
    ("419 interruptions, of which 148 interruptions (30.1%) were GPU faults", "share", "refuted"),
    ("发生419次中断，其中148次（35.3%）是GPU故障", "share", "confirmed"),
    ("300 PFLOPS is twice 180 PFLOPS", "times", "refuted"),
    ("300 PFLOPS是180 PFLOPS的1.7倍", "times", "confirmed"),
    # failures
    ("419 interruptions in 54 days, one every 3.1 h", "failures", "confirmed"),
    ("54天内419次中断，平均每31小时一次", "failures", "refuted"),
    # training
    ("Llama 3.1 405B trained on 15T tokens in 54 days on 16,384 H100", "training time", "confirmed"),
    ("Llama 3.1 405B was pre-trained on 15.6T tokens with 30.84M GPU hours on H100", "training time", "confirmed"),
    ("A 70B model trained on 2T tokens in 3 days on 512 A100", "training time", "refuted"),
    ("We train Llama-3 70B at 1,000 tokens/s per GPU on 1,024 H100", "training throughput", "confirmed"),
    ("We train Llama-3 70B at 2,000 tokens/s per GPU on 1,024 H100", "training throughput", "unanswerable"),
    ("用1024张H100训练Llama 2 70B，吞吐达到5M tokens/s", "training throughput", "refuted"),
    ("Training 400 TFLOPS per GPU on H100 is 40% MFU", "share of peak", "confirmed"),
    ("Training at 400 TFLOPS per GPU on H100 means 20% MFU", "share of peak", "refuted"),
    ("H100 FP8 dense peak 1979 TFLOPS, measured 1403 TFLOPS, 70.9% of the peak", "share of peak", "confirmed"),
    ("8 卡 HGX H20 的 BF16 稠密总算力为 1.184 PFLOPS", "peak sum", "confirmed"),
    # serving and memory
    ("Llama 3.1 70B FP8 at 500 tokens/s per user on one H100", "tokens for one user", "refuted"),
    ("Llama 3.1 70B FP8 at 30 tokens/s per user on one H100", "tokens for one user", "unanswerable"),
    ("671B in FP8 fits in 8 x 80 GB", "memory", "refuted"),
    ("DeepSeek-R1 671B FP8 fits in 8 x 141 GB", "memory", "confirmed"),
    ("671B in FP8 does not fit in 8 x 80 GB", "memory", "confirmed"),
    ("满血版DeepSeek-R1可部署在一台8卡H100服务器", "memory", "unanswerable"),
    ("8张H20 141G能装下671B FP8", "memory", "confirmed"),
    # power and peaks
    ("432 CloudMatrix384 draw 241 MW", "power", "confirmed"),
    ("100,000 H100 need 50 MW", "power", "refuted"),
    ("100,000 H100 need 150 MW", "power", "unanswerable"),
    ("384 Ascend 910C deliver 300 PFLOPS BF16 in total", "peak sum", "confirmed"),
    ("72 GB200 deliver 720 PFLOPS together", "peak sum", "unanswerable"),
    ("16384卡 共 1945P", "peak sum", "unanswerable"),
    ("FP16 256 TFLOPS，功耗 350W，能效 5.2 TFLOPS/W", "efficiency", "refuted"),
    ("FP16 256 TFLOPS at 350 W is 0.73 TFLOPS/W", "efficiency", "confirmed"),
]  # fmt: skip
NO_CLAIM = (
    "H100 SXM, 1,979 TFLOPS, 900 GB/s, 700 W",
    "4 x DGX H100 / 3 x B200 box / 8x MI300X server",
    "5.6% mean error (43 points, 42 of 43 optimistic, max 13.5%)",
    "switch 130-500 ns, GPU-GPU RDMA 1-10 us, small all-reduce ~40 us",
    "1.73 kW H100, 2.17 B200, 2.1 GB200 per GPU",
    "the plateau is within 1 % of what 4 of 8 NICs give",
    "485 / 530.6 / 582. 20%",
    "8 x 400G",
    "0 cards need 0 sets of 0 = 0",
    "GB200 NVL72: 72 GPU, 36 CPU",
    "Google TPU v6e 的 ICI 总速率 800 GB/s（双向合计），单向为一半即 400 GB/s",
)


def claimed(text: str, name: str = "sheet.txt"):
    document = sheet_of_text(text, name)
    return claims_of([document], read_figures([document]))


@pytest.fixture(autouse=True)
def strict():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


@pytest.mark.parametrize(("text", "kind", "verdict"), CLAIMED, ids=[text for text, *_ in CLAIMED])
def test_a_claim_is_computed_again(text, kind, verdict):
    found = claimed(text)
    assert [(claim.kind, claim.verdict) for claim in found] == [(kind, verdict)]
    for lang in ("en", "zh"):
        assert all(fill(reason.id, lang, reason.values) for reason in found[0].arithmetic)


@pytest.mark.parametrize("text", NO_CLAIM)
def test_what_claims_nothing_is_left_alone(text):
    assert claimed(text) == ()


def test_the_arithmetic_is_shown():
    (claim,) = claimed("First line.\n100,000 cards need 432 sets of CloudMatrix384.")
    assert claim.line == 2
    assert [fill(r.id, "en", r.values) for r in claim.arithmetic] == [
        "One cloudmatrix384 holds 384 accelerators.",
        "100,000 / 384 = 260.42: 261 sets are enough; they hold 100,224.",
        "432 sets x 384 = 165,888 accelerators.",
        "432 sets are 1.66 times what was to be reached; 261 are needed.",
    ]
    assert [fill(r.id, "zh", r.values) for r in claim.arithmetic] == [
        "一套 cloudmatrix384 有 384 张卡。",
        "100,000 / 384 = 260.42：261 套即够，共 100,224 张卡。",
        "432 套 x 384 = 165,888 张卡。",
        "432 套是目标的 1.66 倍；只需 261 套。",
    ]


def test_racks_of_a_set_are_bought_whole():
    (claim,) = claimed("100,000 cards need 4,176 racks of CloudMatrix384")
    assert claim.verdict == "confirmed"
    assert claim.arithmetic[1].values["least"] == "4,176"


def test_one_direction_is_not_compared_with_both():
    (claim,) = claimed("NVLink 5 offers 28x the bandwidth of PCIe Gen5")
    assert claim.arithmetic[-1].id == "audit.claim.bandwidth.mixed"


def test_a_wish_is_no_measurement():
    (claim,) = claimed("GPU-to-GPU latency is 10 us, against a GPU-to-GPU requirement of 0.1 us, 100x")
    assert claim.verdict == "unanswerable"
    assert [reason.id for reason in claim.arithmetic] == ["audit.claim.latency.ratio", "audit.claim.latency.wanted"]
    (claim,) = claimed("IB网络时延为10us，而纵向扩展要求时延达到0.1us")
    assert [reason.id.rpartition(".")[2] for reason in claim.arithmetic] == ["ratio", "wanted", "no_basis"]


def test_a_number_may_be_part_of_two_claims():
    found = claimed("54天内发生419次中断，平均每3.1小时一次，其中148次（30.1%）是GPU故障")
    assert [(c.kind, c.verdict) for c in found] == [("failures", "confirmed"), ("share", "refuted")]


def test_a_table_of_shares_is_checked_against_its_total():
    head = "| cause | count | % |\n|---|---|---|\n"
    rows = "| GPU | 148 | 30.1% |\n| HBM | 72 | 17.2% |\n| network | 35 | 8.4% |\n| rest | 164 | 39.1% |\n"
    (wrong,) = claimed(head + rows, "table.md")
    assert (wrong.kind, wrong.verdict, wrong.line) == ("shares of a table", "refuted", 3)
    assert fill(wrong.arithmetic[1].id, "en", wrong.arithmetic[1].values) == "148 / 419 = 35.3 %."
    (right,) = claimed(head + rows.replace("30.1", "35.3"), "table.md")
    assert right.verdict == "confirmed"
    (total,) = claimed(head + rows.replace("30.1", "35.3") + "| total | 419 | 100% |\n", "table.md")
    assert total.arithmetic[0].id == "audit.claim.shares.total"


def test_the_part_of_the_lines_above_counts_and_that_of_another_row_does_not():
    (claim,) = claimed("CloudMatrix384 is a rack-scale system.\nTherefore 100,000 cards need 432 sets.")
    assert claim.verdict == "refuted"
    table = "| a | b |\n|---|---|\n| NVL72 | 72 cards |\n| rule | 100,000 cards need 432 sets |\n"
    assert [c.verdict for c in claimed(table, "table.md")] == ["unanswerable"]


@given(size=st.integers(2, 10_000), cards=st.integers(1_000, 10_000_000))
@settings(max_examples=60, deadline=None)
def test_the_least_number_of_sets_is_confirmed_and_twice_as_many_refuted(size, cards):
    least = -(-cards // size)
    (right,) = claimed(f"{cards:,} cards need {least} sets of {size} cards")
    assert right.verdict == "confirmed"
    (wrong,) = claimed(f"{cards:,} cards need {2 * least + 1} sets of {size} cards")
    assert wrong.verdict == "refuted"


@given(a=st.integers(2, 99_999), b=st.integers(2, 99_999), off=st.integers(6, 60))
@settings(max_examples=60, deadline=None)
def test_a_product_is_confirmed_only_where_it_closes(a, b, off):
    assert [c.verdict for c in claimed(f"{a} x {b} = {a * b:,}")] == ["confirmed"]
    assert [c.verdict for c in claimed(f"{a} x {b} = {a * b * (100 + off) // 100 + 1}")] == ["refuted"]


_PIECES = (
    "0 1 7 384 432 100,000 10万 160k 0.1 1e3 x × = ≈ of is than twice 倍 的 是 % us ns GB/s Gb/s TFLOPS kW MW tokens/s token days hours h V A",
    "H100 NVL72 CloudMatrix384 Llama-3 70b 671B DeepSeek-R1 FP8 train 训练 fits 装得下 cards sets racks 套 卡 柜 need 需要 每套 each per GPU user",
    "latency 时延 vs from to 从 降到 PCIe Gen6 NVLink 5 scale-up scale-out MFU ( ) , ， 。 . total 共 every interruptions 次中断 中 / + √3 kg",
    "99999999999999999999 1e99",
)
_WORDS = [word for piece in _PIECES for word in piece.split()]


@given(words=st.lists(st.sampled_from(_WORDS), min_size=2, max_size=18), glue=st.sampled_from([" ", ""]))
@settings(max_examples=300, deadline=None)
def test_no_sentence_breaks_the_claims(words, glue):
    for claim in claimed(glue.join(["x", *words])):
        for lang in ("en", "zh"):
            assert all(fill(reason.id, lang, reason.values) for reason in claim.arithmetic)


def test_every_kind_is_named_and_every_line_of_the_arithmetic_has_a_text():
    for kind in (*kinds(), None):
        name = kind.name if kind is not None else "shares of a table"
        assert messages.has(f"audit.claim.kind.{name.replace(' ', '_')}")
    source = "\n".join(path.read_text(encoding="utf-8") for path in Path(claims.__file__).parent.glob("*.py"))
    used = {f"audit.claim.{id_}" for id_ in re.findall(r"told\(\s*\"([a-z_.]+)\"", source)}
    assert len(used) > 40
    assert sorted(id_ for id_ in used if not messages.has(id_)) == []
