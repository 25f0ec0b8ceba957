"""`marchwarden eval` and its subcommands."""
