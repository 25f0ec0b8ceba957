"""The answer's text: each sentence with the markers of the excerpts that say it."""

from __future__ import annotations

from datetime import date

import pytest

from marchwarden.contract import Depth, SourceAuthority
from marchwarden.ledger import Aspect, Excerpt, Ledger, Source
from marchwarden.stages.synthesize import (
    Claim,
    SynthesizeGiven,
    check_grounding,
    model_free,
    render_answer,
    with_quotes,
)


def a_ledger(*texts: str) -> Ledger:
    """A ledger with one aspect, and an excerpt of a page of its own for each text."""
    ledger = Ledger(
        question="When was the Halden Bridge built?", aspects=[Aspect(number=1, text="When was it built?")]
    )
    for number, text in enumerate(texts, start=1):
        locator = f"https://{number}.example/"
        ledger.sources.append(
            Source(
                locator=locator, organisation=locator, title=None, published=None, modified=None, content_hash="",
                text_hash="", authority=SourceAuthority.MEDIUM, standing=None, language="en", has_text=True,

            )
        )  # fmt: skip
        ledger.excerpts.append(
            Excerpt(number=number, locator=locator, aspect=1, start=0, end=len(text), text=text, relevance=0.9)
        )
    return ledger


def test_each_sentence_has_the_markers_of_the_excerpts_that_say_it() -> None:
    window = "The Halden Bridge was built in 1931. Nobody paid a toll on it."
    ledger = a_ledger(window, "The Halden Bridge was built in 1931.")
    answer, cited = render_answer(ledger, [Claim(text=window, excerpts=[1, 2])])
    assert answer == "The Halden Bridge was built in 1931 [1][2]. Nobody paid a toll on it [1]."
    assert [excerpt.number for excerpt in cited] == [1, 2]


def test_lines_of_a_list_or_a_table_stay_lines() -> None:
    rows = "Opened | 1931\nLength | 352 m"
    answer, _ = render_answer(a_ledger(rows), [Claim(text=rows, excerpts=[1])])
    assert answer == "Opened | 1931 [1]\n  Length | 352 m [1]"


def test_code_keeps_its_lines_and_its_indent() -> None:
    text = (
        "Add the repository to a file. Then run it:\n\nrepos:\n  - id: lock\n    args: [1]\n\nmacOS\n\n$ run --all\n\n"
        "It prints what it did."
    )
    answer, _ = render_answer(a_ledger(text), [Claim(text=text, excerpts=[1])])
    assert answer.split("\n") == [
        "Add the repository to a file [1]. Then run it [1]:",
        "  repos:",
        "    - id: lock",
        "      args: [ 1] [1]",
        "  macOS [1]",
        "  $ run --all [1]",
        "  It prints what it did [1].",
    ]


def test_sentences_that_lead_in_to_code_have_their_markers() -> None:
    text = "It takes one or the other. For a file:\n$ restore --include a\nrestored a\n\nIt is there."
    answer, _ = render_answer(a_ledger(text), [Claim(text=text, excerpts=[1])])
    assert answer.split("\n") == [
        "It takes one or the other [1]. For a file [1]:",
        "  $ restore --include a",
        "  restored a [1]",
        "  It is there [1].",
    ]


def test_lines_that_a_reader_found_to_be_code_can_be_copied() -> None:
    """Though nothing in them looks like code."""
    text = "To compute it, run this:\nog = 1.062  # the gravity\nprint(og)\n\nIt takes a second."
    ledger = a_ledger(text)
    ledger.excerpts[0] = ledger.excerpts[0].model_copy(update={"code": "og = 1.062  # the gravity\nprint(og)"})
    answer, _ = render_answer(ledger, [Claim(text=text, excerpts=[1])])
    assert answer.split("\n") == [
        "To compute it, run this [1]:",
        "  og = 1.062  # the gravity",
        "  print(og) [1]",
        "  It takes a second [1].",
    ]
    ledger.excerpts[0] = ledger.excerpts[0].model_copy(update={"text": "print(og)", "code": "print(og)"})
    answer, _ = render_answer(ledger, [Claim(text="print(og)", excerpts=[1])])
    assert answer == "print(og) [1]"


def test_wrapped_lines_are_one_sentence() -> None:
    text = "Brewing tea\nThe standard lays down how to prepare a liquor of\ntea for tasting. It is brewed for six minutes in a pot of\nwhite porcelain."
    answer, _ = render_answer(a_ledger(text), [Claim(text=text, excerpts=[1])])
    assert answer.split("\n") == [
        "Brewing tea [1]",
        "  The standard lays down how to prepare a liquor of tea for tasting [1]. "
        "It is brewed for six minutes in a pot of white porcelain [1].",
    ]


def test_the_lines_of_a_pdf_are_one_text_but_for_the_rows_of_its_tables() -> None:
    text = "The well is 23 metres deep and was dug by the Harlow\nbrothers. It is dry.\n\nOpened | 1931\nDepth | 23 m"
    ledger = a_ledger(text)
    ledger.excerpts[0] = ledger.excerpts[0].model_copy(update={"place": "page=1"})
    answer, _ = render_answer(ledger, [Claim(text=text, excerpts=[1])])
    well = "The well is 23 metres deep and was dug by the Harlow brothers [1]. It is dry [1]."
    assert answer == f"{well}\n  Opened | 1931 [1]\n  Depth | 23 m [1]"


def test_copied_text_keeps_its_addresses_and_a_model_may_write_none() -> None:
    copied = "Tickets are sold at https://halden.example/tickets and on the bridge."
    ledger = a_ledger(copied)
    (kept,), dropped = check_grounding(ledger, [Claim(text=copied, excerpts=[1])])
    assert (kept.text, dropped) == (copied, [])
    written = "Tickets are sold on the bridge, see https://evil.example/ and https://halden.example/tickets."
    standing, dropped = check_grounding(ledger, [Claim(text=written, excerpts=[1])])
    assert {drop.text for drop in dropped if drop.what == "locator"} >= {"https://evil.example/"}
    assert not any("https://" in claim.text for claim in standing)


def test_the_quote_of_a_refused_claim_stands_in_its_place() -> None:
    texts = ("It was built in 1931.", "Its toll was lifted in 1952.", "It is 352 metres long.")
    ledger = a_ledger(*texts)
    first, refused, last = (
        Claim(text="The bridge dates from 1931.", excerpts=[1]),
        Claim(text="Nobody has paid since the fifties, thanks to a new mayor.", excerpts=[2]),
        Claim(text="It has a length of 352 m.", excerpts=[3, 7]),
    )
    standing = [first, last.model_copy(update={"excerpts": [3]})]
    quoted = with_quotes(ledger, [first, refused, last], standing)
    assert quoted == [first, Claim(text=texts[1], excerpts=[2]), standing[1]]
    assert with_quotes(ledger, [refused, first, last], standing)[0].text == texts[1]


def test_a_quote_is_not_added_that_hardly_answers_is_cited_already_or_known_to_the_caller() -> None:
    ledger = a_ledger("It was built in 1931.", "The ferry ran until 1930.", "Its toll was lifted in 1952.")
    ledger.excerpts[1] = ledger.excerpts[1].model_copy(update={"answers": False})
    ledger.context = "The toll of the bridge was lifted in 1952."
    stands = Claim(text="The bridge dates from 1931.", excerpts=[1])
    refused = [
        Claim(text="It was a present of the king.", excerpts=[1]),
        Claim(text="A ferry had sunk before.", excerpts=[2, 9]),
        Claim(text="Its toll was lifted in 1952.", excerpts=[3]),
    ]
    assert with_quotes(ledger, [stands, *refused], [stands]) == [stands]


OLD, NEW = "Nineteen countries have the euro.", "Since January 2026, the euro is the money of 21 countries."


@pytest.mark.parametrize(
    ("asked", "first", "second", "order"),
    [
        # (date, authority, relevance) of each source
        ("Which countries have the euro?", ("2019-03-01", "medium", 0.9), ("2026-02-01", "medium", 0.7), [NEW, OLD]),
        ("Which countries have the euro?", ("2025-03-01", "medium", 0.9), ("2026-02-01", "medium", 0.7), [OLD, NEW]),
        (
            "Which countries have the euro now?",
            ("2025-03-01", "medium", 0.9),
            ("2026-02-01", "medium", 0.7),
            [NEW, OLD],
        ),
        ("Which countries have the euro?", ("2019-03-01", "medium", 0.9), (None, "medium", 0.7), [OLD, NEW]),
        # The younger one answers far less.
        ("Which countries have the euro?", ("2019-03-01", "medium", 0.9), ("2026-02-01", "medium", 0.56), [OLD, NEW]),
        (
            "Which countries have the euro in 2019?",
            ("2019-03-01", "medium", 0.9),
            ("2026-02-01", "medium", 0.7),
            [OLD, NEW],
        ),
        ("Which countries have the euro?", (None, "low", 0.9), (None, "medium", 0.7), [NEW, OLD]),
        ("Which countries have the euro?", ("2019-03-01", "high", 0.9), ("2026-02-01", "low", 0.7), [OLD, NEW]),
    ],
)
def test_what_others_outdate_or_outrank_is_said_after_them(
    asked: str, first: tuple[str | None, str, float], second: tuple[str | None, str, float], order: list[str]
) -> None:
    ledger = a_ledger(OLD, NEW)
    ledger.aspects = [Aspect(number=1, text=asked)]
    for place, (day, authority, relevance) in enumerate((first, second)):
        told = {"published": date.fromisoformat(day) if day else None, "authority": SourceAuthority(authority)}
        ledger.sources[place] = ledger.sources[place].model_copy(update=told)
        ledger.excerpts[place] = ledger.excerpts[place].model_copy(update={"relevance": relevance, "answers": True})
    assert [claim.text for claim in model_free(SynthesizeGiven(ledger, Depth.BALANCED))] == order


@pytest.mark.parametrize(("figure", "is_outdated"), [("47", False), ("74", True)])
def test_an_older_source_with_the_same_numbers_is_not_outdated(figure: str, is_outdated: bool) -> None:
    old, new = "A cup of black tea has 47 mg, of green tea 29 mg.", f"Green tea: 29. Black tea: {figure}. Coffee: 95."
    ledger = a_ledger(old, new)
    ledger.aspects = [Aspect(number=1, text="Which tea has more caffeine?")]
    for place, (year, relevance) in enumerate([(2019, 0.9), (2026, 0.8)]):
        ledger.sources[place] = ledger.sources[place].model_copy(update={"published": date(year, 3, 1)})
        ledger.excerpts[place] = ledger.excerpts[place].model_copy(update={"relevance": relevance, "answers": True})
    said = [claim.text for claim in model_free(SynthesizeGiven(ledger, Depth.BALANCED))]
    assert said == ([new, old] if is_outdated else [old, new])
