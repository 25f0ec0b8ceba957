"""A frozen web of a few lines, written for one test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from marchwarden.frozen_web.pages import FrozenWeb

HTML = {"content-type": "text/html; charset=utf-8"}


def article(title: str, *paragraphs: str, head: str = "", language: str = "en") -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f'<!doctype html><html lang="{language}"><head><title>{title}</title>{head}</head>'
        f"<body><main><article><h1>{title}</h1>{body}</article></main></body></html>"
    )


CROPS = article(
    "Crops for Utah",
    "Tomatoes and garlic are the ideal crops for a garden in Utah. Both stand the dry air well.",
    "Gardeners on the Wasatch Front plant garlic in October and harvest it in July of the next year.",
)
LAKE = article(
    "The lake in 2022",
    "The Great Salt Lake fell to its lowest recorded level in November 2022, after two decades of drought.",
    "Farms take most of the water that its tributaries carry, and alfalfa takes the largest share of it.",
)


def write_web(folder: Path, *lines: dict[str, Any]) -> FrozenWeb:
    """Each line's `page` is its body; status and headers are those of an ordinary page unless it has its own."""
    folder.mkdir(exist_ok=True)
    written = []
    for number, line in enumerate(lines):
        body = line.pop("page", None)
        if body is not None:
            line["file"] = f"{number}.html"
            (folder / line["file"]).write_bytes(body if isinstance(body, bytes) else body.encode())
        written.append(json.dumps({"status": 200, "headers": HTML, **line}))
    (folder / "manifest.jsonl").write_text("\n".join(written), encoding="utf-8")
    return FrozenWeb.load(folder)
