"""What users of research tools have asked for in public and not got; numbered as in the project's list."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.contract import ascii_host
from marchwarden.settings import load_settings
from tests.runs import run
from tests.webs import article, make_web

pytestmark = pytest.mark.anyio

QUESTION = "When was the Halden Bridge built?"
GOOD = article("Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista.", published="2026-03-01")


async def test_1_no_usable_page_gives_no_citation_a_gap_and_low_confidence() -> None:
    done = await run(
        QUESTION, pages={"https://cats.example-pets.org/": article("Cats", "Cats sleep most of the day.")}
    )
    assert done.result.citations == []
    assert done.categories() == ["source_not_found"]
    assert done.result.confidence < 0.5
    assert "[" not in done.result.answer


async def test_2_every_locator_was_fetched_in_this_call() -> None:
    done = await run("What is the capital of France and how many people live there?")
    fetched = {event.final_url for event in done.events("fetch_url") if event.failure is None}
    assert done.locators()
    assert done.locators() <= fetched
    assert done.problems == []


async def test_3_typography_never_breaks_a_match_and_excerpts_keep_the_pages_characters() -> None:
    odd = "The Hal\u00adden Bridge’s “of\ufb01cial” length\u00a0is 410\u202fmetres,\n   built in\u00a01931 by the county."
    done = await run("What is the official length of the Halden Bridge?", pages={
        "https://bridges.halden-county.gov/": article("Facts", f"<b>{odd[:20]}</b>{odd[20:]}"),
    })  # fmt: skip
    (citation,) = done.result.citations
    assert "“of\ufb01cial”" in citation.raw_excerpt
    assert "’s" in citation.raw_excerpt
    assert done.problems == []


async def test_5_the_same_query_is_never_sent_twice_and_nothing_new_ends_the_loop() -> None:
    done = await run("Who paid for the Sundal Dam?", pages={"https://bridges.halden-county.gov/": GOOD}, depth="deep",
                     constraints={"max_iterations": 20})  # fmt: skip
    queries = [event.query.casefold() for event in done.events("search")]
    assert len(queries) == len(set(queries))
    assert done.events("stop")[0].reason == "no_new_leads"
    assert done.result.cost_metadata.iterations_run < 5
    assert done.categories() == ["source_not_found"]


async def test_5_a_query_is_at_most_400_characters() -> None:
    done = await run("When was it built, " + "the long bridge of Halden " * 18, pages={"https://a.halden.org/": GOOD})
    assert max(len(event.query) for event in done.events("search")) <= 400


async def test_7_walls_and_not_found_pages_with_status_200_are_never_evidence() -> None:
    words = "When was the Halden Bridge built? The Halden Bridge was built in 1931."
    pages = {
        "https://a.halden-news.com/bridge": {
            "body": "<html><head><title>Just a moment...</title></head><body><h1>Checking your browser before you access "
            f"halden-news.com</h1><p>Enable JavaScript and cookies to continue.</p><p>{words}</p></body></html>",
            "title": "Halden Bridge built", "snippet": words,
        },
        "https://b.halden-times.com/bridge": {
            "body": "<html><head><title>Page not found | Halden Times</title></head><body><main><h1>404 – Page not found</h1>"
            "<p>The page about when the Halden Bridge was built does not exist.</p></main></body></html>",
            "title": "Halden Bridge built", "snippet": words,
        },
    }  # fmt: skip
    done = await run(QUESTION, pages=pages)
    assert done.result.citations == []
    assert {event.failure.kind for event in done.events("fetch_url")} == {"bot_wall", "not_found"}


async def test_7_an_article_about_paywalls_is_an_ordinary_page() -> None:
    done = await run("How do paywalls work?")
    assert any("webcraft-quarterly.org" in locator for locator in done.locators())


async def test_8_a_pdf_is_known_by_its_first_bytes() -> None:
    done = await run(
        "What did the Lighthill debate of 1973 discuss?",
        constraints={"source_filter": "annals-of-machine-thought.org"},
    )
    assert any(event.content_type.startswith("text/html") and not event.failure for event in done.events("fetch_url")
               if "lighthill" in event.url)  # fmt: skip
    assert any("lighthill-debate" in locator for locator in done.locators())


async def test_12_copies_and_pages_of_one_organisation_count_once() -> None:
    more = ["The bridge carries the road from Halden to the south.", "It was repaired after the flood of 1967.",
            "A toll was taken on the bridge until the year 1950.", "Cyclists may use the western side of the bridge."]  # fmt: skip
    text = article("Halden Bridge", "The Halden Bridge was built in 1931 over the river Tista.", *more)
    done = await run(QUESTION, pages={
        "https://bridges.halden-county.gov/halden": text,
        "https://www.halden-tribune.com/from-the-county": text.replace("<h1>", "<p>From the county:</p><h1>"),
        "https://roads.halden-county.gov/crossings": article(
            "Crossings of Halden", "Among the crossings, the Halden Bridge was built in 1931 and is the oldest."
        ),
    })  # fmt: skip
    assert len({event.url for event in done.events("fetch_url")}) == 3
    assert done.result.confidence_factors.num_corroborating_sources == 1


async def test_12_the_answer_does_not_rest_on_a_retracted_page_when_a_current_one_was_read() -> None:
    done = await run("Does high-dose vitamin D prevent fractures?")
    retracted = [event.url for event in done.events("fetch_url") if "2014/high-dose" in event.url]
    assert retracted
    assert not done.locators() & set(retracted)


async def test_13_one_page_under_many_addresses_is_fetched_and_cited_once() -> None:
    pages = {
        "https://encyclopedia-meridian.org/wiki/Bridge_(Halden)": GOOD,
        "https://hälden-brücke.de/größe": article("Größe", "The Halden Bridge was built in 1931, says the museum of Hälden."),
    }  # fmt: skip
    web = make_web(Path.cwd() / "odd", pages)
    lines = (web / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
    aliases = [lines[0].replace("(Halden)", f"(Halden){more}") for more in ("?utm_source=x", "#history", "?fbclid=1")]
    (web / "manifest.jsonl").write_text("\n".join([*lines, *aliases]) + "\n", encoding="utf-8")
    done = await run(QUESTION, settings=load_settings(model="extractive", source="snapshot", web=web))
    fetched = [event.url for event in done.events("fetch_url")]
    assert sorted(fetched) == [
        "https://encyclopedia-meridian.org/wiki/Bridge_(Halden)",
        f"https://{ascii_host('hälden-brücke.de')}/gr%C3%B6%C3%9Fe",
    ]
    assert done.locators() == set(fetched)
