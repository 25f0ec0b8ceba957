"""Frozen web: pages in a folder, and the index that finds them."""
