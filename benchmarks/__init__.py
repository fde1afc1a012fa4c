"""Benchmarks of tierspan; ``scripts/bench`` runs them."""
