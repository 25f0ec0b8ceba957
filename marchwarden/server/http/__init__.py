"""The server over HTTP: who may call, what they may use, and what an operator sees."""
