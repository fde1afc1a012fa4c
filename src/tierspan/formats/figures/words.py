"""The words around figures, in English and Chinese: what they say of tier, direction, scope, density, precision, basis."""

from __future__ import annotations

import re
from typing import Final

Vocabulary = dict[str, re.Pattern[str]]


def _words(table: dict[str, str]) -> Vocabulary:
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in table.items()}


TIERS: Final = _words(
    {
        "memory": r"HBM\w*|\bstacks?\b|GDDR\w*|\bmemory\b(?!\s+semantic)|\bVRAM\b|显存|内存(?!语义)|存储带宽",
        "scale-up": r"NVLink(?!\s*Fusion)|NVSwitch|xGMI|Infinity\s?Fabric|UA\s?Link|\bUB\b|Unified\s?Bus|灵衢|\bHCCS\b|\bICI\b|NeuronLink"
        r"|\bOISA\b|ETH-?X|GPU[\s-]to[\s-]GPU|scale[\s-]?up|chip[\s-]to[\s-]chip|片间|卡间|纵向|accelerator_interconnect(?!_topology)"
        r"|(?:机|节点|域)内(?:卡间)?互[连联]|芯片互[连联]|(?:in|intra)[\s-]?node|die[\s-]to[\s-]die",
        "host": r"\bPCI[\s-]?e?\b|PCI\s?Express|\bCXL\b|host\s+link",
        "storage": r"\bstorage\b|存储网?络?(?!带宽)",
        "management": r"\bmanagement\b|\bfront[\s-]?end\b|\bout[\s-]of[\s-]band\b|\bOOB\b|\bBMC\b|\bVPC\b|管理网?络?|前端|带外|业务网",
        "dci": r"\bDCI\b|data\s?cent(?:er|re)\s+interconnect|inter[\s-]site|数据中心(?:之?间|互联)|跨数据中心",
        "scale-out": r"Infini\s?Band|\bIB\b|\bRoCE\w*|Ethernet|\bGbE\b|以太网|\bNICs?\b|\bHCAs?\b|网卡|ConnectX|\bCX-?[5-8]\b"
        r"|back[\s-]?end|scale[\s-]?out"
        r"|compute\s+(?:network|fabric)|计算网|横向|集群网|\bEFA\b|\bleaf\b|\bspine\b|\bNDR\b|\bXDR\b|\bHDR\b|\bEDR\b"
        r"|参数面|算力网|Slingshot|host_network",
    }
)
"""The tier that a word names; the nearest word to a figure decides."""
DENSITY: Final = _words(
    {
        "dense": r"\bdense\b|(?:without|w/o|no|non|not)[\s-]+(?:2\s?:\s?4\s+|structured\s+)*spars\w+|稠密"
        r"|(?:不含|不带|不计|不开启?|不启用|未启用|关闭|关掉|无|非)(?:结构化)?稀疏",
        "sparse": r"sparse|sparsity|稀疏|2\s?:\s?4|structured",
    }
)
"""Density; that of dense comes first, for "without sparsity" holds a word of both."""
PRECISIONS: Final = _words(
    {
        "fp64": r"FP-?64|double\s+precision|双精度",
        "tf32": r"TF-?32",
        "fp32": r"FP-?32|single\s+precision|单精度",
        "bf16": r"BF-?16|bfloat-?16",
        "fp16": r"FP-?16|half\s+precision|半精度",
        "fp8": r"(?:MX)?FP-?8",
        "int8": r"INT-?8",
        "fp6": r"(?:MX)?FP-?6",
        "fp4": r"(?:NV|MX)?FP-?4",
        "int4": r"INT-?4",
    }
)
SCOPES: Final = _words(
    {
        "lane": r"(?:per|each|every|/)\s?-?lane|每个?通道|单通道",
        "link": r"(?<![A-Za-z])link[\s_]*(?:rate|bandwidth|speed)|(?:per|each|every|/)\s?-?link|每条(?:链路)?|单条?链路",
        "port": r"(?:per|each|every|/)\s?-?port|每个?端?口|单端?口|\bports?\b",
        "die": r"(?:per|each|/)\s?-?(?:die|GCD|chiplet)|(?:each|one)\s+of\s+(?:the\s+|its\s+)?(?:\w+\s+)?(?:dies|GCDs|chiplets)"
        r"|[每单]个?\s?(?:die|GCD|裸片|芯粒)",
        "package": r"(?:per|each|every|/)\s?-?package|(?<!on )(?<!on-)(?<!in )(?<!in-)\bpackage\b|[每整单]?个?封装",
        "superchip": r"super\s?chip|超级芯片",
        "accelerator": r"(?:per|each|every|/)\s?-?(?:GPU|NPU|TPU|XPU|PPU|card|chip|accelerator|device)"
        r"|每张?卡|单张?卡|每个?芯片|单芯片|每个?(?:GPU|NPU)|/卡",
        "node": r"(?:per|each|every|/|a)\s?-?(?:node|server|host|box|system|tray)\b|每台|单台|每个?节点|单节点|整机(?!柜)|每机|单机",
        "rack": r"(?:per|each|every|/|a)\s?-?(?:rack|cabinet)|每个?机?柜|单柜|整机?柜",
        "domain": r"(?:per|each|/)\s?-?(?:domain|pod|super-?pod|super-?node)|\bdomain\b|aggregate|每个?超节点|整个?超节点|全域",
        "switch": r"\bswitch(?:es|ing\s+capacity)?\b(?!ed)|交换(?:机|芯片|容量)",
        "cluster": r"\bcluster\b|\bin\s+total\b|全集群|总算力|共",
    }
)
LATENCY: Final = _words(
    {
        "chip": r"cut[\s-]?through|chip\s+latency|forwarding|switch\s+latency|hop|转发|交换时延|芯片时延",
        "port": r"port[\s-]to[\s-]port|端口到端口|端口间",
        "nic to nic": r"NIC[\s-]to[\s-]NIC|adapter\s+latency|网卡到网卡|网卡间|end[\s-]to[\s-]end|端到端",
        "accelerator to accelerator": r"GPU[\s-]to[\s-]GPU|accelerator[\s-]to[\s-]accelerator"
        r"|XPU[\s-]to[\s-]XPU|card[\s-]to[\s-]card|卡到卡|卡间|NPU[\s-]to[\s-]NPU",
        "collective": r"all[\s-]?reduce|all[\s-]?gather|all[\s-]?to[\s-]?all|collective|集合通信|全归约",
        "time to first token": r"TTFT|first\s+token|首字|首token",
        "time per token": r"TPOT|per\s+token|每token",
    }
)
PEAKS: Final = _words(
    {
        "sustained": r"sustained|achieved|measured|effective|实测|持续|有效",
        "typical": r"typical|典型|average|平均",
        "maximum": r"\bmax(?:imum)?\b|up\s+to|最大|最高",
        "nominal": r"nominal|rated|nameplate|额定|标称",
        "peak": r"\bpeak\b|峰值|theoretical|理论",
    }
)
LATENCY_WORDS: Final = re.compile(
    r"latency|delay|时延|延迟|\bRTT\b|\bhop\b|TTFT|TPOT|首字|\b(?:message|packet)s?\s+(?:takes?|needs?)\b|(?:port|NIC|[GNX]PU)[\s-]to[\s-](?:port|NIC|[GNX]PU)"
    r"|端口到端口|网卡到网卡|卡到卡|端到端",
    re.IGNORECASE,
)
EFFICIENCY_WORDS: Final = re.compile(r"energy\s+efficiency|efficiency|能效", re.IGNORECASE)


def nearest(vocabulary: Vocabulary, before: str, after: str) -> str:
    """The entry whose word stands nearest to the figure: the last one before it, else the first one behind it; "" for none."""
    best, place = "", -1
    for name, pattern in vocabulary.items():
        for match in pattern.finditer(before):
            if match.end() > place:
                best, place = name, match.end()
    if best:
        return best
    place = len(after) + 1
    for name, pattern in vocabulary.items():
        found = pattern.search(after)
        if found and found.start() < place:
            best, place = name, found.start()
    return best


def first_behind(vocabulary: Vocabulary, before: str, after: str) -> str:
    """As ``nearest``, but what stands behind the figure counts first: units are followed by what they are per."""
    return nearest(vocabulary, "", after) or nearest(vocabulary, before, "")
