"""What the ledger keeps and what is read off it."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import pytest

from marchwarden.contract import Recency, SourceAuthority
from marchwarden.http.addresses import publisher_of
from marchwarden.ledger import Attempt, Excerpt, Lead, Ledger, Pointer
from marchwarden.observations import Failure, FailureKind, Page, Passage, SearchHit, SearchOutcome, Work, content_hash

LONG = " ".join(
    f"Sentence number {n} says something of its own about the old stone bridge of Halden." for n in range(12)
)


def page(url: str, text: str = LONG, **more: Any) -> Page:
    hashed = content_hash(text.encode())
    return Page(url, content_hash(url.encode()), text, hashed, (Passage(1, 0, len(text), text),), **more)


def ledger_with(*pages: Page, aspects: tuple[str, ...] = ("What is it?",)) -> Ledger:
    ledger = Ledger(question="q")
    ledger.set_aspects(list(aspects))
    for each in pages:
        keep(ledger, each)
    return ledger


def keep(ledger: Ledger, each: Page, organisation: str | None = None) -> object:
    lead = Lead(url=each.url, title="t", snippet="", published=None, aspect=1, rank=0.1)
    ledger.leads.append(lead)
    return ledger.add_page(lead, each, organisation or each.url.split("/")[2], SourceAuthority.MEDIUM)


def test_a_misspelt_word_of_an_aspect_is_read_as_it_was_searched_for() -> None:
    ledger = ledger_with(aspects=("how heavy is garlik?", "Who was Garlik"))
    ledger.add_search(SearchOutcome("how heavy is garlik?", "snapshot", meant={"garlik": "garlic"}), 1)
    assert [aspect.text for aspect in ledger.aspects] == ["how heavy is garlic?", "Who was Garlik"]


def excerpt(locator: str, *, aspect: int = 1, start: int = 0, relevance: float = 0.8) -> Excerpt:
    return Excerpt(
        number=0, locator=locator, aspect=aspect, start=start, end=start + 4, text="text", relevance=relevance
    )


def test_aspects_keep_their_numbers_and_are_not_doubled() -> None:
    ledger = ledger_with(aspects=("How long?", "How old?"))
    ledger.set_aspects(["HOW LONG?", "How wide?"])
    assert [(aspect.number, aspect.text) for aspect in ledger.aspects] == [
        (1, "How long?"),
        (2, "How old?"),
        (3, "How wide?"),
    ]
    assert ledger.aspect(3).text == "How wide?"


def test_a_query_is_new_only_once_whatever_its_spacing_and_case() -> None:
    ledger = ledger_with()
    assert ledger.is_new_query("Old  bridge")
    ledger.add_search(SearchOutcome(query="Old  bridge", provider="p"), 1)
    assert not ledger.is_new_query("old bridge")


def test_a_page_that_two_searches_name_is_one_lead_that_ranks_higher() -> None:
    ledger = ledger_with()
    hits = tuple(SearchHit(url=f"https://{name}.org/", title=name) for name in "abc")
    assert ledger.add_search(SearchOutcome(query="one", provider="p", hits=hits), 1) == 3
    assert ledger.add_search(SearchOutcome(query="two", provider="p", hits=hits[2:]), 1) == 0
    assert [lead.title for lead in ledger.unread()] == ["c", "a", "b"]


def test_a_failed_search_and_a_failed_fetch_stand_beside_their_aspect() -> None:
    ledger = ledger_with(aspects=("one", "two"))
    down = Failure(FailureKind.SERVICE_DOWN, "The service is down.")
    ledger.add_search(SearchOutcome(query="q", provider="p", failure=down), 2)
    lead = Lead(url="https://a.org/", title="A", snippet="", published=None, aspect=1, rank=0.1)
    ledger.leads.append(lead)
    ledger.add_failure(lead, Failure(FailureKind.PAYWALL, "It has to be paid for."), 0.7)
    assert [(each.service, each.aspect, each.kind.closed) for each in ledger.failures] == [
        ("search", 2, True),
        ("fetch", 1, True),
    ]
    assert ledger.unread() == []


@pytest.mark.parametrize(
    ("detail", "named"),
    [("The service is down.", "db:shop: The service is down."), ("Shop is down.", "Shop is down.")],
)
def test_what_is_told_of_a_failed_search_names_its_source_once(detail: str, named: str) -> None:
    assert attempt(FailureKind.SERVICE_DOWN, detail=detail, source="db:shop").named == named


def attempt(kind: FailureKind, service: Literal["search", "fetch"] = "search", **more: Any) -> Attempt:
    given = {"target": "q", "title": None, "detail": "", "aspect": 1, **more}
    return Attempt(service=service, kind=kind, **given)


@pytest.mark.parametrize(
    ("kind", "of_search", "of_fetch"),
    [
        (FailureKind.SERVICE_DOWN, True, True),
        (FailureKind.TIMEOUT, True, True),
        (FailureKind.RATE_LIMITED, True, False),
        (FailureKind.BAD_REQUEST, False, False),
        (FailureKind.NOT_UNDERSTOOD, False, False),
        (FailureKind.PAYWALL, True, False),
        (FailureKind.NOT_FOUND, True, False),
    ],
)
def test_a_query_or_a_page_at_fault_is_no_failure_of_a_source(
    kind: FailureKind, of_search: bool, of_fetch: bool
) -> None:
    assert attempt(kind).is_source_failure == of_search
    assert attempt(kind, "fetch").is_source_failure == of_fetch


DOWN = Failure(FailureKind.SERVICE_DOWN, "The service is down.")


@pytest.mark.parametrize(
    ("searches", "fetches", "failed"),
    [
        ([DOWN, DOWN], [], True),
        ([DOWN, None], [], False),
        ([Failure(FailureKind.BAD_REQUEST, "Too long.")], [], False),
        ([None], [DOWN], True),
        ([None], [DOWN, Failure(FailureKind.PAYWALL, "It has to be paid for.")], False),
        # A hit that nobody tried says nothing of its source.
        ([None], [None], False),
        # A page was tried and answered nothing usable, while the search of another aspect was down.
        ([DOWN, None], [Failure(FailureKind.NOT_FOUND, "Not there.")], False),
        ([], [], False),
    ],
)
def test_sources_have_failed_where_none_could_be_asked(
    searches: list[Failure | None], fetches: list[Failure | None], failed: bool
) -> None:
    ledger = ledger_with()
    for number, failure in enumerate(searches):
        ledger.add_search(SearchOutcome(f"query {number}", "p", failure=failure), 1)
    for number, failure in enumerate(fetches):
        lead = Lead(url=f"https://{number}.org/", title="t", snippet="", published=None, aspect=1, rank=0.1)
        ledger.leads.append(lead)
        if failure:
            ledger.add_failure(lead, failure, 0.5)
    assert ledger.have_sources_failed() == failed


def test_sources_have_not_failed_where_a_page_was_read_or_one_of_several_providers_answered() -> None:
    read = ledger_with(page("https://a.org/1"))
    read.add_search(SearchOutcome("q", "p", failure=DOWN), 1)
    assert not read.have_sources_failed()
    others_answered = ledger_with()
    others_answered.add_search(SearchOutcome("q", "open", failure=DOWN, failed=("arxiv",)), 1)
    assert not others_answered.have_sources_failed()
    assert [each.source for each in others_answered.failures] == ["arxiv"]


def test_a_lead_is_found_by_its_address() -> None:
    ledger = ledger_with(page("https://a.org/1"), page("https://b.org/", "Another text."))
    assert ledger.lead("https://b.org/") is ledger.leads[1]
    assert ledger.lead("https://c.org/") is None


def test_the_same_text_under_another_address_is_no_second_source() -> None:
    ledger = ledger_with(page("https://a.org/1"))
    assert keep(ledger, page("https://b.org/1")) is None
    assert [lead.state for lead in ledger.leads] == ["read", "duplicate"]


@pytest.mark.parametrize(
    "copied",
    [
        page("https://b.org/", "From our partner. " + LONG + " Subscribe now."),
        page("https://b.org/", "Another text.", canonical_url="https://a.org/1"),
    ],
    ids=["nearly the same text", "canonical link"],
)
def test_a_copy_does_not_corroborate(copied: Page) -> None:
    ledger = ledger_with(page("https://a.org/1"), copied)
    ledger.add_excerpt(excerpt("https://a.org/1"))
    ledger.add_excerpt(excerpt("https://b.org/"))
    assert ledger.organisations(ledger.excerpts) == {"a.org"}


def test_pages_of_one_organisation_count_once_and_a_retracted_one_not_at_all() -> None:
    ledger = ledger_with()
    keep(ledger, page("https://x.a.org/", "One text."), "a.org")
    keep(ledger, page("https://y.a.org/", "Another."), "a.org")
    keep(ledger, page("https://b.org/", "A third.", standing="retracted"), "b.org")
    for source in ledger.sources:
        ledger.add_excerpt(excerpt(source.locator))
    assert ledger.organisations(ledger.excerpts) == {"a.org"}
    assert [aspect.number for aspect in ledger.open_aspects(2)] == [1]
    assert ledger.unanswered() == []


def test_a_slice_is_kept_once_for_an_aspect_and_numbered_in_order() -> None:
    ledger = ledger_with(page("https://a.org/1"), aspects=("one", "two"))
    added = [
        ledger.add_excerpt(excerpt("https://a.org/1", aspect=aspect, start=start))
        for aspect, start in ((1, 0), (1, 0), (2, 0), (1, 9))
    ]
    assert added == [True, False, True, True]
    assert [each.number for each in ledger.excerpts] == [1, 2, 3]
    assert [each.number for each in ledger.excerpts_for(1)] == [1, 3]


@pytest.mark.parametrize(
    ("key", "moved", "key_text"), [((6, 16), (19, 29), "ten metres"), (None, (13, 30), "It is ten metres.")]
)
def test_an_excerpt_that_begins_earlier_keeps_its_key_passage(
    key: tuple[int, int] | None, moved: tuple[int, int], key_text: str
) -> None:
    text = "Before. The length.. It is ten metres. After."
    own = Excerpt(number=1, locator="l", aspect=1, start=21, end=38, text=text[21:38], key=key)
    earlier = own.from_place(8, text)
    assert (earlier.start, earlier.end, earlier.text) == (8, 38, text[8:38])
    assert (earlier.key, earlier.key_text) == (moved, key_text)
    assert own.from_place(21, text).key == key


def test_pointers_are_kept_once() -> None:
    ledger = ledger_with()
    pointer = Pointer(kind="doi", value="10.1/x", sentence="s", locator="https://a.org/", relevance=0.5)
    ledger.add_pointers([pointer])
    ledger.add_pointers([pointer.model_copy(update={"locator": "https://b.org/"})])
    assert len(ledger.pointers) == 1


@pytest.mark.parametrize(
    ("published", "recency"),
    [
        ([date(2026, 1, 1)], Recency.CURRENT),
        ([date(2024, 6, 1)], Recency.RECENT),
        ([date(2019, 6, 1)], Recency.DATED),
        ([date(2019, 6, 1), date(2026, 6, 1)], Recency.CURRENT),
        ([None], None),
        ([], None),
    ],
)
def test_recency_is_that_of_the_newest_source(published: list[date | None], recency: Recency | None) -> None:
    pages = [page(f"https://{n}.org/", f"text {n}", published=day) for n, day in enumerate(published)]
    ledger = ledger_with(*pages)
    assert ledger.recency([each.url for each in pages], date(2026, 11, 27)) == recency


def test_a_ledger_survives_json() -> None:
    ledger = ledger_with(page("https://a.org/1", published=date(2026, 1, 1)))
    ledger.add_excerpt(excerpt("https://a.org/1"))
    # But for the shingles, which only reading needs.
    assert Ledger.model_validate_json(ledger.model_dump_json()).model_dump() == ledger.model_dump()


# Independence is by work: one paper has one voice, wherever it lies

PREPRINT = "https://arxiv.org/abs/2202.12139v1"
LEE, KIM = Work(authors=("Lee, Ann", "Bo Wu")), Work(authors=("Kim D",))


@pytest.mark.parametrize(
    ("one", "other", "sources"),
    [
        ((PREPRINT, None), ("https://arxiv.org/abs/2301.01234v2", None), 2),
        ((PREPRINT, None), ("https://arxiv.org/pdf/2202.12139v3", None), 1),
        (
            ("https://www.nature.com/articles/s41586-021-03819-2", None),
            ("https://www.nature.com/articles/nature1", None),
            2,
        ),
        (("https://doi.org/10.1000/a", None), ("https://doi.org/10.1000/b", None), 2),
        (("https://pubmed.ncbi.nlm.nih.gov/1/", None), ("https://pubmed.ncbi.nlm.nih.gov/2/", None), 2),
        (
            (PREPRINT, Work(arxiv="2202.12139", doi="10.1000/a")),
            ("https://doi.org/10.1000/a", Work(doi="10.1000/a")),
            1,
        ),
        (
            ("https://www.sciencedirect.com/science/article/pii/S1", Work(doi="10.1016/a")),
            ("https://www.sciencedirect.com/science/article/pii/S2", Work(doi="10.1016/b")),
            2,
        ),
        # Two papers of the same people say what one says; one common author is not enough.
        (("https://doi.org/10.1000/a", LEE), ("https://doi.org/10.1000/b", Work(authors=("B. Wu", "A Lee"))), 1),
        (("https://doi.org/10.1000/a", LEE), ("https://doi.org/10.1000/b", Work(authors=("Lee A", "Kim D"))), 2),
        (("https://doi.org/10.1000/a", LEE), ("https://doi.org/10.1000/b", KIM), 2),
        # Elsewhere nobody gains a voice by calling his pages works.
        (
            ("https://a.blog.example/1", Work(doi="10.1000/a")),
            ("https://a.blog.example/2", Work(doi="10.1000/b")),
            1,
        ),
        # The registry names the preprint of a published work.
        (
            ("https://doi.org/10.1101/2020.01.01.1", Work(doi="10.1101/2020.01.01.1")),
            ("https://doi.org/10.1000/b", Work(doi="10.1000/b", same_as=("doi:10.1101/2020.01.01.1",))),
            1,
        ),
    ],
)
def test_independent_sources_are_works_and_not_hosts(
    one: tuple[str, Work | None], other: tuple[str, Work | None], sources: int
) -> None:
    ledger = Ledger(question="q")
    for place, (url, work) in enumerate((one, other)):
        text = " ".join(f"Sentence {n} of paper {place} has words{place}x{n} of its own." for n in range(12))
        keep(ledger, page(url, text, work=work), publisher_of(url))
    assert len(ledger.organisations([excerpt(one[0]), excerpt(other[0])])) == sources


def test_a_preprint_and_its_published_form_are_known_by_title_and_first_author() -> None:
    ledger = Ledger(question="q")
    title = "Walks with Markov bases and heat baths"
    for url, name in (
        ("https://doi.org/10.1000/a", "Stanley, C."),
        ("https://arxiv.org/abs/1605.08386v1", "Caprice Stanley"),
    ):
        text = " ".join(f"Sentence {n} of {url} has words of its own." for n in range(12))
        keep(ledger, page(url, text, title=title, work=Work(authors=(name, f"another of {url}"))), publisher_of(url))
    assert len(ledger.organisations([excerpt(source.locator) for source in ledger.sources])) == 1


def test_passages_that_may_each_answer_are_evidence_together() -> None:
    ledger = ledger_with(page("https://a.org/1"))
    for start, relevance in enumerate([0.11, 0.25, 0.25]):
        weak = excerpt("https://a.org/1").model_copy(
            update={"start": start, "text": f"{start} beds", "relevance": relevance, "answers": False}
        )
        ledger.add_excerpt(weak)
    ledger.take_together(0.51)
    assert ledger.evidence_for(1) == []
    ledger.take_together(0.49)
    assert [each.relevance for each in ledger.evidence_for(1)] == [0.11, 0.25, 0.25]


def test_the_same_words_count_once_and_no_more_than_three_passages_together() -> None:
    ledger = ledger_with(page("https://a.org/1"), aspects=("one", "two"))
    for start, (aspect, text) in enumerate([(1, "a bed"), (1, "a bed"), *((2, f"{n} beds") for n in range(4))]):
        weak = excerpt("https://a.org/1", aspect=aspect, start=start, relevance=0.3)
        ledger.add_excerpt(weak.model_copy(update={"text": text, "answers": False}))
    ledger.take_together(0.5)
    assert ledger.evidence_for(1) == []  # .3 alone; two would have .51
    assert [each.text for each in ledger.evidence_for(2)] == ["0 beds", "1 beds", "2 beds"]
