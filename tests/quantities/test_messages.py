"""The catalogues: English and Chinese hold the same, every error has a remedy, and a user never meets a failure of theirs."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from string import Formatter

import pytest

from tierspan.quantities import messages
from tierspan.quantities.errors import InputError, Place, UnknownNameError
from tierspan.quantities.findings import Finding
from tierspan.specs.catalog.tables import rows

EXPECTED = ("a text", "a list", "a single value", "a mapping", "a number", "a whole number", "true or false", "a number or a text with a unit")
SOURCE = Path(messages.__file__).parents[2]
FOLDER = Path(messages.__file__).parent
AREAS = sorted(
    path.name for lang in ("en", "zh") for path in (FOLDER / lang).glob("*.json") if lang == "en" or not (FOLDER / "en" / path.name).exists()
)
RAISED = re.compile(r"\b(?:InputError|UnknownNameError|UnsupportedError|MissingExtraError)\(\s*\"([a-z0-9_.]+)\"")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


@pytest.fixture
def strict():
    earlier = messages.set_strict(True)
    yield
    messages.set_strict(earlier)


@pytest.mark.parametrize("area", AREAS)
def test_languages_hold_the_same_ids_and_placeholders(area):
    english, chinese = (json.loads((FOLDER / lang / area).read_text(encoding="utf-8")) for lang in ("en", "zh"))
    assert english.keys() == chinese.keys()
    differing = {id_ for id_ in english if placeholders(english[id_]) != placeholders(chinese[id_])}
    assert not differing
    assert all(isinstance(text, str) and text.strip() for text in (*english.values(), *chinese.values()))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_id_stands_in_two_areas(lang):
    count = Counter(id_ for path in (FOLDER / lang).glob("*.json") for id_ in json.loads(path.read_text(encoding="utf-8")))
    assert [id_ for id_, times in count.items() if times > 1] == []


def test_every_remedy_belongs_to_a_message():
    known = messages.catalogue("en")
    assert [id_ for id_ in known if id_.endswith(".remedy") and id_ != "render.remedy" and id_.removesuffix(".remedy") not in known] == []


def test_a_remedy_needs_no_value_that_the_rule_cannot_have():
    assert [id_ for id_, text in messages.catalogue("en").items() if "{}" in text or "{0}" in text] == []


def test_every_raised_error_has_text_and_remedy():
    raised = {id_ for path in SOURCE.rglob("*.py") for id_ in RAISED.findall(path.read_text(encoding="utf-8"))}
    assert {"units.unknown", "units.range"} <= raised
    assert sorted(id_ for id_ in raised if not (messages.has(id_) and messages.has(f"{id_}.remedy"))) == []


def test_every_error_of_the_own_areas_has_a_remedy():
    for area in ("errors", "units"):
        ids = json.loads((FOLDER / "en" / f"{area}.json").read_text(encoding="utf-8"))
        rules = [id_ for id_ in ids if not id_.endswith((".remedy", ".far")) and not id_.startswith(("severity.", "render.", "units.reading."))]
        assert [id_ for id_ in rules if f"{id_}.remedy" not in ids] == []


def test_render_error_in_both_languages():
    error = UnknownNameError("key.unknown", "tenosr", ["tensor", "layers"], place=Place("job.yaml", 3, key="strategy"))
    assert str(error) == (
        "error: job.yaml:3 [strategy]: the key tenosr is not known here; nearest: tensor\n  remedy: Correct the spelling, or remove the key."
    )
    assert messages.render_error(error, "zh") == (
        "错误：job.yaml:3 [strategy]：此处不认识键 tenosr；最接近的有：tensor\n  处理办法：请更正拼写，或删除该键。"
    )


def test_nothing_near_is_no_empty_list():
    for id_, text in messages.catalogue("en").items():
        if text.endswith("{suggestions}"):
            far = messages.catalogue("en")[f"{id_}.far"]
            assert text.startswith(far)
            assert "suggestions" not in placeholders(far)
    error = UnknownNameError("key.unknown", "zzzz", ["tensor", "layers"])
    assert str(error) == "error: the key zzzz is not known here\n  remedy: Correct the spelling, or remove the key."
    assert messages.render_error(error, "zh") == "错误：此处不认识键 zzzz\n  处理办法：请更正拼写，或删除该键。"


def test_phrases_of_the_catalogue_are_told_in_every_language():
    phrases = {row["assumed"] for row in rows("aliases") if row["assumed"]} | set(EXPECTED)
    for phrase in phrases:
        assert messages.word(phrase, "en") == phrase
        assert re.search("[\u4e00-\u9fff]", messages.word(phrase, "zh")), phrase
    assert messages.fill("question.alias", "zh", {"name": "NVL72", "assumed": "generation not stated: GB200"}).endswith("未说明代次，取 GB200")
    assert "应为整数" in messages.fill("value.type", "zh", {"key": "n", "expected": "a whole number", "value": "x"})
    assert messages.word("no such phrase", "zh") == "no such phrase"


def test_no_blank_stands_between_two_chinese_characters():
    values = {"low": "15.2 秒", "high": "18.8 秒"}
    assert messages.fill("predict.range", "zh", values) == "15.2 秒至 18.8 秒"
    assert messages.fill("predict.range", "zh", {"low": "692 ms", "high": "858 ms"}) == "692 ms 至 858 ms"
    assert messages.fill("predict.range", "en", values) == "15.2 秒 to 18.8 秒"
    # What a user wrote stays as it is.
    assert "我的 文件" in messages.fill("file.not_found", "zh", {"path": "我的 文件"})
    assert messages.fill("json.not_object.remedy", "zh", {}).endswith('{"key": value, ...}')


def test_chinese_texts_keep_to_the_terms_of_the_field():
    texts = "\n".join(messages.catalogue("zh").values())
    assert not re.findall("[\u4e00-\u9fff] [\u4e00-\u9fff]|[\u4e00-\u9fff]rank|rank[\u4e00-\u9fff]|微批(?!次)|(?<!低)秩", texts)
    jobs = "predict|fit|memory|question|strategy|report|page|validate|calibrate|glossary"
    memory = [text for id_, text in messages.catalogue("zh").items() if re.match(f"(?:{jobs})[.]", id_) and "内存" in text]
    assert [text for text in memory if not re.search("主机内存|内存语义|内存访问|机器的内存", text)] == []


def test_render_without_a_place_leaves_no_empty_part():
    assert str(InputError("key.missing", key="model")) == "error: the key model is required and missing\n  remedy: Add model."


def test_render_finding_names_the_severity():
    finding = Finding("key.missing", "question", {"key": "direction"})
    assert messages.render_finding(finding).startswith("question: the key direction")
    assert messages.render_finding(finding, "zh").startswith("待确认：缺少必填键 direction")


def test_a_user_sees_id_and_values_where_no_text_can_be_made():
    assert messages.text("no.such.id", a=1, b="x") == "no.such.id (a=1, b=x)"
    assert messages.text("no.such.id") == "no.such.id"
    assert messages.text("key.missing", other=2) == "key.missing (other=2)"
    assert messages.text("key.missing", lang="xx", key="a") == "the key a is required and missing"
    assert "remedy: key.missing.remedy" in str(InputError("key.missing"))


@pytest.mark.parametrize("name", ["lang", "message_id", "values", "self"])
def test_a_value_may_have_any_name_in_an_error(name):
    if name in ("message_id", "self"):
        assert messages.fill("no.such.id", "en", {name: 1}) == f"no.such.id ({name}=1)"
    else:
        assert str(InputError("no.such.id", **{name: 1})) == f"error: no.such.id ({name}=1)"


def test_strict_raises(strict):
    with pytest.raises(messages.UnknownMessageError, match=r"no\.such\.id"):
        messages.text("no.such.id")
    with pytest.raises(messages.UnknownMessageError, match="cannot fill"):
        messages.text("key.missing")


def test_languages():
    assert messages.languages() == ("en", "zh")
