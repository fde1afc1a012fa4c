"""Rows of communication benchmarks become cases by what their own text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierspan.estimates.communication.cases import keys_of, place_of
from tierspan.estimates.communication.rows import ReadRow, read_row, read_rows
from tierspan.formats.measurements import excluded_reason, measured_collective_time_us, read_measurements
from tierspan.specs.measurement import CollectiveRow

SHARED = Path(__file__).parents[2].parent / "shared" / "validation" / "collectives.csv"


def row(**cells: object) -> CollectiveRow:
    raw = {name: str(cells.pop(name, "")) for name in ("scaleup_kind", "algo_or_env", "library_version")}
    given: dict[str, object] = {
        "collective": "all_reduce", "accelerator": "H100-80GB", "system": "", "n_gpus": 16, "n_nodes": 2, "nic_gbps": 400.0, "size_bytes": 1024,
        "notes": "", "source": "", "locator": "", "flags": frozenset(),
    }  # fmt: skip
    values = {"id": "C1", "line": 2, "time_us": 1.0, "algbw_GBps": None, "busbw_GBps": None, **given, **cells}
    return CollectiveRow(**values, raw=raw)  # type: ignore[arg-type]


def case_of(**cells: object):
    found = read_row(row(**cells))
    assert found.case is not None, found.reason
    return found.case


@pytest.mark.parametrize(
    ("cells", "field", "value"),
    [
        ({"algo_or_env": "NCCL_ALGO=RING"}, "algorithm", "ring"),
        ({"algo_or_env": "NCCL_ALGO=Tree NCCL_IB_QPS_PER_CONNECTION=2"}, "algorithm", "tree"),
        ({"algo_or_env": "default -> NVLS"}, "algorithm", None),
        ({"algo_or_env": "NCCL_NVLS_ENABLE=0 (Ring)"}, "nvls", False),
        ({"algo_or_env": "NCCL_PROTO=Simple, 32 p2p channels"}, "protocol", "Simple"),
        ({"algo_or_env": "NCCL_PROTO=Simple, 32 p2p channels"}, "channels", None),
        ({"algo_or_env": "Ring, 4 channels"}, "channels", 4),
        ({"algo_or_env": "EFA; ofi tuner"}, "transport", "efa"),
        ({"algo_or_env": "GPUDirect-TCPXO"}, "transport", "tcpxo"),
        ({"system": "GCP A3 Ultra x8 (MLPerf v5.0)"}, "transport", "roce-gib"),
        ({"system": "Dell XE9680 x2, 8x CX-7 NDR400"}, "transport", "infiniband"),
        ({"algo_or_env": "IPoIB sockets, no RDMA"}, "transport", "tcp"),
        ({"library_version": "MSCCL++ test kernel 2"}, "library", "mscclpp"),
        ({"algo_or_env": "torch all_reduce_bench.py"}, "harness", "torch"),
        ({"n_gpus": 8, "n_nodes": 1}, "harness", "one_process"),
        ({"n_gpus": 8, "n_nodes": 1, "algo_or_env": "cuda graph: 1"}, "harness", "process"),
        ({}, "harness", "process"),
    ],
)
def test_hints(cells: dict[str, object], field: str, value: object):
    assert getattr(case_of(**cells), field) == value


def test_efa_has_generations():
    for name, key in (("H100-80GB", "efa-2"), ("A100-80GB", "efa-1")):
        case = case_of(accelerator=name, algo_or_env="EFA")
        assert keys_of(case, place_of(case)).transport == key


def test_nvlink_switched_off_leaves_the_network_alone():
    case = case_of(accelerator="GB200", system="GB200, ppn=2, --nolocal (NVLink disabled)", scaleup_kind="disabled", n_gpus=8, n_nodes=4)
    assert place_of(case).members == 1
    assert place_of(case).groups == 8
    assert place_of(case_of(accelerator="GB300", scaleup_kind="NVLink5 disabled", n_gpus=72, n_nodes=18)).members == 4
    assert place_of(case_of(accelerator="GB300", scaleup_kind="NVLink5 NVL72", n_gpus=72, n_nodes=18)).members == 72


def test_what_had_to_be_assumed_is_named():
    assert read_row(row(nic_gbps=None)).assumed == ("nic_gbps_per_gpu",)
    assert "accelerator" in read_row(row(accelerator="A100-class (NVLink3)", scaleup_kind="NVLink3/NVSwitch2")).assumed


def test_sizes_of_one_rank_become_the_whole_buffer():
    assert case_of(collective="all_gather", library_version="hccl_test", size_bytes=1024).size_bytes == 16 * 1024
    assert case_of(collective="all_gather", size_bytes=1024).size_bytes == 1024


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"accelerator": ""}, "accelerator not known"),
        ({"size_bytes": 0}, "no message size"),
        ({"n_gpus": None}, "number of accelerators not given"),
        ({"collective": "host_h2d"}, "operation not modelled"),
        ({"collective": "rdma_write_bw", "nic_gbps": None}, "network rate not given"),
    ],
)
def test_what_cannot_be_a_case_says_why(cells: dict[str, object], reason: str):
    assert read_row(row(**cells)) == ReadRow(None, reason=reason)


def test_a_batch_of_messages_is_one_time():
    assert read_row(row(collective="rdma_read_batch128", n_gpus=2)).messages == 128


@pytest.mark.skipif(not SHARED.exists(), reason="no public measurements beside this checkout")
def test_at_least_95_percent_of_scorable_rows_are_cases():
    rows = [r for r in read_measurements(SHARED).collectives if excluded_reason(r) is None and measured_collective_time_us(r)]
    able = sum(found.case is not None for found in read_rows(rows))
    assert able >= 0.95 * len(rows)
