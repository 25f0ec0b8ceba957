"""Bytes to pages: text with numbered passages."""
