"""Scenario files: what they say is read, and every mistake is named with file, line, key and remedy."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tierspan.formats.scenario import SETTINGS, read_scenario, scenario_of
from tierspan.formats.scenario.document import parse_document
from tierspan.formats.scenario.settings import meant
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import render_error

SHARED = Path(__file__).parents[2].parent / "shared"
GOOD = """\
cluster: {system: dgx-h100, accelerators: 1024}   # a comment
model: llama-3.1-405b
job:
  kind: training
  sequence_length: 8_192
  global_batch: 0x480
  precision: bf16
strategy: {tp: 8, pp: 8, vpp: 8, cp: 2, sp: true, rank_order: tp-cp-ep-dp-pp}
stack: megatron-core
"""

MALFORMED = {
    "tab": ("cluster:\n\tsystem: dgx-h100\n", "x.yaml:2: the line is indented with a tab, which YAML does not allow", "Indent with spaces."),
    "empty": ("", "the file x.yaml holds nothing", "Fill the file, or name another one."),
    "only comments": ("# nothing\n", "the file x.yaml holds nothing", "Fill the file, or name another one."),
    "list": (
        "- 1\n",
        "x.yaml:1: the file holds a list, and must hold keys with values",
        "Write cluster:, model:, job: and strategy: at the start of lines.",
    ),
    "two documents": (
        "a: 1\n---\nb: 1\n",
        "x.yaml:2:1: a second document starts here, and a scenario is one",
        "Put each scenario into a file of its own.",
    ),
    "key twice": ("strategy:\n  tp: 8\n  tp: 4\n", "x.yaml:3 [strategy.tp]: the key tp stands twice, first on line 2", "Keep one of the two."),
    "misspelt section": ("strategi: {tp: 8}\n", "x.yaml:1 [strategi]: scenario has no key strategi", "Did you mean strategy?"),
    "misspelt key": ("cluster:\n  acelerators: 8\n", "x.yaml:2 [cluster.acelerators]: cluster has no key acelerators", "Did you mean accelerators?"),
    "launcher's spelling": (
        "strategy: {tensor_model_parallel_size: 8}\n",
        "x.yaml:1 [strategy.tensor_model_parallel_size]: strategy has no key tensor_model_parallel_size",
        "Did you mean tp?",
    ),
    "wrong section": (
        "job: {}\nstrategy: {global_batch: 8}\n",
        "x.yaml:2 [strategy.global_batch]: strategy has no key global_batch",
        "Did you mean job.global_batch?",
    ),
    "unknown key": (
        "job:\n  zzz: 1\n",
        "x.yaml:2 [job.zzz]: job has no key zzz",
        "Known keys: kind, sequence_length, global_batch, precision, lora, tokens.",
    ),
    "text for a count": (
        "job:\n  sequence_length: '8k'\n",
        "x.yaml:2 [job.sequence_length]: job.sequence_length must be a whole number, not '8k'",
        "Write a whole number, without quotation marks, separators or unit.",
    ),
    "full-width digit": (
        "strategy: {tp: ８}\n",
        "x.yaml:1 [strategy.tp]: strategy.tp must be a whole number, not '８'",
        "Write a whole number, without quotation marks, separators or unit.",
    ),
    "fraction": (
        "strategy: {tp: 1.5}\n",
        "x.yaml:1 [strategy.tp]: strategy.tp must be a whole number, not 1.5",
        "Write a whole number, without quotation marks, separators or unit.",
    ),
    "boolean for a count": (
        "strategy: {tp: true}\n",
        "x.yaml:1 [strategy.tp]: strategy.tp must be a whole number, not True",
        "Write a whole number, without quotation marks, separators or unit.",
    ),
    "negative": ("strategy: {tp: -1}\n", "x.yaml:1 [strategy.tp]: strategy.tp must be greater than 0, not -1", "Write a number greater than 0."),
    "huge": (
        "strategy: {tp: 1" + "0" * 30 + "}\n",
        "x.yaml:1 [strategy.tp]: strategy.tp must lie between 1 and 1000000000000, and is 1e30",
        "Write a number between 1 and 1000000000000.",
    ),
    "level": (
        "strategy: {zero: 4}\n",
        "x.yaml:1 [strategy.zero]: strategy.zero must lie between 0 and 3, and is 4",
        "Write a number between 0 and 3.",
    ),
    "choice": (
        "strategy: {recompute: ful}\n",
        "x.yaml:1 [strategy.recompute]: strategy.recompute must be one of none, selective, full, not 'ful'",
        "Did you mean full?",
    ),
    "flag": ("strategy: {sp: 'yes'}\n", "x.yaml:1 [strategy.sp]: strategy.sp must be true or false, not 'yes'", "Write true or false."),
    "rank order": (
        "strategy: {rank_order: tp-dp}\n",
        "x.yaml:1 [strategy.rank_order]: the rank order 'tp-dp' must name tp, cp, dp and pp once each (ep may stand among them), innermost first",
        "Write it as tp-cp-ep-dp-pp, Megatron's default, in the order of your launcher.",
    ),
    "no mapping": (
        "strategy: 8\n",
        "x.yaml:1 [strategy]: strategy must be a mapping of keys and values, not 8",
        "Write the keys of strategy below it, indented, or in braces.",
    ),
    "stack": ("stack: 3\n", "x.yaml:1 [stack]: stack must be a text, not 3", "Write one word."),
    "tag": (
        "name: !!python/object:os.system 1\n",
        "x.yaml:1 [name]: the tag tag:yaml.org,2002:python/object:os.system is not read here",
        "Write the plain value without a tag.",
    ),
    "alias of itself": (
        "name: &x {b: *x}\n",
        "x.yaml:1 [name.b]: the values are nested too deeply, or an alias contains itself",
        "Write the values out without aliases.",
    ),
    "key that is a list": (
        "strategy: {[1]: 8}\n",
        "x.yaml:1 [strategy]: a key must be a text, not a list or a mapping",
        "Write a name before the colon.",
    ),
    "open brace": (
        "strategy: {tp: 8",
        "x.yaml:1:17: the text is not valid YAML: expected ',' or '}', but got '<stream end>'",
        "Correct the text at this place.",
    ),
}


def write(folder: Path, text: str | bytes, name: str = "x.yaml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def message(folder: Path, text: str | bytes, lang: str = "en", name: str = "x.yaml") -> str:
    with pytest.raises(InputError) as caught:
        read_scenario(write(folder, text, name))
    return render_error(caught.value, lang).replace(f"{folder}/", "")


def test_a_scenario_is_read_with_its_lines(tmp_path):
    found = read_scenario(write(tmp_path, GOOD))
    assert found.cluster == {"system": "dgx-h100", "accelerators": 1024}
    assert found.model == "llama-3.1-405b"
    assert found.stack == "megatron-core"
    assert found.values == {
        "kind": "training", "sequence_length": 8192, "global_batch": 1152, "precision": "bf16",
        "tp": 8, "pp": 8, "vpp": 8, "cp": 2, "sp": True, "rank_order": "tp-cp-ep-dp-pp",
    }  # fmt: skip
    assert found.place_of("job.global_batch").line == 6
    assert found.place_of("strategy.ep").line == 8, "a key that is absent is placed at its section"


def test_json_says_the_same_as_yaml(tmp_path):
    data = {"cluster": {"system": "dgx-h100", "accelerators": 8}, "model": "llama-3.1-8b", "job": {"sequence_length": 4096}, "strategy": {"tp": 8}}
    found = read_scenario(write(tmp_path, json.dumps(data, indent=1), "x.json"))
    again = read_scenario(write(tmp_path, json.dumps(data), "x.yaml"))
    assert (found.values, found.cluster, found.model) == (again.values, again.cluster, again.model)
    assert found.place_of("job.sequence_length").line == 8


def test_a_cluster_may_be_one_name(tmp_path):
    assert read_scenario(write(tmp_path, "cluster: dgx-h100\n")).cluster == {"system": "dgx-h100"}


def test_sections_of_other_questions_are_kept(tmp_path):
    assert read_scenario(write(tmp_path, "site: {pue: 1.2}\nprices: {kWh: 0.1}\n")).other == {"site": {"pue": 1.2}, "prices": {"kWh": 0.1}}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed(case, tmp_path):
    text, rule, remedy = MALFORMED[case]
    assert message(tmp_path, text) == f"error: {rule}\n  remedy: {remedy}"


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_in_chinese_has_a_text_of_its_own(case, tmp_path):
    told = message(tmp_path, MALFORMED[case][0], "zh")
    assert told.startswith("错误：")
    assert "处理办法：" in told
    assert "(" not in told.split("：", 1)[1].split("\n")[0] or case in ("rank order",), "no placeholder fell back to the bare id"


def test_files_that_are_no_text(tmp_path):
    assert message(tmp_path, b"\xff\xfe") == "error: x.yaml:1: the file x.yaml is not UTF-8 text (byte 0xff)\n  remedy: Save the file as UTF-8."
    with pytest.raises(InputError, match="does not exist"):
        read_scenario(tmp_path / "missing.yaml")
    with pytest.raises(InputError, match="this is a folder"):
        read_scenario(tmp_path)


def test_a_comma_too_many_in_json(tmp_path):
    told = message(tmp_path, '{"strategy": {"tp": 8,}}', name="x.json")
    assert told.startswith("error: x.json:1:22: a comma stands before a closing bracket")


def test_too_many_values_by_aliases(tmp_path):
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 8)]
    assert "nested too deeply" in message(tmp_path, "\n".join(lines) + "\n")


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text):
    # Any other exception fails the test.
    with contextlib.suppress(InputError):
        assert isinstance(parse_document(text, "x.yaml").data, dict)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_spellings_are_unique(setting):
    flags = [part for s in SETTINGS for flag in s.flags for part in flag.split("/")]
    assert len(flags) == len(set(flags))
    for flag in setting.flags:
        assert meant(flag.split("/")[0]) in (setting.name, None)


def test_the_collected_malformed_yaml():
    path = SHARED / "cases" / "inputs" / "malformed" / "yaml_tabs.yaml"
    if not path.exists():
        pytest.skip("the shared cases are not here")
    with pytest.raises(InputError) as caught:
        read_scenario(path)
    assert caught.value.message_id == "scenario.tab"
    assert caught.value.place.line == 2


@pytest.mark.parametrize(
    ("text", "line", "option"),
    [
        ("name: pod\naccelerator: H100\nnode_size: 8\ntiers: []\n", 2, "--system x.yaml"),
        ("name: pod\ntiers: []\n", 2, "--system x.yaml"),
        ("architectures: [LlamaForCausalLM]\nhidden_size: 4096\n", 1, "--model x.yaml"),
    ],
)
def test_a_file_that_another_option_takes(text, line, option):
    with pytest.raises(InputError) as caught:
        scenario_of(parse_document(text, "x.yaml"))
    assert caught.value.place.line == line
    for lang in ("en", "zh"):
        told = render_error(caught.value, lang)
        assert option in told
        assert all(word in told for word in ("-n", "--seq-len", "--global-batch"))


def test_a_scenario_with_a_stray_key_is_still_a_scenario():
    with pytest.raises(InputError) as caught:
        scenario_of(parse_document("cluster: dgx-h100\nnode_size: 8\n", "x.yaml"))
    assert caught.value.message_id == "scenario.key_unknown_near"
