"""Databases as a source: one SELECT is planned, checked and run in a process of its own; its rows are a page."""
