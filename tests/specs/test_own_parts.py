"""Users' own parts: what a good file gives, and the message for each thing that can be wrong with one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tierspan.answers.catalog_compare.comparison import compare_parts
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import languages, render_error
from tierspan.specs import catalog
from tierspan.specs.catalog.own import VARIABLE
from tierspan.specs.catalog.tables import set_own_tables

HEAD = "id,key,value,unit,basis,source,source_kind,date,conflict,used,note"
CARD = """\
my-npu,kind,accelerator,text,,offer of 2026-07,inline,,,,
my-npu,name,Our NPU,text,,offer of 2026-07,inline,,,,
my-npu,peak_flops.bf16,500,TFLOP/s,"dense, per accelerator",offer of 2026-07,inline,2026-07,,,
my-npu,memory,96,GB,per accelerator,offer of 2026-07,inline,,,,
my-npu,memory_bandwidth,3.2,TB/s,per accelerator,offer of 2026-07,inline,,,,
my-npu,power,600,W,"per accelerator, maximum",offer of 2026-07,inline,,,,"""
SYSTEM = """\
my-link,kind,fabric,text,,offer of 2026-07,inline,,,,
my-link,bandwidth,800,GB/s both directions,per accelerator,offer of 2026-07,inline,,,,
my-link,latency,2,us,"accelerator to accelerator, per hop of a collective, software included",offer of 2026-07,inline,,,,
my-link,transport,ub,text,,offer of 2026-07,inline,,,,
my-link,memory_semantics,load and store,text,,offer of 2026-07,inline,,,,
my-rack,kind,system,text,,offer of 2026-07,inline,,,,
my-rack,accelerator,my-npu,text,,offer of 2026-07,inline,,,,
my-rack,node_size,8,1,a host,offer of 2026-07,inline,,,,
my-rack,unit_accelerators,64,1,the rack,offer of 2026-07,inline,,,,
my-rack,scale_up,my-link,text,,offer of 2026-07,inline,,,,
my-rack,scale_up_domain,64,1,accelerators,offer of 2026-07,inline,,,,
my-rack,scale_out,roce-400,text,,offer of 2026-07,inline,,,,
my-rack,unit_power,60,kW,"rack, maximum",offer of 2026-07,inline,,,,"""


def written(folder: Path, *lines: str, head: str = HEAD, name: str = "own.csv") -> Path:
    path = folder / name
    path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _none_of_the_environment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    set_own_tables(None)
    yield
    monkeypatch.undo()
    set_own_tables(None)


def test_an_own_accelerator_and_system_are_like_those_that_ship(tmp_path):
    with catalog.own_parts(written(tmp_path, CARD, SYSTEM)):
        card, found = catalog.accelerator("my-npu"), catalog.system("my-rack")
        assert (card.name, card.peak_flops["bf16"], card.memory_bytes) == ("Our NPU", 500e12, 96e9)
        assert [(tier.domain_size, tier.bandwidth_Bps) for tier in found.tiers] == [(64, 400e9), (None, 50e9)]
        assert found.tiers[0].memory_semantics
        assert catalog.default_system("my-npu") == "my-rack"
        assert catalog.cluster("my-rack", 1024).accelerators == 1024
        answer = compare_parts("my-rack", "gb200-nvl72")
        rows = {row.id: [cell.value for cell in row.cells] for row in answer.rows}
        assert rows["bandwidth.scale_up"] == [400e9, 900e9]
        assert catalog.part("my-link").kind == "fabric"
    assert "my-npu" not in catalog.accelerator_ids()
    assert "my-link" not in catalog.part_ids()


def test_an_accelerator_without_a_system_stands_alone(tmp_path):
    with catalog.own_parts(written(tmp_path, CARD)):
        found = catalog.system(catalog.default_system("my-npu"))
        assert (found.id, found.unit_accelerators, found.tiers[0].domain_size) == ("my-npu-alone", 1, 1)


def test_a_folder_of_the_environment_holds_for_all_verbs(tmp_path, monkeypatch, capsys):
    from tierspan.faces.cli.main import main

    written(tmp_path, CARD, name="card.csv")
    written(tmp_path, SYSTEM, name="rack.csv")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    set_own_tables(None)
    assert catalog.system("my-rack").accelerator == "my-npu"
    assert (
        main(["predict", "--system", "my-rack", "-n", "64", "--model", "llama-3.1-8b", "--seq-len", "4096", "--global-batch", "64", "--tp", "2"]) == 0
    )
    assert "my-npu" in capsys.readouterr().out


def test_the_command_takes_a_file(tmp_path, capsys):
    from tierspan.faces.cli.main import main

    path = str(written(tmp_path, CARD, SYSTEM))
    for arguments in (["list", "my-"], ["show", "my-rack"], ["show", "my-link"], ["compare", "my-npu", "h100"]):
        assert main(["catalog", *arguments, "--parts", path]) == 0
        assert "my-" in capsys.readouterr().out
    assert main(["catalog", "show", "my-rack"]) == 2
    assert main(["catalog", "list", "--parts", str(written(tmp_path, "x,kind,rack,text,,s,inline,,,,", name="bad.csv"))]) == 2
    assert capsys.readouterr().err.endswith(
        f"error: {tmp_path / 'bad.csv'}:2 [value]: the kind 'rack' is not known\n"
        "  remedy: Did you mean: accelerator, system, fabric, network, switch, optics, cable, fibre?\n"
    )


BAD = {
    "own_parts.id": "My NPU,kind,accelerator,text,,s,inline,,,,",
    "own_parts.cells": "my-npu,kind,accelerator",
    "own_parts.empty": "my-npu,kind,accelerator,text,,,inline,,,,",
    "own_parts.flag": "my-npu,kind,accelerator,text,,s,inline,,,yes,",
    "own_parts.source_kind": "my-npu,kind,accelerator,text,,s,sheet,,,,",
    "own_parts.date": "my-npu,kind,accelerator,text,,s,inline,July,,,",
    "own_parts.unit": "my-npu,memory,96,gigabytes,per accelerator,s,inline,,,,",
    "own_parts.value": 'my-npu,memory,"96,000",MiB,per accelerator,s,inline,,,,',
    "own_parts.basis": "my-npu,memory,96,GB,,s,inline,,,,",
    "own_parts.no_kind": "my-npu,memory,96,GB,per accelerator,s,inline,,,,",
    "own_parts.kind": "my-npu,kind,gpu,text,,s,inline,,,,",
    "own_parts.shipped": "gb200,kind,accelerator,text,,s,inline,,,,",
    "own_parts.used_twice": "my-npu,kind,accelerator,text,,s,inline,,,,\nmy-npu,memory,96,GB,b,s,inline,,,,\nmy-npu,memory,80,GB,b,s,inline,,,,",
    "own_parts.dimension": "my-npu,kind,accelerator,text,,s,inline,,,,\nmy-npu,memory,96,GB/s,b,s,inline,,,,",
    "own_parts.whole": "my-rack,kind,system,text,,s,inline,,,,\nmy-rack,node_size,7.5,1,b,s,inline,,,,",
    "own_parts.precision": "my-npu,kind,accelerator,text,,s,inline,,,,\nmy-npu,peak_flops.fp7,9,TFLOP/s,b,s,inline,,,,",
    "own_parts.needs": "my-npu,kind,accelerator,text,,s,inline,,,,",
    "own_parts.long": f"my-npu,kind,{'x' * 3000},text,,s,inline,,,,",
}


@pytest.mark.parametrize("message", BAD)
def test_a_bad_line_is_told_with_file_line_value_rule_and_remedy(message, tmp_path):
    path = written(tmp_path, *BAD[message].split("\n"))
    with pytest.raises(InputError) as caught, catalog.own_parts(path):
        pass
    assert caught.value.message_id == message
    assert caught.value.place.file == str(path)
    assert caught.value.place.line is not None
    for lang in languages():
        text = render_error(caught.value, lang)
        assert "own_parts" not in text
        assert "{" not in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("accelerator,my-npu,", "accelerator,my-gpu,", "own_parts.reference"),
        ("scale_up,my-link,", "scale_up,my-lnk,", "own_parts.reference"),
        ("transport,ub,", "transport,carrier-pigeon,", "own_parts.reference"),
        ("my-link,latency,", "my-link,delay,", "own_parts.no_tier"),
        ("my-rack,scale_up,my-link", "my-rack,scaleup,my-link", "own_parts.needs"),
    ],
)
def test_a_system_that_refers_to_nothing(old, new, message, tmp_path):
    assert old in SYSTEM
    with pytest.raises(InputError) as caught, catalog.own_parts(written(tmp_path, CARD, SYSTEM.replace(old, new, 1))):
        pass
    assert caught.value.message_id == message


@pytest.mark.parametrize(
    ("head", "message"),
    [("id,key,value", "own_parts.columns"), (f"{HEAD},colour", "own_parts.column"), (f"{HEAD},id", "own_parts.column"), ("", "own_parts.columns")],
)
def test_a_head_that_is_none(head, message, tmp_path):
    with pytest.raises(InputError) as caught, catalog.own_parts(written(tmp_path, head=head)):
        pass
    assert caught.value.message_id == message


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "own_parts.encoding"), (b"id,key\0", "own_parts.encoding"), (b'id,"key', "own_parts.not_csv"), (b"", "own_parts.columns"),
     (b"x" * 9_000_000, "own_parts.too_large")],
)  # fmt: skip
def test_a_file_that_is_no_table(content, message, tmp_path):
    path = tmp_path / "own.csv"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught, catalog.own_parts(path):
        pass
    assert caught.value.message_id == message


def test_a_folder_without_files(tmp_path):
    with pytest.raises(InputError) as caught, catalog.own_parts(tmp_path):
        pass
    assert caught.value.message_id == "own_parts.no_files"


def test_a_path_that_is_not_there(tmp_path):
    with pytest.raises(InputError) as caught, catalog.own_parts(tmp_path / "none.csv"):
        pass
    assert caught.value.message_id == "own_parts.missing"


def test_a_failed_file_leaves_the_catalogue_as_it_was(tmp_path):
    with pytest.raises(InputError), catalog.own_parts(written(tmp_path, "gb200,kind,accelerator,text,,s,inline,,,,")):
        pass
    assert catalog.accelerator("gb200").memory_bytes == 186e9


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(st.lists(st.lists(st.text(max_size=12), min_size=1, max_size=12), max_size=6), st.booleans())
def test_any_table_is_read_or_refused_with_a_reason(tmp_path, cells, headed):
    import csv
    import io

    made = io.StringIO()
    csv.writer(made).writerows([HEAD.split(","), *cells] if headed else cells)
    path = tmp_path / "any.csv"
    path.write_bytes(made.getvalue().encode("utf-8", "surrogatepass"))
    told = "own_parts.read"
    try:
        with catalog.own_parts(path):
            pass
    except InputError as error:
        told = error.message_id
        str(error)
    assert told.startswith("own_parts.")
