"""What a page holds, read as a browser would."""

import json
from html.parser import HTMLParser

EMPTY = ("meta", "br", "rect", "path", "polyline")


class Reader(HTMLParser):
    """Ids, addresses that would be loaded, links inside the page, figures, visible text."""

    def __init__(self):
        super().__init__()
        self.ids, self.loaded, self.links, self.figures, self.texts, self.open = [], [], [], {}, [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag not in EMPTY:
            self.open.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if "src" in given or (tag == "link" and "href" in given):
            self.loaded.append(given)
        if tag == "a" and given["href"].startswith("#"):
            self.links.append(given["href"][1:])

    def handle_startendtag(self, tag, attrs):
        assert tag in EMPTY

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, given = self.open[-1] if self.open else ("", {})
        if "data-figure" in given:
            self.figures[given["data-figure"]] = json.loads(data)
        elif tag not in ("script", "style"):
            self.texts.append(data)


def read(text):
    """The page, whose tags must all be closed."""
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader
