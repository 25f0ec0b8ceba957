"""Researchers that speak the member protocol in this process, honest ones and others, and pages that they quote."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import anyio
import anyio.lowlevel

from marchwarden.contract import (
    Citation,
    ConfidenceFactors,
    Constraints,
    CostMetadata,
    DiscoveryEvent,
    Gap,
    OpenQuestion,
    ResearchRequest,
    ResearchResult,
    SourceAuthority,
)
from marchwarden.observations import Page
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.members import Call, Reply, Tell
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.reading.page import read_page
from marchwarden.settings import Settings, load_settings
from marchwarden.store.content_store import Store
from marchwarden.trace.events import Event, Extracted, Fetched, PickRecord
from marchwarden.trace.reader import Trace, read_trace
from marchwarden.trace.verify import verify
from marchwarden.trace.writer import TraceWriter
from tests.webs import article

QUESTION = "When was the Halden Bridge built, and who paid for it?"
SUB_QUESTION = "When was the Halden Bridge built"
TRACE_ID = "11111111-2222-4333-8444-555555555555"

# What a fake can do when it is asked.
HONEST, NOTHING, GREEDY, DIES, ABSENT, REFUSES, HANGS, INVALID, INVENTS, MISQUOTES, NO_TRACE, RAISES = (
    "honest", "nothing", "greedy", "dies", "absent", "refuses", "hangs", "invalid", "invents", "misquotes",
    "no_trace", "raises",
)  # fmt: skip
MODES = (HONEST, NOTHING, GREEDY, DIES, ABSENT, REFUSES, HANGS, INVALID, INVENTS, MISQUOTES, NO_TRACE, RAISES)


@dataclass(frozen=True)
class Script:
    """What a fake says when it is asked."""

    mode: str = HONEST
    pages: Mapping[str, str] = field(default_factory=dict)
    """HTML by address; the first paragraph of each is quoted."""
    gaps: Sequence[Gap] = ()
    discoveries: Sequence[DiscoveryEvent] = ()
    questions: Sequence[OpenQuestion] = ()
    tokens: int = 100


class FakeMember:
    """A researcher; `say` returns what it says to a question."""

    def __init__(self, name: str, folder: Path, say: Callable[[Call, int], Script]) -> None:
        self.name, self.folder, self.say = name, folder, say
        self.asked: list[Call] = []
        self.spent = 0
        """Tokens that it said it used, within what it was given."""

    async def run(self) -> None:
        await anyio.sleep_forever()

    async def ask(self, call: Call, tell: Tell) -> Reply:
        script = self.say(call, len(self.asked))
        self.asked.append(call)
        tell("thinking")
        await anyio.lowlevel.checkpoint()
        match script.mode:
            case "dies":
                return Reply(reason="its process died during the call")
            case "absent":
                return Reply(reason="it could not be reached", sent=False)
            case "refuses":
                return Reply(reason="it refused: there is no key.", sent=False, final=True)
            case "hangs":
                await anyio.sleep_forever()
            case "invalid":
                return Reply(reason="its result does not follow the contract (3 errors)")
            case "raises":
                raise OSError("a fault of the client")
        return Reply(result=self._result(call, script), seconds=0.01)

    async def read(self, uri: str) -> bytes | None:
        return None

    def _result(self, call: Call, script: Script) -> ResearchResult:
        trace_id = call.call_id
        # The content of a trace decides whether an excerpt counts.
        pages = {
            url: read_page(html.encode(), url=url, content_type="text/html") for url, html in script.pages.items()
        }
        read = {url: page for url, page in pages.items() if isinstance(page, Page)}
        store = Store(self.folder / "store")
        citations = []
        # A server puts the trace of a call that it begins again aside.
        (self.folder / f"{trace_id}.jsonl").unlink(missing_ok=True)
        with TraceWriter(self.folder, trace_id) as writer:
            for url, page in read.items():
                store.put(script.pages[url].encode())
                store.put(page.text.encode())
                quote = page.passages[0]
                if script.mode != NO_TRACE:
                    writer.record(fetched(url, page, len(script.pages[url].encode())))
                    writer.record(extracted(url, page))
                text = {INVENTS: "The moon is made of green cheese.", MISQUOTES: quote.text.upper()}
                citations.append(
                    Citation(
                        source="web",
                        locator=url,
                        title=page.title,
                        raw_excerpt=text.get(script.mode, quote.text),
                        confidence=0.9,
                        content_hash=page.content_hash,
                    )
                )
        used = 10**9 if script.mode == GREEDY else script.tokens
        self.spent += min(used, call.tokens)
        return a_result(citations, script, used, trace_id)


def fetched(url: str, page: Page, length: int) -> Fetched:
    return Fetched(
        url=url,
        final_url=url,
        status=200,
        content_type="text/html",
        content_hash=page.content_hash,
        content_length=length,
        text_hash=page.text_hash,
        title=page.title,
        published=page.published,
        modified=page.modified,
        duration_sec=0.0,
        decision="it may answer",
    )


def extracted(url: str, page: Page) -> Extracted:
    quote = page.passages[0]
    pick = PickRecord(
        start=quote.start, end=quote.end, excerpt=quote.text, aspect=SUB_QUESTION, stance="supports", relevance=0.123
    )
    return Extracted(url=url, passages=1, picks=[pick], stage_form="model_free", decision="it answers")


def a_result(citations: list[Citation], script: Script, tokens: int, trace_id: str) -> ResearchResult:
    marks = " ".join(f"[{number}]" for number in range(1, len(citations) + 1))
    return ResearchResult(
        answer=f"Prose of a researcher that nobody reads {marks}." if citations else "Nothing was found.",
        citations=citations,
        gaps=list(script.gaps),
        discovery_events=list(script.discoveries),
        open_questions=list(script.questions),
        confidence=0.9,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority=SourceAuthority.MEDIUM,
            contradiction_detected=False,
            query_specificity_match=0.5,
            budget_exhausted=False,
        ),
        cost_metadata=CostMetadata(
            tokens_used=tokens, iterations_run=1, wall_time_sec=0.1, budget_exhausted=False, model_id="fake"
        ),
        trace_id=trace_id,
    )


def page(url: str, *sentences: str) -> dict[str, str]:
    return {url: article("Halden Bridge", *sentences)}


BUILT = page("https://bridges.halden.gov/built", "The Halden Bridge was built in 1931 over the river Tista.")
PAID = page("https://ledger.halden-archive.org/paid", "The Halden Bridge was paid for by the Halden salt company.")


def member(
    name: str, folder: Path, say: Script | Callable[[Call, int], Script], **more: Any
) -> tuple[FakeMember, TeamMember]:
    fake = FakeMember(name, folder, say if callable(say) else lambda call, number: say)
    return fake, TeamMember(name=name, open=lambda: fake, identity=f"fake {name}", **more)


def settings_of(folder: Path, **more: Any) -> Settings:
    return load_settings(
        trace_dir=folder, model="extractive", program="none", semantic=False, source="snapshot", **more
    )


async def investigate(
    members: Sequence[TeamMember],
    folder: Path,
    *,
    question: str = QUESTION,
    budget: int = 60_000,
    seconds: float = 60.0,
    trace_id: str = TRACE_ID,
    **more: Any,
) -> tuple[ResearchResult, Trace]:
    """Investigate with fakes, and return the result with its trace, after a check of both."""
    constraints = Constraints(token_budget=budget)
    request = ResearchRequest(question=question, constraints=constraints)
    result = await run_investigation(
        request, Team(tuple(members)), settings_of(folder), trace_id=trace_id, seconds=seconds, **more
    )
    trace = read_trace(folder / f"{trace_id}.jsonl")
    assert verify(result, trace, Store(folder / "store")) == []
    return result, trace


def events_of(trace: Trace, kind: type[Event]) -> list[Any]:
    return [event for _, _, event in trace.events if isinstance(event, kind)]


def an_id(number: int) -> str:
    return str(uuid5(NAMESPACE_URL, str(number)))
