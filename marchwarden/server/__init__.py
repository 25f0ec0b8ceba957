"""The MCP server, and the worker process of each call."""
