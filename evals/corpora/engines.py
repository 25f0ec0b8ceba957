"""Time, size and memory of a corpus's index in each engine, up to a million documents and more.

    python evals/corpora/engines.py ARTICLES [--documents 1000000] [--engines tantivy lance] [--vectors N]

ARTICLES is a .jsonl.gz of objects with `title` and `extract`. Documents are made of them: a title, and three to seven
sentences drawn from all of the articles, so that words are as frequent as in them while no two documents are alike.
They are made one by one, and stemmed beforehand by sentence: the time is the engine's, without the reading of files
(evals/benchmarks/corpus.py has that). The writer commits every ten seconds, as indexing does. Each engine runs in a
process of its own, which is niced and kept to one core.

Queries are words of a sentence, and get ten documents. Cold ones run in a new process, after the index has left the
memory of the system: the first query of each. Vectors are those of 400 articles, with noise: as many as are asked
for, with as many documents. What their index finds is compared with what comparing all of them finds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from marchwarden.corpus.corpora import Corpus
from marchwarden.corpus.documents import Chunk, Part
from marchwarden.corpus.engines.corpus_index import ENGINES, open_index, open_writer
from marchwarden.corpus.hybrid_search import HybridSearch
from marchwarden.corpus.indexing import COMMIT_SECONDS
from marchwarden.text.embedding import embed
from marchwarden.text.ranking import query_words, terms_of
from marchwarden.text.segmentation.sentences import sentences

HITS = 10


class Made:
    """Documents made of the sentences of articles, always the same."""

    def __init__(self, articles: Path, vectors: Path | None = None) -> None:
        with gzip.open(articles, "rt", encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        self._titles = [each["title"] for each in found]
        self.sentences = [
            each["extract"][start:end] for each in found for start, end in sentences(each["extract"], "en")
        ]
        self._terms = [" ".join(terms) for terms in terms_of(self.sentences)]
        self._title_terms = [" ".join(terms) for terms in terms_of(self._titles)]
        self._words = [frozenset(query_words(sentence)) for sentence in self.sentences]
        self._vectors = np.load(vectors) if vectors else None

    def parts(self, documents: int) -> Iterator[tuple[str, Part]]:
        """Yield the path of each document, and its one part."""
        chance, noise = random.Random(1), np.random.default_rng(1)
        for number in range(documents):
            chosen = [chance.randrange(len(self.sentences)) for _ in range(chance.randint(3, 7))]
            title = chance.randrange(len(self._titles))
            path = f"/archive/{number // 1000:04}/{number}.txt"
            said = [self.sentences[each] for each in chosen]
            stored = json.dumps([path, self._titles[title], said, None, "en"], ensure_ascii=False).encode()
            chunks: tuple[Chunk, ...] = ()
            if self._vectors is not None:
                vector = self._vectors[number % len(self._vectors)] + noise.normal(0, 0.01, self._vectors.shape[1])
                vector /= np.linalg.norm(vector)
                chunks = (Chunk(stored, vector.astype(np.float16).tobytes()),)
            text = " ".join(self._terms[each] for each in chosen)
            words = " ".join(sorted(frozenset.union(*(self._words[each] for each in chosen))))
            yield path, Part(path, self._titles[title], text, self._title_terms[title], words, "en", stored, chunks)

    def queries(self, count: int) -> list[str]:
        """Return words of sentences, four to nine each, in their order."""
        chance = random.Random(2)
        found = []
        while len(found) < count:
            words = chance.choice(self.sentences).split()
            if len(words) >= 9:
                kept = sorted(chance.sample(range(len(words)), chance.randint(4, 9)))
                found.append(" ".join(words[each] for each in kept))
        return found


def rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def percentiles(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p50, p99 = (1000 * ordered[round(share * (len(ordered) - 1))] for share in (0.5, 0.99))
    return f"p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def write(made: Made, engine: str, folder: Path, documents: int) -> None:
    before = rss_mb()
    began = committed = time.perf_counter()
    cpu = time.process_time()
    writer = open_writer(engine, folder, has_vectors=made._vectors is not None)
    writer.clear()
    making = making_cpu = 0.0
    parts = made.parts(documents)
    while True:
        at, cpu_at = time.perf_counter(), time.process_time()
        each = next(parts, None)
        making += time.perf_counter() - at
        making_cpu += time.process_time() - cpu_at
        if each is None:
            break
        path, part = each
        writer.add(path, [part])
        if time.perf_counter() - committed > COMMIT_SECONDS:
            writer.commit()
            committed = time.perf_counter()
    writer.commit()
    written = time.perf_counter() - began - making
    cpu = time.process_time() - cpu - making_cpu
    at, cpu_at = time.perf_counter(), time.process_time()
    writer.close()
    closing, cpu_closing = time.perf_counter() - at, time.process_time() - cpu_at
    seconds = written + closing
    print(
        f"{engine}: {documents:,} documents in {seconds:.0f} s ({documents / seconds:,.0f} a second), of that "
        f"{closing:.0f} s at the end; CPU {cpu + cpu_closing:.0f} s; {size_mb(folder):,.0f} MB on disk; "
        f"peak memory {rss_mb():,.0f} MB, of that {before:,.0f} MB of the benchmark",
        flush=True,
    )


def search(made: Made, engine: str, folder: Path, queries: int) -> None:
    before = rss_mb()
    at = time.perf_counter()
    index = open_index(engine, folder)
    found = HybridSearch(index, ["en"])
    opened = time.perf_counter() - at
    took, took_spelling = [], []
    asked = made.queries(queries)
    for query in asked:
        at = time.perf_counter()
        found.find(query, HITS)
        took.append(time.perf_counter() - at)
        at = time.perf_counter()
        found.meant(query)
        took_spelling.append(time.perf_counter() - at)
    warm = percentiles(took[queries // 3 :])
    print(
        f"{engine}: opened in {1000 * opened:.0f} ms, first query {1000 * took[0]:.0f} ms; warm {warm}; "
        f"spelling {percentiles(took_spelling[queries // 3 :])}; peak memory {rss_mb():,.0f} MB, of that "
        f"{before:,.0f} MB of the benchmark",
        flush=True,
    )
    if made._vectors is None:
        return
    exact = folder.parents[1] / "tantivy" / folder.name
    other = open_index("tantivy", exact) if engine != "tantivy" and exact.is_dir() else None
    took, same = [], []
    for number in range(min(queries, 100)):
        # Between two of the texts, so that near ones are no copies.
        mean = made._vectors[number] + made._vectors[-1 - number]
        vector = (mean / np.linalg.norm(mean)).astype(np.float16).tobytes()
        at = time.perf_counter()
        near = {each.locator for each in index.find_near(vector, HITS)}
        took.append(time.perf_counter() - at)
        if other:
            same.append(len(near & {each.locator for each in other.find_near(vector, HITS)}) / HITS)
    told = f"; of the nearest {HITS}, {np.mean(same):.2f} found" if same else ""
    print(f"{engine}: vectors, first {1000 * took[0]:.0f} ms, warm {percentiles(took[20:])}{told}", flush=True)


def forget(folder: Path) -> None:
    """Ask the system to drop the files of an index from its memory."""
    for file in folder.rglob("*"):
        if file.is_file():
            descriptor = os.open(file, os.O_RDONLY)
            os.fsync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(descriptor)


def vectors_of(articles: Path, count: int, into: Path) -> None:
    with gzip.open(articles, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["extract"][:1_500] for line, _ in zip(lines, range(count), strict=False)]
    at = time.perf_counter()
    vectors = [np.frombuffer(embed(text, "passage"), dtype=np.float16).astype(np.float32) for text in texts]
    print(f"embedding: {1000 * (time.perf_counter() - at) / len(texts):.0f} ms a text", flush=True)
    np.save(into, np.stack(vectors))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("articles", type=Path)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--vectors", type=int, default=0)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--cold", type=int, default=5, help="processes that each ask a first query")
    parser.add_argument("--folder", type=Path, help="where the index is made, and left; default: a temporary one")
    parser.add_argument("--part", choices=["write", "search", "first"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        root = given.folder or Path(temporary)
        vectors = root / "vectors.npy" if given.vectors else None
        documents = given.vectors or given.documents
        if given.part:
            made = Made(given.articles, vectors)
            for engine in given.engines:
                folder = Corpus(engine, root / engine).index
                if given.part == "write":
                    write(made, engine, folder, documents)
                elif given.part == "search":
                    search(made, engine, folder, given.queries)
                else:
                    query = made.queries(50)[given.cold]
                    forget(folder)
                    at = time.perf_counter()
                    HybridSearch(open_index(engine, folder), ["en"]).find(query, HITS)
                    print(f"{1000 * (time.perf_counter() - at):.0f}")
            return
        root.mkdir(parents=True, exist_ok=True)
        if vectors and not vectors.is_file():
            vectors_of(given.articles, 400, vectors)
        for engine in given.engines:
            own = [sys.executable, __file__, str(given.articles), "--engines", engine, "--folder", str(root)]
            own += ["--documents", str(given.documents), "--vectors", str(given.vectors)]
            command = ["nice", "-n", "10", "taskset", "-c", str(max(os.sched_getaffinity(0))), *own]
            for part in ("write", "search"):
                subprocess.run([*command, "--part", part, "--queries", str(given.queries)], check=True)
            first = [
                subprocess.run(
                    [*command, "--part", "first", "--cold", str(number)], check=True, capture_output=True, text=True
                ).stdout.strip()
                for number in range(given.cold)
            ]
            print(f"{engine}: cold, opened and asked in {', '.join(first)} ms", flush=True)


if __name__ == "__main__":
    main()
