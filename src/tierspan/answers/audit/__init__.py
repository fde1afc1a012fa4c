"""Audit of spec sheets: figures read with their context, rules, claims, the four-step reading, the room."""
