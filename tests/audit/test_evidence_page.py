"""The evidence page: every marker leads to its quote in the stored text, and the page needs nothing but itself."""

from __future__ import annotations

import base64
import hashlib
import itertools
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from marchwarden.audit.bundle import Views, files_of, packed
from marchwarden.audit.evidence_page import evidence_page
from marchwarden.audit.verdict import evidence_of_trace, verdict
from marchwarden.contract import ResearchResult
from marchwarden.errors import TraceError
from marchwarden.trace.events import Extracted, Finished, PickRecord
from marchwarden.trace.reader import find_trace, read_trace
from marchwarden.trace.standalone_verifier import Evidence, open_bundle
from tests.audit.calls import QUESTION, VIEWS, make_call
from tests.cli.conftest import record
from tests.seen import Seen
from tests.trace.samples import TEXT, a_citation, a_result, a_whole_call

PAGE_VIEWS = Views(report=VIEWS.report, evidence_page=evidence_page)


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("shown")
    make_call(folder, cache_dir)
    return find_trace(folder / "traces")


@pytest.fixture(scope="module")
def evidence(trace: Path) -> Evidence:
    return evidence_of_trace(trace)


@pytest.fixture(scope="module")
def page(evidence: Evidence) -> str:
    return evidence_page(evidence).decode()


@pytest.fixture(scope="module")
def result(trace: Path) -> ResearchResult:
    found = read_trace(trace).result
    assert found is not None
    return found


def marked_in(page: str) -> dict[int, str]:
    """The marked words by the number of their quote, without what is there for the reader."""
    found = re.findall(r'<mark id="quote-(\d+)"[^>]*>(.*?)</mark>', page, re.DOTALL)
    return {int(number): re.sub(r"<(a|span)\b[^>]*>.*?</\1>", "", words) for number, words in found}


def test_everything_of_a_result_is_on_the_page(page: str, result: ResearchResult) -> None:
    text = Seen(page).text
    for part in (
        QUESTION,
        f"{result.confidence:.2f}",
        *(gap.detail for gap in result.gaps),
        *(event.reason for event in result.discovery_events),
        *(each.question for each in result.open_questions),
        *(each.title or "" for each in result.citations),
        *(each.content_hash or "" for each in result.citations),
        *(str(each.published) for each in result.citations),
        result.cost_metadata.model_id,
        "source authority",
        "museum.example",
        "Verified: everything that could be checked holds.",
        'asked "How many chests of tea',
        "These pages come from a frozen web",
    ):
        assert part in text


def test_each_marker_leads_to_its_quote_in_the_stored_text_and_back(page: str, result: ResearchResult) -> None:
    seen = Seen(page)
    ids = {attributes["id"]: tag for tag, attributes in seen.tags if "id" in attributes}
    links = [each["href"] for each in seen.all("a")]
    for number, citation in enumerate(result.citations, start=1):
        assert f"#quote-{number}" in links
        assert ids[f"quote-{number}"] == "mark"
        assert marked_in(page)[number] == citation.raw_excerpt
        assert links.count(f"#marker-{number}") == 2


def test_a_quote_has_links_to_its_place_on_the_live_page_and_to_an_archive(page: str, result: ResearchResult) -> None:
    links = [each["href"] for each in Seen(page).all("a")]
    for citation in result.citations:
        live = next(each for each in links if each.startswith(f"{citation.locator}#:~:text="))
        ends = [unquote(part) for part in live.partition("#:~:text=")[2].split(",")]
        assert citation.raw_excerpt.startswith(ends[0])
        assert citation.raw_excerpt.endswith(ends[-1])
        assert any(
            re.fullmatch(rf"https://web\.archive\.org/web/\d{{14}}/{re.escape(citation.locator)}", x) for x in links
        )


def test_the_page_may_run_and_load_nothing(page: str) -> None:
    seen = Seen(page)
    policy = next(each["content"] for each in seen.all("meta") if "http-equiv" in each)
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "@import" not in page
    assert "url(" not in page
    names = {name for _, attributes in seen.tags for name in attributes}
    assert names & {"src", "srcset", "data", "style", "action", "background", "poster"} == set()
    assert {tag for tag, _ in seen.tags} & {"script", "img", "iframe", "object", "embed", "link", "base"} == set()
    assert "no-referrer" in [each["content"] for each in seen.all("meta") if each.get("name") == "referrer"]


def test_a_reader_finds_landmarks_headings_and_names(page: str) -> None:
    seen = Seen(page)
    tags = [tag for tag, _ in seen.tags]
    assert [tags.count(each) for each in ("main", "header", "nav", "footer", "h1")] == [1] * 5
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    ids = {attributes["id"] for _, attributes in seen.tags if "id" in attributes}
    for _, attributes in seen.tags:
        assert set(attributes.get("aria-labelledby", "").split()) <= ids
    assert seen.all("html")[0]["lang"] == "en"
    assert all(each["tabindex"] == "0" for each in seen.all("div") if each.get("role") == "region")
    assert all(each["aria-label"] for each in seen.all("a") if each.get("class") == "marker")


def test_a_bundle_has_the_same_page_byte_for_byte(evidence: Evidence, page: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.zip"
    path.write_bytes(packed(files_of(evidence, PAGE_VIEWS)))
    assert evidence_page(open_bundle(path)) == page.encode()
    assert verdict(path, PAGE_VIEWS).state == "verified"
    forged = files_of(evidence, PAGE_VIEWS)
    forged["evidence.html"] = forged["evidence.html"].replace(b"342", b"999")
    sums = [
        f"{hashlib.sha256(forged[each]).hexdigest()}  {each}\n" for each in sorted(forged.keys() - {"SHA256SUMS"})
    ]
    path.write_bytes(packed(forged | {"SHA256SUMS": "".join(sums).encode()}))
    assert verdict(path, PAGE_VIEWS).state == "damaged"


def test_a_later_check_is_shown_beside_its_quote_and_not_in_a_bundle(evidence: Evidence, page: str) -> None:
    gone = {"number": 1, "state": "changed", "detail": "<b>", "new_sentence": "It fell in 1932."}
    checked = evidence_page(
        evidence, {"checked": "2026-11-29T01:02:03Z", "citations": [gone, "junk", {"number": "x"}]}
    )
    assert "Looked at again on 2026-11-29: changed (&lt;b&gt;). Now: “It fell in 1932.”" in checked.decode()
    assert "Looked at again" not in page


def test_a_text_that_is_missing_or_damaged_is_not_shown_as_the_text_that_was_read(evidence: Evidence) -> None:
    for get in (lambda name: None, lambda name: b"In the Boston Tea Party 999 chests of tea"):
        seen = Seen(evidence_page(replace(evidence, get=get)).decode())
        assert seen.all("mark") == []
        assert "missing or damaged" in seen.text
        assert "999 chests" not in seen.text  # a hash may hold the digits
        assert {"damaged", "missing"} & {each.get("class", "").removeprefix("verdict ") for each in seen.all("p")}


def test_a_trace_that_was_changed_says_so_at_its_top(evidence: Evidence) -> None:
    seen = Seen(evidence_page(replace(evidence, trace=evidence.trace.replace(b"342", b"999"))).decode())
    assert "verdict damaged" in [each.get("class") for each in seen.all("p")]


def test_a_trace_that_cannot_be_shown_is_an_error_of_ours(evidence: Evidence) -> None:
    lines = evidence.trace.splitlines(keepends=True)
    with pytest.raises(TraceError, match="no result"):
        evidence_page(replace(evidence, trace=b"".join(lines[:-1])))
    for damaged in (b"", b"{}", evidence.trace.replace(b'"citations"', b'"citation5"')):
        with pytest.raises(TraceError):
            evidence_page(replace(evidence, trace=damaged))


def test_quotes_that_overlap_are_each_marked(tmp_path: Path) -> None:
    excerpts = [TEXT[:27], TEXT[9:40], TEXT[9:20]]
    picks = [
        PickRecord(
            start=TEXT.index(each), end=TEXT.index(each) + len(each), excerpt=each, aspect="x", stance="supports"
        )
        for each in excerpts
    ]
    result = a_result(answer="Yes [1][2][3].", citations=[a_citation(raw_excerpt=each) for each in excerpts])
    events = [
        each.model_copy(update={"picks": picks})
        if isinstance(each, Extracted)
        else each.model_copy(update={"result": result})
        if isinstance(each, Finished)
        else each
        for each in a_whole_call()
    ]
    trace_id = record(tmp_path, result.trace_id, events)
    page = evidence_page(evidence_of_trace(tmp_path / f"{trace_id}.jsonl")).decode()
    ids = [attributes.get("id") for _, attributes in Seen(page).tags]
    assert [ids.count(f"quote-{number}") for number in (1, 2, 3)] == [1, 1, 1]
    text = page.partition('class="text"')[2].partition(">")[2].partition("</div>")[0]
    shown = re.sub(r"<(a|span)\b[^>]*>.*?</\1>|</?mark[^>]*>", "", text)
    assert shown == TEXT
