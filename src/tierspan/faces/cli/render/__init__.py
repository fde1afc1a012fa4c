"""What answers look like at the terminal: tables, bars, pairs and notes, all as Rich renderables."""
