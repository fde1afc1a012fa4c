"""What a log says about the run around the table: ranks, hosts, accelerator, library, transport, settings."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tierspan.formats.bench.lines import Line
from tierspan.formats.bench.secrets import kept_settings, redacted
from tierspan.specs.benchmark import BenchmarkContext

_RANK = re.compile(r"Rank\s+(\d+)\s+(?:Group\s+\d+\s+)?Pid\s+\d+\s+on\s+(\S+)\s+device\s+(\d+)\s+\[[^\]]*\]\s*(.*)$")
_VERSION = re.compile(r"\b(NCCL|RCCL) version\s*:?\s*(\d+\.\d+(?:\.\d+)?)")
_HEADER_VERSION = re.compile(r"nccl-library=(\d{4,6})\b")
_THREADS = re.compile(r"nThreads?\s+(\d+)\s+nGpus\s+(\d+)")
_GPUS_FLAG = re.compile(r"_perf\b[^\n]*?\s-(?:g|-ngpus)\s+(\d+)\b")
_TUNED = re.compile(r"(\d+) Bytes -> Algo (\S+) proto (\S+)")
_USED = re.compile(
    r"(\d+) Bytes -> \bAlgo(?:rithm)?[ =:]+(RING|TREE|NVLS_TREE|NVLS|COLLNET\w*|PAT)\b.*?\bproto(?:col)?[ =:]+(LL128|LL|SIMPLE)\b", re.I
)
_HCA = re.compile(r"\[\d+\](\w+):\d+/(IB|RoCE)")
_ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
_PROTOCOLS = ("LL", "LL128", "Simple")
_WORDS = {"two": 2, "three": 3, "four": 4, "eight": 8, "sixteen": 16}
_NODES = re.compile(rf"\b(\d{{1,5}}|{'|'.join(_WORDS)})\s*x?\s+(?:nodes?\b|[\w.-]+ instances?\b|[a-z]\d\w*\.\d*\w*large?\b)", re.I)
_FAMILIES = r"[AHBLV]\d{2,3}S?|GH200|GB200|GB300|MI\d{3}[AX]?|Gaudi ?[23]|Ascend ?910[A-D]?|TPU ?v\d\w?|Trainium\d?"
_ACCELERATOR = re.compile(rf"\b((?:{_FAMILIES})(?:[- ](?:SXM\d?|PCIE|NVL)\b[\w-]*)?)s?\b")


@dataclass(slots=True)
class Gathered:
    """Facts of one run as they are met; ``context`` makes the typed form of them."""

    ranks_listed: dict[int, tuple[str, int]] = field(default_factory=dict)
    devices: list[str] = field(default_factory=list)
    library: str = ""
    library_version: str = ""
    networks: list[str] = field(default_factory=list)
    hcas: set[str] = field(default_factory=set)
    tuned: dict[int, tuple[str, str]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    nvls: bool | None = None
    gdr: bool | None = None
    per_process: int | None = None
    processes: int | None = None
    program: str = ""
    prose: list[str] = field(default_factory=list)
    nranks: set[int] = field(default_factory=set)
    nodes_said: set[int] = field(default_factory=set)
    nics_said: int | None = None

    def take(self, line: Line, *, prose: bool = True) -> None:
        """Take the facts of a line; ``prose=False`` leaves out accelerators that running text names."""
        text = line.text
        if line.said:
            self.hear(line.said)
        if not text:
            return
        if match := _RANK.search(text):
            self.ranks_listed[int(match[1])] = (match[2], int(match[3]))
            if name := match[4].strip():
                self.devices.append(name)
            return
        if match := _VERSION.search(text):
            self.library, self.library_version = match[1].upper(), match[2]
        if match := _HEADER_VERSION.search(text):
            self.library, self.library_version = "NCCL", version_of(int(match[1]))
        if match := _THREADS.search(text):
            self.per_process = int(match[1]) * int(match[2])
        if "NCCL_" in text:
            self.environment.update(kept_settings(text))
        if "_perf" in text:
            self._take_command(text)
        elif prose:
            self.prose += _ACCELERATOR.findall(text)
        if prose:
            self.nodes_said |= {_WORDS.get(n.lower()) or int(n) for n in _NODES.findall(text)}
        if text.startswith("#") and (match := re.search(r"\b(\d{1,2})\s?x?\s?NICs?\b", text)):
            self.nics_said = int(match[1])

    def _take_command(self, text: str) -> None:
        program = re.search(r"\b(\w+_perf(?:_mpi)?)\b(.*)$", text)
        if not program:
            return
        self.program = command_of(program[1], program[2])
        if match := re.search(r"-(?:np|n|ntasks)[ =](\d+)\b|--ntasks[ =](\d+)\b", text[: program.start()]):
            self.processes = int(match[1] or match[2])
        if match := _GPUS_FLAG.search(text):
            self.per_process = int(match[1])
            if self.processes is None and not re.search(r"mpirun|mpiexec|srun|kubectl|prun|flux|aprun", text):
                self.processes = 1

    def hear(self, said: str) -> None:
        """Take what NCCL says in one of its messages."""
        if match := _VERSION.search(said):
            self.library, self.library_version = match[1].upper(), match[2]
        if match := re.search(r"\bnranks (\d+)\b", said):
            self.nranks.add(int(match[1]))
        if match := re.search(r"Using network (\S+)", said):
            self.networks.append(match[1])
        elif said.startswith("NET/") and " : Using " in said:
            self.networks.append(said.split()[0].removeprefix("NET/").rstrip(":"))
            self.hcas |= {name for name, _ in _HCA.findall(said)}
            self.networks += ["RoCE"] if "/RoCE" in said else []
        elif "via NET/" in said:
            self.gdr = bool(self.gdr) or "GDRDMA" in said
            self.networks.append(said.split("via NET/", 1)[1].split("/")[0])
        if re.search(r"NVLS multicast support is available|NVLS Head|NVLS tuning|\bNVLS comm\b|Connected NVLS", said):
            self.nvls = True
        elif re.search(r"NVLS multicast support is not available", said):
            self.nvls = False
        if match := _TUNED.search(said) or _USED.search(said):
            self.tuned[int(match[1])] = (_named(match[2], _ALGORITHMS), _named(match[3], _PROTOCOLS))
        if match := re.search(r"(NCCL_\w+) set by environment to (\S+)", said):
            self.environment.update(kept_settings(f"{match[1]}={match[2].rstrip('.')}"))

    def declared_ranks(self) -> int | None:
        """Ranks as the log lists or states them; ``None`` where the list is cut or nothing is said."""
        listed = sorted(self.ranks_listed)
        if listed and listed == list(range(len(listed))):
            return len(listed)
        if not listed and len(self.nranks) == 1:
            return next(iter(self.nranks))
        if not listed and self.processes and self.per_process:
            return self.processes * self.per_process
        return None

    def least_ranks(self) -> int:
        """The ranks there are at least: the highest one listed and one."""
        return max(self.ranks_listed, default=-1) + 1

    def context(self, ranks: int | None, largest_bytes: int = 0) -> BenchmarkContext:
        """Make the typed context, for the number of ranks found and the largest size of the table."""
        hosts = tuple(dict.fromkeys(host for host, _ in self.ranks_listed.values()))
        nodes, per_node = self._nodes(hosts, ranks)
        names = list(dict.fromkeys(self.devices)) or list(dict.fromkeys(self.prose))
        # Several names in the prose may belong to several machines; a rank list may hold several kinds for one run.
        accelerator = names[0] if len(names) == 1 else " + ".join(names) if self.devices else ""
        # NCCL chooses by size: what it chose for small sizes says nothing about the run.
        chosen = self.tuned if max(self.tuned, default=-1) >= largest_bytes else {}
        algorithms, protocols = {a for a, _ in chosen.values()}, {p for _, p in chosen.values()}
        settings = self.environment
        forced = settings.get("NCCL_NVLS_ENABLE")
        return BenchmarkContext(
            ranks=ranks,
            nodes=nodes,
            ranks_per_node=per_node,
            accelerator=accelerator,
            hosts=hosts,
            library=self.library,
            library_version=self.library_version,
            transport=_transport(self.networks),
            nics_per_node=len(self.hcas) or self.nics_said,
            algorithm=settings.get("NCCL_ALGO", "") or (algorithms.pop() if len(algorithms) == 1 else ""),
            protocol=settings.get("NCCL_PROTO", "") or (protocols.pop() if len(protocols) == 1 else ""),
            nvls=False if forced == "0" else self.nvls,
            gpu_direct_rdma=self.gdr,
            command=self.program,
            environment=dict(sorted(settings.items())),
        )

    def _nodes(self, hosts: Sequence[str], ranks: int | None) -> tuple[int | None, int | None]:
        if ranks is None:
            return None, None
        if not hosts:
            said = next(iter(self.nodes_said)) if len(self.nodes_said) == 1 else 0
            said = said or int(self.processes == 1 and self.per_process == ranks)
            return (said, ranks // said) if said and ranks % said == 0 else (None, None)
        if len(self.ranks_listed) == ranks:
            counts = {sum(1 for host, _ in self.ranks_listed.values() if host == name) for name in hosts}
            return len(hosts), counts.pop() if len(counts) == 1 else None
        # A shortened list: a rank minus its device is a multiple of the ranks a node.
        offsets = [rank - device for rank, (_, device) in self.ranks_listed.items() if rank > device]
        highest = max(device for _, device in self.ranks_listed.values())
        if not offsets:
            return (1, ranks) if len(hosts) == 1 and highest == ranks - 1 else (None, None)
        step = math.gcd(*offsets)
        ways = [n for n in range(highest + 1, step + 1) if step % n == 0 and ranks % n == 0 and ranks // n >= len(hosts)]
        exact = [n for n in ways if ranks // n == len(hosts)]
        per_node = exact[0] if exact else ways[0] if len(ways) == 1 else 0
        return (ranks // per_node, per_node) if per_node else (None, None)


def command_of(program: str, rest: str) -> str:
    """Return a benchmark's name with its plain flags; a launcher's part of a line, and all that is not plain, can hold anything."""
    flags = re.match(r"(?:\s+-{1,2}[A-Za-z_]{1,24}(?:[ =][\w.]{1,12})?(?=\s|$))*", rest)
    return redacted((program + (flags[0] if flags else "")).strip())


def version_of(code: int) -> str:
    """Return the version of NCCL's number for it: 21903 is 2.19.3, 2708 is 2.7.8."""
    return f"{code // 10000}.{code // 100 % 100}.{code % 100}" if code >= 20000 else f"{code // 1000}.{code // 100 % 10}.{code % 100}"


def gather(lines: Iterable[Line]) -> Gathered:
    """Gather the facts of a stretch of lines."""
    found = Gathered()
    for line in lines:
        found.take(line)
    return found


def with_facts(context: BenchmarkContext, **facts: object) -> BenchmarkContext:
    """Return the context with facts filled in where it has none."""
    return replace(context, **{k: v for k, v in facts.items() if getattr(context, k) in (None, "", ())})  # type: ignore[arg-type]


def _named(code: str, names: Sequence[str]) -> str:
    if code.isdigit():
        return names[int(code)] if int(code) < len(names) else ""
    return next((name for name in names if name.lower() == code.lower().replace("_", "")), code)


def _transport(networks: Sequence[str]) -> str:
    names = {name.strip(" :") for name in networks}
    for fabric, words in (
        ("EFA", ("AWS", "Libfabric", "OFI")), ("FasTrak", ("FasTrak", "TCPXO")), ("TCPX", ("GPUDirectTCPX", "TCPX")), ("RoCE", ("RoCE",)),
        ("IB", ("IB", "UCX")), ("Socket", ("Socket",)),
    ):  # fmt: skip
        if any(name.lower().startswith(word.lower()) for name in names for word in words):
            return fabric
    return ""
