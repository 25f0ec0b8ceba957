"""Imports and builds what a call needs first, in the process that the processes of calls are forked from.

Importing this module does it; only that process should.
"""

from __future__ import annotations

import gc
import threading
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

from chardet import detect

from marchwarden.errors import ConfigurationError
from marchwarden.http.addresses import organisation_of
from marchwarden.http.certificates import tls_context

_NEEDED_SOON = (
    "marchwarden.agent.research",
    "marchwarden.server.worker_process",
    "marchwarden.sources.source_registry",
    "marchwarden.sources.tools",
    "marchwarden.sources.combined",
    "marchwarden.sources.corpus_search",
    "marchwarden.sources.fetch",
    "marchwarden.sources.snapshot_search",
    "marchwarden.corpus.corpus_fetcher",
    "marchwarden.frozen_web.pages",
    "marchwarden.reading.page",
    "httpx",
    "idna",
    "lxml.html",
    "sentencex",
    "tantivy",
    "trafilatura",
)

# Looking for garbage among what is only being made costs 0.12 of 1.2 s.
gc.disable()
for name in _NEEDED_SOON:
    import_module(name)

# Reads the list of public suffixes.
organisation_of("example.org")
# Reads certificates, unless there are none; each call that needs them says so.
with suppress(ConfigurationError):
    tls_context()
# Reads the tables of languages.
detect(b"caf\xe9")
# tqdm, which ranking goes through, would share a semaphore among the processes of all calls: one that is killed while
# it holds that keeps every later call waiting for ever. Each process gets a lock of its own.
if find_spec("tqdm"):  # which comes with the libraries of models
    import_module("tqdm").tqdm.set_lock(threading.RLock())
# These objects stay, and a collector that visits them would copy their memory into each process.
gc.freeze()
gc.enable()
