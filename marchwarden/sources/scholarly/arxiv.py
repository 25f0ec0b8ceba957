"""arXiv: its API finds preprints, and arxiv.org has them as HTML and PDF (https://info.arxiv.org/help/api/)."""

from __future__ import annotations

import re

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure
from marchwarden.reading.services.scholarly.arxiv_feed import arxiv_entries
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi
from marchwarden.text.works import arxiv_paper_of

_API = "https://export.arxiv.org/api/query"
# "No more than one request every three seconds", "a single connection at a time", for all machines of a user together
# (https://info.arxiv.org/help/api/tou.html).
_RULE = RateRule("arxiv", 3.0, one_at_a_time=True)


class ArxivSearch(ScholarlyApi):
    api = Api("arXiv", _RULE)
    hosts = ("arxiv.org",)
    profile = "arxiv"
    finds_all_words = True

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        fields = re.sub(r"(?:^|(?<= AND )|(?<= OR ))(?=\S)", "all:", query)
        parameters: dict[str, str | int] = {
            "search_query": fields,
            "start": 0,
            "max_results": max_results,
            "sortBy": "relevance",
        }
        return await self.client.get(_API, parameters)

    def records(self, body: bytes) -> list[WorkRecord] | None:
        entries = arxiv_entries(body)
        return None if entries is None else [record for entry in entries if (record := entry.record())]

    def request_for(self, url: str) -> str | None:
        paper = arxiv_paper_of(url)
        if paper is None:
            return None
        return f"{_API}?id_list={paper.id}{f'v{paper.version}' if paper.version else ''}&max_results=1"
