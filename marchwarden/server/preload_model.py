"""Imported likewise, where pages are read by meaning: loads the embedding model once for all calls. It runs on one
thread, so that nothing of it is in flight when a process is forked."""

from __future__ import annotations

from marchwarden.text.embedding import load_model

load_model()
