"""Readers of word processors' and presentations' files."""
