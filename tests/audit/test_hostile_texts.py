"""Text of pages, models and services stays text wherever it is shown: terminal, Markdown, HTML, JSON."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from rich.console import Console

from marchwarden.audit.evidence_page import evidence_page
from marchwarden.audit.verdict import Verdict, evidence_of_trace
from marchwarden.cli.views import console
from marchwarden.cli.views.result_file import write_report
from marchwarden.cli.views.result_view import result_view
from marchwarden.cli.views.trace_view import timeline_view, trace_list_view, verdict_view
from marchwarden.contract import ResearchResult
from marchwarden.observations import UNSAFE
from marchwarden.server.markdown import as_markdown
from marchwarden.server.markdown import document as markdown
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.reader import list_traces, read_trace
from marchwarden.trace.timeline import timeline
from tests.hostile import HOSTILE, SENTENCE, a_hostile_result, a_hostile_trace
from tests.seen import Seen

hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)

# Escape sequences that rich writes for its own styles, and for links; a link's address has only what any address has.
_STYLES = re.compile("\x1b\\[[0-9;]*m|\x1b]8;(?:id=[0-9]+)?;(?:https?://[!-~]*)?\x1b\\\\")


@hostile
@pytest.mark.parametrize("width", [60, 120])
def test_a_terminal_gets_no_command_of_a_page(text: str, width: int, tmp_path: Path) -> None:
    path = a_hostile_trace(tmp_path, text)
    trace = read_trace(path)
    out = Console(file=io.StringIO(), width=width, markup=False, emoji=False, highlight=False, force_terminal=True)
    verdict = Verdict.of(verifier.check(evidence_of_trace(path)))
    for view in (
        result_view(a_hostile_result(text)),
        timeline_view(trace, timeline(trace)),
        trace_list_view(list_traces(tmp_path), width),
        verdict_view(verdict),
    ):
        console.show(view, out)
    assert isinstance(out.file, io.StringIO)
    shown = _STYLES.sub("", out.file.getvalue())
    assert UNSAFE.search(shown) is None
    assert re.search(r"bank[．｡]example", shown) is None


def without_links(text: str) -> str:
    return re.sub(r"<https?://[^<>\s]*>", "", text, flags=re.IGNORECASE)


def addresses_in(text: str) -> list[str]:
    """The addresses that a Markdown document links to; an image, HTML or a bare address is a failure."""
    tokens = MarkdownIt("commonmark").enable("table").enable("strikethrough").parse(text)
    inner = [token for each in tokens for token in [each, *(each.children or [])]]
    kinds = {token.type for token in inner}
    assert kinds & {"image", "html_block", "html_inline", "fence", "table_open", "s_open", "code_block"} == set()
    # Readers make links of bare addresses, too: no scheme, `www.` or mail address is left in plain text. Within `<…>`
    # stands a link of ours, and behind `trace:` the id of the trace.
    plain = without_links(text).replace("trace://", "")
    assert re.search(r"[a-z]:[\w/]|www\.|\w@\w", plain, re.IGNORECASE) is None
    return [str(token.attrs["href"]) for token in inner if token.type == "link_open"]


@hostile
def test_markdown_has_no_markup_image_or_link_of_a_page(text: str) -> None:
    result = a_hostile_result(text)
    for shown in (as_markdown(result), markdown(result, text)):
        assert UNSAFE.search(shown) is None
        hosts = {re.sub(r"^https?://([^/?#]*).*", r"\1", each, flags=re.DOTALL) for each in addresses_in(shown)}
        # A locator's own address may be linked to, and no other.
        assert {"x.example"} <= hosts
        assert not {host for host in hosts if "evil" in host and host not in f"https://{text}"}
        assert not {host for host in hosts if "@" in host or "\\" in host}
        headings = re.findall(r"^#+ (.*)$", shown, re.MULTILINE)
        assert len(headings) == 4 + (shown != as_markdown(result))


@hostile
def test_a_marker_of_the_answer_is_kept_in_markdown(text: str) -> None:
    shown = without_links(as_markdown(a_hostile_result(text)))
    assert "[2]" in shown
    assert re.search(r"\[\d\][:(]", shown) is None


def check_page(page: str) -> Seen:
    """A page is one document that loads and runs nothing, whatever is in it."""
    seen = Seen(page)
    tags = {tag for tag, _ in seen.tags}
    assert tags <= {
        *("html", "head", "meta", "title", "style", "body", "header", "nav", "main", "section", "article", "footer"),
        *("h1", "h2", "h3", "h4", "p", "a", "b", "ul", "ol", "li", "dl", "div", "dt", "dd", "blockquote", "mark"),
        *("span", "bdi", "code", "details", "summary", "meter"),
    }
    names = {name for _, attributes in seen.tags for name in attributes}
    assert names <= {
        *(
            "lang",
            "charset",
            "http-equiv",
            "content",
            "name",
            "class",
            "href",
            "id",
            "dir",
            "rel",
            "tabindex",
            "role",
        ),
        *("aria-label", "aria-labelledby", "aria-hidden", "min", "max", "value"),
    }
    assert sum(tag == "style" for tag, _ in seen.tags) == 1
    policies = [each["content"] for each in seen.all("meta") if each.get("http-equiv")]
    assert len(policies) == 1
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'; form-action 'none'", policies[0]
    )
    places = {attributes["id"] for _, attributes in seen.tags if "id" in attributes}
    assert len(places) == sum("id" in attributes for _, attributes in seen.tags)
    for each in seen.all("a"):
        if each["href"].startswith("#"):
            assert each["href"][1:] in places
        else:
            assert re.match(r"https?://[^\s@\\<>\"/?#]+([/?#][^\s\\<>\"]*)?$", each["href"], re.IGNORECASE)
            assert each["rel"] == "noopener noreferrer nofollow"
    return seen


@hostile
def test_the_evidence_page_has_no_markup_of_a_page(text: str, tmp_path: Path) -> None:
    page = evidence_page(evidence_of_trace(a_hostile_trace(tmp_path, text))).decode()
    assert UNSAFE.search(page) is None
    seen = check_page(page)
    assert len(seen.all("mark")) >= 3
    assert SENTENCE in seen.text


@hostile
def test_json_reads_back_as_the_same_and_shows_nothing_unsafe(
    text: str, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    result = a_hostile_result(text)
    write_report(result, text, tmp_path / "answer.json")
    console.json(result.model_dump(mode="json"))
    trace = a_hostile_trace(tmp_path, text).read_bytes()
    printed, written = capsysbinary.readouterr().out, (tmp_path / "answer.json").read_bytes()
    for body in (printed, written, trace):
        assert UNSAFE.search(body.decode()) is None
    told: dict[str, Any] = json.loads(trace.splitlines()[-1])["result"]
    for again in (json.loads(printed), json.loads(written), told):
        assert ResearchResult.model_validate(again) == result
        assert again["citations"][0]["raw_excerpt"] == f"{SENTENCE}{text}"[:500]
