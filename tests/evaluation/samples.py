"""Labelled questions, results that are right about all of their labels, and results about anything."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from marchwarden.contract import Citation, DiscoveryEvent, DiscoveryType, Gap, GapCategory, ResearchResult
from marchwarden.evaluation.labels.case import Case
from marchwarden.evaluation.labels.questions import GoldContradiction, GoldDiscovery, GoldGap, Nugget, Question, Quote
from marchwarden.evaluation.runs.run import Record, Run, RunInfo, now, start_run
from marchwarden.evaluation.scoring.metrics import score
from tests.trace.samples import TRACE_ID, a_result

WORDS = [
    "anvil",
    "basket",
    "candle",
    "dolphin",
    "ember",
    "falcon",
    "garnet",
    "harbour",
    "island",
    "jacket",
    "kettle",
    "lantern",
    "magnet",
    "needle",
    "orchid",
    "pepper",
    "quartz",
    "ribbon",
    "saddle",
    "temple",
    "umbrella",
    "velvet",
    "walnut",
    "yogurt",
    "zebra",
    "acorn",
    "bottle",
    "carpet",
    "dagger",
    "engine",
    "feather",
    "glacier",
    "hammer",
    "insect",
    "jungle",
    "kitten",
    "ladder",
    "marble",
    "nugget",
    "oyster",
    "puzzle",
    "rocket",
    "shovel",
    "tunnel",
    "violin",
    "window",
]
STRANGE = ("xylograph", "bassoonist", "thermocline")
"""Words of no label."""


def a_question(**changes: Any) -> Question:
    given: dict[str, Any] = {"id": "q1", "question": "How long is the wall?", "split": "dev", "tags": ["one-fact"]}
    return Question.model_validate(given | changes)


def a_nugget(answer: str = "120 metres", **changes: Any) -> Nugget:
    quote = Quote(url="https://walls.example/long", quote=f"The wall is {answer} long and was built in 1901.")
    given: dict[str, Any] = {"id": "n1", "text": "The wall is long.", "answers": [answer], "evidence": [quote]}
    return Nugget(**(given | changes))


def a_gap(topic: str, category: GapCategory = GapCategory.SOURCE_NOT_FOUND, detail: str = "nothing found") -> Gap:
    return Gap(topic=topic, category=category, detail=detail)


def an_event(query: str, reason: str = "a page names it", **changes: Any) -> DiscoveryEvent:
    given = {"type": DiscoveryType.RELATED_RESEARCH, "query": query, "reason": reason}
    return DiscoveryEvent.model_validate(given | changes)


def a_conflict(*urls: str, about: str = "they differ") -> DiscoveryEvent:
    return an_event(about, f"{' and '.join(urls)} say otherwise", type=DiscoveryType.CONTRADICTION)


def a_quotation(url: str, excerpt: str, **changes: Any) -> Citation:
    return Citation(**({"source": "web", "locator": url, "raw_excerpt": excerpt, "confidence": 0.9} | changes))


def an_answer(*cited: tuple[str, Citation], **changes: Any) -> ResearchResult:
    """A result that says each sentence with its citation, and nothing else."""
    lines = [f"- {sentence.rstrip('.')} [{number}]." for number, (sentence, _) in enumerate(cited, start=1)]
    given: dict[str, Any] = {
        "answer": "\n".join(lines) or "No source that could be read answers this question.",
        "citations": [citation for _, citation in cited],
        "gaps": [],
        "discovery_events": [],
    }
    return a_result(**(given | changes))


def perfect(question: Question, **changes: Any) -> ResearchResult:
    """What the labels themselves say, quoted from their evidence, and no more."""
    cited = [
        (quote.quote, a_quotation(quote.url, quote.quote)) for nugget in question.nuggets for quote in nugget.evidence
    ]
    cited += [
        (side.quote, a_quotation(side.url, side.quote)) for each in question.contradictions for side in each.sides
    ]
    events = [
        an_event(each.identifier or "more", type=each.type, source_locator=each.source_locator)
        for each in question.discoveries
        if each.required
    ]
    events += [
        a_conflict(*(side.url for side in each.sides), about=each.about)
        for each in question.contradictions
        if each.required
    ]
    gaps = [a_gap(gap.topic, gap.category, f"see {gap.url}") for gap in question.gaps if gap.required]
    given = {"gaps": gaps, "discovery_events": events, "confidence": 1.0}
    return an_answer(*cited, **(given | changes))


def texts_of(question: Question) -> dict[str, str]:
    """A page for each address that is quoted, with its quotes between other sentences."""
    pages: dict[str, str] = {}
    for quote in question.quotes:
        pages[quote.url] = f"{pages.get(quote.url, 'Before.')} {quote.quote} After that comes something else."
    return pages


def case(question: Question, result: ResearchResult | None, **changes: Any) -> Case:
    return Case(question, result, **({"texts": texts_of(question)} | changes))


@st.composite
def questions(draw: st.DrawFn, at_least: int = 0) -> Question:
    """Labels of every sort, no two of which share a word."""
    words: Iterator[str] = iter(WORDS)
    numbers = count(draw(st.integers(11, 99)))
    some = st.integers(at_least, 3)
    required = st.booleans() if not at_least else st.just(True)
    nuggets = []
    for place in range(draw(some)):
        answer = f"{next(numbers)} {next(words)}"
        nugget = a_nugget(answer, id=f"n{place}", vital=draw(required))
        url = f"https://page{place % 2}.example/a"
        nuggets.append(nugget.model_copy(update={"evidence": [Quote(url=url, quote=nugget.evidence[0].quote)]}))
    gaps = [
        GoldGap(
            topic=f"{next(words)} {next(words)}",
            category=draw(st.sampled_from(sorted(set(GapCategory) - {GapCategory.CONTRADICTORY_SOURCES}))),
            url=draw(st.sampled_from([None, f"https://closed.example/{place}"])),
            required=draw(required),
        )
        for place in range(draw(some))
    ]
    discoveries = [
        GoldDiscovery(
            type=DiscoveryType.RELATED_RESEARCH,
            identifier=f"10.1234/{next(numbers)}.{next(words)}",
            source_locator=f"https://points.example/{place}",
            required=draw(required),
        )
        for place in range(draw(some))
    ]
    contradictions = [
        GoldContradiction(
            about=f"{next(words)} {next(words)}",
            sides=[
                Quote(url=f"https://{side}.example/{place}", quote=f"It weighs {next(numbers)} tonnes.")
                for side in ("one", "other")
            ],
            required=draw(required),
        )
        for place in range(draw(some))
    ]
    return a_question(nuggets=nuggets, gaps=gaps, discoveries=discoveries, contradictions=contradictions)


def reported_gaps(question: Question) -> st.SearchStrategy[list[Gap]]:
    """Gaps in the labels' words and others, mixed, some naming a labelled page."""
    known = [word for gap in question.gaps for word in gap.topic.split()] + list(STRANGE)
    topics = st.lists(st.sampled_from(known), min_size=1, max_size=4).map(" ".join)
    details = st.sampled_from(["nothing", *(f"see {gap.url}" for gap in question.gaps if gap.url)])
    return st.lists(st.builds(Gap, topic=topics, category=st.sampled_from(GapCategory), detail=details), max_size=6)


def reported_events(question: Question) -> st.SearchStrategy[list[DiscoveryEvent]]:
    """Discoveries and contradictions that name any of what is labelled, several things at once, or none of it."""
    names = [each.identifier for each in question.discoveries] + [*STRANGE, *WORDS[:4]]
    pages = [side.url for each in question.contradictions for side in each.sides] + ["https://strange.example/"]
    texts = st.lists(st.sampled_from([*names, *pages]), min_size=1, max_size=4).map(" ".join)
    locators = st.sampled_from([None, *pages])
    kinds = st.sampled_from(DiscoveryType)
    return st.lists(
        st.builds(DiscoveryEvent, type=kinds, query=texts, reason=texts, source_locator=locators), max_size=6
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any question with a result about anything: some of its evidence, other sentences, other pages, or no result."""
    question = draw(questions())
    if draw(st.integers(0, 9)) == 0:
        return case(question, None, seconds=1.0)
    said = [(quote.quote, a_quotation(quote.url, quote.quote)) for quote in question.quotes]
    said += [("It is 7 thermoclines wide", a_quotation("https://strange.example/", "Nothing of the sort."))]
    chosen = draw(st.lists(st.sampled_from(said), max_size=5))
    result = an_answer(
        *chosen,
        gaps=draw(reported_gaps(question)),
        discovery_events=draw(reported_events(question)),
        confidence=draw(st.sampled_from([0.0, 0.3, 0.55, 0.9, 1.0])),
    )
    return case(question, result, unverified=draw(st.integers(0, len(chosen))), pages=draw(st.integers(0, 12)))


def info(**changes: Any) -> RunInfo:
    given = {"version": "0", "started": now(), "model_id": "extractive", "questions": "q.jsonl", "labels": "a"}
    return RunInfo.model_validate(given | {"pages": "b"} | changes)


def record_of(scored: Case) -> Record:
    return Record(
        id=scored.question.id,
        question=scored.question,
        trace_id=TRACE_ID,
        result=scored.result,
        error=None if scored.result else "the research failed with an internal error: SIGKILL",
        seconds=scored.seconds,
        pages=scored.pages,
        unverified=scored.unverified,
        cells=score(scored),
    )


def a_run(folder: Path, *scored: Case) -> Run:
    run = start_run(folder, info())
    for each in scored:
        run.add(record_of(each))
    return run
