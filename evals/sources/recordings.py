"""Each source against answers that its service once gave: hits, fields of citations, errors, and rates.

    python evals/sources/recordings.py --scholar data/scholar [--public DIR]

`--scholar` has `recorded.tar.xz`, as for evals/scholarly/services.py. `--public` has files of public repositories,
each under its repository's name; evals/reports/sources.md lists them. What is not there is left out, and told.

A recording is one answer of a service. Its source is asked, and gets that answer. What it makes of it is compared
with a plain reading of the answer's own fields, written here without our parsers:

hits    recordings whose hits have the addresses and titles that stand in the answer, in its order
fields  works whose DOI, year and number of authors are those of the answer (scholarly sources)
errors  recorded errors, and the kind of failure that each became
rates   shortest time between two requests of four processes, by the clock of a server, and the source's rule
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import gzip
import html
import json
import re
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
import yaml
from lxml import etree

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scholarly"))
from services import shortest_gap

from marchwarden import load_settings
from marchwarden.contract import SourceFilter
from marchwarden.sources.source_registry import open_tools

_EVERYTHING = SourceFilter(None)
# Address and title of each hit, or address, title, DOI, year and number of authors of each work.
Expected = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Recording:
    source: str
    words: str
    """Words that were searched for; a name for a look-up."""
    body: bytes
    expected: Expected
    status: int = 200
    before: tuple[bytes, ...] = ()
    """Answers to the requests that come before the one with this body."""


@dataclass
class Replay(httpx.AsyncBaseTransport):
    """Network that answers one search, request after request, and has nothing else."""

    recording: Recording
    asked: int = 0

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answers = (*self.recording.before, self.recording.body)
        body = answers[min(self.asked, len(answers) - 1)]
        self.asked += 1
        return httpx.Response(self.recording.status, content=body)


# Plain readings of the answers


def _plain(text: object) -> str:
    # Markup may be escaped itself; in `T>G` and `p<0.05` there is none.
    told = html.unescape(str(text or ""))
    return "".join(filter(str.isalnum, html.unescape(re.sub(r"</?[a-z][\w:]*(?: [^>]*)?/?>", "", told)))).casefold()


def crossref(body: bytes) -> Expected:
    message = json.loads(body)["message"]
    items = message.get("items", [message])
    found = []
    for each in items:
        if each.get("DOI") and each.get("title"):
            dates = (each.get(name) for name in ("published", "published-online", "issued", "posted"))
            years = [at["date-parts"][0][0] for at in dates if at and at["date-parts"][0] and at["date-parts"][0][0]]
            doi = each["DOI"].lower()
            named = [a for a in each.get("author", ()) if a.get("family") or a.get("given") or a.get("name")]
            found.append((f"https://doi.org/{doi}", each["title"][0], doi, years[0] if years else None, len(named)))
    return found


def semanticscholar(body: bytes) -> Expected:
    answer = json.loads(body)
    items = [answer] if "paperId" in answer else answer["data"]
    items = [each.get("citedPaper") or each.get("citingPaper") or each for each in items]
    found = []
    for each in items:
        if each.get("paperId") and each.get("title"):
            doi = (each.get("externalIds") or {}).get("DOI") or ""
            doi = "" if doi.lower().startswith("10.48550/arxiv.") else doi.lower()
            named = [author for author in each.get("authors") or () if author.get("name")]
            url = f"https://www.semanticscholar.org/paper/{each['paperId']}"
            found.append((url, each["title"], doi or None, each.get("year"), len(named)))
    return found


def openalex(body: bytes) -> Expected:
    answer = json.loads(body)
    found = []
    for each in answer.get("results", [answer]):
        doi = (each.get("doi") or "").lower().removeprefix("https://doi.org/")
        # arXiv's DOIs are kept as numbers of its papers.
        doi = "" if doi.startswith("10.48550/arxiv.") else doi
        if title := each.get("display_name"):
            url = f"https://doi.org/{doi}" if doi else each["id"]
            found.append((url, title, doi or None, each.get("publication_year"), len(each.get("authorships") or [])))
    if not found:
        raise ValueError("asked for fields that are no work")
    return found


def arxiv(body: bytes) -> Expected:
    root, atom, own = etree.fromstring(body), "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
    found = []
    for each in root.iter(f"{atom}entry"):
        url = each.findtext(f"{atom}id").replace("http:", "https:")
        if "/abs/" in url:
            doi, names = each.findtext(f"{own}doi"), each.findall(f"{atom}author/{atom}name")
            year = int(each.findtext(f"{atom}published")[:4])
            found.append((url, each.findtext(f"{atom}title"), doi.lower() if doi else None, year, len(names)))
    return found


def pubmed(body: bytes) -> Expected:
    found = []
    for each in etree.fromstring(body, etree.XMLParser(recover=True)).iter("PubmedArticle"):
        pmid = each.findtext("MedlineCitation/PMID")
        title = "".join(each.find("MedlineCitation/Article/ArticleTitle").itertext())
        own = each.findall("PubmedData/ArticleIdList/ArticleId")
        dois = [found.text for found in own if found.get("IdType") == "doi"]
        dois += [e.text for e in each.iter("ELocationID") if e.get("EIdType") == "doi"]
        issue = each.find("MedlineCitation/Article/Journal/JournalIssue/PubDate")
        year = issue.findtext("Year") or (issue.findtext("MedlineDate") or "")[:4]
        names = each.findall("MedlineCitation/Article/AuthorList/Author")
        url = f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/"
        found.append((url, title, dois[0].lower() if dois else None, int(year) if year else None, len(names)))
    return found


def europepmc(body: bytes) -> Expected:
    found = []
    for each in json.loads(body)["resultList"]["result"]:
        names = (each.get("authorList") or {}).get("author")
        count = len(names) if names else len([n for n in each.get("authorString", "").rstrip(".").split(",") if n])
        url = f"https://europepmc.org/article/{each['source']}/{each['id']}"
        # A version of a preprint is one with the others.
        doi = re.sub(r"(?<=^10\.21203/rs\.3\.rs-)(\d+)/v\d+$", r"\1", (each.get("doi") or "").lower()) or None
        year = each.get("pubYear")
        found.append((url, each.get("title") or "", doi, int(year) if year else None, count))
    return found


def hackernews(body: bytes) -> Expected:
    found: Expected = []
    for each in json.loads(body)["hits"]:
        title, url = each.get("title") or "", each.get("url")
        if url:
            found.append((url, title))
        if not url or (each.get("num_comments") or 0) >= 3:
            item = f"https://news.ycombinator.com/item?id={each['objectID']}"
            found.append((item, f"{title} (discussion on Hacker News)"))
    return found


def stackexchange(body: bytes) -> Expected:
    return [(each["link"].replace("http://", "https://", 1), each["title"]) for each in json.loads(body)["items"]]


def wikipedia(body: bytes) -> Expected:
    titles = [each["title"] for each in json.loads(body)["query"]["search"]]
    return [(f"https://en.wikipedia.org/wiki/{quote(t.replace(' ', '_'), safe='()/:,')}", t) for t in titles]


def serper(body: bytes) -> Expected:
    return [(each["link"], each["title"]) for each in json.loads(body)["organic"]]


READINGS = {
    "arxiv": arxiv,
    "crossref": crossref,
    "semanticscholar": semanticscholar,
    "openalex": openalex,
    "pubmed": pubmed,
    "europepmc": europepmc,
    "hackernews": hackernews,
    "stackexchange": stackexchange,
    "wikipedia": wikipedia,
    "serper": serper,
}
# Settings of sources that are asked by another name.
_SETTINGS: dict[str, dict[str, Any]] = {
    "serper": {"source": "web", "web_search": "serper", "serper_api_key": "none"},
}
_SEARCHED = b"<eSearchResult><IdList><Id>1</Id></IdList></eSearchResult>"


# Recordings

# Hosts and paths whose answers are searches or look-ups of works.
_OF_HOST = {
    "api.crossref.org": ("crossref", re.compile(r"^/(?:v1/)?(?:works|journals/[^/]+/works|members/\d+/works)")),
    "api.semanticscholar.org": (
        "semanticscholar",
        re.compile(r"^/graph/v1/paper/(?!batch|snippet)|^/recommendations/v1/papers/forpaper"),
    ),
    "api.openalex.org": ("openalex", re.compile(r"^/works")),
}


def of_cassettes(folder: Path) -> Iterator[Recording]:
    """Yield the answers of VCR's cassettes, each request once."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    seen = set()
    for file in sorted(folder.rglob("*.yaml")):
        for each in (yaml.load(file.read_text("utf-8"), Loader=loader) or {}).get("interactions", []):
            address = urlsplit(each["request"]["uri"])
            name, path = _OF_HOST.get(address.hostname or "", ("", re.compile("$^")))
            if each["request"]["method"] != "GET" or not path.match(address.path) or each["request"]["uri"] in seen:
                continue
            seen.add(each["request"]["uri"])
            response = each["response"]
            status = response.get("status")
            code = status["code"] if isinstance(status, dict) else response.get("status_code", 200)
            if 300 <= code < 400:
                continue  # services.py follows them
            body = response.get("body") or response.get("content") or b""
            body = body.get("string") or b"" if isinstance(body, dict) else body
            body = body.encode() if isinstance(body, str) else body
            body = gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body
            yield from recording(name, _words_of(address.query) or address.path, body, code)


def _words_of(query: str) -> str:
    asked = parse_qs(query)
    return next((asked[name][0] for name in asked if name.startswith("query") or name == "search"), "")


def recording(
    source: str, words: str, body: bytes, status: int = 200, before: tuple[bytes, ...] = ()
) -> Iterator[Recording]:
    if status != 200:
        yield Recording(source, words, body, [], status)
        return
    try:
        expected = READINGS[source](body)
    except (ValueError, LookupError, TypeError, AttributeError):
        return  # facets, counts and the like: no works
    yield Recording(source, words, body, expected, status, before)


def of_scholar(folder: Path) -> Iterator[Recording]:
    yield from of_cassettes(folder)
    for file in sorted((folder / "arxiv").glob("*.json")):
        found = json.loads(file.read_text("utf-8"))
        words = parse_qs(urlsplit(found["url"]).query).get("search_query", ["paper"])[0]
        yield from recording("arxiv", words, found["body"].encode("utf-8"), found["status_code"])
    for file in sorted((folder / "entrez").rglob("pubmed*.xml")):
        body = file.read_bytes()
        if b"<PubmedArticle" in body:
            # The list of numbers comes before the articles; only those were recorded together.
            yield from recording("pubmed", file.stem, body, 200, (_SEARCHED,))


def of_public(folder: Path) -> Iterator[Recording]:
    for file in sorted(folder.glob("pyEuropePMC/search_*.json")):
        answer = json.loads(file.read_bytes())
        # `lite` is what others asked for: the same fields, but for abstracts, notices and the authors one by one.
        if answer["request"]["resultType"] in ("core", "lite"):
            yield from recording("europepmc", answer["request"]["queryString"], file.read_bytes())
    for file in sorted([*folder.glob("metapub/*.xml"), *folder.glob("pyEuropePMC/PMID*.xml")]):
        if b"<PubmedArticle" in (body := file.read_bytes()):
            yield from recording("pubmed", file.stem, body, 200, (_SEARCHED,))
    for file in folder.glob("mediawiki/mock_requests.json"):
        for asked, answer in json.loads(file.read_bytes())["http://en.wikipedia.org/w/api.php"].items():
            if words := dict(json.loads(asked)).get("srsearch"):
                yield from recording("wikipedia", words, json.dumps(answer).encode())
    for file in folder.glob("haystack/test_serperdev.py"):
        for each in ast.parse(file.read_text("utf-8")).body:
            if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "EXAMPLE_SERPERDEV_RESPONSE":
                answer = ast.literal_eval(each.value)
                yield from recording("serper", answer["searchParameters"]["q"], json.dumps(answer).encode())
    for file in folder.glob("node-hacker-news-api/fixtures.json"):
        for each in json.loads(file.read_bytes()):
            if "hits" in each["reply"] and "comment" not in each["url"]:
                yield from recording("hackernews", "apple", json.dumps(each["reply"]).encode())
    for file in folder.glob("gaea/questions.json"):
        yield from recording("stackexchange", "authenticity token", file.read_bytes())
    for file in folder.glob("gaea/bad_request.json"):
        yield from recording("stackexchange", "authenticity token", file.read_bytes(), 400)
    for file in folder.glob("Wikipedia/request_mock_data.py"):
        # A literal in Python, with the requests as tuples.
        text = file.read_text("utf-8").partition("mock_data = ")[2]
        for asked, answer in ast.literal_eval(text)["_wiki_request calls"].items():
            if dict(asked).get("list") == "search":
                yield from recording("wikipedia", dict(asked)["srsearch"], json.dumps(answer).encode())


# What became of them


@dataclass
class Figures:
    recordings: int = 0
    with_hits: int = 0
    hits_right: int = 0
    works: int = 0
    fields_right: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


async def measure(recordings: list[Recording], caches: Path) -> dict[str, Figures]:
    figures: dict[str, Figures] = {}
    for place, each in enumerate(recordings):
        told = figures.setdefault(each.source, Figures())
        settings = load_settings(
            **_SETTINGS.get(each.source, {"source": each.source}),
            model="extractive",
            openalex_api_key="none",
            http_cache=False,
            cache_dir=caches / str(place),
        )
        tools = open_tools(settings, transport=Replay(each))
        outcome = await tools.search.search(each.words or "works", max_results=1000, source_filter=_EVERYTHING)
        known = {url: found.record for url, found in getattr(tools.search, "found", {}).items()}
        await tools.aclose()
        if each.status != 200:
            told.errors[f"{each.status} {outcome.failure.kind.value if outcome.failure else 'no failure'}"] += 1
            continue
        told.recordings += 1
        told.with_hits += bool(each.expected)
        ours = [(hit.url, _plain(hit.title)) for hit in outcome.hits]
        theirs = [(row[0], _plain(row[1])) for row in each.expected]
        # Titles are cut at 300 characters.
        right = len(ours) == len(theirs) and all(
            one[0] == other[0] and (one[1] == other[1] or other[1].startswith(one[1][:200]))
            for one, other in zip(ours, theirs, strict=True)
        )
        told.hits_right += right
        if not right:
            told.faults.append(
                f"{each.words[:40]}: {len(ours)} hits, {len(theirs)} in the answer {outcome.failure or ''}"
            )
        for row in each.expected if known else ():
            work = known[row[0]].work if row[0] in known else None
            told.works += 1
            if work and (work.doi, work.year, len(work.authors)) == row[2:]:
                told.fields_right += 1
            elif work:
                told.faults.append(f"{row[0]}: {(work.doi, work.year, len(work.authors))} for {row[2:]}")
    return figures


# Rates

_RULES = {
    "arxiv": "marchwarden.sources.scholarly.arxiv:ArxivSearch",
    "crossref": "marchwarden.sources.scholarly.crossref:CrossrefSearch",
    "europepmc": "marchwarden.sources.scholarly.europepmc:EuropePmcSearch",
    "pubmed": "marchwarden.sources.scholarly.pubmed:PubmedSearch",
    "openalex": "marchwarden.sources.scholarly.openalex:OpenAlexSearch",
    "semanticscholar": "marchwarden.sources.scholarly.semanticscholar:SemanticScholarSearch",
    "wikipedia": "marchwarden.sources.encyclopedia.wikipedia:WikipediaSearch",
    "wikidata": "marchwarden.sources.encyclopedia.wikidata:WikidataSearch",
    "stackexchange": "marchwarden.sources.community.stackexchange:StackExchangeSearch",
    "hackernews": "marchwarden.sources.community.hackernews:HackerNewsSearch",
}


def shortest_gaps(folder: Path) -> dict[str, tuple[float, float]]:
    """Return the rule of each source, and the shortest time between two requests of four processes, in seconds."""
    import pkgutil

    gaps = {}
    for name, place in _RULES.items():
        rule = pkgutil.resolve_name(place).api.rule
        gap = shortest_gap(rule.every_s, folder / name, one_at_a_time=rule.one_at_a_time)
        gaps[name] = (rule.every_s, gap)
    return gaps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scholar", type=Path, help="Folder with recorded.tar.xz.")
    parser.add_argument("--public", type=Path, help="Folder with files of public repositories.")
    parser.add_argument("--rates", action="store_true", help="Measure the rates too: about a minute.")
    parser.add_argument("--faults", action="store_true", help="Show what differs.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        recordings: list[Recording] = []
        if given.scholar and (given.scholar / "recorded.tar.xz").is_file():
            with tarfile.open(given.scholar / "recorded.tar.xz") as archive:
                archive.extractall(Path(made) / "scholar", filter="data")
            recordings += of_scholar(Path(made) / "scholar")
        else:
            print("SKIPPED: no recordings of scholarly services")
        if given.public and given.public.is_dir():
            recordings += of_public(given.public)
        else:
            print("SKIPPED: no files of public repositories")
        print("source           recordings  with hits  hits right  works  fields right  errors")
        for name, each in asyncio.run(measure(recordings, Path(made) / "caches")).items():
            counts = f"{each.recordings:10}  {each.with_hits:9}  {each.hits_right:10}  {each.works:5}"
            print(f"{name:16} {counts}  {each.fields_right:12}  {dict(each.errors)}")
            for fault in each.faults if given.faults else ():
                print("   ", fault)
        if given.rates:
            for name, (rule, gap) in shortest_gaps(Path(made)).items():
                print(f"{name:16} one request in {rule:g} s; shortest gap {gap:.3f} s")


if __name__ == "__main__":
    main()
