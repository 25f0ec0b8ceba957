"""How well files are found, on judged queries of a public collection: not below what is published of BM25."""

from __future__ import annotations

import json
import re
from pathlib import Path
from statistics import fmean

import pytest

from marchwarden.corpus.corpora import open_search
from marchwarden.evaluation.datasets.cacm import average_precision, load, ndcg
from tests.corpora import corpus_of
from tests.shared_data import SHARED_DATA

CACM = SHARED_DATA / "ir-cacm"
PUBLISHED_MAP, MEASURED_NDCG = 0.3123, 0.4485
"""BM25 as Anserini has it; and as it was measured on these files with another library."""


@pytest.mark.slow
@pytest.mark.skipif(not CACM.is_dir(), reason=f"the public collection CACM is not in {CACM}")
def test_files_are_found_as_well_as_published_of_bm25(tmp_path: Path) -> None:
    """As lines of text, for the time that it takes: `eval --dataset cacm-files` has them as the pages that they are."""
    collection = load(CACM)
    texts = {name: re.sub(r"<[^>]+>", "", body.decode()) for name, body in collection.pages.items()}
    lines = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    corpus = corpus_of(tmp_path / "files", {"cacm.jsonl": "\n".join(lines)})
    index = open_search(corpus)
    found = [
        ([hit.title for hit in index.find(judged.query, 1_000)], judged.relevant) for judged in collection.queries
    ]
    assert fmean(average_precision(*each) for each in found) >= PUBLISHED_MAP
    assert fmean(ndcg(*each) for each in found) >= MEASURED_NDCG
