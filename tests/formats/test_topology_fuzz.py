"""Whatever stands in a file: a dump is read or refused with an InputError, what was read is consistent, and describing it raises nothing else."""

from __future__ import annotations

import math
import random
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tierspan.formats.topology import FORMATS, read_topology
from tierspan.formats.topology.base import clean_lines
from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, Place
from tierspan.specs.topology import DIRECT_PATHS, PATHS, Fabric, NodeTopology
from tierspan.specs.topology_system import describe_topology

LOGS = Path(__file__).parents[2].parent / "shared" / "cases" / "logs"
PIECES = (
    '<system version="1">', "<cpu numaid='0'>", '<pci busid="0:1" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">',
    "<gpu dev='0' sm='90'>", '<nvlink target="0:1" count="18" tclass="0x068000"/>', "</gpu>", "</pci>", "</cpu>", "<nic>",
    '<net name="a" speed="400000" gdr="1"/>', "<!--", "-->", "<graph id='0' pattern='4' nchannels='2'>", "<channel>",
    "\tGPU0\tGPU1\tNIC0\tCPU Affinity", "GPU0\t X \tNV18\tPIX", "GPU1\tNV18\t X \tSYS", "NIC0\tPIX\tSYS\t X", "GPU 0: NVIDIA H200 (UUID: x)",
    " Link 0: 26.562 GB/s", " Link 1: <inactive>", "== Hops between two GPUs ==", "GPU0 GPU1", "GPU0 0 1", "...",
    "h:1:2 [0] NCCL INFO comm 0x1 rank 0 nranks 8 cudaDev 0 nvmlDev 0", "h:1:2 [0] NCCL INFO Channel 00/2 : 0 1 2", "NCCL version 2.20",
    "[1,0]<stdout>:", 'Switch 41 "S-1" # "MF0;s" base port 0', '[1] "H-2"[1](2) # "n mlx5_0" lid 2 4xNDR', 'Ca 1 "H-2" # "n mlx5_0"',
    "Switch: 0x1 MF0;s:", ' 3 1[ ] ==( 4X 53.125 Gbps Active/ LinkUp)==> 1 1[ ] "n HCA-1" ( )', ' 3 2[ ] ==( Down/ Polling)==> [ ] "" ( )',
    "#  Rank  0 Group  0 Pid 1 on h device  0 [0x8f] NVIDIA H200", "\x1b[4m", "\r", "\0", "9" * 400, "é…",
)  # fmt: skip


def known(error: InputError) -> None:
    """An error that a user can read."""
    assert messages.render_error(error, "zh")


def check(text: str) -> None:
    """Read and describe; only InputError may come out, and figures must make sense."""
    try:
        found = read_topology(text + "\n")
    except InputError as error:
        known(error)
        return
    for part in found.parts:
        if isinstance(part, NodeTopology):
            names = [gpu.id for gpu in part.gpus]
            assert len(set(names)) == len(names)
            assert all(link.a in names and link.b in names and link.a != link.b for link in part.links)
            assert all(link.count is None or link.count > 0 for link in part.links)
            assert all(nic.rate_Bps is None or 0 < nic.rate_Bps < math.inf for nic in part.nics)
            assert all(path in PATHS and gpu in names for nic in part.nics for gpu, path in nic.paths.items())
        elif isinstance(part, Fabric):
            nodes = {node.id for node in part.nodes}
            assert all(link.a in nodes and link.b in nodes for link in part.links)
    for accelerator in (None, "H100"):
        try:
            described = describe_topology(found, accelerator=accelerator)
        except InputError as error:
            known(error)
            continue
        assert described.cluster.accelerators > 0
        assert all(tier.bandwidth_Bps > 0 for tier in described.cluster.tiers)
        for finding in described.findings:
            assert messages.render_finding(finding, "zh")
        for taken in described.assumptions:
            assert messages.text(taken.reason_id, "zh", **taken.values)


@pytest.fixture(autouse=True, scope="module")
def strict_messages():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.sampled_from(PIECES), max_size=30), st.sampled_from(["\n", " ", "\n[0] "]))
def test_pieces_in_any_order(pieces, glue):
    check(glue.join(pieces))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text(text):
    check(text)
    for one in FORMATS:
        try:
            one.read(clean_lines(text), Place())
        except InputError as error:
            known(error)


def _mutated(text: str, luck: random.Random) -> str:
    lines = text.split("\n")
    if len(lines) > 250:
        start = luck.randrange(len(lines) - 200)
        lines = lines[start : start + 200]
    for _ in range(luck.randint(1, 8)):
        number = luck.randrange(len(lines))
        line = lines[number]
        at = luck.randrange(len(line) + 1)
        lines[number] = luck.choice(
            [
                line[:at],
                line[at:],
                "",
                "...",
                line[:at] + luck.choice('<>"/\t-9[]():=X# ') + line[at + 1 :],
                line + lines[luck.randrange(len(lines))],
                line.replace("0", luck.choice(["", "9", "-1", "1e9"])),
            ]
        )
        if luck.random() < 0.3:
            lines.insert(number, lines[luck.randrange(len(lines))])
    return "\n".join(lines)


@pytest.mark.skipif(not LOGS.is_dir(), reason="the public dumps are not here")
def test_public_dumps_damaged_at_random():
    luck = random.Random(5)
    files = [
        path
        for pattern in ("nccl_topo*", "nccl_graph*", "nvidia_smi*", "rocm*", "ib[nl]*", "nebius*", "*prolog*")
        for path in sorted(LOGS.glob(pattern))
    ]
    assert len(files) == 19
    for path in files:
        text = path.read_text(encoding="utf-8")
        for _ in range(15):
            check(_mutated(text, luck))


def test_hostile_text_takes_linear_time():
    for piece in (
        "<!--",
        "<",
        '<pci a="',
        "GPU0 ",
        "[1] ",
        "h:1:1 [0] NCCL INFO Channel 00/2 : 0 1 2 ",
        "comm 0x1 rank ",
        "Link 0: ",
        '"',
        "=" * 5,
        " " * 50,
        "Rank 0 ",
    ):
        begin = time.process_time()
        check("<system>\n" + piece * 20_000)
        check("GPU0 GPU1\nGPU0 X NV1\n" + (piece * 100 + "\n") * 300)
        assert time.process_time() - begin < 5, piece


def test_direct_paths_are_paths():
    assert set(DIRECT_PATHS) < set(PATHS)
