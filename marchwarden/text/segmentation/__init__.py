"""Texts cut into sentences, in any language."""
