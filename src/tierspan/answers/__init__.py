"""What to tell: one module an answer, typed results, no face."""
