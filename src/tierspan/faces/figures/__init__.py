"""Figures of the answers as Plotly objects, the same for pages and notebooks; drawings that need no interaction as SVG text."""
