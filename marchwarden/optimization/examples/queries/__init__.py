"""Examples of `write_query`, over a small database of our own."""
