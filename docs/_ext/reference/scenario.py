"""The keys of a scenario file, from the settings that command line and Python share with it."""

from __future__ import annotations

from reference.markdown import code, page, plain, table
from tierspan.formats.scenario.scenario import CLUSTER_KEYS
from tierspan.formats.scenario.settings import SETTINGS, Setting
from tierspan.quantities.messages import fill, has

_HEADS = {"en": ("key", "value", "on the command line", "meaning"), "zh": ("键", "值", "命令行写法", "含义")}
_KINDS = {
    "en": {
        "count": "whole number",
        "flag": "true, false",
        "share": "0 to 1",
        "ratio": "1 or more",
        "order": "text",
        "amount": "number, or text such as 15T",
    },
    "zh": {"count": "整数", "flag": "true、false", "share": "0 至 1", "ratio": "不小于 1", "order": "文本", "amount": "数，或如 15T 的文本"},
}
_NAMED = ("system", "accelerator", "nic")
_TEXT = {"en": "text", "zh": "文本"}


def scenario_page(lang: str) -> str:
    """One table for each section: cluster, job, strategy."""
    parts = []
    for section in ("cluster", "job", "strategy"):
        rows = [_row(setting, lang) for setting in SETTINGS if setting.section == section]
        if section == "cluster":
            named = [key for key in CLUSTER_KEYS if key in _NAMED]
            rows = [(code(f"cluster.{key}"), _TEXT[lang], code(f"--{key}"), plain(fill(f"predict.option.{key}", lang, {}))) for key in named] + rows
        parts += [f"### {section}", table(_HEADS[lang], rows)]
    return page(*parts)


def _row(setting: Setting, lang: str) -> tuple[str, str, str, str]:
    meaning = f"predict.option.{setting.name}"
    value = ", ".join(code(choice) for choice in setting.choices) or _KINDS[lang][setting.kind]
    flags = "<br>".join(code(flag) for flag in setting.flags)
    return code(setting.path), value, flags, plain(fill(meaning, lang, {})) if has(meaning) else ""
