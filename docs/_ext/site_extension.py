"""What the site adds to plain Markdown pages: reference pages written from the code, and the language of Chinese pages.

A comment ``<!-- generated: NAME LANG -->`` in a page is replaced by what ``reference.PAGES[NAME]`` writes in that language, while the page is
read. Nothing of it is kept in the repository, so nothing can drift from the code.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sphinx
from reference import PAGES
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

MARK = re.compile(r"^<!-- generated: (?P<name>[\w-]+) (?P<lang>\w+) -->$", re.MULTILINE)
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<target>(?:\.\./)+[^)#]+)(?:#[^)]*)?\)")
CHINESE = "zh/"
CAPTION, CAPTION_TEXT = re.compile(r'(?=<p class="caption")'), "中文</span>"
NAVIGATION = {
    "Back to top": "返回顶部",
    "Home": "首页",
    "Next": "下一页",
    "On this page": "本页内容",
    "Previous": "上一页",
}
"""Words of the theme that Sphinx does not translate."""


def write_generated(_app: Sphinx, _docname: str, source: list[str]) -> None:
    """Put the generated text in place of its comment; an unknown name stops the build."""
    source[0] = MARK.sub(lambda found: PAGES[found["name"]](found["lang"]), source[0])


def name_files_outside(app: Sphinx, docname: str, source: list[str]) -> None:
    """A link to a file of the repository outside of the site becomes its text and path; one to a file that is not there stays, and fails."""
    pages = Path(app.srcdir)
    folder = (pages / docname).parent

    def named(found: re.Match[str]) -> str:
        target = (folder / found["target"]).resolve()
        if target.is_relative_to(pages) or not target.is_file():
            return found[0]
        path = target.relative_to(pages.parent).as_posix()
        return f"{found['text']} (`{path}`)"

    source[0] = LINK.sub(named, source[0])


def pages_with_marks(_app: Sphinx, env: BuildEnvironment, *_sets: set[str]) -> Iterator[str]:
    """The generated pages are read anew by every build: what they depend on is the package."""
    for docname in env.found_docs:
        if MARK.search(Path(env.doc2path(docname)).read_text(encoding="utf-8")):
            yield docname


def set_language(_app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Chinese pages say so in their ``lang``, and their navigation is Chinese."""
    if not pagename.startswith(CHINESE):
        return
    texts = gettext.translation("sphinx", Path(sphinx.package_dir) / "locale", ["zh_CN"], fallback=True)

    def translated(text: str) -> str:
        return NAVIGATION.get(text) or texts.gettext(text)

    # the part of the side bar under the caption 中文 comes first
    before, *parts = CAPTION.split(context.get("furo_navigation_tree", ""))
    parts.sort(key=lambda part: CAPTION_TEXT not in part)
    context |= {"language": "zh-CN", "_": translated, "gettext": translated, "furo_navigation_tree": before + "".join(parts)}


def link_languages(app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """A page that stands in both languages begins with a link to the other one."""
    chinese = pagename.startswith(CHINESE)
    other = pagename.removeprefix(CHINESE) if chinese else CHINESE + pagename
    if other in app.env.found_docs and "body" in context:
        lang, name = ("en", "English") if chinese else ("zh-CN", "中文")
        context["body"] = f'<p class="other-language"><a href="{context["pathto"](other)}" lang="{lang}">{name}</a></p>\n{context["body"]}'


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", write_generated)
    app.connect("source-read", name_files_outside)
    app.connect("env-get-outdated", pages_with_marks)
    app.connect("html-page-context", set_language, priority=900)  # after the theme
    app.connect("html-page-context", link_languages, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
