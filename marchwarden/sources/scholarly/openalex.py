"""OpenAlex, a catalogue of works of all fields with their open copies (https://docs.openalex.org). It needs a key."""

from __future__ import annotations

import re
from urllib.parse import quote

from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, Work
from marchwarden.reading.services.scholarly.openalex_works import openalex_works
from marchwarden.reading.services.scholarly.work_records import WorkRecord
from marchwarden.sources.api_client import Api, ApiClient, json_of
from marchwarden.sources.opening import Opening
from marchwarden.sources.scholarly.scholarly_api import ScholarlyApi
from marchwarden.sources.tools import Relation
from marchwarden.text.works import DOI_RESOLVER, doi_of, is_doi_address

_API = "https://api.openalex.org/works"
# A hundred requests a second are allowed; the free key pays for a thousand searches a day. A guess.
_RULE = RateRule("openalex", 0.1)
_WORK = re.compile(r"//(?:api\.)?openalex\.org/(?:works/)?(W\d+)$", re.IGNORECASE)


class OpenAlexSearch(ScholarlyApi):
    api = Api("OpenAlex", _RULE)
    profile = "openalex"
    relations = frozenset({"citing", "cited"})

    def __init__(self, opening: Opening, client: ApiClient | None = None) -> None:
        key = opening.settings.openalex_api_key
        headers = {"Authorization": f"Bearer {key.get_secret_value()}"} if key else {}
        super().__init__(opening, client or ApiClient(opening, Api(self.api.name, _RULE, headers)))

    async def ask(self, query: str, max_results: int) -> Answer | Failure:
        # Commas and colons part filters, and a question mark or an asterisk stands for other letters.
        words = re.sub(r"[?*,:|!\"~]", " ", query)
        return await self.client.get(_API, {"search": " ".join(words.split()), "per-page": max_results})

    async def ask_related(self, relation: Relation, work: Work, max_results: int) -> Answer | Failure | None:
        doi = work.doi or (f"10.48550/arxiv.{work.arxiv}" if work.arxiv else None)
        if doi is None:
            return None
        answer = await self.client.get(self.request_for(f"{DOI_RESOLVER}{doi}") or "")
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        # Its filters know works by its own numbers alone.
        number = _WORK.search(str(found.get("id"))) if isinstance(found, dict) else None
        if number is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} sent an answer that can't be read")
        name = "cites" if relation == "citing" else "cited_by"
        return await self.client.get(_API, {"filter": f"{name}:{number[1]}", "per-page": max_results})

    def records(self, body: bytes) -> list[WorkRecord] | None:
        return openalex_works(body)

    def request_for(self, url: str) -> str | None:
        if work := _WORK.search(url):
            return f"{_API}/{work[1].upper()}"
        doi = doi_of(url) if is_doi_address(url) else None
        return f"{_API}/{DOI_RESOLVER}{quote(doi.lower(), safe='/')}" if doi else None
