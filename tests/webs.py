"""Small frozen webs for tests: a folder of pages and a manifest, as `--web DIR` takes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def article(title: str, *sentences: str, published: str | None = None, head: str = "") -> str:
    """An ordinary page; each sentence is a paragraph."""
    dated = f'<meta property="article:published_time" content="{published}">' if published else ""
    body = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{dated}{head}</head>'
        f"<body><nav><a href='/'>Home</a> <a href='/about'>About</a></nav><main><article><h1>{title}</h1>{body}"
        "</article></main><footer>All rights reserved.</footer></body></html>"
    )


def make_web(folder: Path, pages: Mapping[str, str | bytes | dict[str, Any]]) -> Path:
    """Write a web: each URL with its HTML, its bytes, or a manifest entry (with `body` for a body)."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (url, page) in enumerate(pages.items()):
        entry = dict(page) if isinstance(page, dict) else {"body": page}
        body = entry.pop("body", None)
        line = {"url": url, "file": None, "status": 200, "headers": {"content-type": "text/html; charset=utf-8"}}
        if body is not None:
            line["file"] = f"page{number}"
            (folder / f"page{number}").write_bytes(body if isinstance(body, bytes) else body.encode())
        lines.append(json.dumps({**line, "published": None, "delay_s": 0, "redirect": None, **entry}))
    (folder / "manifest.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder
