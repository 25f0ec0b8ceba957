"""What the server offers beside its tool: resources and prompts."""
