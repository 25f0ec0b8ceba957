"""Sharing: traces, and what they name, in an object store that several machines use."""
