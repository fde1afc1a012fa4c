"""Topology dumps: NCCL and RCCL XML and logs, nvidia-smi, rocm-smi, ibnetdiscover, iblinkinfo."""

from tierspan.formats.topology.reader import FORMATS, read_topology, recognise

__all__ = ["FORMATS", "read_topology", "recognise"]
