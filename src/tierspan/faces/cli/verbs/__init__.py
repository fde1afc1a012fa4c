"""The verbs, one file each; each holds one Click command named ``command``."""
