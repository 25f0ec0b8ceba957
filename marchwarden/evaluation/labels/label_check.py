"""Whether labels hold: every quote stands in its page, every address is known, splits share no page, kinds are there.

evals/README.md is the guide that the labels follow; what can be checked of it is checked here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from marchwarden.contract import GapCategory, SourceFilter
from marchwarden.evaluation.labels.questions import KINDS, SPLITS, Question, Quote
from marchwarden.evaluation.labels.scoring_text import address, says_one_of
from marchwarden.http.addresses import host_of
from marchwarden.observations import Page
from marchwarden.settings import Settings

# How often each must be labelled over all splits of the shipped set.
LEAST = {"kind": 15, "gap category": 20, "discoveries": 30, "contradictions": 20}


@dataclass(frozen=True)
class Problem:
    question: str
    """The question's id, or what the problem is about."""
    what: str


async def check(questions: Sequence[Question], settings: Settings) -> list[Problem]:
    """Problems of the labels against the frozen web in the settings, in the order of the questions.

    Raises ConfigurationError where that is no frozen web.
    """
    from marchwarden.frozen_web.pages import FrozenWeb

    web = FrozenWeb.load(settings.frozen_web)
    known = set(web.pages)
    pages = await read_pages({url for question in questions for url in _to_read(question)} & known, settings)
    problems = []
    for question in questions:
        problems += [Problem(question.id, what) for what in _problems(question, known, pages)]
    return problems


async def read_pages(urls: Iterable[str], settings: Settings) -> dict[str, Page]:
    """The pages of the frozen web that can be read, by the URL asked for; closed and broken ones are left out."""
    from marchwarden.sources.source_registry import open_snapshot

    tools = open_snapshot(settings)
    pages = {}
    try:
        for url in sorted(urls):
            outcome = await tools.fetcher.fetch(url, timeout=settings.fetch_timeout, allows=lambda host: True)
            if outcome.page is not None:
                pages[url] = outcome.page
    finally:
        await tools.aclose()
    return pages


def _to_read(question: Question) -> set[str]:
    named = {discovery.source_locator for discovery in question.discoveries if discovery.source_locator}
    return {address(url) for url in named | {quote.url for quote in question.quotes}}


def _problems(question: Question, known: set[str], pages: dict[str, Page]) -> Iterator[str]:
    allowed = SourceFilter(question.constraints.get("source_filter"))
    for quote in question.quotes:
        yield from _quote_problems(quote, known, pages)
        if not allowed.allows(host_of(quote.url)):
            yield f"{quote.url} is not allowed by the question's source_filter"
    pointed = [gap.url for gap in question.gaps] + [found.source_locator for found in question.discoveries]
    for url in pointed:
        if url and address(url) not in known:
            yield f"{url} is not in the manifest"
    for nugget in question.nuggets:
        if not nugget.evidence:
            yield f"nugget {nugget.id} has no evidence"
        elif not any(says_one_of(quote.quote, nugget.answers) for quote in nugget.evidence):
            yield f"nugget {nugget.id}: none of its quotes holds one of its answers {nugget.answers}"
    for discovery in question.discoveries:
        if not (discovery.identifier or discovery.source_locator):
            yield f"a discovery ({discovery.type.value}) has neither an identifier nor a page"
        if discovery.identifier and not _is_named(discovery.identifier, discovery.source_locator, pages):
            yield f"{discovery.source_locator} does not name {discovery.identifier}"
    if not question.kinds:
        yield f"it has no kind: one of {', '.join(KINDS)}"
    if "unanswerable" in question.tags and question.answerable:
        yield "it is tagged unanswerable and has nuggets or contradictions"


def _quote_problems(quote: Quote, known: set[str], pages: dict[str, Page]) -> Iterator[str]:
    where = address(quote.url)
    if where not in known:
        yield f"{quote.url} is not in the manifest"
    elif where not in pages:
        yield f"{quote.url} can't be read, and is quoted"
    elif quote.quote not in pages[where].text:
        yield f"{quote.url} does not hold “{quote.quote[:80]}…”"


def _is_named(identifier: str, locator: str | None, pages: dict[str, Page]) -> bool:
    page = pages.get(address(locator)) if locator else None
    return page is None or " ".join(identifier.split()).casefold() in " ".join(page.text.split()).casefold()


def shared_pages(questions: Sequence[Question]) -> dict[str, set[str]]:
    """Pages that the labels of more than one split point at, each with the splits."""
    by_page: dict[str, set[str]] = {}
    for question in questions:
        for page in question.pages:
            by_page.setdefault(address(page), set()).add(question.split)
    return {page: splits for page, splits in sorted(by_page.items()) if len(splits) > 1}


def counts(questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """How often each kind and gap category is labelled, discoveries and contradictions; and questions by split."""
    kinds = Counter(kind for question in questions for kind in question.kinds)
    gaps = Counter(gap.category.value for question in questions for gap in question.gaps if gap.required)
    found = sum(discovery.required for question in questions for discovery in question.discoveries)
    conflicts = sum(contradiction.required for question in questions for contradiction in question.contradictions)
    splits = Counter(question.split for question in questions)
    return {
        "split": {split: splits[split] for split in SPLITS},
        "kind": {kind: kinds[kind] for kind in KINDS},
        "gap category": {category.value: gaps[category.value] for category in GapCategory},
        "labels": {"discoveries": found, "contradictions": conflicts},
    }


def coverage_problems(questions: Sequence[Question]) -> list[Problem]:
    """What the shipped set as a whole lacks: kinds and categories that are too rare, ids and questions twice."""
    counted = counts(questions)
    problems = [
        Problem(f"{what} {name}", f"labelled {count} times, fewer than {LEAST[what]}")
        for what in ("kind", "gap category")
        for name, count in counted[what].items()
        if count < LEAST[what]
    ]
    problems += [
        Problem(name, f"labelled {count} times, fewer than {LEAST[name]}")
        for name, count in counted["labels"].items()
        if count < LEAST[name]
    ]
    for one, other in combinations(questions, 2):
        if one.id == other.id or one.question == other.question:
            problems.append(Problem(other.id, f"it is there twice (as {one.id} in {one.split})"))
    return problems
