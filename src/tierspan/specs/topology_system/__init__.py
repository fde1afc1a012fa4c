"""What a topology dump says as a cluster of the catalogue: which system, how many, which network, and what looks wrong.

Nothing is guessed: what the dump leaves open is an assumption or a question, and where nothing decides it is refused.
"""

from tierspan.specs.topology_system.describe import Described, cluster_of_topology, describe_topology

__all__ = ["Described", "cluster_of_topology", "describe_topology"]
