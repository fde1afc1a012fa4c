"""A topology dump as a cluster: reads a file and describes it; see ``specs.topology_system`` for what is assumed and found."""

from __future__ import annotations

from pathlib import Path

from tierspan.formats.topology import read_topology
from tierspan.specs.topology_system import Described, cluster_of_topology, describe_topology

__all__ = ["Described", "cluster_of_topology", "describe_file", "describe_topology"]


def describe_file(path: str | Path, *, accelerators: int | None = None, accelerator: str | None = None, system: str | None = None) -> Described:
    """Read a dump and describe it as a cluster of a catalogue system.

    Raises:
        InputError: the file is no dump that is known, or nothing in it singles out a system.
        UnknownNameError: the catalogue has no such accelerator or system.
    """
    return describe_topology(read_topology(path), accelerators=accelerators, accelerator=accelerator, system=system)
