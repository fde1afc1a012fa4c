"""The pages of answers in a real browser: nothing overlaps, no text is cut, terms explain themselves, nothing is asked of the network."""

import re
from pathlib import Path

import pytest

import tierspan as ts
from tests.faces.browser import FAULTS, open_browser, open_page

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
LLAMA = {
    "system": "dgx-h100", "accelerators": 1024, "model": "llama-3.1-405b", "sequence_length": 8192, "global_batch": 256,
    "tp": 8, "pp": 8, "vpp": 8, "cp": 2,
}  # fmt: skip
DEEPSEEK = {
    "system": "gb200-nvl72", "accelerators": 256, "model": "deepseek-v3", "sequence_length": 4096, "global_batch": 2048,
    "tp": 1, "pp": 4, "vpp": 4, "ep": 64, "precision": "fp8", "recompute": "full",
}  # fmt: skip
SUPERPOD = {**DEEPSEEK, "system": "cloudmatrix384", "accelerators": 1536, "precision": "bf16"}
ANSWERS = {
    "predict-405b": lambda: ts.predict(**LLAMA, timeline=True),
    "predict-deepseek": lambda: ts.predict(**DEEPSEEK),
    "predict-superpod": lambda: ts.predict(**SUPERPOD),
    "predict-invalid": lambda: ts.predict(**{**LLAMA, "tp": 3}),
    "fit-405b": lambda: ts.fit(**LLAMA),
    "fit-deepseek": lambda: ts.fit(**DEEPSEEK),
    "scale-405b": lambda: ts.scale((512, 1024, 2048, 4096, 8192), **LLAMA),
    "scale-deepseek": lambda: ts.scale((128, 256, 512), weak=True, **{**DEEPSEEK, "accelerators": 128, "ep": 32, "global_batch": 1024}),
    "audit": lambda: ts.audit(EXAMPLES / "quote.txt", EXAMPLES / "claims.txt", site=EXAMPLES / "site.yaml"),
    "beside": lambda: ts.compare_systems(ts.predict(**DEEPSEEK), ts.predict(**{**DEEPSEEK, "system": "hgx-b200"})),
}
# The two that everybody looks at first in both languages, the others in one each: a page takes seconds.
PAGES = [(name, lang) for name in ("predict-405b", "predict-deepseek") for lang in ("en", "zh")] + [
    ("predict-superpod", "zh"), ("predict-invalid", "en"), ("fit-405b", "en"), ("fit-deepseek", "zh"),
    ("scale-405b", "zh"), ("scale-deepseek", "en"), ("beside", "en"), ("audit", "en"), ("audit", "zh"),
]  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    with open_browser() as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


def written(folder, name, lang):
    path = folder / f"{name}.{lang}.html"
    if not path.exists():
        answer = ANSWERS[name]()
        placed = ts.predict(**(LLAMA if "405b" in name else DEEPSEEK)) if name.startswith("fit") else None
        assert ts.report(answer, path, lang=lang, placed=placed) == path.stat().st_size
    return path


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lang"), PAGES)
def test_nothing_overlaps_and_no_text_is_cut(browser, folder, name, lang):
    path = written(folder, name, lang)
    assert path.stat().st_size < 6_000_000
    for width, height in ((1440, 900), (390, 844)):
        tab, faults, asked = open_page(browser, path, width=width, height=height)
        assert tab.evaluate(FAULTS) == [], f"{name} {lang} at {width}"
        assert faults == []
        assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
        tab.close()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lang"), [("predict-405b", "en"), ("predict-deepseek", "zh"), ("scale-405b", "en"), ("fit-deepseek", "zh")])
def test_a_reader_clicks_through(browser, folder, name, lang):
    tab, faults, _ = open_page(browser, written(folder, name, lang))
    for link in tab.query_selector_all("nav a"):
        link.click()
        target = link.get_attribute("href")
        assert tab.evaluate("location.hash") == target
        top = tab.evaluate(f"document.querySelector('{target}').getBoundingClientRect().top")
        assert -5 < top < tab.viewport_size["height"]
    # a term tells its meaning on hover, on focus and on a tap, and Escape closes it
    term = tab.query_selector("main a.term")
    term.scroll_into_view_if_needed()
    term.hover()
    tip = tab.query_selector("#tip")
    meaning = tab.evaluate("(t) => document.querySelector(t.getAttribute('href') + ' dd').textContent", term)
    assert tip.is_visible()
    assert meaning in tip.text_content()
    tab.keyboard.press("Escape")
    assert not tip.is_visible()
    term.focus()
    assert tip.is_visible()
    box, width = tip.bounding_box(), tab.viewport_size["width"]
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    tab.keyboard.press("Escape")
    before = tab.url
    term.click()
    assert tip.is_visible()
    assert tab.url == before
    # a bar tells its part
    figure = tab.query_selector(".drawing")
    figure.scroll_into_view_if_needed()
    bar = figure.query_selector(".bars path, .scatterlayer path.point")
    bar.hover(force=True)
    tab.wait_for_selector(".hoverlayer .hovertext")
    assert re.search(r"\d", tab.query_selector(".hoverlayer").text_content())
    assert faults == []
    tab.close()


@pytest.mark.slow
def test_a_narrow_screen_shows_every_cell_with_its_head(browser, folder):
    tab, _, _ = open_page(browser, written(folder, "scale-405b", "en"), width=390, height=844)
    shown = tab.evaluate(
        "() => [...document.querySelectorAll('#curve td')].filter(e => getComputedStyle(e).display === 'flex').map(e => e.dataset.label)"
    )
    assert {"DP", "batch", "step (s)", "MFU (%)", "speed-up"} <= set(shown)
    assert tab.is_visible(".picture.narrow-screen")
    assert not tab.is_visible(".picture.wide-screen")
    tab.close()


@pytest.mark.slow
def test_dark_and_print_keep_the_contrast(browser, folder):
    path = written(folder, "predict-405b", "en")
    ratio = """() => {
      const linear = (x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
      const light = (c) => { const v = c.match(/[\\d.]+/g).slice(0, 3).map((x) => linear(x / 255));
        return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
      const s = getComputedStyle(document.body), d = document.querySelector(".drawing .xtick text");
      const paper = light(s.backgroundColor), ink = light(s.color), drawn = light(getComputedStyle(d).fill);
      const against = (x) => (Math.max(x, paper) + 0.05) / (Math.min(x, paper) + 0.05);
      return [against(ink), against(drawn)];
    }"""
    for scheme in ("light", "dark"):
        tab, _, _ = open_page(browser, path, scheme=scheme)
        assert min(tab.evaluate(ratio)) > 7
        tab.close()
    tab, _, _ = open_page(browser, path)
    assert len(tab.pdf(format="A4")) > 50_000
    tab.close()
