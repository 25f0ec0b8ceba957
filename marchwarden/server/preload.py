"""Imported once, by the process that those of calls are forked from: what a call imports, or builds, when it first
needs it. Importing it is its use; nobody else should."""

from __future__ import annotations

import gc
from importlib import import_module

from chardet import detect
from tqdm import tqdm  # type: ignore[import-untyped]

from marchwarden.http.addresses import organisation_of

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
    "h2",
    "httpx",
    "idna",
    "lxml.html",
    "sentencex",
    "tantivy",
    "trafilatura",
)

gc.disable()  # looking for garbage among what is only being made costs 0.12 of 1.2 s
for name in _NEEDED_SOON:
    import_module(name)

organisation_of("example.org")  # reads the list of public suffixes
detect(b"caf\xe9")  # reads the tables of languages
tqdm.get_lock()  # a semaphore of the system: one for all, instead of one left behind by each process that is killed
gc.freeze()  # these objects stay, and a collector that looks at them copies their memory into each process
gc.enable()
