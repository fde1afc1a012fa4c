"""Known models by name; the rows are data (``data/models.csv``, ``data/model_aliases.csv``)."""

from tierspan.specs.models.catalogue import find_model_id, model, model_ids, resolve_model_id

__all__ = ["find_model_id", "model", "model_ids", "resolve_model_id"]
