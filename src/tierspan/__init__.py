"""tierspan tells what an AI cluster will deliver before it is bought, rented or rewired.

The answers are functions that return frozen typed objects; a name is imported when it is first used, so that ``import tierspan`` costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tierspan.answers.calibrate import calibrate as calibrate
    from tierspan.answers.catalog import list_catalog as list_catalog
    from tierspan.answers.catalog import show_accelerator as show_accelerator
    from tierspan.answers.catalog import show_system as show_system
    from tierspan.answers.catalog_compare.comparison import compare_parts as compare_parts
    from tierspan.answers.collective import collective as collective
    from tierspan.answers.compare import compare as compare
    from tierspan.answers.model import describe_model as describe_model
    from tierspan.answers.validate import validate as validate
    from tierspan.faces.exports.perfetto import write_trace as write_trace
    from tierspan.faces.python import audit as audit
    from tierspan.faces.python import compare_systems as compare_systems
    from tierspan.faces.python import figure as figure
    from tierspan.faces.python import fit as fit
    from tierspan.faces.python import predict as predict
    from tierspan.faces.python import question as question
    from tierspan.faces.python import report as report
    from tierspan.faces.python import scale as scale
    from tierspan.faces.python import tier_between as tier_between
    from tierspan.faces.python import to_json as to_json
    from tierspan.faces.python import trace as trace
    from tierspan.quantities.errors import InputError as InputError
    from tierspan.quantities.errors import MissingExtraError as MissingExtraError
    from tierspan.quantities.errors import Place as Place
    from tierspan.quantities.errors import TierspanError as TierspanError
    from tierspan.quantities.errors import UnknownNameError as UnknownNameError
    from tierspan.quantities.errors import UnsupportedError as UnsupportedError
    from tierspan.specs.profile.load import load_profile as load_profile

__version__ = "0.1.0"

# Public name -> the module it comes from. Keep it, the imports for type checkers above and __all__ in step (tests/house compares them).
_HOMES = {
    "InputError": "tierspan.quantities.errors",
    "MissingExtraError": "tierspan.quantities.errors",
    "Place": "tierspan.quantities.errors",
    "TierspanError": "tierspan.quantities.errors",
    "UnknownNameError": "tierspan.quantities.errors",
    "UnsupportedError": "tierspan.quantities.errors",
    "audit": "tierspan.faces.python",
    "compare_systems": "tierspan.faces.python",
    "figure": "tierspan.faces.python",
    "fit": "tierspan.faces.python",
    "predict": "tierspan.faces.python",
    "question": "tierspan.faces.python",
    "report": "tierspan.faces.python",
    "scale": "tierspan.faces.python",
    "tier_between": "tierspan.faces.python",
    "to_json": "tierspan.faces.python",
    "trace": "tierspan.faces.python",
    "write_trace": "tierspan.faces.exports.perfetto",
    "calibrate": "tierspan.answers.calibrate",
    "validate": "tierspan.answers.validate",
    "load_profile": "tierspan.specs.profile.load",
    "compare": "tierspan.answers.compare",
    "collective": "tierspan.answers.collective",
    "compare_parts": "tierspan.answers.catalog_compare.comparison",
    "describe_model": "tierspan.answers.model",
    "list_catalog": "tierspan.answers.catalog",
    "show_accelerator": "tierspan.answers.catalog",
    "show_system": "tierspan.answers.catalog",
}

__all__ = [
    "InputError",
    "MissingExtraError",
    "Place",
    "TierspanError",
    "UnknownNameError",
    "UnsupportedError",
    "__version__",
    "audit",
    "calibrate",
    "collective",
    "compare",
    "compare_parts",
    "compare_systems",
    "describe_model",
    "figure",
    "fit",
    "list_catalog",
    "load_profile",
    "predict",
    "question",
    "report",
    "scale",
    "show_accelerator",
    "show_system",
    "tier_between",
    "to_json",
    "trace",
    "validate",
    "write_trace",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'tierspan' has no attribute {name!r}")
    import_module("tierspan.faces.python")  # from now on, results show themselves
    value: object = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
