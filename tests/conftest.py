"""Settings of all tests."""

from __future__ import annotations

import os

from hypothesis import settings

# the same examples in every run, so that a change is judged by itself; TIERSPAN_NEW_EXAMPLES=1 looks for new ones
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("new", derandomize=False)
settings.load_profile("new" if os.environ.get("TIERSPAN_NEW_EXAMPLES") else "repeatable")
