"""Answers as files of other tools, for people who look at them there."""
