"""Check labels: every quote stands in its page, every address is known, splits share no page, no kind is rare.

evals/README.md is the guide that the labels follow; this module checks as much of it as a program can.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from marchwarden.contract import GapCategory, SourceFilter
from marchwarden.evaluation.labels.known_pages import is_known, known_pages
from marchwarden.evaluation.labels.questions import KINDS, SPLITS, Question
from marchwarden.evaluation.labels.scoring_text import address, says_one_of
from marchwarden.http.addresses import host_of
from marchwarden.observations import Page
from marchwarden.settings import Settings

# Labels that each kind and category must have over all splits of the shipped set. A guess: fewer give no figure.
LEAST = {"kind": 15, "gap category": 20, "discoveries": 30, "contradictions": 20}
# Seconds for one page of a folder. A guess, far beyond what any takes: whether a label holds is no matter of time.
PAGE_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Problem:
    question: str
    """Id of the question, or the kind or label that the problem is about."""
    what: str
    is_open: bool = False
    """True where nothing is wrong, and something is still to be labelled."""
    url: str | None = None
    """Address of a page that is not among the pages that there are; None for any other problem."""


async def check(questions: Sequence[Question], settings: Settings, *, is_their_web: bool = True) -> list[Problem]:
    """Return the problems of the labels against the pages of the sources in force, in the order of the questions.

    With `is_their_web` False nobody said that the questions are about these pages: one that is not among them is
    still to be named. Raises ConfigurationError where a frozen web or corpus is not there.
    """
    known = known_pages(settings)
    to_read: set[str] = set()
    for question in questions:
        to_read |= {address(quote.url) for quote in question.quotes}
        to_read |= {address(found.source_locator) for found in question.discoveries if found.source_locator}
    pages = await read_pages((each for each in to_read if known is None or is_known(each, known)), settings)
    problems = []
    for question in questions:
        unknown = _unknown(question, known)
        place = "the manifest" if settings.source_name == "snapshot" else settings.source_name
        problems += [Problem(question.id, f"{url} is not in {place}", not is_their_web, url) for url in unknown]
        problems += [Problem(question.id, what) for what in _problems(question, set(unknown), pages)]
        problems += [Problem(question.id, what, is_open=True) for what in _left_open(question)]
    return problems


def unfinished(questions: Sequence[Question], settings: Settings, *, is_their_web: bool = True) -> set[str]:
    """Return the ids of the questions in which `check` finds something still to be labelled. Reads no page."""
    known = None if is_their_web else known_pages(settings)
    return {each.id for each in questions if any(_left_open(each)) or _unknown(each, known)}


def _unknown(question: Question, known: Collection[str] | None) -> list[str]:
    """Return the pages that a question names and that are not among the known ones."""
    return [url for url in sorted(question.named_pages) if known is not None and not is_known(url, known)]


async def read_pages(urls: Iterable[str], settings: Settings) -> dict[str, Page]:
    """Return the readable pages of the sources in force (the frozen web where none is named), by the URL asked for;
    closed and broken ones are left out."""
    from marchwarden.sources.source_registry import open_tools

    tools = open_tools(settings.model_copy(update={"source": settings.source or "snapshot"}))
    pages = {}
    try:
        for url in sorted(urls):
            outcome = await tools.fetcher.fetch(url, timeout=PAGE_TIMEOUT_S, allows=lambda host: True)
            if outcome.page is not None:
                pages[url] = outcome.page
    finally:
        await tools.aclose()
    return pages


def _left_open(question: Question) -> Iterator[str]:
    """Yield a sentence for each thing that is still to be labelled."""
    if question.is_draft:
        yield "its question is a draft: word it as somebody asks who has not read the page"
    if not question.is_labelled and "unanswerable" not in question.tags:
        yield "it has no label: nuggets, gaps, contradictions, discoveries or forbidden strings"
    if not question.kinds:
        yield f"it has no kind: one of {', '.join(KINDS)}"
    for nugget in question.nuggets:
        if not nugget.evidence:
            yield f"nugget {nugget.id} has no evidence: the url of a page, and a quote of it"


def _problems(question: Question, unknown: set[str], pages: dict[str, Page]) -> Iterator[str]:
    """Yield a sentence for each label of a question that does not hold; `unknown` pages are told of elsewhere."""
    allowed = SourceFilter(question.constraints.get("source_filter"))
    for quote in question.quotes:
        where = address(quote.url)
        if quote.url in unknown:
            continue
        if where not in pages:
            yield f"{quote.url} can't be read, and is quoted"
        elif quote.quote not in pages[where].text:
            yield f"{quote.url} does not hold “{quote.quote[:80]}…”"
        if not allowed.allows(host_of(quote.url)):
            yield f"{quote.url} is not allowed by the question's source_filter"
    for nugget in question.nuggets:
        if nugget.evidence and not any(says_one_of(quote.quote, nugget.answers) for quote in nugget.evidence):
            yield f"nugget {nugget.id}: none of its quotes holds one of its answers {nugget.answers}"
    for discovery in question.discoveries:
        if not (discovery.identifier or discovery.source_locator):
            yield f"a discovery ({discovery.type.value}) has neither an identifier nor a page"
        page = pages.get(address(discovery.source_locator)) if discovery.source_locator else None
        if discovery.identifier and page is not None:
            text = " ".join(page.text.split()).casefold()
            if " ".join(discovery.identifier.split()).casefold() not in text:
                yield f"{discovery.source_locator} does not name {discovery.identifier}"
    if "unanswerable" in question.tags and question.answerable:
        yield "it is tagged unanswerable and has nuggets or contradictions"


def shared_pages(questions: Sequence[Question]) -> dict[str, set[str]]:
    """Return the pages that the labels of more than one split point at, each with the splits."""
    by_page: dict[str, set[str]] = {}
    for question in questions:
        for page in question.pages:
            by_page.setdefault(address(page), set()).add(question.split)
    return {page: splits for page, splits in sorted(by_page.items()) if len(splits) > 1}


def counts(questions: Sequence[Question]) -> dict[str, dict[str, int]]:
    """Count the labels of each kind and gap category, discoveries and contradictions; and the questions by split."""
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
    """Return the problems of the shipped set as a whole: kinds and categories that are too rare, repeated
    questions."""
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
