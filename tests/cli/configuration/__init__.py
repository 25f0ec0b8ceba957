"""The user's own settings and keys on the command line."""
