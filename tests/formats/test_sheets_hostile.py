"""Hostile and huge files end in a message within 5 s of computing and 500 MB, measured in a process with these limits."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest
from handmade_pdf import pdf

resource = pytest.importorskip("resource", reason="limits of processes are not to be had on this system")
if not Path("/proc/self/statm").is_file():
    pytest.skip("the size of a process is not to be had on this system", allow_module_level=True)

MiB = 2**20
PROBE = """
import resource, sys
from tierspan.formats.sheets import read_sheets
from tierspan.quantities.errors import InputError
with open("/proc/self/statm") as file:
    before = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (before + 500 * 2**20,) * 2)
try:
    document, = read_sheets(sys.argv[1:])
    print("read", document.kind, len(document.lines))
except InputError as error:
    print(error.message_id, str(error))
"""


def probe(*paths, stdin=subprocess.DEVNULL):
    """What reading a file ends in, and the CPU seconds that it and its own processes took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", PROBE, *map(str, paths)], capture_output=True, text=True, stdin=stdin, env=environment, timeout=60)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def book(**changed):
    """A small workbook with parts replaced (dots and slashes of their names written as underscores) or added."""
    import openpyxl

    made = openpyxl.Workbook()
    made.active.append(["GPU", "Rate"])
    made.active.append(["H100", 989])
    plain, out = io.BytesIO(), io.BytesIO()
    made.save(plain)
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            change = changed.get(name.rpartition("/")[2].partition(".")[0])
            target.writestr(name, change(source.read(name)) if change else source.read(name))
        for name, body in changed.get("extra", {}).items():
            target.writestr(name, body)
    return out.getvalue()


def packed(parts):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name, body in parts.items():
            target.writestr(name, body)
    return out.getvalue()


def rows(cells):
    return lambda body: body.replace(b"</sheetData>", cells + b"</sheetData>")


def far(reference, row):
    return rows(b'<row r="%d"><c r="%s"><v>1</v></c></row>' % (row, reference))


DRAW = b"BT /F1 12 Tf 50 700 Td (H100 900 GB/s) Tj ET\n"
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9))
ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'

CASES = {
    "empty.txt": (lambda: b"", "file.empty"),
    "blank.txt": (lambda: b" \n\t\r\n", "file.empty"),
    "mark.txt": (lambda: b"\xef\xbb\xbf", "file.empty"),
    "picture.txt": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 9, "sheet.binary"),
    "program": (lambda: b"\x7fELF" + bytes(range(256)) * 9, "sheet.binary"),
    "noise.csv": (lambda: bytes(i * i * 7919 % 251 for i in range(50_000)), "sheet.binary"),
    "text100mb.txt": (lambda: b"H100 900 GB/s\n" * (100 * MiB // 14), "sheet.too_large"),
    "line100mb.txt": (lambda: b"H100 900 GB/s " * (100 * MiB // 14), "sheet.too_large"),
    "line2mb.txt": (lambda: b"H100 900 GB/s " * 140_000, "sheet.line_too_long"),
    "lines.txt": (lambda: b"9 GB/s\n" * 290_000, "sheet.too_many_lines"),
    "figures.txt": (lambda: b"H100 NVLink 900 GB/s each, 8 of them\n" * 2_000, "sheet.too_many_figures"),
    "returns.txt": (lambda: b"\r" * 900_000 + b"a\r" * 400_000, "sheet.too_many_lines"),
    "quote.csv": (lambda: b'a,"' + b"x,\n" * 500_000, "sheet.too_many_lines"),
    "wide.csv": (lambda: (b"a," * 4_900 + b"\n") * 200, "sheet.too_many_cells"),
    "spaces.txt": (lambda: (b" " * 19_998 + b"b\n") * 100, "read text 100"),
    "gaps.csv": (lambda: (b"a," + b" " * 19_000 + b"b\n") * 100, "read csv 100"),
    "pipes.md": (lambda: (b"|" * 9_000 + b"\n" + b"|-" * 9_000 + b"\n") * 70, "read markdown 140"),
    "strong.md": (lambda: (b"**a " * 4_900 + b"\n") * 100, "read markdown"),
    "heads.md": (lambda: (b"# " + b" " * 9_900 + b"#" * 9_900 + b"x\n") * 100, "read markdown"),
    "escapes.txt": (lambda: "\u009d".encode() * 900_000 + b"\x1b[" * 90_000, "file.empty"),
    "deep.json": (lambda: b"[" * 100_000, "sheet.depth"),
    "deep.yaml": (lambda: b"[" * 60_000, "sheet.depth"),
    "dashes.yaml": (lambda: b"- " * 30_000 + b"a", "sheet.depth"),
    "indents.yaml": (lambda: "\n".join(" " * i + "a:" for i in range(300)).encode(), "sheet.depth"),
    "aliases.yaml": (lambda: BOMB.encode(), "sheet.too_many_values"),
    "self.yaml": (lambda: b"a: &a [*a, *a]", "sheet.depth"),
    "large.yaml": (lambda: b"".join(b"k%d: 9 GB/s\n" % i for i in range(9_000)), "sheet.too_large_yaml"),
    "many.yaml": (lambda: b"[" + b"a: b," * 12_000 + b"]", "read yaml"),
    "numbers.json": (lambda: b"[" + b"1," * 300_000 + b"1]", "sheet.too_many_values"),
    "digits.json": (lambda: b'{"a": ' + b"9" * 1_000_000 + b"}", "sheet.line_too_long"),
    "slashes.json": (lambda: b'{"a":"' + b"\\" * 1_999_000, "json.syntax"),
    "zeros.xlsx": (lambda: book(styles=lambda _: b" " * (300 * MiB)), "sheet.bomb"),
    "cells.xlsx": (lambda: book(sheet1=rows(b'<row r="9">' + b"<c><v>1</v></c>" * 400_000 + b"</row>")), "sheet.too_many_cells"),
    "far.xlsx": (lambda: book(sheet1=far(b"XFD1048576", 1_048_576)), "sheet.too_many_cells"),
    "farther.xlsx": (lambda: book(sheet1=far(b"A999999999", 999_999_999)), "sheet.too_heavy"),
    "entities.xlsx": (lambda: book(sheet1=lambda body: ENTITIES + body), "sheet.entities"),
    "ghosts.xlsx": (
        lambda: book(workbook=lambda b: b.replace(b"</sheets>", b'<sheet name="x" sheetId="9" r:id="rId1"/>' * 900 + b"</sheets>")),
        "read",
    ),
    "broken.xlsx": (lambda: book(workbook=lambda _: b"<x"), "sheet.damaged"),
    "archive.xlsx": (lambda: packed({"a.txt": "x"}), "sheet.archive"),
    "text.docx": (lambda: packed({"word/document.xml": "x"}), "sheet.office"),
    "open.ods": (lambda: packed({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}), "sheet.office"),
    "noise.pdf": (lambda: b"%PDF-1.7\n" + bytes(range(256)) * 99, "sheet.damaged"),
    "objects.pdf": (lambda: b"%PDF-1.4\n" + b"1 0 obj\n" * 3_000_000, "sheet.too_heavy"),
    "swollen.pdf": (lambda: pdf([zlib.compress(b" " * (300 * MiB))], filtered=b"/Filter /FlateDecode "), "sheet.damaged"),
    "drawing.pdf": (lambda: pdf([zlib.compress(DRAW * 600_000)], filtered=b"/Filter /FlateDecode "), "sheet.too_heavy"),
    "nested.pdf": (lambda: pdf([b"q " * 100_000 + DRAW]), "sheet.too_heavy"),
    "far.pdf": (lambda: pdf([b"BT /F1 0.0001 Tf (a) Tj 1 0 0 1 90000000 0 Tm (b) Tj ET"]), "read pdf"),
    "tags.html": (lambda: b"<a" * 900_000, "sheet.too_heavy"),
    "spans.html": (lambda: b"<table>" + b"<tr><td rowspan=999 colspan=999>9" * 20_000, "sheet.too_"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_file_ends_in_a_message_in_time(tmp_path, name):
    make, expected = CASES[name]
    path = tmp_path / name
    path.write_bytes(make())
    said, seconds = probe(path)
    assert said.startswith(expected), said
    assert seconds < 5
    assert said.startswith("read") or "remedy: " in said


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null", "/dev/stdin"])
def test_devices_are_refused(path):
    said, _ = probe(path)
    assert said.startswith("sheet.not_regular")


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    said, _ = probe(tmp_path / "pipe")
    assert said.startswith("sheet.not_regular")


def test_standard_input_without_end_is_cut_at_the_limit():
    with subprocess.Popen(["yes", "H100 900 GB/s"], stdout=subprocess.PIPE) as endless:
        said, seconds = probe("-", stdin=endless.stdout)
        endless.kill()
    assert said.startswith("sheet.too_large")
    assert seconds < 5


def test_odd_names_are_told_without_harm(tmp_path):
    for name in ("no\x1b[31m", "a\nb", "\u202egnp", "x" * 5000, "../" * 500 + "x", "\udcff"):
        said, _ = probe(tmp_path / name) if "\udcff" not in name else probe(os.fsencode(tmp_path / name).decode("utf-8", "surrogateescape"))
        assert said.startswith(("file.not_found", "file.unreadable"))
        assert not set("\x1b\u202e") & set(said)


def test_a_file_that_may_not_be_read_says_so(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("H100", encoding="utf-8")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert probe(path)[0].startswith("file.unreadable")
