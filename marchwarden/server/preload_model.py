"""Imported likewise, where pages are read by meaning: loads the embedding model and the judge once for all calls.

They run on one thread, so that nothing of them is in flight when a process is forked."""

from __future__ import annotations

import gc

from marchwarden.judge import answering
from marchwarden.text.embedding import load_model

load_model()
if answering.is_installed():
    answering.load()
# As preload.py does with what it made.
gc.freeze()
