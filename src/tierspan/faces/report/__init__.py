"""Pages for people who rather look than read: one self-contained HTML file that opens offline."""
