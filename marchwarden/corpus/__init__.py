"""The user's own files, indexed so that a researcher finds them."""
