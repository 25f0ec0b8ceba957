"""An agentic researcher whose every claim can be checked."""

__version__ = "0.1.0"
