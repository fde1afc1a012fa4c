"""A real browser for pages, where one is there; and what must hold of a page that is drawn."""

import shutil
from contextlib import contextmanager

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# Texts that leave the screen, are cut by their drawing, or lie on one another.
FAULTS = """() => {
  const faults = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  for (const e of document.querySelectorAll("p, li, dd, dt, td, th, figcaption, h1, h2, svg, .drawing, pre, summary, .card")) {
    const r = e.getBoundingClientRect();
    if (e.id === "js-plotly-tester") continue; // measures texts outside of the screen
    if (r.width && (r.right > wide + 1 || r.left < -1)) faults.push(`leaves the screen: ${e.tagName} ${(e.textContent || "").slice(0, 40)}`);
  }
  const visible = (within) => [...within.querySelectorAll("text")].filter((t) => t.textContent.trim() && t.getBoundingClientRect().width);
  for (const board of document.querySelectorAll(".picture svg, .drawing")) {
    const b = board.getBoundingClientRect();
    if (!b.width) continue;
    const texts = visible(board), name = board.id || "picture";
    for (const t of texts) {
      const r = t.getBoundingClientRect();
      if (r.left < b.left - 2 || r.right > b.right + 2 || r.top < b.top - 2 || r.bottom > b.bottom + 2) faults.push(`${name} cuts: ${t.textContent}`);
      if (r.height < 8) faults.push(`${name} too small to read: ${t.textContent}`);
    }
    for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
      if (texts[i].contains(texts[j]) || texts[j].contains(texts[i])) continue;
      const a = texts[i].getBoundingClientRect(), c = texts[j].getBoundingClientRect();
      const across = Math.min(a.right, c.right) - Math.max(a.left, c.left), down = Math.min(a.bottom, c.bottom) - Math.max(a.top, c.top);
      if (across > 2 && down > 3) faults.push(`${name} overlaps: ${texts[i].textContent} | ${texts[j].textContent}`);
    }
  }
  const blocks = [...document.querySelectorAll("main > section > *, main > section > dl > .card")].map((e) => [e, e.getBoundingClientRect()]);
  for (let i = 0; i < blocks.length; i++) for (let j = i + 1; j < blocks.length; j++) {
    const [e, a] = blocks[i], [f, c] = blocks[j];
    if (!a.height || !c.height || e.contains(f) || f.contains(e)) continue;
    const down = Math.min(a.bottom, c.bottom) - Math.max(a.top, c.top), across = Math.min(a.right, c.right) - Math.max(a.left, c.left);
    if (down > 2 && across > 2) faults.push(`blocks overlap: ${e.textContent.slice(0, 30)} | ${f.textContent.slice(0, 30)}`);
  }
  for (const d of document.querySelectorAll(".drawing")) for (const svg of d.querySelectorAll("svg.main-svg")) {
    const a = svg.getBoundingClientRect(), b = d.getBoundingClientRect();
    if (a.height > b.height + 2) faults.push(`${d.id} is drawn higher than its place`);
  }
  return faults;
}"""


@contextmanager
def open_browser():
    """A browser, or a skip that says why there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium on this machine")
    with api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
        browser = playwright.chromium.launch(executable_path=program, args=options)
        yield browser
        browser.close()


def open_page(browser, path, *, width=1440, height=900, scheme="light"):
    """A tab with the page drawn; ``tab.faults`` and ``tab.asked`` collect errors of scripts and requests."""
    tab = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    faults, asked = [], []
    tab.on("pageerror", lambda fault: faults.append(str(fault)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(path.as_uri())
    tab.wait_for_function("!document.getElementById('library') || document.documentElement.dataset.drawn")
    return tab, faults, asked
