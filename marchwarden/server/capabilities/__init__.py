"""Offers of the server beside its tool: resources and prompts."""
