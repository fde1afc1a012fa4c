"""The tools one by one, on small texts in their form."""

import json

import pytest

from tierspan.formats.bench import read_benchmarks, recognise
from tierspan.quantities.errors import InputError, Place
from tierspan.quantities.messages import catalogue

HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
ROWS = """\
    22020096      11010048      half     sum      -1    147.7  149.08  260.89      0    146.4  150.46  263.30      0
    44040192      22020096      half     sum      -1    235.4  187.08  327.39      0    234.8  187.60  328.31      0
   704643072     352321536      half     sum      -1   2693.8  261.58  457.77      0   2688.5  262.09  458.66      0
"""
TABLE = HEADER + ROWS


def one(text, **kw):
    (log,) = read_benchmarks(text, **kw)
    return log


def reasons(log):
    return [u.reason_id for u in log.unread]


def values(log):
    return [(s.size_bytes, s.time_s, s.algbw_Bps, s.busbw_Bps, s.in_place) for s in log.samples]


PLAIN = values(one(TABLE))


@pytest.mark.parametrize(
    "change",
    [
        lambda line: "[1,0]<stdout>:" + line,
        lambda line: "0: " + line,
        lambda line: " 0: " + line,
        lambda line: "[0] " + line,
        lambda line: "2026-01-02T03:04:05.678Z " + line,
        lambda line: "[2026-01-02 03:04:05] " + line,
        lambda line: "nccl-test-worker-0 | " + line,
        lambda line: "[pod/nccl-test-launcher-abc/main] " + line,
        lambda line: "[gke-node-1:0]: " + line,
        lambda line: "(RayWorker pid=123, ip=10.0.0.1) " + line,
        lambda line: "\x1b[32m" + line + "\x1b[0m",
        lambda line: line + "\r",
        lambda line: line.replace("  ", "\t"),
        lambda line: line.replace("#", "", 1) if "size" in line or "(B)" in line else line,
    ],
)
def test_prefixes_change_nothing(change):
    log = one("\n".join(change(line) for line in TABLE.splitlines()))
    assert values(log) == PLAIN
    assert (log.unread, log.context.ranks, log.samples[0].operation) == ((), 8, "all_reduce")


def test_elided_rows_and_text_between():
    log = one(TABLE.replace("    44040192", "...\n[...]\nsome words\n    44040192"))
    assert values(log) == PLAIN


def test_messages_inside_a_row():
    info = "node01:1:2 [0] NCCL INFO Channel 00/0 : 9[1] -> 0[0] [receive] via NET/IBext/4/GDRDMA\n"
    row = ROWS.splitlines()[1]
    cut = row.index("    234.8")
    log = one(HEADER + ROWS.replace(row, row[:cut] + info + row[cut:]))
    assert values(log) == PLAIN
    assert (log.context.transport, log.context.gpu_direct_rdma) == ("IB", True)


@pytest.mark.parametrize(
    ("change", "reason", "left"),
    [
        (lambda t: t.replace("235.4", "135.4"), "bench.row_rate", 4),
        (lambda t: t.replace("327.39", "527.39"), "bench.row_factor", 4),
        (lambda t: t.replace(" 22020096      half", " 22020095      half"), "bench.row_count", 4),
        (lambda t: t.replace("44040192      22020096      half", "44040192      22020096      hulf"), "bench.type_unknown", 4),
        (lambda t: t.replace("    44040192  ", "    4404z192  "), "bench.row_values", 4),
        (lambda t: t.replace("328.31      0\n", "\n"), "bench.row_cut_in_place", 5),
        (lambda t: t.replace("235.4  187.08  327.39      0    234.8  187.60  328.31      0", "235.4  187.08"), "bench.row_cut", 4),
        (lambda t: t.replace("    44040192      22020096      half     sum      -1    ", "    "), "bench.row_headless", 4),
    ],
)
def test_bad_rows_become_unread(change, reason, left):
    text = change(TABLE)
    assert text != TABLE
    log = one(text)
    assert (reasons(log), len(log.samples), log.context.ranks) == ([reason], left, 8)
    assert log.unread[0].line == 5
    assert set(values(log)) <= set(PLAIN)


def test_old_error_column_and_no_root():
    header = HEADER.replace("    root", "").replace("#wrong", " error")
    rows = "      131072         32768     float     sum    101.0    1.30    2.43  5e-07    113.0    1.16    2.17  5e-07\n"
    rows += "   134217728      33554432     float     sum   1603.7   83.69  156.92  5e-07   1579.6   84.97  159.31  5e-07\n"
    log = one(header + rows)
    assert (len(log.samples), log.context.ranks, log.samples[-1].wrong, log.unread) == (4, 16, None, ())


def test_later_columns():
    header = HEADER.replace("#wrong ", "#wrong   i_min   i_max   i_p99   i_cv% ", 1) + ""
    header = header.replace("busbw #wrong\n", "busbw #wrong   i_min   i_max   i_p99   i_cv%   timestamp\n")
    extra = "   140.0   160.0   155.0    2.10"
    row = f"    22020096      11010048      half     sum      -1    147.7  149.08  260.89      0{extra}    146.4  150.46  263.30      0{extra}"
    log = one(header + row + "  2026-01-02 03:04:05\n")
    assert values(log) == PLAIN[:2]


def test_wrong_values_are_kept():
    log = one(TABLE.replace("327.39      0", "327.39     17"))
    assert [s.wrong for s in log.samples] == [0, 0, 17, 0, 0, 0]


def test_rccl_and_version():
    log = one("RCCL version : 2.21.5-HEAD:d5a5f1f\n" + TABLE)
    assert (log.tool, log.context.library, log.context.library_version) == ("rccl-tests", "RCCL", "2.21.5")
    assert one("# nccl-tests version 2.17.6 nccl-headers=22809 nccl-library=22809\n" + TABLE).context.library_version == "2.28.9"


def test_operation_stays_open_where_the_rows_fit_two():
    rows = "        1024            16     float    none      -1    54.07    0.02    0.02    N/A    55.80    0.02    0.02    N/A\n"
    rows += "  8589934592     134217728     float    none      -1    24489  350.77  328.85    N/A    23991  358.05  335.67    N/A\n"
    log = one(HEADER + rows)
    assert ({s.operation for s in log.samples}, log.context.ranks) == ({""}, 16)
    assert one("# Collective test starting: alltoall_perf\n" + HEADER + rows).samples[0].operation == "all_to_all"
    # alltoall is not checked in place, all_gather is.
    assert one(HEADER + rows.replace("0.02    N/A ", "0.02      0 ").replace("328.85    N/A", "328.85      0")).samples[0].operation == "all_to_all"
    assert one(HEADER + rows.replace("N/A", "  0")).samples[0].operation == "all_gather"
    scattered = one(HEADER + rows.replace(" none", "  sum"))
    assert scattered.samples[0].operation == "reduce_scatter"


def test_rank_lists():
    lines = [f"#  Rank {r:2d} Group  0 Pid {r} on node{r // 4:02d} device {r % 4:2d} [0000:19:00] NVIDIA A100" for r in range(8)]
    context = one("\n".join(lines) + "\n" + TABLE).context
    assert (context.ranks, context.nodes, context.ranks_per_node, context.accelerator) == (8, 2, 4, "NVIDIA A100")
    context = one("\n".join([lines[0], lines[-1]]) + "\n" + TABLE).context
    assert (context.ranks, context.nodes, context.ranks_per_node) == (8, 2, 4)


def test_nvls_and_settings():
    said = "n:1:2 [0] NCCL INFO NVLS multicast support is available on dev 0\nn:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring.\n"
    context = one(said + TABLE).context
    assert (context.nvls, context.algorithm) == (True, "Ring")
    assert one("NCCL_NVLS_ENABLE=0 all_reduce_perf -b 8\n" + TABLE).context.nvls is False


def result(size, count, parts, **more):
    names = ("out_of_place", "in_place")
    timed = {n: {"time": t, "alg_bw": a, "bus_bw": b, "nwrong": w} for n, (t, a, b, w) in zip(names, parts, strict=True)}
    return {
        "size": size,
        "count": count,
        "type": "half",
        "redop": "sum",
        "root": "-1",
        **timed,
        "actual_iterations": 20,
        "experiment_name": "x",
        **more,
    }


def document(**more):
    rows = []
    for size, times in ((22020096, (147.7, 146.4)), (704643072, (2693.8, 2688.5))):
        parts = [(t, round(size / t / 1e3, 6), round(size / t / 1e3 * 1.75, 6), 0.0) for t in times]
        rows.append(result(size, size // 2, parts))
    devices = [
        {"rank": r, "group": 0, "pid": 1, "hostname": "node01", "device": r, "device_hex": "0x1", "device_info": "NVIDIA H100"} for r in range(8)
    ]
    config = {"nthreads": 1, "ngpus": 1, "blocking_collectives": "false", "devices": devices}
    return {
        "version": 3, "start_time": "x", "args": ["/opt/all_reduce_perf", "-b", "8", "-J", "out.json"], "env": ["NCCL_ALGO=Ring", "HOME=/root"],
        "nccl_version": 22809, "config": config, "results": rows, "end_time": "y", **more,
    }  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
def test_json(indent):
    text = json.dumps(document(), indent=indent) + "\n"
    log = one(text)
    assert recognise(text) == "nccl-tests JSON"
    assert [s.size_bytes for s in log.samples] == [22020096, 22020096, 704643072, 704643072]
    assert [s.time_s for s in log.samples] == pytest.approx([147.7e-6, 146.4e-6, 2693.8e-6, 2688.5e-6])
    context = log.context
    assert (context.ranks, context.nodes, context.accelerator, context.library_version) == (8, 1, "NVIDIA H100", "2.28.9")
    assert (context.environment, context.algorithm) == ({"NCCL_ALGO": "Ring"}, "Ring")
    assert (log.samples[0].operation, log.samples[0].root, log.samples[0].wrong) == ("all_reduce", None, 0)


def test_json_cut_or_odd():
    text = json.dumps(document(), indent=1)
    log = one(text[: text.index("704643072") + 40])
    assert (len(log.samples), reasons(log)) == (2, ["bench.json_cut"])
    broken = document()
    broken["results"][0]["out_of_place"]["time"] = "nan"
    broken["results"][1]["in_place"]["nwrong"] = None
    log = one(json.dumps(broken) + "\n")
    assert ([s.wrong for s in log.samples], reasons(log)) == ([0, None], ["bench.row_values"])
    with pytest.raises(InputError, match="no row"):
        read_benchmarks(json.dumps(document(results=[])) + "\n")


def test_nccom():
    text = """\
nccom-test -r 32 --minbytes 1kb --maxbytes 1mb allg
        size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
         524288          131072    fp32           24.15          21.71          21.03
         524288          131072    fp32           24.15          31.71          21.03
    Avg bus bandwidth:    21.0339GB/s
"""
    log = one(text)
    assert (log.tool, log.context.ranks, log.samples[0].operation, reasons(log)) == ("nccom-test", 32, "all_gather", ["bench.row_rate"])
    old = "nccom-test -r 2 allr\n size(B)    count(elems)     type    time(us)    algbw(GB/s)    busbw(GB/s)\n"
    log = one(old + "33554432        33554432    uint8         768          40.69          40.69\n")
    assert log.samples[0].algbw_Bps == pytest.approx(40.69 * 2**30)


def test_hccl_test():
    text = """\
mpirun -n 16 ./bin/all_reduce_test -p 8 -b 8K -e 64M -f 2 -d fp32 -o sum
the minbytes is 8192, maxbytes is 67108864, iters is 20, warmup_iters is 5
data_size(Bytes): |   aveg_time(us): | alg_bandwidth(GB/s): | check_result:
8192              |     764.55    |       0.01071        | success
1073741824        |    5000.00    |     214.74836        | NULL
1073741824        |    6000.00    |     178.95697        | failed
1073741824        |    7000.00    |     178.95697        | success
"""
    log = one(text)
    assert (log.tool, log.size_basis, log.context.ranks, log.samples[0].operation) == ("hccl_test", "per rank", 16, "all_reduce")
    assert [s.wrong for s in log.samples] == [0, None]
    assert reasons(log) == ["bench.check_failed", "bench.row_rate"]


def test_superbench_lines():
    line = '{"node": "n1", "nccl-bw:nvlink/allreduce_8589934592_time:0": 63896.0, "nccl-bw:nvlink/allreduce_8589934592_algbw:0": 134.44, '
    line += '"nccl-bw:nvlink/allreduce_8589934592_busbw:0": 235.26, "nccl-bw:nvlink/alltoall_8589934592_busbw:0": 224.31}\n'
    first, second = read_benchmarks(line)
    assert (first.samples[0].operation, first.context.ranks, first.samples[0].busbw_Bps) == ("all_reduce", 8, 235.26e9)
    assert (second.samples[0].operation, second.samples[0].time_s) == ("all_to_all", None)


def test_torch_sentence():
    text = "The average bandwidth of all_reduce with a 4.0GB payload (5 trials, 16 ranks):\n"
    text += " algbw: 44.947 GBps (359.6 Gbps)\n busbw: 84.275 GBps (674.2 Gbps)\n"
    log = one("".join(f"[gke-a3:0]:{line}\n" for line in text.splitlines()))
    assert (log.samples[0].size_bytes, log.context.ranks, log.samples[0].busbw_Bps) == (4e9, 16, 84.275e9)
    assert reasons(one(text.replace("84.275", "94.275"))) == ["bench.row_factor"]


def test_mscclpp():
    text = """\
+----------+-----------+--------------+-------------+----------------+-------------------+------------------+----------+
|   Size   | Time (us) | AlgBW (GB/s) | Correctness | NCCL Time (us) | NCCL AlgBW (GB/s) | NCCL Correctness | Speed Up |
+----------+-----------+--------------+-------------+----------------+-------------------+------------------+----------+
| 1.5 KiB  |    6.49   |     0.24     |     PASS    |      11.33     |        0.14       |       PASS       |   1.75   |
| 32.0 MiB |   186.20  |    180.21    |     PASS    |      250.0     |       134.22      |       FAIL       |   1.34   |
"""
    ours, nccl = read_benchmarks(text)
    assert [(s.size_bytes, s.wrong) for s in ours.samples] == [(1536, 0), (33554432, 0)]
    assert (len(nccl.samples), reasons(nccl), nccl.context.library) == (1, ["bench.check_failed"], "NCCL")
    plain = "#       size         count     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n"
    log = one("all_reduce test of MSCCL++\n" + plain + "  33554432       8388608   186.20  180.21  315.36       0   187.0  179.44  314.01       0\n")
    assert (log.tool, len(log.samples), log.context.ranks) == ("mscclpp-test", 2, 8)


def test_deepep():
    lines = "[rank {r}] Dispatch bandwidth: 23.49 GB/s, avg_t=319.75 us | Combine bandwidth: 25.14 GB/s, avg_t=578.22 us\n"
    log = one("".join(lines.format(r=r) for r in range(4)))
    assert (len(log.samples), log.context.ranks) == (8, 4)
    assert (log.samples[0].operation, log.samples[1].operation, log.samples[1].time_s) == ("dispatch", "combine", pytest.approx(578.22e-6))
    best = """\
[tuning] Best dispatch (FP8): SMs 24, NVL chunk 24, RDMA chunk 8: 437 + 2412 us, 50.08 GB/s (RDMA), 99.93 GB/s (NVL)
[tuning] Best combine: SMs 24, NVL chunk 1, RDMA chunk 16: 56.66 GB/s (RDMA), 113.77 GB/s (NVL)
[tuning] Best dispatch (BF16): SMs 24, NVL chunk 12: 446.09 GB/s (NVL), 352 us
"""
    log = one(best)
    assert [(s.operation, s.dtype, s.time_s) for s in log.samples] == [
        ("dispatch", "fp8", pytest.approx(2412e-6)),
        ("dispatch", "bf16", pytest.approx(352e-6)),
    ]
    assert [(r.operation, r.scope, r.bandwidth_Bps) for r in log.rates] == [
        ("dispatch", "NVL", 99.93e9),
        ("combine", "RDMA", 56.66e9),
        ("combine", "NVL", 113.77e9),
    ]
    table = "| Dispatch #EP | Latency | RDMA bandwidth | Combine #EP | Latency | RDMA bandwidth |\n|:-:|:-:|:-:|:-:|:-:|:-:|\n"
    logs = read_benchmarks(table + "| 8 | 77 us | 98 GB/s | 8 | 114 us | 127 GB/s |\n| 256 | 194 us | 39 GB/s | 256 | 360 us | 40 GB/s |\n")
    assert [(log.context.ranks, [round(s.time_s * 1e6) for s in log.samples]) for log in logs] == [(8, [77, 114]), (256, [194, 360])]
    normal = "| Type | Dispatch #EP | Bottleneck bandwidth | Combine #EP | Bottleneck bandwidth |\n|-|-|-|-|-|\n"
    log = one(normal + "| Intranode | 8 | 153 GB/s (NVLink) | 8 | 158 GB/s (NVLink) |\n")
    assert [(r.bandwidth_Bps, r.scope) for r in log.rates] == [(153e9, "NVLink"), (158e9, "NVLink")]


def test_perftest_rules():
    text = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    text += " 8388608    5000             204.59             204.59             0.003049\n"
    assert len(one(text).samples) == 1
    assert reasons(one(text + " 8388608    5000             204.59             304.59             0.003049\n")) == ["bench.row_rate_messages"]
    assert reasons(one(text.replace("average[Gb/sec]", "average[furlong]"))) == ["bench.unit_unknown"]
    assert reasons(one(text + " 8388608    5000             204.59\n")) == ["bench.row_cut"]
    assert reasons(one(text + " 83886O8    5000             204.59             204.59             0.003049\n")) == ["bench.row_values"]


def test_matrix_rules():
    text = "Running device_to_device_memcpy_read_ce.\nmemcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
    text += "           0         1\n 0       N/A    276.07\n 1    276.36       N/A\n\n"
    (matrix,) = one(text + "SUM device_to_device_memcpy_read_ce 552.43\n").matrices
    assert matrix.values == ((None, pytest.approx(276.07e9)), (pytest.approx(276.36e9), None))
    assert reasons(one(text + "SUM device_to_device_memcpy_read_ce 652.43\n")) == ["bench.matrix_sum"]
    assert reasons(one(text.replace("276.36       N/A", "276.36"))) == ["bench.matrix_row"]
    latency = "P2P=Enabled Latency (P2P Writes) Matrix (us)\n   GPU     0      1\n     0   2.63   2.10\n     1   2.09   2.57\n\n"
    latency += "   CPU     0      1\n     0   2.00   1.50\n"
    (matrix,) = one(latency).matrices
    assert (matrix.quantity, matrix.values[0][1]) == ("latency", pytest.approx(2.10e-6))


def test_places_and_refusals(tmp_path):
    assert one(TABLE, place=Place("pasted")).place.file == "pasted"
    path = tmp_path / "log.txt"
    path.write_bytes(TABLE.encode("utf-16"))
    assert values(one(path)) == PLAIN
    assert values(one(str(path))) == PLAIN
    for wrong, message in (
        (tmp_path, "file.unreadable"),
        (tmp_path / "none.txt", "file.not_found"),
        ("a\0b", "file.not_found"),
        ("", "bench.not_recognised"),
    ):
        with pytest.raises(InputError) as caught:
            read_benchmarks(wrong)
        assert caught.value.message_id == message


def test_messages_exist_in_both_languages():
    used = {key for key in catalogue("en") if key.startswith("bench.")}
    assert used == {key for key in catalogue("zh") if key.startswith("bench.")}
    assert len(used) > 20


DEMO_GATHER = """\
[BENCHMARK] hcclAllGather(src!=dst, InputSizeInBytes=16777216, count=4194304, dtype=float, iterations=1000)
[BENCHMARK]     NW Bandwidth   : 509.189283 GB/s
[BENCHMARK]     Algo Bandwidth : 72.741326 GB/s
[BENCHMARK]     Time           : 0.230642 seconds
"""


def test_a_rate_that_fits_no_number_of_ranks_is_refused() -> None:
    """The input of an all-gather travels to each of the other ranks: busbw over algbw is a whole number, and at least one."""
    assert one(DEMO_GATHER).context.ranks == 8
    for spoilt in ("9.189283", "109.189283"):
        log = one(DEMO_GATHER.replace("509.189283", spoilt))
        assert (log.samples, reasons(log), log.context.ranks) == ((), ["bench.row_factor"], None)
