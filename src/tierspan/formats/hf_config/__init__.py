"""Hugging Face ``config.json`` (and the key names of Megatron and Calculon) to a ``ModelSpec``."""

from tierspan.formats.hf_config.reader import model_from_mapping, read_config

__all__ = ["model_from_mapping", "read_config"]
