"""``tierspan catalog`` and ``tierspan schema``: exit codes, both languages, JSON, and messages for names that nobody knows."""

from __future__ import annotations

import json

import pytest

from tierspan.answers import schemas
from tierspan.faces.cli.main import main


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    return captured.out, captured.err


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("TIERSPAN_LANG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)


def test_the_list_holds_all_kinds(capsys):
    out, err = told(capsys, "catalog")
    assert [line for line in out.splitlines() if line in ("Accelerators", "Systems", "Models")] == ["Accelerators", "Systems", "Models"]
    assert "\nh100-sxm5-80gb " in out
    assert "\ndgx-h100 " in out
    assert "\nllama-3.1-405b " in out
    assert err == ""
    assert not any(line.endswith(" ") for line in out.splitlines())


def test_the_list_without_its_name_is_the_list(capsys):
    assert told(capsys, "catalog") == told(capsys, "catalog", "list")
    assert told(capsys, "catalog", "--json") == told(capsys, "catalog", "list", "--json")


@pytest.mark.parametrize(
    ("kind", "present", "absent"), [("accelerator", "h100-pcie", "dgx-h100"), ("system", "dgx-h100", "h100-pcie"), ("model", "grok-1", "h100")]
)
def test_one_kind(kind, present, absent, capsys):
    ids = [line.split(" ")[0] for line in told(capsys, "catalog", "list", "--kind", kind)[0].splitlines()]
    assert present in ids
    assert absent not in ids


@pytest.mark.parametrize(
    ("kind", "present", "absent"),
    [("fabric", "ualink", "ib-ndr"), ("network", "ib-ndr", "ualink"), ("switch", "tomahawk5", "smf"), ("optics", "dr8-800g", "dac-800g"),
     ("cable", "dac-800g", "smf"), ("fibre", "smf", "dac-800g"), ("unverified", "mlu590", "h100-sxm5-80gb")],
)  # fmt: skip
def test_parts_of_one_kind(kind, present, absent, capsys):
    for lang in ("en", "zh"):
        ids = [line.split(" ")[0] for line in told(capsys, "catalog", "list", "--kind", kind, "--lang", lang)[0].splitlines()]
        assert present in ids
        assert absent not in ids
    listed = json.loads(told(capsys, "catalog", "list", "--kind", kind, "--json")[0])
    assert {part["kind"] for part in listed["parts"]} == {kind}
    assert listed["entries"] == []


def test_a_part_tells_layers_openness_backers_limits_and_whether_it_ships(capsys):
    out = " ".join(told(capsys, "catalog", "show", "ualink")[0].split())
    for words in (
        "openness open standard",
        "backers Alibaba, AMD, Apple, Astera Labs",
        "status specification only",
        "memory semantics read, write and atomic; software coherency",
        "physical layer Ethernet, 212.5 GT/s a lane",
        "link layer unknown",
        "domain limit 1,024 1024 accelerators of a pod",
        "vendor's page read",
        "second hand",
    ):
        assert words in out, words
    zh = told(capsys, "catalog", "show", "ub", "--lang", "zh")[0]
    assert "内存语义" in zh
    assert "私有" in zh
    assert "cli." not in zh


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("names", [("nvlink5", "ualink", "sue", "ub"), ("tomahawk5", "quantum-2"), ("hollow-core", "smf"), ("ib-ndr", "rocev2")])
def test_parts_are_compared_where_their_bases_are_the_same(names, lang, capsys):
    out, err = told(capsys, "catalog", "compare", *names, "--lang", lang)
    assert err == ""
    assert "cli." not in out
    assert "catalog_compare" not in out


def test_like_is_compared_with_like_for_nvlink_and_pcie(capsys):
    answer = json.loads(told(capsys, "catalog", "compare", "pcie6-x16", "nvlink5", "--json")[0])
    ratios = {row["id"]: row["cells"][1]["ratio"] for row in answer["rows"]}
    assert ratios["bandwidth.bandwidth"] == pytest.approx(900 / 121)
    assert ratios["bandwidth.headline_bandwidth"] == pytest.approx(1800 / 256)
    _, err = told(capsys, "catalog", "compare", "nvlink5", "h100", code=2)
    assert err.startswith("error: nvlink5 is an entry of kind fabric, and h100-sxm5-80gb is an accelerator or a system\n")


def test_a_pattern_narrows_the_list(capsys):
    found = json.loads(told(capsys, "catalog", "list", "*h100*", "--json")[0])
    assert found["entries"]
    assert all("h100" in entry["id"] + entry["accelerator"] for entry in found["entries"])
    assert found["models"] == []


def test_an_empty_list_is_a_no(capsys):
    out, err = told(capsys, "catalog", "list", "no-such-thing", code=1)
    assert (out, err) == ("", "nothing in the catalogue matches 'no-such-thing'\n")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", ["dgx-h100", "gb200-nvl72", "cloudmatrix384", "h100", "mi300x"])
def test_sheets_tell_values_and_sources(name, lang, capsys):
    out, _ = told(capsys, "catalog", "show", name, "--lang", lang)
    assert {"en": "Sources", "zh": "来源"}[lang] in out
    assert "  1  " in out
    # No message id has slipped through untranslated.
    assert "cli." not in out


def test_a_sheet_shows_bandwidth_each_way_and_the_reading_that_lost(capsys):
    out, _ = told(capsys, "catalog", "show", "cloudmatrix384")
    assert any(line.split()[:4] == ["Unified", "Bus", "(UB)", "scale-up"] and " 392 " in line for line in out.splitlines())
    assert "(196 GB/s)" in out


def test_a_sheet_as_json(capsys):
    sheet = json.loads(told(capsys, "catalog", "show", "dgx-h100", "--json")[0])
    assert sheet["tiers"][0]["bandwidth_Bps"] == 450e9
    assert all(fact["source"] for tier in sheet["tiers"] for fact in tier["facts"])


def test_an_unknown_name_gets_suggestions(capsys):
    out, err = told(capsys, "catalog", "show", "dgx-h1000", code=2)
    assert out == ""
    assert err.startswith("error: the catalogue has neither an accelerator nor a system dgx-h1000; nearest: dgx-h100")
    _, err = told(capsys, "catalog", "show", "qqqqq", code=2)
    assert err.startswith("error: the catalogue has neither an accelerator nor a system qqqqq\n")
    _, err = told(capsys, "catalog", "show", "pod.yaml", code=2)
    assert "--system pod.yaml" in err


def test_a_model_by_id(capsys):
    out, _ = told(capsys, "catalog", "model", "llama-3.1-405b")
    assert "406 B (405,853,388,800)" in out
    answer = json.loads(told(capsys, "catalog", "model", "llama-3.1-405b", "--json")[0])
    assert (answer["parameters_total"], answer["layers"], answer["kv_bytes_per_token"]) == (405853388800, 126, 516096)


def test_a_model_from_a_file(tmp_path, capsys):
    config = {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "max_position_embeddings": 256,
        "tie_word_embeddings": False,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
    }
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    answer = json.loads(told(capsys, "catalog", "model", str(path), "--json")[0])
    attention, mlp, norms = 64 * 64 * 2 + 2 * 64 * 32, 3 * 64 * 128, 2 * 64
    assert answer["parameters_total"] == 2 * 100 * 64 + 2 * (attention + mlp + norms) + 64


def test_a_missing_file_is_an_error(tmp_path, capsys):
    out, err = told(capsys, "catalog", "model", str(tmp_path / "config.json"), code=2)
    assert out == ""
    assert err.startswith("error: ")
    assert "remedy: " in err


def test_schema_lists_and_prints(capsys):
    assert told(capsys, "schema")[0].split() == list(schemas.known_schemas())
    made = json.loads(told(capsys, "schema", "fit")[0])
    assert made["$schema"] == schemas.DIALECT
    assert made["$id"] == "tierspan:fit"
    assert set(made["required"]) <= made["properties"].keys()


@pytest.mark.parametrize("verb", schemas.known_schemas())
def test_every_schema_can_be_made_and_lets_missing_numbers_be_null(verb):
    def numbers(node):
        if isinstance(node, dict):
            yield from [node["type"]] if node.get("type") in ("number", ["number", "null"]) else []
            node = list(node.values())
        if isinstance(node, list):
            for item in node:
                yield from numbers(item)

    found = list(numbers(schemas.schema(verb)))
    assert found
    assert all(kind == ["number", "null"] for kind in found)


def test_a_verb_without_schema(capsys):
    out, err = told(capsys, "schema", "predct", code=2)
    assert out == ""
    assert err == f"error: the verb predct has no schema\n  remedy: Verbs with a schema: {', '.join(schemas.known_schemas())}.\n"
