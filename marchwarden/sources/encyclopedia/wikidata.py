"""Wikidata: finds the entities that a question names, and reads the statements about one, with labels, by SPARQL."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import httpx

from marchwarden.contract import SourceFilter
from marchwarden.evidence.question import names_in
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, FailureKind, SearchHit
from marchwarden.sources.api_client import Api, json_of
from marchwarden.sources.api_source import ApiReader, ApiSearch
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools
from marchwarden.text.ranking import is_stop_word, query_words

# Names of a question that are looked up, one request each. A guess.
_MOST_NAMES = 3
# Results of one request, at most: the API's own limit without rights.
_MAX_RESULTS = 50
# Seconds between two requests, as for Wikipedia; the query service allows 60 seconds of its time in each minute.
_EVERY_S = 0.2
# Statements of one entity. A guess: a well-known person has 150, a country 600.
_MOST_STATEMENTS = 400
# Seconds for the statements of a country. The service gives up after 60.
_QUERY_TIMEOUT_S = 20.0

# Words inside a name.
_LINKS = ("of", "the", "de", "la", "del", "van", "von", "der", "du")

_API = "https://www.wikidata.org/w/api.php"
_QUERY_SERVICE = "https://query.wikidata.org/sparql"
_ENTITY = re.compile(r"https://www\.wikidata\.org/(?:wiki|entity)/(?:Special:EntityPage/)?(Q\d{1,12})")
# Statements of best rank whose values say something to a reader: no identifiers in other databases, no pictures.
_STATEMENTS = """SELECT ?subject ?subjectLabel ?subjectDescription ?revision ?modified ?property ?propertyLabel
?value ?valueLabel ?precision ?unitLabel ?at ?from ?until WHERE {
  BIND(wd:%s AS ?subject)
  ?subject schema:version ?revision ; schema:dateModified ?modified ; ?claim ?statement .
  ?property wikibase:claim ?claim ; wikibase:statementProperty ?main ; wikibase:propertyType ?type .
  ?statement a wikibase:BestRank ; ?main ?value .
  FILTER(?type NOT IN (wikibase:ExternalId, wikibase:CommonsMedia, wikibase:GlobeCoordinate, wikibase:Url))
  OPTIONAL { ?property wikibase:statementValue ?whole . ?statement ?whole ?node .
    OPTIONAL { ?node wikibase:timePrecision ?precision } OPTIONAL { ?node wikibase:quantityUnit ?unit } }
  OPTIONAL { ?statement pq:P585 ?at } OPTIONAL { ?statement pq:P580 ?from } OPTIONAL { ?statement pq:P582 ?until }
  SERVICE wikibase:label { bd:serviceParam wikibase:language "en,mul,de,fr,es" }
} ORDER BY ?property ?statement LIMIT %d"""


def open_wikidata(opening: Opening, name: str = "") -> Tools:
    """Return tools that find entities of Wikidata and read their statements."""
    reader = WikidataReader(opening)
    return Tools(kind="wikidata", search=WikidataSearch(opening), fetcher=reader, address=reader.address)


class WikidataSearch(ApiSearch):
    api = Api("Wikidata", RateRule("wikidata", _EVERY_S))
    hosts = ("wikidata.org",)

    async def find(
        self, query: str, max_results: int, source_filter: SourceFilter
    ) -> Sequence[SearchHit | None] | Failure:
        lists: list[list[SearchHit | None]] = []
        for name in names_to_look_up(query):
            found = await self._entities(name, min(max_results, _MAX_RESULTS))
            if isinstance(found, Failure):
                return found
            lists.append(found)
        return [hit for rank in zip_longest(*lists) for hit in rank if hit is not None]

    async def _entities(self, name: str, most: int) -> list[SearchHit | None] | Failure:
        """Return the entities whose label or alias begins with a name."""
        asked = {"action": "wbsearchentities", "search": name, "language": "en", "uselang": "en", "limit": most}
        answer = await self.client.get(_API, {**asked, "type": "item", "format": "json"})
        found = answer if isinstance(answer, Failure) else json_of(answer, self.name)
        if isinstance(found, Failure):
            return found
        if not isinstance(found, dict) or not isinstance(results := found.get("search"), list):
            return Failure(FailureKind.SERVICE_DOWN, f"{self.name} did not return search results")
        return [_hit(each) for each in results]


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
    names = [re.sub(rf"(?: (?:{'|'.join(_LINKS)}))+$", "", name) for name in names if name]
    longest = sorted(dict.fromkeys(names), key=len, reverse=True)[:_MOST_NAMES]
    return longest or [" ".join(word for word in query_words(query) if not is_stop_word(word, "en")) or query]


def _hit(result: Any) -> SearchHit | None:
    if not isinstance(result, dict) or not re.fullmatch(r"Q\d{1,12}", str(entity := result.get("id"))):
        return None
    label, about = result.get("label"), result.get("description")
    title = label if isinstance(label, str) else str(entity)
    snippet = f"{title}: {about}" if isinstance(about, str) else ""
    return SearchHit(f"https://www.wikidata.org/wiki/{entity}", title, snippet)


class WikidataReader(ApiReader):
    api = Api(
        "Wikidata's query service",
        RateRule("wikidata-query", _EVERY_S),
        {"Accept": "application/sparql-results+json"},
    )
    profile = "wikidata"

    def request_for(self, url: str) -> str | None:
        entity = _ENTITY.fullmatch(url.partition("#")[0])
        if entity is None:
            return None
        query = _STATEMENTS % (entity[1], _MOST_STATEMENTS)
        return str(httpx.URL(_QUERY_SERVICE, params={"query": " ".join(query.split()), "format": "json"}))
