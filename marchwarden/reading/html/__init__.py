"""HTML pages: main text, visibility, metadata."""
