"""The command ``tierspan``: one verb for each question."""
