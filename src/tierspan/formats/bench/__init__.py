"""Logs of communication benchmarks, read to typed rows: one small file a tool, ``base`` what they share."""

from tierspan.formats.bench.reader import read_benchmarks, recognise

__all__ = ["read_benchmarks", "recognise"]
