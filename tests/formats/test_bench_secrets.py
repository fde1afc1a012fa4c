"""Nothing secret of a log is kept: not in settings, not in commands, not in lines left unread."""

import dataclasses
import json

import pytest

from tierspan.formats.bench import read_benchmarks
from tierspan.formats.bench.secrets import kept_settings, redacted

SECRET = "hf_Zq8vT0kenTokenTokenToken42"
HEADER = "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
ROW = "    22020096      11010048      half     sum      -1    147.7  149.08  260.89      0    146.4  150.46  263.30      0\n"
PLACES = (
    f"export HF_TOKEN={SECRET}\n",
    f"mpirun -x HF_TOKEN={SECRET} -x NCCL_ALGO=Ring -np 8 ./all_reduce_perf -b 8 -e 1G --key={SECRET} --token {SECRET}\n",
    f"AWS_SECRET_ACCESS_KEY={SECRET} all_reduce_perf -b {SECRET}\n",
    f"n1:2:3 [0] NCCL INFO NCCL_ALGO set by environment to {SECRET}\n",
    f"n1:2:3 [0] NCCL INFO NCCL_SECRET set by environment to {SECRET}\n",
    f"# --- run with API_KEY={SECRET}, two nodes\n",
    f"## All-reduce, password: {SECRET}\n",
    f"curl https://user:{SECRET}@example.org/log\n",
    f"x: Test NCCL failure common.cu:893 'unauthorized token={SECRET}'\n",
)


def whole(logs):
    return json.dumps([dataclasses.asdict(log) for log in logs])


@pytest.mark.parametrize("line", PLACES)
@pytest.mark.parametrize("form", ["before", "between", "in a row"])
def test_a_token_never_appears(line, form):
    row = ROW if form != "in a row" else ROW.replace("147.7", f"HF_TOKEN={SECRET} 147.7")
    text = {"before": line + HEADER + row, "between": HEADER + row + line + row, "in a row": line + HEADER + row + ROW}[form]
    logs = read_benchmarks(text)
    assert any(log.samples for log in logs)
    assert SECRET not in whole(logs)


def test_json_environment_is_dropped():
    part = {"time": 147.7, "alg_bw": 149.086635, "bus_bw": 260.901611, "nwrong": 0}
    row = {"size": 22020096, "count": 11010048, "type": "half", "redop": "sum", "root": "-1", "out_of_place": part, "in_place": part}
    environment = [f"HF_TOKEN={SECRET}", "NCCL_PROTO=LL128", f"X=NCCL_ALGO={SECRET}", f"NCCL_IB_HCA={SECRET}"]
    document = {"args": ["all_reduce_perf", "--token", SECRET], "env": environment, "nccl_version": 22809, "results": [row]}
    logs = read_benchmarks(json.dumps(document) + "\n")
    assert logs[0].context.environment == {"NCCL_PROTO": "LL128"}
    assert len(logs[0].samples) == 2
    assert SECRET not in whole(logs)


def test_the_allow_list():
    assert kept_settings("NCCL_ALGO=Ring FOO=1 NCCL_CONF_FILE=/etc/x NCCL_IB_HCA=mlx5_0:1,mlx5_1:1") == {
        "NCCL_ALGO": "Ring",
        "NCCL_IB_HCA": "mlx5_0:1,mlx5_1:1",
    }
    assert "abcdefgh" not in redacted("PASSWORD: abcdefgh")
    assert redacted("  1048576  262144  float  sum  -1  93.25") == "  1048576  262144  float  sum  -1  93.25"
