"""Fitted constants: what they are called, what they were before any measurement, and what a fit made of them."""
