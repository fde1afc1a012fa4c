"""``tierspan collective``: sentence, tables, JSON, sizes and ranges, messages."""

from __future__ import annotations

import json
import math

import pytest
from pydantic import TypeAdapter

from tierspan.answers.collective import CollectiveAnswer
from tierspan.faces.cli.main import main
from tierspan.faces.cli.message_size import parse_size, parse_sizes
from tierspan.faces.cli.plain import plain
from tierspan.quantities.errors import InputError

H100 = ("--system", "dgx-h100", "-n", "32")


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    got = main(["collective", *arguments])
    captured = capsys.readouterr()
    assert got == code, captured.out + captured.err
    return captured.out, captured.err


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    return json.loads(told(capsys, *arguments, "--json")[0])


def test_the_answer_from_top_to_bottom(capsys):
    out, err = told(capsys, "all_reduce", "1GiB", *H100)
    assert out.startswith("all_reduce of 1 GiB on 32 ranks: ")
    heads = ["Tiers it crosses", "Over sizes (bar: rate)", "Other algorithms, if forced", "Assumptions", "Sources"]
    assert [head for head in heads if f"\n{head}\n" not in out] == []
    assert "InfiniBand NDR" in out
    assert "█" in out
    assert err == ""
    assert all(len(line) <= 100 for line in out.splitlines())


def test_in_chinese(capsys):
    out, _ = told(capsys, "all_reduce", "1GiB", *H100, "--lang", "zh")
    assert out.startswith("32 个 rank 上 1 GiB 的 all_reduce：")
    assert "所跨层级" in out


def test_brief(capsys):
    assert "Tiers" not in told(capsys, "all_reduce", "1GiB", *H100, "--brief")[0]


def test_json_follows_the_schema(capsys):
    answer = answered(capsys, "all_reduce", "1GiB", *H100)
    assert plain(TypeAdapter(CollectiveAnswer).validate_python(answer)) == answer
    assert (answer["ranks"], answer["ranks_per_node"], answer["size_bytes"]) == (32, 8, 2**30)
    assert answer["busbw_Bps"] == pytest.approx(answer["algbw_Bps"] * 2 * 31 / 32)
    assert answer["time_s"] >= answer["floor_s"]
    assert answer["span"] == "InfiniBand NDR"


def test_other_spellings_of_operations(capsys):
    plain_name = answered(capsys, "all_to_all", "64M", *H100)
    assert answered(capsys, "alltoall", "64MiB", *H100) == plain_name
    assert answered(capsys, "All-To-All", "67108864", *H100) == plain_name


def test_a_range_cuts_the_curve(capsys):
    answer = answered(capsys, "all_reduce", "1M..1G", *H100)
    assert answer["size_bytes"] == 2**30
    sizes = [point["size_bytes"] for point in answer["curve"]]
    assert [round(math.log2(size)) for size in sizes] == list(range(20, 31))


def test_one_node_stays_inside(capsys):
    answer = answered(capsys, "all_gather", "1G", "--system", "dgx-h100", "-n", "8")
    assert [tier["kind"] for tier in answer["tiers"]] == ["scale-up"]


def test_options_matter(capsys):
    usual = answered(capsys, "all_reduce", "1G", "--system", "dgx-h100", "-n", "8")["time_s"]
    assert answered(capsys, "all_reduce", "1G", "--system", "dgx-h100", "-n", "8", "--no-nvls")["time_s"] > 1.1 * usual
    ring = answered(capsys, "all_reduce", "1G", "--system", "dgx-h100", "-n", "8", "--algorithm", "Ring", "--protocol", "simple")
    assert (ring["algorithm"], ring["protocol"]) == ("ring", "Simple")
    wide = answered(capsys, "all_gather", "1G", *H100)["time_s"]
    assert answered(capsys, "all_gather", "1G", *H100, "--nic", "200Gb/s")["time_s"] > 1.5 * wide
    assert answered(capsys, "all_gather", "8", *H100, "--transport", "tcp")["time_s"] > 2 * answered(capsys, "all_gather", "8", *H100)["time_s"]


def test_ranks_that_do_not_fill_their_nodes(capsys):
    spread = answered(capsys, "all_reduce", "1G", "--system", "dgx-h100", "-n", "4", "--nodes", "4")
    assert (spread["ranks_per_node"], spread["span"]) == (1, "InfiniBand NDR")
    assert answered(capsys, "all_reduce", "1G", "--system", "dgx-h100", "-n", "4", "--per-node", "1") == spread
    assert "are not 3 a node" in told(capsys, "all_reduce", "1G", *H100, "--nodes", "4", "--per-node", "3", code=2)[1]
    assert "cannot hold" in told(capsys, "all_reduce", "1G", *H100, "--nodes", "64", code=2)[1]


def test_experts(capsys):
    arguments = ("--tokens", "128", "--hidden", "7168", "--topk", "8", "--system", "hgx-h800", "-n", "64")
    quick = answered(capsys, "dispatch", *arguments, "--low-latency")
    assert quick["algorithm"] == "low latency"
    assert quick["time_s"] < answered(capsys, "combine", *arguments, "--element-bytes", "2", "--low-latency")["time_s"]
    told(capsys, "dispatch", *arguments)
    assert "not said: --hidden, --topk" in told(capsys, "dispatch", "--tokens", "128", "--system", "hgx-h800", "-n", "64", code=2)[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("all_reduse", "1G", *H100), "all_reduce"),
        (("all_reduce", "a lot", *H100), "'a lot' is no message size"),
        (("all_reduce", "8G..8", *H100), "runs backwards"),
        (("all_reduce", *H100), "SIZE"),
        (("all_reduce", "1G", "--system", "dgx-h100"), "--ranks"),
        (("all_reduce", "1G", "--system", "dgx-h1000", "-n", "8"), "--system"),
        (("all_reduce", "1G", *H100, "--algorithm", "magic"), "magic"),
    ],
)
def test_what_cannot_be_used(capsys, arguments, message):
    out, err = told(capsys, *arguments, code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert message in err
    assert "\n  remedy: " in err


@pytest.mark.parametrize(
    ("text", "size"),
    [("8", 8), ("8B", 8), ("1K", 1024), ("1KiB", 1024), ("1KB", 1000), ("64MB", 64e6), ("64M", 2**26), ("1.5GiB", 1.5 * 2**30), ("2T", 2**41)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1", "0", "1X", "1GiBs", "1 2", "1e9"])
def test_sizes_that_are_none(text):
    with pytest.raises(InputError):
        parse_size(text)


def test_ranges():
    assert parse_sizes("8..8G") == (8.0, 8.0 * 2**30)
    assert parse_sizes("1M") == (2.0**20, 2.0**20)


def test_the_transport_that_runs_is_the_one_that_is_shown(capsys):
    usual, tcp = (answered(capsys, "all_reduce", "1MiB", *H100, *more) for more in ((), ("--transport", "tcp")))
    assert (usual["tiers"][1]["transport"], usual["tiers"][1]["latency_s"]) == ("infiniband", 6e-6)
    assert tcp["tiers"][1]["transport"] == "tcp"
    assert tcp["tiers"][1]["latency_s"] > 3 * usual["tiers"][1]["latency_s"]
    assert tcp["tiers"][0] == usual["tiers"][0]
    assert answered(capsys, "all_reduce", "1MiB", *H100, "--transport", "ib")["tiers"] == usual["tiers"]


def test_a_reduction_in_the_network_needs_switches_that_reduce(capsys):
    _, err = told(capsys, "all_reduce", "1GiB", *H100, "--algorithm", "collnet", code=2)
    assert err.startswith("error: algorithm: collnet reduces in the switches of the network, and nothing says that those of InfiniBand NDR do")
    assert "--in-network" in err
    _, err = told(capsys, "all_reduce", "1GiB", *H100, "--algorithm", "collnet", "--lang", "zh", code=2)
    assert "collnet" in err
    assert answered(capsys, "all_reduce", "1GiB", *H100, "--algorithm", "collnet", "--in-network")["algorithm"] == "collnet"


def test_a_network_described_with_reduction_runs_collnet(capsys, tmp_path):
    file = tmp_path / "pod.yaml"
    up = '{name: link, kind: scale-up, domain_size: 8, bandwidth: "450 GB/s per direction", latency: "2 us"}'
    net = '{name: net, kind: scale-out, bandwidth: "400 Gb/s", latency: "6 us", in_network_reduction: true}'
    file.write_text(f"name: pod\naccelerator: H100\nnode_size: 8\ntiers:\n  - {up}\n  - {net}\n", encoding="utf-8")
    found = answered(capsys, "all_reduce", "1GiB", "--system", str(file), "-n", "32", "--algorithm", "collnet")
    assert found["algorithm"] == "collnet"


def test_hosts_that_nothing_joins(capsys, tmp_path):
    file = tmp_path / "pod.yaml"
    up = '{name: link, kind: scale-up, domain_size: 8, bandwidth: "450 GB/s per direction", latency: "2 us"}'
    file.write_text(f"name: pod\naccelerator: H100\nnode_size: 8\ntiers:\n  - {up}\n", encoding="utf-8")
    for more, place in (
        (("-n", "16"), f"{file}:4 [tiers]"),
        (("-n", "4", "--per-node", "1"), "--per-node"),
        (("-n", "4", "--nodes", "2"), "--nodes"),
    ):
        _, err = told(capsys, "all_reduce", "1GiB", "--system", str(file), *more, code=2)
        assert err.startswith(f"error: {place}: there are "), err
    assert answered(capsys, "all_reduce", "1GiB", "--system", str(file), "-n", "8")["span"] == "link"
