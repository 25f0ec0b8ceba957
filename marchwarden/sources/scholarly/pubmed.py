"""PubMed, by NCBI's E-utilities: articles of medicine and biology (https://www.ncbi.nlm.nih.gov/books/NBK25497/)."""

from __future__ import annotations

import re

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, Work
from marchwarden.reading.services.scholarly.pubmed_articles import found_pmids, linked_pmids, pubmed_articles
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api, ApiClient
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi, email_of
from marchwarden.sources.tools import Relation

_API = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
# Three requests a second; a key would allow ten, but it would stand in the address of every request.
_RULE = RateRule("ncbi", 0.35)
_ARTICLE = re.compile(r"//pubmed\.ncbi\.nlm\.nih\.gov/(\d{1,9})\b")


class PubmedSearch(ScholarlyApi):
    api = Api("PubMed", _RULE)
    hosts = ("pubmed.ncbi.nlm.nih.gov",)
    profile = "pubmed"
    has_notices = True
    finds_all_words = True
    relations = frozenset({"citing", "cited"})

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        super().__init__(opening, client)
        mail = email_of(opening.settings.contact)
        self._named = {"tool": "marchwarden", **({"email": mail} if mail else {})}

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        parameters: dict[str, str | int] = {
            "db": "pubmed",
            "term": query,
            "retmax": max_results,
            "sort": "relevance",
            **self._named,
        }
        listed = await self.client.get(f"{_API}/esearch.fcgi", parameters)
        if isinstance(listed, Failure):
            return listed
        pmids = found_pmids(listed.body)
        if pmids is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
        return await self.client.get(self._articles(pmids)) if pmids else listed

    async def ask_related(self, relation: Relation, work: Work, max_results: int) -> Answer | Failure | None:
        if work.pmid is None:
            return None
        name = "pubmed_pubmed_citedin" if relation == "citing" else "pubmed_pubmed_refs"
        asked = {"dbfrom": "pubmed", "db": "pubmed", "linkname": name, "id": work.pmid, **self._named}
        linked = await self.client.get(f"{_API}/elink.fcgi", asked)
        if isinstance(linked, Failure):
            return linked
        pmids = linked_pmids(linked.body, name)
        if pmids is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
        return await self.client.get(self._articles(pmids[:max_results])) if pmids else None

    def records(self, body: bytes) -> list[WorkRecord] | None:
        return [] if found_pmids(body) is not None else pubmed_articles(body)

    def request_for(self, url: str) -> str | None:
        article = _ARTICLE.search(url)
        return self._articles([article[1]]) if article else None

    def _articles(self, pmids: list[str]) -> str:
        named = "".join(f"&{name}={value}" for name, value in self._named.items())
        return f"{_API}/efetch.fcgi?db=pubmed&id={','.join(pmids)}&retmode=xml{named}"
