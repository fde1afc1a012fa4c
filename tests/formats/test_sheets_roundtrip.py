"""One table, written in every form, is read as the same cells under the same heads; and no text makes the reader fail."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierspan.formats.sheets import sheet_of_bytes, sheet_of_text, suspicious_cells
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import fill

NAMES = st.sampled_from(
    ["GPU", "BF16 (TFLOPS)", "Memory", "显存", "双向带宽", "Power, typical", "NVLink; per GPU", "a|b", 'the "rate"', "单价", "Item", "备注"]
)
FIGURES = st.sampled_from(
    [
        "1,979 TFLOPS",
        "900 GB/s",
        "80",
        "３.35 TB/s",
        "8 × 400G",
        "约 700 W",
        "42 %",
        "0.1 us",
        "-40 °C",
        "16,384",
        "单向 392 GB/s",
        "yes",
        "H100, SXM",
    ]
)


@st.composite
def tables(draw):
    """Heads without figures, and rows of which the first has one."""
    heads = draw(st.lists(NAMES, min_size=2, max_size=5, unique=True))
    rows = draw(st.lists(st.lists(FIGURES, min_size=len(heads), max_size=len(heads)), min_size=2, max_size=6))
    rows[0][0] = "80 GB"
    return heads, rows


def as_csv(heads, rows, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerows([heads, *rows])
    return out.getvalue()


def as_markdown(heads, rows):
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (heads, ["---"] * len(heads), *rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def as_html(heads, rows):
    cell = {"&": "&amp;", "<": "&lt;"}
    return (
        "<table>"
        + "".join("<tr>" + "".join(f"<td>{''.join(cell.get(c, c) for c in text)}</td>" for text in row) + "</tr>\n" for row in (heads, *rows))
        + "</table>"
    )


def as_xlsx(heads, rows):
    import openpyxl

    book = openpyxl.Workbook()
    for row in (heads, *rows):
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read_back(sheet):
    """The rows under heads, with those heads."""
    return [(line.heads, line.cells) for line in sheet.lines if any(line.heads)]


@given(tables())
def test_a_table_as_csv_markdown_and_json_gives_equal_cells(table):
    heads, rows = table
    expected = [(tuple(heads), tuple(row)) for row in rows]
    assert read_back(sheet_of_text(as_csv(heads, rows), "a.csv")) == expected
    assert read_back(sheet_of_text(as_csv(heads, rows, ";"), "a.csv")) == expected
    assert read_back(sheet_of_text(as_csv(heads, rows, "\t"), "a.tsv")) == expected
    assert read_back(sheet_of_text(as_markdown(heads, rows))) == expected
    assert read_back(sheet_of_text(json.dumps([dict(zip(heads, row, strict=True)) for row in rows]))) == expected
    assert read_back(sheet_of_text(json.dumps([heads, *rows], ensure_ascii=False, indent=1))) == expected


@given(tables())
@settings(max_examples=6, deadline=None)
def test_a_table_as_workbook_and_web_page_gives_equal_cells(table):
    heads, rows = table
    expected = [(tuple(heads), tuple(row)) for row in rows]
    assert read_back(sheet_of_bytes(as_xlsx(heads, rows))) == expected
    assert read_back(sheet_of_text(as_html(heads, rows))) == expected


@given(tables(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "gb18030"]))
def test_the_encoding_changes_no_cell(table, codec):
    heads, rows = table
    text = as_csv(heads, rows) + "片间互连带宽,说明\n"
    assert [line.cells for line in sheet_of_bytes(text.encode(codec), "a.csv").lines] == [line.cells for line in sheet_of_text(text, "a.csv").lines]


def attempt(read, *given):
    """What was read, or the error that refused it; any other exception fails the test."""
    try:
        return read(*given), None
    except InputError as error:
        return None, error


MARKS = st.text(alphabet=st.sampled_from(list("|-:#`*{}[]\",;=\t \n\r<>!&\x1b\x00\u202e\u200b\ud800９0aG显．~_\\'")), max_size=120)


@given(MARKS, st.sampled_from(["-", "a.csv", "a.md", "a.json", "a.yaml", "a.txt"]))
@settings(max_examples=400)
def test_any_text_is_read_or_refused_with_a_message(text, name):
    # HTML is opened by a process of its own; its parser is not what is looked at here
    if text.lstrip().startswith("<"):
        text = "x" + text
    sheet, error = attempt(sheet_of_text, text, name)
    if error:
        for lang in ("en", "zh"):
            assert fill(error.message_id, lang, error.values) != error.message_id
            assert fill(error.message_id + ".remedy", lang, error.values) != error.message_id + ".remedy"
        return
    assert sheet.lines
    for line in sheet.lines:
        assert len(line.cells) == len(line.heads)
        assert not line.cells or line.text == " | ".join(line.cells)
        assert 1 <= line.number <= text.count("\n") + text.count("\r") + 1
        assert not any((char < " " and char != "\t") or char in "\x7f\u202e\u200b" or "\ud800" <= char <= "\udfff" for char in line.text)
    assert all(finding in sheet.findings for finding in suspicious_cells(sheet))
    for finding in sheet.findings:
        assert all(fill(finding.id + part, lang, finding.values) != finding.id + part for part in ("", ".why", ".remedy") for lang in ("en", "zh"))


@given(st.binary(max_size=300))
@settings(max_examples=300)
def test_any_bytes_are_read_or_refused_with_a_message(raw):
    if raw.startswith((b"PK", b"<")) or b"%PDF-" in raw:
        raw = b"x" + raw.replace(b"%PDF-", b"")
    sheet, error = attempt(sheet_of_bytes, raw, "x")
    assert str(error) if sheet is None else sheet.lines


@pytest.mark.parametrize("cut", [100, 1000, 3000])
def test_a_damaged_workbook_is_refused(cut):
    whole = as_xlsx(["GPU", "Rate"], [["H100", "80 GB"], ["B200", "180 GB"]])
    for raw in (whole[:cut], whole[:cut] + b"\0" * 50 + whole[cut + 50 :]):
        sheet, error = attempt(sheet_of_bytes, raw)
        assert sheet.kind == "xlsx" if sheet else error.message_id == "sheet.damaged"
