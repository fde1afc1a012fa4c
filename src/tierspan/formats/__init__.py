"""Foreign text to specs and back."""
