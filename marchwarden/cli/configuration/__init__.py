"""The user's own settings and keys: what is in force, where it comes from, and how it is changed."""
