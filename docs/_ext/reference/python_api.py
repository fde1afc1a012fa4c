"""The Python interface: every public name, and the types that it takes and returns with their fields."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from typing import Any, Final

import tierspan
from reference.markdown import block, code, page, plain, prose, table
from tierspan.answers import results
from tierspan.answers.question import Given, Question
from tierspan.answers.schemas import RESULTS, result_class
from tierspan.specs.profile.profile import Profile

WIDTH: Final = 110


def python_page(lang: str) -> str:
    """Functions, errors, what the keywords of a question are, and all result types."""
    del lang  # docstrings are English
    names = [name for name in tierspan.__all__ if name != "__version__"]
    things = {name: getattr(tierspan, name) for name in names}
    functions = {name: thing for name, thing in things.items() if inspect.isfunction(thing)}
    classes = {name: thing for name, thing in things.items() if inspect.isclass(thing)}
    return page(
        "## Functions",
        *(_function(name, function) for name, function in functions.items()),
        "## Keywords of a question",
        prose(inspect.getdoc(Given) or ""),
        table(("keyword", "type"), [(code(name), code(_annotation(kind))) for name, kind in Given.__annotations__.items()]),
        "## Errors",
        *(_class(name, found) for name, found in classes.items()),
        f"`tierspan.__version__` is the version as text: `{tierspan.__version__}`.",
        "## Types of answers",
        *(_class(found.__name__, found) for found in answer_types(functions.values()) if found not in classes.values()),
    )


def answer_types(functions: typing.Iterable[Callable[..., Any]]) -> list[type[Any]]:
    """The dataclasses that the answers consist of, each once, those that hold others before these."""
    found: list[type[Any]] = []
    roots: list[Any] = [Question, *(result_class(verb) for verb in RESULTS), *(_hints(function).get("return") for function in functions)]
    roots += [thing for thing in vars(results).values() if inspect.isclass(thing) and thing.__module__ == results.__name__]
    while roots:
        for part in _dataclasses_in(roots.pop(0)):
            if part not in found and part is not Profile:
                found.append(part)
                roots += list(typing.get_type_hints(part).values())
    return found


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Types of a function whose imports stand under TYPE_CHECKING; none where they cannot be found."""
    known = {**vars(results), "Question": Question, "Profile": Profile, "Given": Given}
    try:
        return typing.get_type_hints(function, localns=known)
    except NameError:
        return {}


def _dataclasses_in(kind: Any) -> Iterator[type[Any]]:
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if kind.__module__.startswith("tierspan."):
            yield kind
    else:
        for part in typing.get_args(kind):
            yield from _dataclasses_in(part)


def _function(name: str, function: Callable[..., Any]) -> str:
    return page(f"### tierspan.{name}", block(_signature(name, function), "python"), prose(inspect.getdoc(function) or ""))


def _signature(name: str, function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    parts = [re.sub(r"'([^']*)'", r"\1", str(parameter)) if parameter.default is inspect.Parameter.empty else _with_default(parameter)
             for parameter in signature.parameters.values()]  # fmt: skip
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        parts.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    gives = f" -> {_annotation(signature.return_annotation)}"
    one_line = f"{name}({', '.join(parts)}){gives}"
    return one_line if len(one_line) <= WIDTH else f"{name}(\n    " + ",\n    ".join(parts) + f",\n){gives}"


def _with_default(parameter: inspect.Parameter) -> str:
    return f"{parameter.name}: {_annotation(parameter.annotation)} = {parameter.default!r}"


def _annotation(kind: Any) -> str:
    if isinstance(kind, typing.ForwardRef):
        return kind.__forward_arg__
    return kind if isinstance(kind, str) else inspect.formatannotation(kind)


def _class(name: str, found: type[Any]) -> str:
    told = inspect.getdoc(found) or ""
    fields = dataclasses.fields(found) if dataclasses.is_dataclass(found) else ()
    made_up = told.startswith(f"{found.__name__}(")  # dataclasses write the signature where nobody wrote a docstring
    home = importlib.import_module(found.__module__)
    public = "tierspan" if name in tierspan.__all__ else home.__name__
    bases = [base.__name__ for base in found.__bases__ if base is not object]
    kept = f"From `{public}`." + (f" A kind of `{bases[0]}`." if bases else "")
    rows = [(code(field.name), code(_annotation(field.type)), _default(field)) for field in fields if not field.name.startswith("_")]
    return page(f"### {plain(name)}", kept, "" if made_up else prose(told), table(("field", "type", "if left out"), rows))


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return code(repr(field.default))
    return "" if field.default_factory is dataclasses.MISSING else code(f"{field.default_factory()!r}")
