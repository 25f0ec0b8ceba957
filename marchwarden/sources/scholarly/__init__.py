"""Scholarly literature: registries that find works, and the best form in which each can be read."""
