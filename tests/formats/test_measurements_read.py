"""Reading measurement files: every way a file can be wrong names its place, value and remedy."""

import csv
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tierspan.formats.measurements import (
    excluded_reason,
    is_complete,
    measured_collective_time_us,
    measured_step_time_s,
    read_measurements,
)
from tierspan.formats.measurements.cells import decimal_year
from tierspan.formats.measurements.kinds import OPTIONAL, REQUIRED, known_columns
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import catalogue, render_error, text

SHARED = Path(__file__).parents[2].parent / "shared" / "validation"
HEADER = "id,source,model,accelerator,n_accelerators,global_batch,seq_len,metric,value,flags"
ROW = "r1,S,M,h100,8,16,4096,tokens_per_s_per_gpu,1000,"


def write(tmp_path, content, name="m.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def failure(path):
    with pytest.raises(InputError) as caught:
        read_measurements(path)
    return caught.value


def shared(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip("the shared measurement files are not here")
    return path


@pytest.mark.parametrize(
    ("name", "kind", "rows"),
    [
        ("training", "training", 4030),
        ("memory", "memory", 3011),
        ("collectives", "collectives", 2440),
        ("serving", "serving", 2313),
        ("operations", "operations", 273),
    ],
)
def test_the_shared_files_are_recognised_and_read_whole(name, kind, rows):
    path = shared(f"{name}.csv")
    read = read_measurements(path)
    assert (read.kind, len(read.rows), read.extra_columns) == (kind, rows, ())
    with path.open(newline="", encoding="utf-8") as lines:
        assert [dict(r.raw) for r in read.rows] == list(csv.DictReader(lines))
    assert len(getattr(read, kind)) == rows


def test_lines_are_those_of_the_file(tmp_path):
    read = read_measurements(write(tmp_path, f'{HEADER}\n\n{ROW}\n"r2","S\nT",M,h100,8,16,4096,step_time_s,1.5,\nr3,S,M,h100,,,,step_time_s,2,A B\n'))
    assert [r.line for r in read.rows] == [3, 4, 6]
    assert read.training[2].flags == {"A", "B"}
    assert read.training[2].n_accelerators is None


@pytest.mark.parametrize(
    ("content", "message_id", "values"),
    [
        (b"", "file_empty", {}),
        (b"\n \n", "file_empty", {}),
        (b",,,\n", "file_empty", {}),
        (b"PK\x03\x04\x00\x00", "file_binary", {"offset": 4}),
        (b"a,b\n\xff\xff\x81\x30,2\n", "file_binary", {}),
        (b"a;b;c\n1;2;3\n", "not_csv", {}),
        (b"a,b,c\n1,2,3\n", "kind_unknown", {}),
        (b"id,,c\n1,2,3\n", "column_unnamed", {"position": 2}),
        (b"id,c,c\n1,2,3\n", "column_twice", {"column": "c"}),
        (HEADER.replace("seq_len,", "") + "\n", "column_missing", {"missing": "seq_len", "kind": "training"}),
        (HEADER + ",micro_batches\n" + ROW + ",1\n", "column_misspelt", {"column": "micro_batches", "suggestion": "micro_batch"}),
        (HEADER + "\n", "no_rows", {}),
        (HEADER + "\n" + ROW + ",x\n", "row_too_many", {"found": 11, "expected": 10, "surplus": "x"}),
        (HEADER + "\n" + ROW[:-1] + "\n", "row_too_few", {"found": 9}),
        (HEADER + "\n" + ROW.replace("r1", "") + "\n", "cell_empty", {"column": "id"}),
        (HEADER + "\n" + ROW + "\n" + ROW + "\n", "id_twice", {"value": "r1", "first": 2}),
        (HEADER + "\n" + ROW.replace(",1000,", ",fast,") + "\n", "not_a_number", {"column": "value", "value": "fast"}),
        (HEADER + "\n" + ROW.replace(",1000,", ",nan,") + "\n", "not_a_number", {"value": "nan"}),
        (HEADER + "\n" + ROW.replace(",1000,", ",1_000,") + "\n", "not_a_number", {"value": "1_000"}),
        (HEADER + "\n" + ROW.replace(",1000,", ",-3,") + "\n", "out_of_range", {"value": "-3"}),
        (HEADER + "\n" + ROW.replace(",16,", ",16.5,") + "\n", "not_whole", {"column": "global_batch"}),
        (HEADER + "\n" + ROW.replace("h100,8", "h100,0") + "\n", "out_of_range", {"column": "n_accelerators"}),
        (HEADER + ",recompute\n" + ROW + ",some\n", "bad_word", {"allowed": "none, selective, full"}),
        (HEADER + ",zero\n" + ROW + ",4\n", "bad_word", {"column": "zero"}),
        (HEADER + '\n"r1,S,M\n', "csv_broken", {}),
    ],
)
def test_a_broken_file_is_an_error_with_place_and_remedy(tmp_path, content, message_id, values):
    error = failure(write(tmp_path, content))
    assert error.message_id == f"validation.{message_id}"
    assert values.items() <= error.values.items()
    assert error.place.file.endswith("m.csv")
    for lang in ("en", "zh"):
        shown = render_error(error, lang)
        assert "{" not in shown
        assert len(shown.splitlines()) >= 2


def test_missing_file_and_folder(tmp_path):
    assert failure(tmp_path / "absent.csv").message_id == "validation.file_missing"
    assert failure(tmp_path).message_id == "validation.file_is_folder"


def test_a_bad_number_names_line_and_column(tmp_path):
    error = failure(write(tmp_path, f"{HEADER}\n{ROW}\n{ROW.replace('r1', 'r2').replace(',4096,', ',long,')}\n"))
    assert (error.place.line, error.place.column, error.place.key) == (3, 7, "seq_len")
    assert str(error) == (
        f"error: {error.place}: the column seq_len needs a number and holds 'long'\n"
        "  remedy: Write a plain decimal number without unit or thousands separator, or leave the cell empty if the source does not say."
    )
    assert render_error(error, "zh").splitlines()[1] == "  处理办法：请写不带单位和千位分隔符的十进制数；来源未说明时留空。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "utf-16"])
def test_encodings(tmp_path, encoding):
    content = f"{HEADER},comment\n{ROW.replace('S,M', '昇腾,盘古')},超节点\n"
    read = read_measurements(write(tmp_path, content.encode(encoding)))
    assert (read.training[0].source, read.training[0].model) == ("昇腾", "盘古")
    assert read.extra_columns == ("comment",)
    assert read.rows[0].raw["comment"] == "超节点"


def test_line_ends_do_not_matter(tmp_path):
    one = read_measurements(write(tmp_path, f"{HEADER}\n{ROW}\n"))
    assert read_measurements(write(tmp_path, f"{HEADER}\r\n{ROW}\r\n")).rows == one.rows


def test_operations_keep_values_that_are_no_number(tmp_path):
    read = read_measurements(write(tmp_path, "id,domain,source,metric,value,unit\na,power,s,m,>90,%\nb,power,s,m,-2.5,%\n"))
    assert [(r.value, r.value_text) for r in read.operations] == [(None, ">90"), (-2.5, "-2.5")]


def test_kinds_are_told_apart_by_their_required_columns():
    for kind in REQUIRED:
        others = [k for k in REQUIRED if k != kind and set(REQUIRED[k]) <= set(known_columns(kind))]
        assert others == []
        assert not set(REQUIRED[kind]) & set(OPTIONAL[kind]) - {"n_accelerators", "seq_len", "global_batch", "tp", "pp", "dp"}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_no_bytes_give_anything_but_rows_or_an_input_error(tmp_path, content):
    try:
        read_measurements(write(tmp_path, HEADER.encode() + b"\n" + content))
    except InputError as error:
        message_id = error.message_id
    else:
        return
    assert message_id.startswith("validation.")


def test_step_time_of_every_metric(tmp_path):
    def time(metric, value, n=8, batch=16, seq=4096):
        line = f"r,S,M,h100,{n},{batch},{seq},{metric},{value},"
        return measured_step_time_s(read_measurements(write(tmp_path, f"{HEADER}\n{line}\n")).training[0])

    assert time("step_time_s", 1.25) == 1.25
    assert time("tokens_per_s_per_gpu", 1000) == pytest.approx(16 * 4096 / 8000)
    assert time("tokens_per_s_per_npu", 1000) == time("tokens_per_s_per_gpu", 1000)
    assert time("tokens_per_s_total", 8000) == time("tokens_per_s_per_gpu", 1000)
    assert time("sequences_per_s_total", 4) == 4.0
    assert time("samples_per_s_total", 4) == 4.0
    assert time("model_tflops_per_s_per_gpu", 400) is None
    assert time("tokens_per_s_per_gpu", 1000, n="") is None
    assert time("step_time_s", 0) is None


def test_collective_time_falls_back_to_the_bandwidths(tmp_path):
    def time(collective, t="", alg="", bus="", n=8, size=8_000_000):
        header = "id,source,collective,n_gpus,n_nodes,size_bytes,time_us,algbw_GBps,busbw_GBps"
        return measured_collective_time_us(
            read_measurements(write(tmp_path, f"{header}\nr,S,{collective},{n},1,{size},{t},{alg},{bus}\n")).collectives[0]
        )

    assert time("all_reduce", t=5, alg=1) == 5
    assert time("all_reduce", alg=100) == pytest.approx(80)
    assert time("all_reduce", bus=175) == pytest.approx(80)
    assert time("all_gather", bus=87.5) == pytest.approx(80)
    assert time("broadcast", bus=100) == pytest.approx(80)
    assert time("all_reduce", bus=100, n="") is None
    assert time("all_reduce", t=5, size="") is None


def test_excluded_rows_are_neither_scored_nor_complete(tmp_path):
    header = HEADER + ",tp,pp,layers,hidden"
    good, bad = (ROW.replace("r1", i)[:-1] + f",{flags},1,1,32,4096" for i, flags in (("a", "LORA"), ("b", "SUSPECT_SLOW DUPLICATE")))
    a, b = read_measurements(write(tmp_path, f"{header}\n{good}\n{bad}\n")).training
    assert (excluded_reason(a), excluded_reason(b)) == (None, "DUPLICATE")
    assert (is_complete(a), is_complete(b)) == (True, False)


@pytest.mark.parametrize(
    ("date", "year"),
    [
        ("2025-05-21", 2025 + (4 + 20 / 31) / 12),
        ("2025-02", 2025 + 1.5 / 12),
        ("2024", 2024.5),
        ("2026-04-23 (repo HEAD)", 2026.31),
        ("", None),
        ("May", None),
    ],
)
def test_decimal_year(date, year):
    assert decimal_year(date) == (None if year is None else pytest.approx(year, abs=0.01))


def test_both_languages_hold_the_same_texts():
    keys = {k for k in catalogue("en") if k.startswith("validation.")}
    assert keys == {k for k in catalogue("zh") if k.startswith("validation.")}
    assert text("validation.file_missing", path="x.csv") == "there is no file x.csv"
