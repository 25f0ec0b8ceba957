"""Stack Exchange: questions on the sites that fit, and their answers with score, acceptance and licence, by the API.

https://api.stackexchange.com/docs (version 2.3); its rules are at https://api.stackexchange.com/docs/throttle.
"""

from __future__ import annotations

import html
import json
import re
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import urlsplit

import httpx

from marchwarden.contract import SourceFilter
from marchwarden.http.download import Answer
from marchwarden.http.shared_rates import RateRule
from marchwarden.observations import Failure, SearchHit
from marchwarden.reading.services.stackexchange_answers import MOST_ANSWERS
from marchwarden.sources.api_client import Api
from marchwarden.sources.api_source import ApiReader, ApiSearch, Found
from marchwarden.sources.opening import Opening
from marchwarden.sources.tools import Tools
from marchwarden.text.ranking import query_words, terms
from marchwarden.text.stop_words import is_stop_word

# Seconds between two requests. The service bans more than 30 a second; a guess with room.
_EVERY_S = 0.2
# Sites that are searched for one query: each costs one of the 300 requests that an address has a day without a key.
_MOST_SITES = 2
# Results of one request, at most: the service's own limit is 100.
_MAX_RESULTS = 30
# The service's number for "too many requests", which comes with status 400.
_THROTTLED = 502
_API = "https://api.stackexchange.com/2.3"

# Sites with the words that call for them. Where none is named in a query, the first one is searched.
SITES: dict[str, str] = {
    "stackoverflow": "code python javascript java sql function class compiler exception error library api regex git",
    "superuser": "windows computer keyboard browser excel word laptop usb monitor wifi",
    "unix": "linux unix bash shell grep sed systemd kernel terminal",
    "askubuntu": "ubuntu apt snap gnome",
    "serverfault": "server nginx apache dns vpn firewall dhcp kubernetes",
    "security": "password encryption tls vulnerability attack malware phishing hash",
    "stats": "regression variance bayesian probability p-value confidence distribution sample",
    "math": "proof theorem integral derivative matrix prime polynomial equation",
    "physics": "quantum relativity momentum photon gravity thermodynamics electron",
    "chemistry": "molecule reaction acid solvent bond chemical compound",
    "biology": "cell protein species gene enzyme evolution",
    "gardening": "garden plant soil seed tomato compost fertilizer prune tree",
    "cooking": "cook bake oven recipe boil dough sauce flour",
    "diy": "wall outlet plumbing roof drill paint insulation breaker",
    "electronics": "circuit voltage resistor capacitor transistor microcontroller",
    "travel": "visa flight passport airport luggage",
    "money": "tax mortgage invest loan retirement credit",
    "law": "law legal contract copyright court liable",
    "academia": "thesis phd professor journal university citation",
    "english": "grammar word phrase idiom etymology pronunciation",
    "history": "war century empire medieval ancient",
}
# Sites with a host of their own; the others are `NAME.stackexchange.com`.
_OWN_HOSTS = {
    "stackoverflow.com": "stackoverflow",
    "superuser.com": "superuser",
    "serverfault.com": "serverfault",
    "askubuntu.com": "askubuntu",
    "mathoverflow.net": "mathoverflow.net",
    "stackapps.com": "stackapps",
}
_QUESTION = re.compile(r"/(?:questions|q)/(\d{1,12})(?:/|$)")


def open_stackexchange(opening: Opening, name: str = "") -> Tools:
    """Return tools that search the sites of Stack Exchange and read the answers to a question."""
    reader = StackExchangeReader(opening)
    return Tools(kind="stackexchange", search=StackExchangeSearch(opening), fetcher=reader, address=reader.address)


def asked_pause(answer: Answer) -> float | None:
    """Return the seconds for which the service wants no request: its `backoff`, a ban, or a used-up day."""
    try:
        told = json.loads(answer.body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    if isinstance(backoff := told.get("backoff"), int) and backoff > 0:
        return float(backoff)
    if told.get("quota_remaining") == 0:
        now = datetime.now(timezone.utc)
        return ((now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0) - now).total_seconds()
    if told.get("error_id") == _THROTTLED:
        seconds = re.search(r"in (\d{1,6}) seconds", str(told.get("error_message")))
        return float(seconds[1]) if seconds else 60.0
    return None


_SERVICE = Api("Stack Exchange", RateRule("stackexchange", _EVERY_S), asked_pause=asked_pause)


class StackExchangeSearch(ApiSearch):
    api = _SERVICE
    hosts = ("stackexchange.com", *_OWN_HOSTS)

    async def find(self, query: str, max_results: int, source_filter: SourceFilter) -> Found:
        most = min(max_results, _MAX_RESULTS)
        return await self.find_for_each(sites_for(query), lambda site: self._questions(query, site, most))

    async def _questions(self, query: str, site: str, most: int) -> list[SearchHit | None] | Failure:
        """Return the questions of one site that have an answer, the nearest to the query first."""
        # Stop words would count like others. Signs are left: C++, C#, .NET.
        words = (word.strip("?!.,;:\"'()") or word for word in query.split())
        asked: dict[str, str | int] = {
            "q": " ".join(word for word in words if not is_stop_word(word, "en")) or query,
            "site": site,
            "answers": 1,
            "order": "desc",
            "sort": "relevance",
            "pagesize": most,
        }
        found = await self.listed(f"{_API}/search/advanced", asked, "items")
        return found if isinstance(found, Failure) else [_hit(each) for each in found]


def sites_for(query: str) -> list[str]:
    """Return the sites whose words a query names most often; Stack Overflow where it names none."""
    words = set(query_words(query))
    asked = words | set(terms(query))
    named = {site: len(asked & ({*known.split()} | set(terms(known)))) for site, known in SITES.items()}
    best = sorted((site for site in SITES if named[site]), key=lambda site: (site not in words, -named[site]))
    return best[:_MOST_SITES] or [next(iter(SITES))]


def _hit(item: Any) -> SearchHit | None:
    if not isinstance(item, dict) or not isinstance(link := item.get("link"), str):
        return None
    title, tags = item.get("title"), item.get("tags")
    day = item.get("creation_date")
    return SearchHit(
        link.replace("http://", "https://", 1),
        html.unescape(title) if isinstance(title, str) else "",
        ", ".join(tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else "",
        published=datetime.fromtimestamp(day, timezone.utc).date()
        if isinstance(day, int) and 0 < day < 1e11
        else None,
    )


class StackExchangeReader(ApiReader):
    api = _SERVICE
    profile = "stackexchange"

    def request_for(self, url: str) -> str | None:
        parts = urlsplit(url)
        host = (parts.hostname or "").removeprefix("www.")
        site = _OWN_HOSTS.get(host) or (
            host.partition(".stackexchange.com")[0] if host.endswith(".stackexchange.com") else None
        )
        question = _QUESTION.match(parts.path)
        if site is None or question is None:
            return None
        asked = {"site": site, "order": "desc", "sort": "votes", "pagesize": MOST_ANSWERS, "filter": "withbody"}
        return str(httpx.URL(f"{_API}/questions/{question[1]}/answers", params=asked))
