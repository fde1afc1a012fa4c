"""Memory of a training job on its heaviest rank."""

from tierspan.laws.memory.constants import MemoryConstants, fitted_memory, memory_priors
from tierspan.laws.memory.terms import MemoryTerms, memory_terms

__all__ = ["MemoryConstants", "MemoryTerms", "fitted_memory", "memory_priors", "memory_terms"]
