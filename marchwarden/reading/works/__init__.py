"""Statements of pages and registries on scholarly works: records, sections, notices."""
