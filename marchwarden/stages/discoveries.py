"""Discoveries for another researcher: papers, trials, data sets and court cases that pages name; disagreements.

Identifiers are found by pattern, so that none can be invented. A model only words the query and the reason.
"""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, RootModel

from marchwarden.contract import DiscoveryEvent, DiscoveryType
from marchwarden.evidence.framing import asked_text
from marchwarden.evidence.grounding import invented
from marchwarden.injection.detector import drop_injections
from marchwarden.ledger import Ledger, Pointer, PointerKind
from marchwarden.observations import Page, Reference
from marchwarden.reading.works.references import cited_within
from marchwarden.stages.bounded_lists import keep_valid
from marchwarden.stages.stage import Stage
from marchwarden.text.ranking import coverage, terms
from marchwarden.trace.events import Dropped

if TYPE_CHECKING:
    import dspy

# Events of one result: pointers and disagreements. Guesses.
MOST_EVENTS = 5
MOST_CONFLICTS = 3
# Least share of the question's terms in a pointer's passage and page title, for a pointer of a page that gave
# evidence. A guess.
RELEVANT_POINTER = 0.15
# The same for a pointer of a page without evidence; and for any pointer where an aspect asks for such a document.
# Guesses.
RELEVANT_ALONE, RELEVANT_ASKED_FOR = 0.5, 0.3
# Tokens of the shortest answer that is of use. A guess: a query and a reason take 40 to 60.
_ONE_EVENT_TOKENS = 60
# Characters of a pointer's sentence that a reason quotes, and of a query. Guesses.
_QUOTED_CHARS = _QUERY_CHARS = 200

# Quotation marks inside a quote.
_INNER_QUOTES = str.maketrans('“”"', "‘’'")

RESEARCHERS: dict[PointerKind, str] = {
    "doi": "academic",
    "arxiv": "arxiv",
    "trial": "database",
    "dataset": "database",
    "case": "legal",
}
POINTER_NAMES: dict[PointerKind, str] = {
    "doi": "a published paper",
    "arxiv": "a preprint",
    "trial": "a trial register",
    "dataset": "a data set",
    "case": "a court file",
}

# The order matters: the name of a data set is left out where its DOI was found before.
_PATTERNS: tuple[tuple[PointerKind, re.Pattern[str]], ...] = (
    ("arxiv", re.compile(r"\barxiv[:\s.]*(?:org/(?:abs|pdf)/)?(\d{4}\.\d{4,5}(?:v\d+)?)", re.IGNORECASE)),
    (
        "doi",
        re.compile(r"\b(10\.\d{4,9}/(?:\([^\s\"<>()]*\)|[^\s\"<>()\],;])*(?:\([^\s\"<>()]*\)|[^\s\"<>()\],;.:]))"),
    ),
    ("trial", re.compile(r"\b(NCT\d{8}|ISRCTN\d{8})\b")),
    (
        "case",
        re.compile(
            r"\b([CT][-‑–]\d{1,4}/\d{2}|(?<=[Nn]o\. )\d{4,5}/\d{2}|No\.\s?\d{2}-\d{2,5}|"
            r"\d{1,3} (?:U\.S\.|F\.[23]d) \d{1,4})\b"
        ),
    ),
    (
        "dataset",
        re.compile(
            r"\b((?:[A-Z][\w-]+ ){1,6}(?:Data ?[Ss]et|Database|Data Archive|Data Repository|Data Portal)"
            r"|(?:data ?set|database|jeu de données|Datensatz|conjunto de datos) [“\"‘«„]\s?[^”\"’»“]{4,80}[”\"’»“])"
        ),
    ),
)
# A page's own identifier points nowhere else.
_OWN = re.compile(r"\b(published|received|accepted|cite (?:this|as))\b.{0,40}10\.\d{4,9}/", re.IGNORECASE)
_DEPOSITED = re.compile(r"\b(data ?sets?|database|deposited|repository|data archive)\b", re.IGNORECASE)
# Words for the contents of a document, which pages about it do not have.
_INSIDE = (
    r"(tables?|tabulat\w+|appendi\w+|supplement\w*|full text|methods?|abstract|paragraphs?|word for word|verbatim|"
    r"opinions?|dissent\w*|reason(s|ing)|raw|rows?|row-level|individual|each (single|individual|of the)|"
    r"\w+[- ]by[- ]\w+|"
    r"measurements|records?|status|outcomes?|side effects|entry|full list|text of)"
)
# Words for a document. An aspect asks for it where it also has a word for its contents.
_DOCUMENTS: dict[PointerKind, str] = {
    "trial": (
        r"\b(recruitment|enrol\w*) status\b|\bNCT\d{8}\b|\bclinicaltrials|\b(clinical )?trials?\b|\bregist(er|ry)\b"
    ),
    "arxiv": r"\barxiv\b|\bpreprints?\b",
    "case": r"\b(court|judgments?|rulings?|docket|case file|legal filing)\b|\b[CT][-‑–]\d+/\d\d\b",
    "dataset": r"\b(data ?sets?|databases?|census|survey|raw data)\b",
    "doi": r"\b10\.\d{4,9}/|\b(papers?|study|studies|article|meta-analysis)\b",
}
# Words that always ask for the document itself.
_ALWAYS_INSIDE = re.compile(
    r"\bNCT\d{8}\b|\bclinicaltrials|\b(recruitment|enrol\w*) status\b|\btrial (status|register|registry)\b|\barxiv\b|"
    r"\bpreprints?\b|\b10\.\d{4,9}/|\b[CT][-‑–]\d+/\d\d\b|\bcourt (file|filing|record|docket)s?\b|\bdocket\b|"
    r"\bdata ?sets?\b|\bdatabases?\b|\braw (data|outcomes)\b",
    re.IGNORECASE,
)
_ASKS_FOR = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _DOCUMENTS.items()}
_ASKS_INSIDE = re.compile(rf"\b{_INSIDE}\b", re.IGNORECASE)


@dataclass(frozen=True)
class DiscoveriesGiven:
    ledger: Ledger
    most_shown: int | None = None
    """Pointers that a model is shown, at most; None for all that are worth an event."""

    @property
    def pointers(self) -> list[Pointer]:
        """Pointers that are worth an event, most relevant first."""
        evidence = [excerpt for excerpt in self.ledger.excerpts if excerpt.answers]
        used = {excerpt.locator for excerpt in evidence}
        asked_for = any(asks_for(aspect.text) for aspect in self.ledger.aspects)
        # Half of two or three terms is one word, and a page about Deep Blue says nothing of why the sky is blue.
        asked = len(set(terms(asked_text(self.ledger.question))))
        least = min(2, asked) / max(1, asked)
        worth = []
        for pointer in self.ledger.pointers:
            # A pointer in a sentence that is evidence itself comes first, whatever the relevance of its page.
            is_evidence = any(
                excerpt.locator == pointer.locator
                and (excerpt.text in pointer.sentence or pointer.sentence in excerpt.text)
                for excerpt in evidence
            )
            relevance = 1.0 if is_evidence else pointer.relevance
            if (
                relevance >= max(RELEVANT_ALONE, least)
                or (relevance >= max(RELEVANT_ASKED_FOR, least) and asked_for)
                or (relevance >= RELEVANT_POINTER and pointer.locator in used)
            ):
                worth.append((relevance, pointer))
        return [pointer for _, pointer in sorted(worth, key=lambda each: -each[0])[:MOST_EVENTS]]


class Worded(BaseModel):
    pointer: int
    query: str = Field(min_length=3, max_length=200)
    reason: str = Field(min_length=3, max_length=300)


class WordedEvents(RootModel[Annotated[list[Worded], BeforeValidator(keep_valid(Worded, 6)), Field(max_length=6)]]):
    pass


def find_pointers(page: Page, question: str) -> list[Pointer]:
    """Find the identifiers that a page's passages name, each with the first passage that names it."""
    asked = set(terms(asked_text(question)))
    title = set(terms(page.title or ""))
    found: dict[str, Pointer] = {}
    for passage in drop_injections(page):
        relevance = coverage(asked, title | set(terms(passage.text)), {})
        identifiers: list[tuple[PointerKind, str]] = []
        for kind, pattern in _PATTERNS:
            for match in pattern.finditer(passage.text):
                value = match[1].strip()
                if kind == "doi":
                    if value.casefold().startswith("10.48550/arxiv.") or _OWN.search(passage.text):
                        continue
                    deposited = _DEPOSITED.search(passage.text, 0, match.start())
                    identifiers.append(("dataset" if deposited else "doi", value))
                # A data set with a DOI is named by its DOI alone.
                elif kind != "dataset" or "dataset" not in (each for each, _ in identifiers):
                    identifiers.append((kind, value))
        for kind, value in identifiers:
            pointer = Pointer(kind=kind, value=value, sentence=passage.text, locator=page.url, relevance=relevance)
            found.setdefault(value, pointer)
    return list(found.values())


def find_reference_pointers(page: Page) -> list[Pointer]:
    """Return a pointer for each citation of a work with an identifier, and for each entry that is nowhere cited."""
    cited = [(reference, reference.text) for reference in page.references if not reference.marks]
    for passage in page.passages:
        cited += [(each, passage.text) for each in cited_within(page, passage.start, passage.end)]
    return list(filter(None, (pointer_to(each, sentence, page.url) for each, sentence in cited)))


def pointer_to(reference: Reference, sentence: str, locator: str) -> Pointer | None:
    """Return the pointer to a work that a page cites in a sentence; None where its entry has neither a DOI nor a
    number of arXiv."""
    kind: PointerKind = "arxiv" if reference.work.arxiv else "doi"
    value = reference.work.arxiv or reference.work.doi
    if value is None:
        return None
    return Pointer(kind=kind, value=value, sentence=sentence, locator=locator, relevance=1.0)


def asks_for(aspect: str) -> PointerKind | None:
    """Return the kind of document whose contents an aspect asks for; None where it asks for none."""
    if not (_ALWAYS_INSIDE.search(aspect) or _ASKS_INSIDE.search(aspect)):
        return None
    return next((kind for kind, pattern in _ASKS_FOR.items() if pattern.search(aspect)), None)


def signature() -> "type[dspy.Signature]":
    import dspy

    class DescribeDiscoveries(dspy.Signature):
        """For each numbered pointer, write the query that another researcher should run, and why it matters to the
        question, from its sentence alone."""

        question: str = dspy.InputField()
        pointers: str = dspy.InputField(desc="numbered, each with the sentence that names it")
        events: WordedEvents = dspy.OutputField()

    return DescribeDiscoveries


def show(given: DiscoveriesGiven) -> dict[str, Any]:
    return {
        "question": given.ledger.question,
        "pointers": "\n".join(
            f"{number}. {pointer.value}: {pointer.sentence}"
            for number, pointer in enumerate(given.pointers[: given.most_shown], start=1)
        ),
    }


def shorten(given: DiscoveriesGiven) -> DiscoveriesGiven | None:
    """Return the input with a pointer less to be worded, the least relevant one; None where it has one."""
    count = len(given.pointers[: given.most_shown])
    return replace(given, most_shown=count - 1) if count > 1 else None


def read(given: DiscoveriesGiven, prediction: "dspy.Prediction") -> list[DiscoveryEvent]:
    """Return an event for every pointer, in the model's words where it gave any."""
    most = given.most_shown or len(given.pointers)
    worded = {event.pointer: event for event in prediction.events.root if event.pointer <= most}
    return [
        _event(pointer, said.query, said.reason) if (said := worded.get(number)) else _plain(given, pointer)
        for number, pointer in enumerate(given.pointers, start=1)
    ]


def ground(given: DiscoveriesGiven, events: list[DiscoveryEvent]) -> tuple[list[DiscoveryEvent], list[Dropped]]:
    """Replace the words of events that name something which neither their pointer nor the question names."""
    kept, dropped = [], []
    for event, pointer in zip(events, given.pointers, strict=True):
        plain = _plain(given, pointer)
        worded = f"{event.query} — {event.reason}"
        met = f"{pointer.value} {pointer.sentence} {POINTER_NAMES[pointer.kind]}"
        if event != plain and (problem := invented(worded, met, asked=given.ledger.question)):
            dropped.append(Dropped(what="discovery", text=worded, decision=problem))
            event = plain
        kept.append(event)
    return kept, dropped


def model_free(given: DiscoveriesGiven) -> list[DiscoveryEvent]:
    return [_plain(given, pointer) for pointer in given.pointers]


def report_contradictions(ledger: Ledger) -> list[DiscoveryEvent]:
    """Return an event for each disagreement that was found, settled or not."""
    events = []
    for conflict in ledger.conflicts[:MOST_CONFLICTS]:
        one, other = (ledger.excerpts[number - 1] for number in conflict.sides)
        outcome = f" Settled: {conflict.resolved}." if conflict.resolved else ""
        events.append(
            DiscoveryEvent(
                type=DiscoveryType.CONTRADICTION,
                query=ledger.aspect(one.aspect).text,
                reason=f"{one.locator} and {other.locator} disagree: {conflict.about}.{outcome}",
                source_locator=one.locator,
            )
        )
    return events


def _plain(given: DiscoveriesGiven, pointer: Pointer) -> DiscoveryEvent:
    sentence = " ".join(pointer.sentence.split()).translate(_INNER_QUOTES)
    if len(sentence) > _QUOTED_CHARS:
        # Cut between words: half an identifier would name something else.
        sentence = (sentence[:_QUOTED_CHARS].rpartition(" ")[0] or sentence[: _QUOTED_CHARS - 3]) + " …"
    # Whoever is asked knows nothing of this call: the query is a question by itself.
    asked = " ".join(asked_text(given.ledger.question).rstrip("?").split())
    named = f", according to the {POINTER_NAMES[pointer.kind].removeprefix('a ')} {pointer.value}?"
    query = asked[: _QUERY_CHARS - len(named)] + named
    return _event(pointer, query, f"The page names {POINTER_NAMES[pointer.kind]}: “{sentence}”")


def _event(pointer: Pointer, query: str, reason: str) -> DiscoveryEvent:
    query = query if pointer.value in query else f"{query.rstrip(' ?.')} ({pointer.value})?"
    return DiscoveryEvent(
        type=DiscoveryType.RELATED_RESEARCH,
        suggested_researcher=RESEARCHERS[pointer.kind],
        query=query,
        reason=reason,
        source_locator=pointer.locator,
        identifier=pointer.value,
    )


DISCOVERIES: Stage[DiscoveriesGiven, list[DiscoveryEvent]] = Stage(
    name="discoveries",
    max_tokens=350,
    signature=signature,
    show=show,
    read=read,
    model_free=model_free,
    ground=ground,
    shorten=shorten,
    least_answer=lambda given: _ONE_EVENT_TOKENS,
    essential=False,
    time_share=0.5,
)
