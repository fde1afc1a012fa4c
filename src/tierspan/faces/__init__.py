"""Floor 7: where answers are told."""
