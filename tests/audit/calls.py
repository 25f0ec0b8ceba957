"""A real call over a frozen web of three pages, with everything that a bundle has: the thing to tamper with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from marchwarden import ResearchResult, load_settings, research_sync
from marchwarden.audit.bundle import Views
from marchwarden.server.markdown import document as markdown
from marchwarden.trace import standalone_verifier as verifier

VIEWS = Views(report=markdown)
QUESTION = "How many chests of tea went into the harbour in the Boston Tea Party?"
HEAD = '<html><head><title>{title}</title><meta property="article:published_time" content="{day}T08:00:00Z"></head>'
BODY = "<body><main><h1>{title}</h1>{text}</main></body></html>"
PAGES = {
    "https://museum.example/tea": (
        "The Boston Tea Party",
        "2025-03-01",
        "<p>In the Boston Tea Party 342 chests of tea went into the harbour of Boston on 16 December 1773.</p>"
        "<p>The chests of tea had come from China, in three ships that were moored at the wharf.</p>",
    ),
    "https://history.example/boston": (
        "Boston in 1773",
        "2024-11-20",
        "<p>The colonists threw 342 chests of tea into the harbour during the Boston Tea Party.</p>"
        "<p>The city was closed to trade in the following spring, until the tea had been paid for.</p>",
    ),
    "https://archive.example/letters": (
        "Letters on tea",
        "2023-05-05",
        "<p>A merchant wrote of the Boston Tea Party that the water of the harbour had turned brown with tea.</p>",
    ),
}


def a_web(folder: Path) -> Path:
    """Write the frozen web, and return its folder."""
    folder.mkdir(parents=True)
    lines = []
    for number, (url, (title, day, text)) in enumerate(PAGES.items()):
        page = HEAD.format(title=title, day=day) + BODY.format(title=title, text=text)
        (folder / f"{number}.html").write_text(page, "utf-8")
        line = {"url": url, "file": f"{number}.html", "status": 200, "headers": {"content-type": "text/html"}}
        lines.append(json.dumps(line))
    (folder / "manifest.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return folder


def make_call(folder: Path, cache_dir: Path, **more: Any) -> ResearchResult:
    """Make the call; its trace is in `folder/traces`. `more` are further settings."""
    settings = load_settings(
        web=a_web(folder / "web"),
        source="snapshot",
        model="extractive",
        trace_dir=folder / "traces",
        cache_dir=cache_dir,
        semantic=False,
        program="none",
        **more,
    )
    return research_sync(QUESTION, settings=settings)


def lines_of(trace: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in trace.splitlines()]


def written(lines: list[dict[str, Any]]) -> bytes:
    """Return lines as a trace whose chain and seal are left as they are."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in lines)


def sealed_again(lines: list[dict[str, Any]]) -> bytes:
    """Return lines as a trace that is chained and sealed anew, as a careful forger would."""
    out = b""
    for number, line in enumerate(lines, start=1):
        plain = {**line, "step": number}
        last = {name: plain.pop(name) for name in ("objects", "seal") if name in plain}
        plain["before"] = verifier.digest(out)
        body = json.dumps(plain, ensure_ascii=False).encode()[:-1]
        if "seal" in last:
            body += f', "objects": {json.dumps(last["objects"])}'.encode()
            body += verifier.SEAL + f'"{verifier.digest(out + body)}"'.encode()
        out += body + b"}\n"
    return out
