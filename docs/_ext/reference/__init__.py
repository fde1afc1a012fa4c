"""Reference pages as Markdown, written from the code and its message catalogues: name of the page -> writer, which takes the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from reference.audit_rules import audit_rules_page
from reference.catalogue import catalogue_page
from reference.commands import commands_page
from reference.drawings import groups_of_llama
from reference.python_api import python_page
from reference.rules import rules_page
from reference.scenario import scenario_page
from reference.schemas import schemas_page

PAGES: Final[Mapping[str, Callable[[str], str]]] = {
    "audit-rules": audit_rules_page,
    "catalogue": catalogue_page,
    "commands": commands_page,
    "llama-groups": groups_of_llama,
    "python": python_page,
    "rules": rules_page,
    "scenario": scenario_page,
    "schemas": schemas_page,
}
