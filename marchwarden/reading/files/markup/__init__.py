"""Readers of text with markup, of notebooks, and of source code."""
