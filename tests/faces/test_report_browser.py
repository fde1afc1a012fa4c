"""The page in a real browser, where one is there: all figures are drawn and nothing is asked of the network."""

import shutil
from pathlib import Path

import pytest

from tierspan.answers.validate import validate
from tierspan.answers.validation.page import validation_page
from tierspan.faces.report.page import write_page
from tierspan.faces.report.validation import validation_document

STEPS = Path(__file__).parents[2] / "docs" / "examples" / "steps.csv"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_figures_are_drawn_offline(tmp_path, scheme):
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    page = validation_document(validation_page([validate(STEPS)]), "en", [])
    write_page(tmp_path / "page.html", page)
    with api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        except api.Error as problem:
            pytest.skip(f"no browser that starts: {str(problem).splitlines()[0]}")
        tab = browser.new_page(color_scheme=scheme)
        faults, asked = [], []
        tab.on("pageerror", lambda fault: faults.append(str(fault)))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto((tmp_path / "page.html").as_uri())
        tab.wait_for_function("document.documentElement.dataset.drawn")
        drawings = [d for s in page.sections for d in s.drawings]
        assert tab.evaluate("document.documentElement.dataset.drawn") == str(len(drawings))
        assert tab.evaluate("document.querySelectorAll('.drawing svg.main-svg').length") >= len(drawings)
        assert faults == []
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        browser.close()
