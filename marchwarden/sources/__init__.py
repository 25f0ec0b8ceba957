"""What can be searched and read: one registry, one module a source."""
