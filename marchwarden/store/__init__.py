"""Content store: every page that was read, under its hash."""
