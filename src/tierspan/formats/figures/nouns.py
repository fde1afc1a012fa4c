"""Things that sheets count, in English and Chinese, with one name each."""

from __future__ import annotations

import re
from typing import Final

_NOUNS: Final[dict[str, str]] = {
    "gpu": r"GPUs?|graphics cards?|加速卡|显卡",
    "accelerator": r"NPUs?|TPUs?|XPUs?|PPUs?|accelerators?|AI chips?|chips?|加速器|芯片|张卡|张|卡(?!间)",
    "die": r"dies|GCDs?|chiplets?|裸片|芯粒",
    "cpu": r"CPUs?|处理器",
    "leaf": r"leaf(?:\s+switches)?|leaves|叶交换机|叶子?交换机",
    "spine": r"spines?(?:\s+switches)?|脊交换机",
    "core": r"core switches|Core(?![\w\s]*(?:i\d|Ultra|processor))|核心交换机",
    "switch": r"switch(?:es)?|NVSwitch(?:es)?|交换机|交换芯片",
    "nic": r"NICs?|HCAs?|ConnectX-?\d*|CX-?\d|adapters?|网卡",
    "port": r"ports?|端口|[网光接]口|口",
    "link": r"links?|条?链路|条链路|路(?=NVLink|\s*NVLink)",
    "lane": r"lanes?|通道",
    "node": r"servers?|nodes?|hosts?|服务器|台服务器|节点|台|机",
    "rack": r"racks?|cabinets?|机柜|柜",
    "domain": r"super-?pods?|superpods?|super-?nodes?|pods?|超节点|套|sets?|systems?",
    "cable": r"cables?|线缆|光缆",
    "module": r"(?:optical\s+)?(?:modules?|transceivers?)|光模块",
    "plane": r"planes?|平面",
    "feed": r"feeds?|路供电",
    "shelf": r"(?:power\s+)?shelves|power\s+shelf|电源框",
    "psu": r"PSUs?|power supplies|电源模块|电源",
    "unit": r"pcs|pieces|个|只|颗",
    "user": r"users?|staff|people|并发|人",
    "slot": r"slots?|插槽",
}
NOUN: Final = "(?:" + "|".join(rf"(?:{p})" + (r"(?![A-Za-z])" if p[0].isascii() else "") for p in _NOUNS.values()) + ")"
LONG_NOUN: Final = (
    r"(?:GPUs?|NPUs?|accelerators?|加速卡|NICs?|HCAs?|网卡|leaf|spine|switch(?:es)?|交换机|ports?|网口|接口|端口|links?|链路|lanes?|通道|servers?|nodes?|hosts?"
    r"|服务器|节点|racks?|cabinets?|机柜|modules?|transceivers?|光模块|PSUs?|power supplies|电源)"
)
"""Names long enough to be looked for anywhere in a label, where one character would be found in other words."""
_COMPILED: Final = {name: re.compile(rf"(?:{pattern})", re.IGNORECASE) for name, pattern in _NOUNS.items()}


def noun_of(text: str) -> str:
    """The name of what is counted, "" where the word is none of these."""
    spelled = text.strip()
    for name, pattern in _COMPILED.items():
        if pattern.fullmatch(spelled):
            return name
    return ""
