"""Search services for the whole web."""
