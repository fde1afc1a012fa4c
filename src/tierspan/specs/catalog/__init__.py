"""The hardware catalogue: accelerators and systems, every figure with its source.

The data are the CSV files in ``data``; they keep figures as printed, with their unit, and what disagrees with them.
"""

from tierspan.specs.catalog.clusters import cluster, cluster_of
from tierspan.specs.catalog.names import Resolved, known_names, resolve
from tierspan.specs.catalog.own import own_parts
from tierspan.specs.catalog.parts import KINDS, Part, carrier, known_part_names, part, part_ids
from tierspan.specs.catalog.things import accelerator, accelerator_ids, default_system, fitting_system, system, system_ids

__all__ = [
    "KINDS",
    "Part",
    "Resolved",
    "accelerator",
    "accelerator_ids",
    "carrier",
    "cluster",
    "cluster_of",
    "default_system",
    "fitting_system",
    "known_names",
    "known_part_names",
    "own_parts",
    "part",
    "part_ids",
    "resolve",
    "system",
    "system_ids",
]
