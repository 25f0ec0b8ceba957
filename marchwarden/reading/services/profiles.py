"""Readers of services' answers, by the profile in the content type under which a source keeps them.

`application/json; profile="stackexchange"` is what sources/api_source.py writes. A web server's own header has no
profile by the time that it gets here (http/download.py), so that no page can pass for a service's answer.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable
from typing import TypeAlias

from marchwarden.observations import Failure, Page

ServiceReader: TypeAlias = Callable[[Page, bytes], Page | Failure]

_SCHOLARLY = "marchwarden.reading.services.scholarly"
_READERS: dict[str, str] = {
    "arxiv": f"{_SCHOLARLY}.arxiv_feed:read_arxiv",
    "crossref": f"{_SCHOLARLY}.crossref_works:read_crossref",
    "database": "marchwarden.reading.services.database_rows:read_rows",
    "europepmc": f"{_SCHOLARLY}.europepmc_results:read_europepmc",
    "hackernews": "marchwarden.reading.services.hackernews_items:read_hackernews",
    "jats": f"{_SCHOLARLY}.jats:read_jats",
    "openalex": f"{_SCHOLARLY}.openalex_works:read_openalex",
    "pubmed": f"{_SCHOLARLY}.pubmed_articles:read_pubmed",
    "semanticscholar": f"{_SCHOLARLY}.semanticscholar_papers:read_semanticscholar",
    "stackexchange": "marchwarden.reading.services.stackexchange_answers:read_stackexchange",
    "wikidata": "marchwarden.reading.services.wikidata_statements:read_wikidata",
    "zim": "marchwarden.reading.services.zim_entries:read_zim",
}
"""Functions as `module:function`, by profile: each gets a page with its address and hashes alone, and the bytes."""

_PROFILE = re.compile(r';\s*profile="([a-z0-9.-]+)"')


def service_reader(content_type: str | None) -> ServiceReader | None:
    """Return the reader for a content type; None where it names no profile that is known."""
    named = _PROFILE.search(content_type or "")
    if named is None or named[1] not in _READERS:
        return None
    reader: ServiceReader = pkgutil.resolve_name(_READERS[named[1]])
    return reader
