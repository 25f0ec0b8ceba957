"""Runs over labelled questions: asked, stored, scored, compared."""
