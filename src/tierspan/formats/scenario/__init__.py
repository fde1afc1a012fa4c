"""Scenario files (YAML or JSON): what to answer about, every value with the place it was read at."""

from tierspan.formats.scenario.document import Document, read_document
from tierspan.formats.scenario.scenario import Scenario, read_scenario, scenario_of
from tierspan.formats.scenario.settings import SETTINGS, Setting, checked

__all__ = ["SETTINGS", "Document", "Scenario", "Setting", "checked", "read_document", "read_scenario", "scenario_of"]
