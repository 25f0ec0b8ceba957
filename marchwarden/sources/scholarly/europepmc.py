"""Europe PMC: articles and preprints of the life sciences, with full texts of open ones
(https://europepmc.org/RestfulWebService)."""

from __future__ import annotations

import re
from urllib.parse import quote

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, Work
from marchwarden.reading.services.scholarly.europepmc_results import europepmc_results
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api
from marchwarden.sources.scholarly.full_texts import EUROPEPMC_API
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi
from marchwarden.sources.tools import Relation

# Europe PMC sets no limit; it asks for moderate use. A guess.
RULE = RateRule("europepmc", 0.2)
_ARTICLE = re.compile(r"//europepmc\.org/(?:article|abstract)/([A-Z]{3})/([A-Za-z0-9]+)")


class EuropePmcSearch(ScholarlyApi):
    api = Api("Europe PMC", RULE)
    hosts = ("europepmc.org",)
    profile = "europepmc"
    has_notices = True
    has_full_texts = True
    finds_all_words = True
    relations = frozenset({"citing"})

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        parameters: dict[str, str | int] = {
            "query": query,
            "format": "json",
            "resultType": "core",
            "pageSize": max_results,
        }
        return await self.client.get(f"{EUROPEPMC_API}/search", parameters)

    async def ask_related(self, relation: Relation, work: Work, max_results: int) -> Answer | Failure | None:
        return await self.ask(f"CITES:{work.pmid}_MED", max_results) if work.pmid else None

    def records(self, body: bytes) -> list[WorkRecord] | None:
        return europepmc_results(body)

    def request_for(self, url: str) -> str | None:
        article = _ARTICLE.search(url)
        if article is None:
            return None
        query = quote(f"EXT_ID:{article[2]} AND SRC:{article[1]}")
        return f"{EUROPEPMC_API}/search?query={query}&format=json&resultType=core&pageSize=1"
