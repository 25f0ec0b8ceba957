"""Readers of PDF, DOCX, EPUB and plain text."""
