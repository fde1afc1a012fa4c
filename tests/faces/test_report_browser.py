"""The validation page in a real browser, where one is there: all figures are drawn and nothing is asked of the network."""

from pathlib import Path

import pytest

from tests.faces.browser import open_browser, open_page
from tierspan.answers.validate import validate
from tierspan.answers.validation.page import validation_page
from tierspan.faces.report.page import write_page
from tierspan.faces.report.validation import validation_document

STEPS = Path(__file__).parents[2] / "docs" / "examples" / "steps.csv"


@pytest.mark.slow
def test_the_figures_are_drawn_offline(tmp_path):
    page = validation_document(validation_page([validate(STEPS)]), "en", [])
    write_page(tmp_path / "page.html", page)
    drawings = [d for s in page.sections for d in s.drawings]
    with open_browser() as browser:
        for scheme, width in (("light", 1440), ("dark", 390)):
            tab, faults, asked = open_page(browser, tmp_path / "page.html", scheme=scheme, width=width)
            assert tab.evaluate("document.documentElement.dataset.drawn") == str(len(drawings))
            assert tab.evaluate("document.querySelectorAll('.drawing svg.main-svg').length") >= len(drawings)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert faults == []
            assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
            tab.close()
