"""Sentences with figures, computed again."""
