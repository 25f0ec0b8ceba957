"""Sources to search and to read: one registry, and one module for each source."""
