"""Prompt injection: passages of a page that speak to a model."""
