"""Requests to the web: addresses, connections, downloads, caching, rate limits, robots.txt."""
