"""What ``catalog compare`` tells of two or more parts, a module for each group of its rows."""
