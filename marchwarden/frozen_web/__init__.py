"""A web in a folder: its pages, and the index that finds them."""
