"""Sheets in every form that people have them: what is a line, a cell, a head, a section; encodings; what is told."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from handmade_pdf import page_of, pdf

from tierspan.formats.sheets import neutralised, read_sheet, read_sheets, sheet_of_bytes, sheet_of_text, suspicious_cells
from tierspan.quantities.errors import InputError
from tierspan.quantities.messages import fill, render_error

SHARED = Path(__file__).parents[2].parent / "shared" / "cases" / "inputs"


def rows(document):
    return [line.cells for line in document.lines]


def told(document):
    return [finding.id for finding in document.findings]


@pytest.mark.parametrize("folder", ["spec_en", "spec_zh", "malformed"])
def test_every_shared_sheet_is_read_whole_or_refused_with_place_and_remedy(folder):
    if not SHARED.is_dir():
        pytest.skip("the shared cases are not there")
    refused = {}
    for path in sorted((SHARED / folder).iterdir()):
        try:
            document = read_sheet(path)
        except InputError as error:
            refused[path.name] = render_error(error)
            continue
        assert document.kind == {"mlperf_system_h200.json": "mlperf-system"}.get(path.name, "json" if path.suffix == ".json" else "text")
        # no word of a text is lost, and each stands on its line
        if document.kind == "text":
            for number, raw in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                shown = " ".join(line.text for line in document.lines if line.number == number)
                assert shown.replace(" | ", " ").split() == raw.replace(" | ", " ").split()
    malformed = {
        "empty.json": "holds nothing\n  remedy: Fill the file, or name another one.",
        "trailing_comma.json": ":1:73: a comma stands before a closing bracket; JSON does not allow that\n  remedy: delete this comma",
        "yaml_tabs.yaml": ":2: the line is indented with a tab, which YAML does not allow\n  remedy: Indent with spaces.",
    }
    assert refused.keys() == (malformed.keys() if folder == "malformed" else set())
    assert all(refused[name].endswith(text) for name, text in malformed.items() if name in refused)


def test_a_pasted_datasheet_falls_into_columns_and_prose_does_not():
    sheet = sheet_of_text(
        "H100 SXM\nBF16 Tensor Core   1,979 TFLOPS*\nGPU memory         80GB\n* with sparsity\nOne sentence ends here, truly.  Another one.\n"
    )
    assert rows(sheet) == [(), ("BF16 Tensor Core", "1,979 TFLOPS*"), ("GPU memory", "80GB"), (), ()]
    assert sheet.lines[1].text == "BF16 Tensor Core | 1,979 TFLOPS*"
    assert [line.number for line in sheet.lines] == [1, 2, 3, 4, 5]


def test_columns_are_found_by_where_cells_stand_where_some_are_blank():
    sheet = sheet_of_text("               H100     B200\nBF16           989      2,250\nFP8 (sparse)            9,000\n")
    assert rows(sheet) == [("", "H100", "B200"), ("BF16", "989", "2,250"), ("FP8 (sparse)", "", "9,000")]
    assert sheet.lines[2].heads == ("", "H100", "B200")


def test_wide_characters_take_two_columns():
    sheet = sheet_of_text("项目                    H100     B200\n显存带宽与容量合计               8 TB/s\n算力                    989      2,250\n")
    assert rows(sheet)[1] == ("显存带宽与容量合计", "", "8 TB/s")


def test_lines_that_fit_no_common_columns_get_no_heads():
    sheet = sheet_of_text("a  b  c\nfoo bar baz qux  1 GB  2 GB  3 GB\nx  9 GB\n")
    assert all(not any(line.heads) for line in sheet.lines)
    assert rows(sheet) == [("a", "b", "c"), ("foo bar baz qux", "1 GB", "2 GB", "3 GB"), ("x", "9 GB")]


def test_markdown_keeps_heads_sections_and_footnotes():
    text = (
        "# System\n\n| GPU | **BF16** | note |\n|:--|--:|---|\n| H100 | 1,979* | a \\| b |\n| B200 | 2,250 |\n\n\\* with sparsity\n\nNet\n---\n"
        "- 8 x 400G [CX7](http://x)\n"
    )
    sheet = sheet_of_text(text)
    assert sheet.kind == "markdown"
    assert [(line.number, line.text, line.section) for line in sheet.lines] == [
        (1, "System", ""), (3, "GPU | BF16 | note", "System"), (5, "H100 | 1,979* | a | b", "System"), (6, "B200 | 2,250 | ", "System"),
        (8, "* with sparsity", "System"), (10, "Net", "System"), (12, "- 8 x 400G CX7", "System / Net"),
    ]  # fmt: skip
    assert sheet.lines[2].heads == ("GPU", "BF16", "note")
    assert rows(sheet)[3] == ("B200", "2,250", "")


def test_pipes_without_a_rule_are_no_table():
    assert sheet_of_text("FP8 720 PFLOPS | FP4 1,440 PFLOPS\nHBM | 13.4 TB\n").kind == "text"


@pytest.mark.parametrize("separator", ["\t", ",", ";"])
def test_a_table_is_recognised_by_counting_its_separators(separator):
    lines = ["GPU", "BF16 TFLOPS", "Memory"], ["H100", "989", "80 GB"], ["B200", "2250", "180 GB"]
    sheet = sheet_of_text("\n".join(separator.join(cells) for cells in lines))
    assert sheet.kind == "csv"
    assert rows(sheet) == [tuple(cells) for cells in lines]
    assert [line.heads for line in sheet.lines[1:]] == [tuple(lines[0])] * 2


def test_semicolons_leave_decimal_commas_alone():
    assert rows(sheet_of_text("GPU;Rate\nH100;3,35 TB/s\nB200;8 TB/s\n"))[1] == ("H100", "3,35 TB/s")


def test_sentences_with_commas_are_text():
    assert sheet_of_text("H100, 1,979 TFLOPS, 900 GB/s\nB200, 4,500 TFLOPS, 1800 GB/s\n").kind == "text"
    assert sheet_of_text("8 GPUs, air cooled\n4 NICs, 400G\n").kind == "text"


def test_a_first_row_with_figures_is_no_head_and_a_name_with_digits_is_no_figure():
    assert not any(sheet_of_text("BF16\t989 TFLOPS\nFP8\t1,979 TFLOPS\n").lines[1].heads)
    assert sheet_of_text("参数\t910B\t910C\n显存\t64 GB\t128 GB\n").lines[1].heads == ("参数", "910B", "910C")
    assert not any(sheet_of_text("Peak\t1979 TFLOPS\nRate\t900 GB/s\n").lines[1].heads)


def test_a_figure_split_at_its_thousands_separator_is_joined_and_told():
    sheet = sheet_of_text("GPU,BF16 (TFLOPS),Memory\nH100,1,979,80GB\n", "a.csv")
    assert rows(sheet)[1] == ("H100", "1,979", "80GB")
    assert told(sheet) == ["sheet.thousands_joined"]


def test_a_row_that_is_too_long_gets_no_heads_and_is_told():
    sheet = sheet_of_text("GPU,BF16,Memory\nB200,2,250,180GB\n", "a.csv")
    assert not any(sheet.lines[1].heads)
    assert told(sheet) == ["sheet.row_long"]
    assert sheet.findings[0].place.line == 2


def test_quoted_cells_keep_separators_and_line_breaks():
    sheet = sheet_of_text('GPU,note\nH100,"1,979 TFLOPS,\nsparse"\nB200,x\n', "a.csv")
    assert rows(sheet)[1:] == [("H100", "1,979 TFLOPS, sparse"), ("B200", "x")]
    assert [line.number for line in sheet.lines] == [1, 2, 4]


def test_heads_hold_below_a_gap_only_for_a_table_as_wide():
    sheet = sheet_of_text("GPU,Rate,Count\nH100,400G,8\n,,\nB200,800G,8\n,,\nTotal,16,\n", "a.csv")
    assert [line.heads[:1] for line in sheet.lines] == [("",), ("GPU",), ("GPU",), ("",)]


def test_titles_between_rows_are_sections():
    sheet = sheet_of_text("Quote 7,,\n\nPart,Rate,Count\nCompute,,\nNIC,400 Gb/s,8\nStorage,,\nNIC,200 Gb/s,2\n", "q.csv")
    assert [(line.text, line.section) for line in sheet.lines if line.cells and line.number > 3] == [
        ("NIC | 400 Gb/s | 8", "Compute"),
        ("NIC | 200 Gb/s | 2", "Storage"),
    ]


def test_json_keeps_numbers_as_written_and_the_line_of_each_value():
    sheet = sheet_of_text('{\n "rate": 1.50,\n "net": {\n  "nics": ["400G", "200G"],\n  "note": "a\\nb"\n }\n}')
    assert [(line.number, line.text, line.section) for line in sheet.lines] == [
        (2, "rate: 1.50", ""), (4, "net.nics[0]: 400G", "net.nics"), (4, "net.nics[1]: 200G", "net.nics"), (5, "net.note: a; b", "net"),
    ]  # fmt: skip


def test_a_list_of_like_objects_is_a_table_in_json_yaml_and_json_lines():
    for text, name in (
        ('[{"gpu":"H100","tf":989},\n{"gpu":"B200","w":"1 kW"}]', "-"),
        ('{"gpu":"H100","tf":989}\n{"gpu":"B200","w":"1 kW"}\n', "a.jsonl"),
        ("- {gpu: H100, tf: 989}\n- {gpu: B200, w: 1 kW}\n", "a.yaml"),
    ):
        sheet = sheet_of_text(text, name)
        assert rows(sheet) == [("H100", "989", ""), ("B200", "", "1 kW")]
        assert sheet.lines[1].heads == ("gpu", "tf", "w")
        assert [line.number for line in sheet.lines] == [1, 2]


def test_yaml_is_recognised_by_its_layout_and_pairs_of_words_are_text():
    assert [line.text for line in sheet_of_text("system:\n  gpus: 8\n  rate: 1e3\n").lines] == ["system.gpus: 8", "system.rate: 1e3"]
    assert sheet_of_text("Memory: 80GB\nTDP: 700W\n").kind == "text"
    assert sheet_of_text("---\nMemory: 80GB\n").kind == "yaml"


def test_aliases_are_followed_and_tags_are_not():
    sheet = sheet_of_text("a: &x {rate: 400G}\nb: *x\nc: !!python/object/apply:os.system ['ls']\n", "a.yaml")
    assert [line.text for line in sheet.lines] == ["a.rate: 400G", "b.rate: 400G", "c[0]: ls"]


def test_mlperf_system_descriptions_are_known_by_their_keys():
    text = '{"accelerator_model_name": "H200", "accelerators_per_node": 8, "host_networking": "IB", "number_of_nodes": 4}'
    assert sheet_of_text(text).kind == "mlperf-system"
    assert sheet_of_text('{"accelerator_model_name": "H200"}').kind == "json"


CHINESE = "昇腾910B 显存 64GB，单向带宽 392 GB/s，片间互连"
TAIWAN = "顯示卡記憶體 64GB，單向頻寬 392 GB/s，功耗與散熱規格如下表"


@pytest.mark.parametrize(
    ("text", "codec", "encoding", "guessed"),
    [
        (CHINESE, "utf-8", "utf-8", False),
        (CHINESE, "utf-8-sig", "utf-8", False),
        (CHINESE, "utf-16", "utf-16", False),
        ("H100 has 80 GB\n", "utf-16-le", "utf-16-le", True),
        ("H100 has 80 GB\n", "utf-16-be", "utf-16-be", True),
        (CHINESE, "gbk", "gb18030", True),
        (CHINESE, "gb18030", "gb18030", True),
        (TAIWAN, "big5", "big5", True),
        ("latency 10 µs ± 2, 8×400G", "cp1252", "windows-1252", True),
        ("带宽：４００Ｇ　功耗：７００Ｗ×８", "gbk", "gb18030", True),
    ],
)
def test_encodings_are_recognised_and_a_guess_is_told(text, codec, encoding, guessed):
    sheet = sheet_of_bytes(text.encode(codec))
    assert sheet.lines[0].text == text.strip()
    assert sheet.encoding == encoding
    assert told(sheet) == ["sheet.encoding_guessed"] * guessed


def test_damaged_utf8_is_refused_and_not_read_as_another_encoding():
    with pytest.raises(InputError, match="byte 0xff cannot be read as text") as caught:
        sheet_of_bytes("第一行\n显存显存 64".encode() + b"\xff GB", "a.txt")
    assert caught.value.place.line == 2
    assert caught.value.values["tried"] == "UTF-8"


def test_nothing_that_moves_a_terminal_or_an_eye_is_left():
    sheet = sheet_of_text("\x1b]0;evil\x07NV\x1b[31mLink\x1b[0m 9\u200b00 GB/s \u202e009\u202c a\x08b\rnext\n")
    assert [line.text for line in sheet.lines] == ["NVLink 900 GB/s <U+202E>009<U+202C> ab", "next"]
    assert told(sheet) == ["sheet.controls_removed", "sheet.bidi_shown", "sheet.invisible_removed"]
    assert [finding.values["count"] for finding in sheet.findings] == [4, 2, 1]


def test_escapes_of_json_are_cleaned_as_well():
    sheet = sheet_of_text('{"a": "\\u001b[31m\\u0000900 GB/s\\ud800 \\u202e"}')
    assert sheet.lines[0].text == "a: 900 GB/s\ufffd <U+202E>"


def test_cells_that_a_spreadsheet_would_run_are_told_and_signed_numbers_are_not():
    sheet = sheet_of_text(
        'GPU,note\nH100,"=HYPERLINK(""http://x"",1)"\nB200,+cmd|\' /C calc\'!A0\nB300,@SUM(A1)\nx,-5 %\ny,+40 °C\nz,-\n=,====\n@,\n', "a.csv"
    )
    assert [(finding.place.line, finding.place.column) for finding in suspicious_cells(sheet)] == [(2, 2), (3, 2), (4, 2)]
    assert told(sheet) == ["sheet.suspicious_cell"] * 3
    assert neutralised("=1+1") == "'=1+1"
    assert neutralised("@SUM(A1)").startswith("'")
    assert neutralised("-5") == "-5"
    assert neutralised("NVLink") == "NVLink"


def test_a_title_of_equal_signs_is_no_formula():
    assert told(sheet_of_text("====\nH100\t80 GB\n----\nB200\t180 GB\n@ 400 Gb/s\n")) == []


def workbook():
    import openpyxl

    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "报价"
    sheet["A1"] = "Quote for 1,024 GPUs"
    for merged in ("A1:D1", "A3:A4", "B3:C3", "D3:D4"):
        sheet.merge_cells(merged)
    for place, value in {
        "A3": "Metric", "B3": "H100", "D3": "Unit", "B4": "dense", "C4": "sparse", "A5": "BF16", "B5": 989.4, "C5": 1978.9, "D5": "TFLOPS",
        "A6": "Utilisation", "B6": 0.42, "C6": "=B6*2", "A7": "Power", "B7": 700, "C7": 1200000, "A8": "Sum", "B8": 0.1 + 0.2,
    }.items():  # fmt: skip
        sheet[place] = value
    sheet["B6"].number_format = "0%"
    sheet["B7"].number_format = '#,##0" W"'
    sheet["C7"].number_format = '[$$-409]#,##0.0,,"M"'
    other = book.create_sheet("behind")
    other.sheet_state = "hidden"
    other["C5"], other["D5"], other["C6"], other["D6"] = "GPU", "Rate", "H100", 3.35
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


def test_workbooks_show_values_as_their_office_program_does():
    sheet = sheet_of_bytes(workbook(), "q")
    assert sheet.kind == "xlsx"
    heads = ("Metric", "H100 / dense", "H100 / sparse", "Unit")
    section = "报价 / Quote for 1,024 GPUs"
    body = [line for line in sheet.lines if line.section == section and any(line.heads)]
    assert [line.cells for line in body] == [
        ("BF16", "989.4", "1978.9", "TFLOPS"),
        ("Utilisation", "42%", "", ""),
        ("Power", "700 W", "$1.2M", ""),
        ("Sum", "0.3", "", ""),
    ]
    assert {line.heads for line in body} == {heads}
    assert [line.number for line in body] == [5, 6, 7, 8]
    assert [(line.cells, line.heads) for line in sheet.lines if line.section == "behind"][1] == (("H100", "3.35"), ("GPU", "Rate"))
    assert [(finding.id, finding.place.key) for finding in sheet.findings] == [("sheet.formula_no_value", "报价!C6"), ("sheet.hidden", "behind")]


def test_pages_of_the_web_lose_their_tags_and_keep_their_tables():
    page = """<!doctype html><html><head><style>x{}</style></head><body><h1>H100 &amp; H200</h1><p>Peak <b>1,979</b> TFLOPS<br>second line</p>
<table><tr><th rowspan=2>Metric<th colspan=2>H100</tr><tr><th>dense<th>sparse</tr>
<tr><td>BF16<td>989<td>1,979</tr><tr><td colspan=3>Memory</tr>
<tr><td>HBM<td colspan=2>80 GB</tr></table><script>alert(1)</script><p>after &lt;b&gt;</body>"""
    sheet = sheet_of_text(page)
    assert sheet.kind == "html"
    assert [line.text for line in sheet.lines if not line.cells] == ["H100 & H200", "Peak 1,979 TFLOPS", "second line", "Memory", "after <b>"]
    assert [line.cells for line in sheet.lines if any(line.heads)] == [("BF16", "989", "1,979"), ("HBM", "80 GB", "")]
    assert sheet.lines[5].heads == ("Metric", "H100 / dense", "H100 / sparse")
    assert sheet.lines[1].section == "H100 & H200"


def locked(password, owner="o"):
    """The pages of ``SPEC``, encrypted."""
    from pypdf import PdfReader, PdfWriter

    writer, packed = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(SPEC)))), io.BytesIO()
    writer.encrypt(password, owner_password=owner, algorithm="RC4-128")
    writer.write(packed)
    return packed.getvalue()


SPEC = [
    page_of((50, 700, b"Item"), (250, 700, b"H100"), (400, 700, b"H200"), (50, 680, b"Memory"), (250, 680, b"80 GB"), (400, 680, b"141 GB")),
    page_of((50, 700, b"8 x 400G NIC")),
]


@pytest.mark.parametrize("make", [lambda: pdf(SPEC), lambda: locked("")], ids=["plain", "only the owner is locked out"])
def test_text_of_pdf_keeps_columns_and_pages(make):
    sheet = sheet_of_bytes(make(), "a.pdf")
    assert sheet.kind == "pdf"
    assert [(line.page, line.text) for line in sheet.lines] == [(1, "Item | H100 | H200"), (1, "Memory | 80 GB | 141 GB"), (2, "8 x 400G NIC")]
    assert sheet.lines[1].heads == ("Item", "H100", "H200")
    assert len({line.number for line in sheet.lines}) == 3


def test_pages_without_text_are_told():
    assert [(f.id, f.values["pages"]) for f in sheet_of_bytes(pdf([*SPEC, b""])).findings] == [("sheet.pdf_silent_pages", "3")]


REFUSED = {
    "encrypted PDF": (lambda: locked("secret"), "the PDF is encrypted", "Save a copy without a password, or paste its text."),
    "scanned PDF": (
        lambda: pdf([b"0 0 m"]),
        "the 1 pages hold no text; they are pictures, as from a scanner",
        "Run a text recognition over it, or type its figures into a text file.",
    ),
    "cut workbook": (
        lambda: workbook()[:3000],
        "the file cannot be opened as XLSX: BadZipFile: File is not a zip file",
        "Open it in its program and save it again, or paste its text.",
    ),
    "old office": (
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        "XLS, DOC, PPT files are not read",
        "Save the file as XLSX, CSV or PDF, or paste its text.",
    ),
    "encrypted workbook": (
        lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "the document is protected by a password",
        "Save a copy without a password.",
    ),
    "picture": (
        lambda: b"\x89PNG\r\n\x1a\n123",
        "this is a binary file (PNG), not a sheet",
        "Give text, Markdown, CSV, XLSX, YAML, JSON, HTML or PDF; of a picture type or paste its figures.",
    ),
    "NUL byte": (
        lambda: b"a\nH100\x00 900",
        "a NUL byte stands here, which no text has",
        "Save the document as text, CSV, XLSX or PDF and name that file.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_read_says_why_and_what_to_do(case):
    make, rule, remedy = REFUSED[case]
    with pytest.raises(InputError) as caught:
        sheet_of_bytes(make(), "x.bin")
    text = render_error(caught.value)
    assert text.startswith("error: x.bin")
    assert text.endswith(f": {rule}\n  remedy: {remedy}")
    assert fill(caught.value.message_id, "zh", caught.value.values)


def test_standard_input_is_read_once_among_files(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("NVLink 900 GB/s", encoding="utf-8")
    first, second = read_sheets(["-", path], stdin=io.BytesIO(b"TDP 700 W"))
    assert (first.name, first.lines[0].text) == ("-", "TDP 700 W")
    assert second.name == str(path)
    assert read_sheets(["-"], stdin=io.StringIO("显存 80 GB"))[0].lines[0].text == "显存 80 GB"
    for paths, rule in (
        ([], "no sheet is named"),
        (["-", "-"], "named twice"),
        ([tmp_path], "this is a folder"),
        ([tmp_path / "no"], "does not exist"),
    ):
        with pytest.raises(InputError, match=rule):
            read_sheets(paths, stdin=io.BytesIO(b"x"))
