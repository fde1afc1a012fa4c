"""Every command that README and docs show is run.

A block is marked by a comment on the line before it::

    <!-- run -->            the commands are run, each must exit with 0
    <!-- run: exact -->     and every line shown must stand in the output, in this order (runs of spaces count as one; a line of ... skips)
    <!-- run: exit 1 -->    another exit code; may stand together with exact
    <!-- run: exact head 20 -->  as exact; the first 20 lines of the output are shown, and this file run as a program writes them anew

A ```console block without a mark fails the test, unless its commands are no tierspan commands.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tierspan.faces.cli import registry

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"(?:^<!-- run(?::(?P<mark>[^>]*?))? -->\n)?^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
ALL_VERBS = {verb for group in registry.GROUPS for verb in group.verbs}


@dataclass(frozen=True)
class Example:
    page: Path
    command: tuple[str, ...]
    shown: tuple[str, ...]
    exit_code: int
    exact: bool
    typed: str = ""
    """What is piped into the command: ``echo "text" | tierspan ...``."""

    @property
    def verb(self) -> str:
        return next((word for word in self.command[1:] if not word.startswith("-")), "")


def examples(page: Path) -> list[Example]:
    found = []
    for match in BLOCK.finditer(page.read_text(encoding="utf-8")):
        if not re.search(r"^\$ (?:echo \".*\" \| )?tierspan", match["body"], re.MULTILINE):
            continue
        assert match.group(0).startswith("<!-- run"), f"{page.name}: a block of tierspan commands has no mark: {match['body'][:60]}"
        mark = match["mark"] or ""
        code = re.search(r"exit (\d+)", mark)
        for part in re.split(r"^\$ ", match["body"].replace("\\\n", " "), flags=re.MULTILINE)[1:]:
            first, *shown = part.splitlines()
            piped = re.match(r'echo "(.*)" \| (?=tierspan)', first)
            command = first[piped.end() :] if piped else first
            if command.startswith("tierspan"):
                lines = tuple(" ".join(line.split()) for line in shown if line.strip())
                typed = piped[1] + "\n" if piped else ""
                found.append(Example(page, tuple(shlex.split(command)), lines, int(code[1]) if code else 0, "exact" in mark, typed))
    return found


def missing_line(shown: tuple[str, ...], printed: str) -> str | None:
    """The first shown line that the output lacks, in order; None where all are there."""
    lines = iter(" ".join(line.split()) for line in printed.splitlines())
    for line in shown:
        if line != "..." and line not in lines:
            return line
    return None


def refreshed(text: str) -> str:
    """The page with the outputs of its ``head`` blocks (one command each) written anew."""

    def rewrite(match: re.Match[str]) -> str:
        head = re.search(r"head (\d+)", match["mark"] or "")
        if not head:
            return match.group(0)
        lines = match["body"].splitlines()
        last = next(i for i, line in enumerate(lines) if not line.endswith("\\"))
        command = shlex.split(" ".join(line.rstrip("\\") for line in lines[: last + 1]).removeprefix("$ "))
        done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
        shown = [*lines[: last + 1], *(line.rstrip() for line in done.stdout.splitlines()[: int(head[1])]), "..."]
        return match.group(0).replace(match["body"], "\n".join(shown) + "\n")

    return BLOCK.sub(rewrite, text)


# What stands on a page and on its translation is run once.
EXAMPLES = list({(e.command, e.shown, e.exit_code, e.exact, e.typed): e for page in reversed(PAGES) for e in reversed(examples(page))}.values())[::-1]


def test_there_are_examples():
    assert any(example.page.name == "README.md" for example in EXAMPLES)


@pytest.mark.parametrize("shown", [("b  1", "c"), ("a", "..."), ("c",)])
def test_shown_lines_are_found(shown: tuple[str, ...]):
    assert missing_line(tuple(" ".join(line.split()) for line in shown), "a\nb 1\nc\n") is None


@pytest.mark.parametrize("shown", [("b 2",), ("c", "a")])
def test_changed_or_reordered_lines_are_missed(shown: tuple[str, ...]):
    assert missing_line(shown, "a\nb 1\nc\n") is not None


@pytest.mark.parametrize("example", [pytest.param(e, id=f"{e.page.stem}: {e.typed.strip()[:30]}{shlex.join(e.command)[:80]}") for e in EXAMPLES])
def test_example_runs_and_shows_what_the_page_shows(example: Example):
    if example.exit_code != 2:
        assert example.verb in {"", *ALL_VERBS}, f"{example.page.name} shows the verb {example.verb}, which nobody plans"
    if example.verb in ALL_VERBS and example.verb not in registry.available():
        pytest.skip(f"the verb {example.verb} is not built yet")
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "TIERSPAN_LANG")}
    done = subprocess.run(
        [sys.executable, "-m", *example.command],
        cwd=ROOT,
        env=environment,
        input=example.typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == example.exit_code, done.stdout + done.stderr
    if example.exact:
        missing = missing_line(example.shown, done.stdout + done.stderr)
        assert missing is None, f"not in the output: {missing}\n{done.stdout}{done.stderr}"


if __name__ == "__main__":
    for written in PAGES:
        written.write_text(refreshed(written.read_text(encoding="utf-8")), encoding="utf-8")
