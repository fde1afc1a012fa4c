"""Nothing secret leaves a log: of all settings only named ones of the communication library are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAMES = """
ALGO PROTO NVLS_ENABLE NVLS_NCHANNELS NVLS_CHUNKSIZE COLLNET_ENABLE COLLNET_NODE_THRESHOLD MIN_NCHANNELS MAX_NCHANNELS MIN_CTAS MAX_CTAS
NTHREADS BUFFSIZE P2P_DISABLE P2P_LEVEL P2P_DIRECT_DISABLE SHM_DISABLE NET NET_GDR_LEVEL NET_GDR_READ GDR_FLUSH_DISABLE NET_PLUGIN
NET_SHARED_BUFFERS NET_SHARED_COMMS SOCKET_IFNAME SOCKET_NTHREADS NSOCKS_PERTHREAD SOCKET_FAMILY IB_DISABLE IB_HCA IB_TIMEOUT IB_RETRY_CNT
IB_GID_INDEX IB_SL IB_TC IB_AR_THRESHOLD IB_QPS_PER_CONNECTION IB_SPLIT_DATA_ON_QPS IB_CUDA_SUPPORT IB_PCI_RELAXED_ORDERING
IB_ADAPTIVE_ROUTING IB_MERGE_NICS IB_ROCE_VERSION_NUM CROSS_NIC LL_THRESHOLD LL128_BUFFSIZE TREE_THRESHOLD GRAPH_MIXING_SUPPORT
GRAPH_REGISTER LOCAL_REGISTER MNNVL_ENABLE CUMEM_ENABLE PXN_DISABLE P2P_PXN_LEVEL P2P_NET_CHUNKSIZE P2P_NVL_CHUNKSIZE P2P_PCI_CHUNKSIZE
NCHANNELS_PER_NET_PEER NCHANNELS_PER_PEER DMABUF_ENABLE SHARP_DISABLE RUNTIME_CONNECT IGNORE_CPU_AFFINITY TUNER_PLUGIN DEBUG DEBUG_SUBSYS
FASTRAK_ENABLE_CONTROL_CHANNEL FASTRAK_NUM_FLOWS DYNAMIC_CHUNK_SIZE IB_FIFO_TC PAT_ENABLE WIN_ENABLE CTA_POLICY SYM_CTAS
"""

ALLOWED = frozenset(f"NCCL_{name}" for name in _NAMES.split())
"""Settings of NCCL and RCCL that say how data move. No file names, addresses or keys."""

_PAIR = re.compile(r"""(?<![\w-])([A-Za-z_]\w*)\s?=\s?("[^"]*"|'[^']*'|[^\s;]+)""")
_VALUE = re.compile(r"[A-Za-z0-9_.,:^=+/-]{1,60}")
_ANY_PAIR = re.compile(r"""([\w.-]+\s?[=:]\s?)("[^"]*"|'[^']*'|[^\s"']{4,})""")
_CREDENTIAL = re.compile(r"://[^\s/@]+@|\b(?:hf|ghp|gho|sk|xox[a-z]|AKIA|eyJ)[_-]?[A-Za-z0-9_-]{12,}")
_NAMED = re.compile(r"(?i)(token|secret|passw(?:or)?d|credential|api[_-]?key|authorization|bearer)\S*\s*[=:]?\s*\S+")
_LONG = re.compile(r"[A-Za-z0-9+/_=-]{28,}")


def kept_settings(text_or_pairs: str | Iterable[object]) -> dict[str, str]:
    """Return the allowed ``NAME=value`` settings in a text or a list of them; every other name and every odd value is dropped."""
    if isinstance(text_or_pairs, str):
        pairs = [(name, value.strip("\"'`,.")) for name, value in _PAIR.findall(text_or_pairs)]
    else:
        pairs = [(name, value) for name, _, value in (str(item).partition("=") for item in text_or_pairs)]
    return {name: value for name, value in pairs if name in ALLOWED and _VALUE.fullmatch(value) and not _CREDENTIAL.search(value)}


def redacted(text: str) -> str:
    """Return the text with values of settings, credentials and long opaque words replaced by ``***``."""
    text = _NAMED.sub(r"\1=***", _CREDENTIAL.sub("***", text))
    text = _ANY_PAIR.sub(lambda m: m[0] if m[1].rstrip(" =:") in ALLOWED and _VALUE.fullmatch(m[2].strip("\"'")) else m[1] + "***", text)
    return _LONG.sub(lambda m: m[0] if m[0].partition("=")[0] in ALLOWED or re.fullmatch(r"[-=_+\d]*", m[0]) else "***", text)
