"""The client of the research server: one call over MCP."""
