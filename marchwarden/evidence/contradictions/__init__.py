"""Contradictions of two statements on one thing, by rule."""
