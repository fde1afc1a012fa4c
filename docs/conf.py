"""The documentation site: `scripts/docs` builds it, with warnings as errors. The pages are Markdown and read well without it, too."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import tierspan

project = author = "tierspan"
version = release = tierspan.__version__
project_copyright = "the authors of tierspan"
language = "en"

extensions = ["myst_parser", "site_extension"]
exclude_patterns = ["_ext", "_static", "examples"]
nitpicky = True
myst_heading_anchors = 4
smartquotes = False  # options begin with two hyphens

# Nothing on a page may come from the network: no web fonts, no scripts of others. Equations are text, for the same reason.
html_theme = "furo"
html_title = f"tierspan {version}"
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
