"""Semantic Scholar, a search of papers of all fields (https://api.semanticscholar.org/api-docs/)."""

from __future__ import annotations

import re
from urllib.parse import quote

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, Work
from marchwarden.reading.services.scholarly.semanticscholar_papers import FIELDS, semanticscholar_papers
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api, ApiClient
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi
from marchwarden.sources.tools import Relation

_API = "https://api.semanticscholar.org/graph/v1/paper"
# One request a second over all endpoints with a key; without one a pool that all share, often full.
# A tenth more, since one request may be longer on its way than the next (evals/sources/recordings.py).
_RULE = RateRule("semanticscholar", 1.1)
_PAPER = re.compile(r"//(?:www\.)?semanticscholar\.org/paper/(?:[^/]+/)?([0-9a-f]{40})\b")


class SemanticScholarSearch(ScholarlyApi):
    api = Api("Semantic Scholar", _RULE)
    profile = "semanticscholar"
    relations = frozenset({"citing", "cited"})

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        key = opening.settings.semantic_scholar_api_key
        headers = {"x-api-key": key.get_secret_value()} if key else {}
        super().__init__(opening, client or ApiClient(opening, Api(self.api.name, _RULE, headers)))

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        # A hyphen leaves out the word behind it (API documentation of paper search).
        parameters: dict[str, str | int] = {"query": query.replace("-", " "), "limit": max_results, "fields": FIELDS}
        return await self.client.get(f"{_API}/search", parameters)

    async def ask_related(self, relation: Relation, work: Work, max_results: int) -> Answer | Failure | None:
        named = ((work.doi, "DOI"), (work.arxiv, "ARXIV"), (work.pmid, "PMID"))
        paper = next((f"{scheme}:{quote(name, safe='/')}" for name, scheme in named if name), None)
        listed = "citations" if relation == "citing" else "references"
        parameters: dict[str, str | int] = {"fields": FIELDS, "limit": max_results}
        return await self.client.get(f"{_API}/{paper}/{listed}", parameters) if paper else None

    def records(self, body: bytes) -> list[WorkRecord] | None:
        return semanticscholar_papers(body)

    def request_for(self, url: str) -> str | None:
        paper = _PAPER.search(url)
        return f"{_API}/{paper[1]}?fields={FIELDS}" if paper else None
