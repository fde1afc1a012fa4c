"""Nested keys and values, from YAML or JSON, to lines ``path: value``; a list of like objects is a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tierspan.formats.sheets.grid import Row, grid_lines, row_line
from tierspan.specs.sheet import SheetLine


@dataclass(slots=True)
class Node:
    """A value with its line: a text, or named parts, or items."""

    line: int
    text: str = ""
    parts: list[tuple[str, Node]] | None = None
    items: list[Node] | None = None

    @property
    def is_scalar(self) -> bool:
        """Whether it is a single value."""
        return self.parts is None and self.items is None


_MLPERF: Final = frozenset({
    "accelerator_model_name", "accelerators_per_node", "accelerator_memory_capacity", "accelerator_memory_configuration",
    "accelerator_interconnect", "accelerator_interconnect_topology", "accelerator_host_interconnect", "accelerator_frequency",
    "accelerator_on-chip_memories", "host_processor_model_name", "host_processors_per_node", "host_processor_core_count",
    "host_memory_capacity", "host_memory_configuration", "host_networking", "host_networking_topology", "host_network_card_count",
    "host_storage_type", "host_storage_capacity", "number_of_nodes", "system_name", "system_type", "submitter", "division", "hw_notes",
    "sw_notes", "cooling", "other_software_stack", "operating_system", "framework",
})  # fmt: skip


def is_mlperf(node: Node) -> bool:
    """Whether the keys are those of an MLPerf system description."""
    keys = {key for key, _ in node.parts or ()}
    return len(keys & _MLPERF) >= 4 and any(key.startswith(("accelerator", "host_")) for key in keys)


def tree_lines(node: Node, path: str = "") -> list[SheetLine]:
    """Lines of a tree in the order of the file."""
    return list(_lines(node, path, ""))


def _lines(node: Node, path: str, section: str) -> Iterator[SheetLine]:
    if node.is_scalar:
        value = "; ".join(part.strip() for part in node.text.splitlines() if part.strip())
        if value:
            yield SheetLine(node.line, f"{path}: {value}" if path else value, section=section)
    elif node.parts is not None:
        for key, part in node.parts:
            yield from _lines(part, f"{path}.{key}" if path else key, path)
    else:
        yield from _items(node.items or [], path, section)


def _items(items: list[Node], path: str, section: str) -> Iterator[SheetLine]:
    if len(items) > 1 and all(_is_record(item) for item in items):
        heads = tuple(dict.fromkeys(key for item in items for key, _ in item.parts or ()))
        for item in items:
            values = {key: part.text for key, part in item.parts or ()}
            yield row_line(item.line, tuple(_cell(values.get(head, "")) for head in heads), heads, path)
    elif len(items) > 1 and all(item.items and all(cell.is_scalar for cell in item.items) for item in items):
        yield from grid_lines((Row(item.line, tuple(_cell(cell.text) for cell in item.items or ())) for item in items), path)
    else:
        for number, item in enumerate(items):
            yield from _lines(item, f"{path}[{number}]", path or section)


def _is_record(item: Node) -> bool:
    return bool(item.parts) and all(part.is_scalar for _, part in item.parts or ())


def _cell(text: str) -> str:
    return " ".join(text.split())
