"""Options that several verbs share. The help of an option is the id of a message; the help page shows its text.

``--lang`` is not among them: it is read before the verb is known (``faces.cli.language``) and may stand anywhere.
"""

from __future__ import annotations

import click

json_option = click.option("--json", "as_json", is_flag=True, help="cli.option.json")
"""``--json``: the verb gets ``as_json``."""
