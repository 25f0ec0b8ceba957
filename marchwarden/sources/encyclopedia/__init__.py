"""Encyclopedias."""
