"""What holds: pure functions, array in, array out."""
