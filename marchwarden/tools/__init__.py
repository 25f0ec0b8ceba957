"""What the loop acts with: search, fetch, and the reading of what was fetched."""
