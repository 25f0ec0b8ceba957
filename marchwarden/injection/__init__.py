"""Prompt injection: passages of a page that give orders to a model."""
