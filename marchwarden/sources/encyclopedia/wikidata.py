"""Wikidata: finds the entities that a question names, and reads the statements about one with their labels.

https://www.wikidata.org/w/api.php: `wbsearchentities` finds, `wbgetentities` gives statements, and then the labels of
the properties and entities in them. The query service would need one request, but often takes seconds or is down.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx

from marchwarden.contract import SourceFilter
from marchwarden.evidence.asking.telling_words import names_in
from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, SearchHit
from marchwarden.reading.services.wikidata_statements import PROFILE, ids_to_label, label_of, statements_of
from marchwarden.sources.api_client import Api, json_of
from marchwarden.sources.api_source import ApiReader, ApiSearch, Found, content_words
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools

# Names of a question that are looked up, one request each. A guess.
_MOST_NAMES = 2
# Entities that are found, of all names together. A guess: the service puts the best-known one first, and each takes
# the place of another source's hit.
_MOST_ENTITIES = 2
# Seconds between two requests, as for Wikipedia.
_EVERY_S = 0.2
# Labels of one request, at most: the API's own limit without rights.
_LABELS_A_REQUEST = 50
# Requests for labels of one entity, at most. A guess: a country has 400 entities in its statements, a person 100.
_MOST_LABEL_REQUESTS = 4

# Words inside a name.
_LINKS = ("of", "the", "de", "la", "del", "van", "von", "der", "du")

_API = "https://www.wikidata.org/w/api.php"
_ENTITY = re.compile(r"https://www\.wikidata\.org/(?:wiki|entity)/(?:Special:EntityPage/)?(Q\d{1,12})")
_LANGUAGE: dict[str, str | int] = {"languages": "en", "languagefallback": 1, "format": "json", "formatversion": 2}

_SERVICE = Api("Wikidata", RateRule("wikidata", _EVERY_S))


def open_wikidata(opening: Opening, name: str = "") -> Tools:
    """Return tools that find entities of Wikidata and read their statements."""
    reader = WikidataReader(opening)
    return Tools(kind="wikidata", search=WikidataSearch(opening), fetcher=reader, address=reader.address)


class WikidataSearch(ApiSearch):
    api = _SERVICE
    hosts = ("wikidata.org",)

    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        names = names_to_look_up(query)
        most = max(1, _MOST_ENTITIES // len(names))
        return await self.find_for_each(names, lambda name: self._entities(name, most))

    async def _entities(self, name: str, most: int) -> list[SearchHit | None] | Failure:
        """Return the entities whose label or alias begins with the name."""
        asked: dict[str, str | int] = {"action": "wbsearchentities", "search": name, "limit": most, "format": "json"}
        found = await self.listed(_API, {**asked, "language": "en", "uselang": "en", "type": "item"}, "search")
        return found if isinstance(found, Failure) else [_hit(each) for each in found]


def names_to_look_up(query: str) -> list[str]:
    """Return the names in a query, longest first: `University of Utah`, `Provo`. Where it has none, its words without
    stop words are one."""
    named = set(names_in(query))
    names: list[str] = []
    run: list[str] = []
    for word in [*query.split(), ""]:
        plain = re.sub(r"['’]s$", "", word.strip(".,;:!?()\"'“”‘’"))
        if plain in named or word in named:
            run.append(plain)
        elif not (run and plain in _LINKS):
            names.append(" ".join(run))
            run = []
        else:
            run.append(plain)
        if word[-1:] in ",;:?!":
            names.append(" ".join(run))
            run = []
    names = [re.sub(rf"(?: (?:{'|'.join(_LINKS)}))+$", "", name) for name in names if re.search(r"[^\W\d]", name)]
    longest = sorted(dict.fromkeys(names), key=len, reverse=True)[:_MOST_NAMES]
    return longest or [" ".join(content_words(query)) or query]


def _hit(result: Any) -> SearchHit | None:
    if not isinstance(result, dict) or not re.fullmatch(r"Q\d{1,12}", str(entity := result.get("id"))):
        return None
    label, about = result.get("label"), result.get("description")
    title = label if isinstance(label, str) else str(entity)
    snippet = f"{title}: {about}" if isinstance(about, str) else ""
    return SearchHit(f"https://www.wikidata.org/wiki/{entity}", title, snippet)


class WikidataReader(ApiReader):
    api = _SERVICE
    profile = PROFILE

    def request_for(self, url: str) -> str | None:
        entity = _ENTITY.fullmatch(url)
        asked = {"action": "wbgetentities", "props": "info|labels|descriptions|claims", **_LANGUAGE}
        return str(httpx.URL(_API, params={**asked, "ids": entity[1]})) if entity else None

    async def answer_for(self, url: str, timeout: float | None) -> Answer | Failure:
        """Return the statements about an entity, and the labels that they need, as one answer."""
        answer = await super().answer_for(url, timeout)
        if isinstance(answer, Failure):
            return answer
        found = statements_of(answer.body)
        if found is None:
            return Failure(FailureKind.SERVICE_DOWN, f"{self.api.name} did not answer with statements")
        if isinstance(found, Failure):
            return found
        wanted = ids_to_label(found)[: _LABELS_A_REQUEST * _MOST_LABEL_REQUESTS]
        labels: dict[str, str] = {}
        for first in range(0, len(wanted), _LABELS_A_REQUEST):
            more = await self._labels(wanted[first : first + _LABELS_A_REQUEST], timeout)
            if isinstance(more, Failure):
                return more
            labels |= more
        return replace(answer, body=json.dumps({**found, "shown": labels}, sort_keys=True).encode())

    async def _labels(self, ids: Sequence[str], timeout: float | None) -> dict[str, str] | Failure:
        asked = {"action": "wbgetentities", "props": "labels", "ids": "|".join(ids), **_LANGUAGE}
        answer = await self.client.get(_API, asked, timeout=timeout)
        found = answer if isinstance(answer, Failure) else json_of(answer, self.api.name)
        if isinstance(found, Failure):
            return found
        entities = found.get("entities") if isinstance(found, dict) else None
        if not isinstance(entities, dict):
            return Failure(FailureKind.SERVICE_DOWN, f"{self.api.name} did not return labels")
        return {each: label for each in ids if (label := label_of(entities.get(each)))}
