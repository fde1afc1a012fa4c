"""Spec sheets, quotes and pasted text, in any form that people have them, as lines and cells."""

from tierspan.formats.sheets.injection import neutralised, suspicious_cells
from tierspan.formats.sheets.reader import read_sheet, read_sheets, sheet_of_bytes, sheet_of_text

__all__ = ["neutralised", "read_sheet", "read_sheets", "sheet_of_bytes", "sheet_of_text", "suspicious_cells"]
