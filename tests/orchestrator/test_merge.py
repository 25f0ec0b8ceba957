"""One ledger of what several researchers quoted: what of it counts, and for which part of the question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from marchwarden.agent.conclusion import conclude, today
from marchwarden.contract import ResearchRequest
from marchwarden.judge import answering
from marchwarden.judge.answering import RememberingJudge
from marchwarden.observations import ContentHash, Page, Passage, content_hash
from marchwarden.orchestrator.merge import Merger
from marchwarden.orchestrator.rihla import Rihla, Step
from marchwarden.orchestrator.verified_evidence import Quote, QuotedPage
from marchwarden.stages.stage import WithoutModel
from marchwarden.text import embedding
from marchwarden.text.embedding import Embedder
from marchwarden.trace.events import Fetched

QUESTION = "When was the Halden Bridge built, and how many rivers does it cross?"
ASPECTS = ["When was the Halden Bridge built", "how many rivers does it cross (Halden Bridge)"]


def a_page(url: str, text: str, *passages: Passage, query: str | None = None) -> Page:
    key = content_hash(text.encode())
    return Page(
        url=url, content_hash=ContentHash(key), text=text, text_hash=key, passages=passages, title=None, query=query
    )


def a_rihla(number: int, page: Page, *quotes: Quote) -> Rihla:
    fetched = Fetched(
        url=page.url,
        final_url=page.url,
        status=200,
        content_type="text/html",
        content_hash=page.content_hash,
        content_length=1,
        text_hash=page.text_hash,
        duration_sec=0.0,
        decision="it may answer",
    )
    name = f"r{number}"
    quoted = QuotedPage(page, 1, name, f"t{number}", "web", fetched, list(quotes))
    step = Step(name, QUESTION, "sub_question", 1, "It can be asked.")
    return Rihla(number, f"t{number}", step, 1000, evidence=[quoted])


def plain(url: str, text: str) -> tuple[Page, Quote]:
    return a_page(url, text, Passage(1, 0, len(text), text)), Quote(0, len(text), "supports", by_model=False)


def test_rows_count_for_the_part_that_their_statement_was_written_for() -> None:
    text = "count\n4"
    page = a_page("db:rivers/1", text, Passage(1, 0, 5, "count"), Passage(2, 6, 7, "4"), query="SELECT count(*)")
    rows = a_rihla(1, page, Quote(0, 7, "supports", by_model=False, sought=(ASPECTS[1],)))
    ledger = Merger(QUESTION, None, ASPECTS).ledger([rows])
    assert [(each.aspect, each.text, each.answers) for each in ledger.excerpts] == [(2, text, True)]


def test_a_quote_counts_for_the_parts_that_it_was_picked_for_where_they_are_ours() -> None:
    """Words that two parts share made the answer to one an answer to the other."""
    page, quote = plain("https://a.example/", "The Halden Bridge was built in 1931, and does cross many rivers.")
    counted = []
    for picked_for in [[], [ASPECTS[0]], ASPECTS, ["When and where was it built"]]:
        measured = replace(quote, measured=dict.fromkeys(picked_for, 0.5))
        ledger = Merger(QUESTION, None, ASPECTS).ledger([a_rihla(1, page, measured)])
        counted.append([each.aspect for each in ledger.excerpts])
    assert counted == [[1, 2], [1], [1, 2], [1, 2]]


@pytest.mark.parametrize("figures", [(0.24, 0.4), (0.4, 0.24)])
def test_a_quote_that_two_rihlas_picked_counts_as_the_one_that_measured_it_higher(figures: tuple[float, ...]) -> None:
    """A part of the question alone tells better what answers it; the order of the rihlas makes no difference."""
    page, quote = plain("https://a.example/", "Its first stone was laid in 1929, and 1931 saw the first carts.")
    rihlas = [
        a_rihla(number, page, replace(quote, measured={ASPECTS[0]: figure}))
        for number, figure in enumerate(figures, start=1)
    ]
    (excerpt,) = Merger(QUESTION, None, ASPECTS).ledger(rihlas).evidence_for(1)
    assert excerpt.relevance == 0.4


def test_a_quote_with_the_heading_above_it_is_measured_as_the_passages_under_it() -> None:
    said = "The Halden Bridge was built in 1931."
    text = f"History\n\n{said}"
    passage = Passage(1, 9, len(text), said, heading="History")
    with_heading = a_page("https://a.example/", text, passage)
    merger = Merger(QUESTION, None, ASPECTS)
    (whole,) = merger.ledger(
        [a_rihla(1, with_heading, Quote(0, len(text), "supports", by_model=False))]
    ).evidence_for(1)
    (bare,) = merger.ledger([a_rihla(1, with_heading, Quote(9, len(text), "supports", by_model=False))]).evidence_for(
        1
    )
    assert whole.text == text
    assert whole.relevance == bare.relevance


@pytest.mark.skipif(
    not (embedding.is_installed() and answering.is_installed()), reason="the extra `semantic` is not installed"
)
def test_quotes_of_a_researcher_that_goes_by_words_are_judged(tmp_path: Path) -> None:
    """What shares the words of a question and does not answer it is no evidence, whoever quoted it."""
    asked = "How high is the Halden Bridge?"
    quoted = {
        "https://a.example/": "The Halden Bridge is high, and everybody in Halden is proud of the bridge.",
        "https://b.example/": "It is 45 metres tall, the Halden Bridge.",
    }
    rihlas = [a_rihla(number, *plain(url, text)) for number, (url, text) in enumerate(quoted.items(), start=1)]
    counts = {}
    for name, judge in {"without": None, "with": RememberingJudge()}.items():
        merger = Merger(asked, None, [asked], embedder=Embedder(tmp_path / "vectors.sqlite"), judge=judge)
        counts[name] = [each.locator for each in merger.ledger(rihlas).excerpts if each.answers]
    assert counts == {"without": [*quoted], "with": ["https://b.example/"]}


@pytest.mark.anyio
async def test_the_answer_says_what_each_researcher_answered_with_although_another_quote_fits_better() -> None:
    best = plain("https://a.example/", "The Halden Bridge was built in 1931.")
    other = plain("https://b.example/", "Carts have gone over the Tista since the bridge of Halden opened, 1931.")
    merger = Merger("When was the Halden Bridge built?", None, ASPECTS[:1])
    rihlas = [a_rihla(number, page, quote) for number, (page, quote) in enumerate([best, other], start=1)]
    asked = ResearchRequest(question="When was the Halden Bridge built?")
    cited = {}
    for name, parameters in {"one": merger.parameters, "team": merger.parameters.of_an_investigation()}.items():
        ledger = merger.ledger(rihlas, is_last=True)
        found = await conclude(asked, ledger, WithoutModel([], None), today(), parameters)
        cited[name] = {each.locator for each in found.cited}
    assert cited == {"one": {"https://a.example/"}, "team": {"https://a.example/", "https://b.example/"}}
