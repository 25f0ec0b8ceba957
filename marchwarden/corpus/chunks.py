"""Vectors of documents: parts are cut into chunks that the embedding model reads whole (embedding.py)."""

from __future__ import annotations

import json
from dataclasses import replace

from marchwarden.corpus.documents import Chunk, Prepared
from marchwarden.text.embedding import embed

# Characters of a chunk, about a hundred words: a text of three times as many takes five times as long. A guess.
CHUNK_CHARS = 600


def with_vectors(prepared: Prepared) -> Prepared:
    """Return what was read of a file with a vector for each chunk. Blocks for about 2 ms a word."""
    parts = []
    for part in prepared.parts:
        locator, title, sentences, published, language = json.loads(part.stored)
        chunks: list[Chunk] = []
        held: list[str] = []
        for sentence in [*sentences, ""]:
            # The empty one stands for the end.
            if held and (not sentence or sum(map(len, held)) + len(sentence) > CHUNK_CHARS):
                stored = json.dumps([locator, title, held, published, language], ensure_ascii=False)
                vector = embed("\n".join((title, *held)), "passage")
                chunks.append(Chunk(stored.encode("utf-8", "replace"), vector))
                held = []
            held.append(sentence)
        parts.append(replace(part, chunks=tuple(chunks)))
    return replace(prepared, parts=tuple(parts))
