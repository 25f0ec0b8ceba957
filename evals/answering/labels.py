"""The questions of questions.jsonl with their pages: written out for `marchwarden eval`, or as rows to fit to.

    python evals/answering/labels.py data/extract-wcxb/dev OUT [--part held]

writes a frozen web of the pages, OUT/web, and OUT/questions.jsonl, so that

    marchwarden eval --questions OUT/questions.jsonl --web OUT/web --no-program

scores a run on them. The pages are those of the development part of WCXB (CC BY 4.0), which are not part of this
project. A label holds places in the annotators' main text of a page in place of its words.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Labelled:
    page: str
    """Number of the page in WCXB."""
    url: str
    part: str
    """`fit`: the encoder is trained on it; `weights`: the weights beside it are; `held`: neither."""
    record: dict[str, Any]
    """The question as `marchwarden eval` reads it."""


def labelled(pages: Path, part: str | None = None) -> Iterator[Labelled]:
    """Yield the questions of a part, or all, with their quotes."""
    for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        own = json.loads(line)
        if part in (None, own["part"]):
            yield _question(own, _truth(pages, own["page"]))


def _truth(pages: Path, page: str) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((pages / "ground-truth" / f"{page}.json").read_text(encoding="utf-8"))
    return truth


def _question(own: dict[str, Any], truth: dict[str, Any]) -> Labelled:
    url, text = truth["url"], truth["ground_truth"]["main_content"]
    nuggets = [
        {
            "id": f"{own['id']}-n{number}",
            "text": fact["fact"],
            "answers": fact["answers"],
            "evidence": [{"url": url, "quote": text[start:end]} for start, end in fact["at"]],
            "vital": True,
        }
        for number, fact in enumerate(own["facts"], start=1)
    ]
    open_ = {"topic": own["question"], "category": "source_not_found", "url": None, "required": True}
    record = {
        "id": own["id"],
        "question": own["question"],
        "context": None,
        "depth": "balanced",
        "constraints": {},
        "split": "test" if own["part"] == "held" else "train",
        "topic": truth["_internal"]["page_type"]["primary"],
        "tags": own["tags"],
        "nuggets": nuggets,
        "gaps": [] if nuggets else [open_],
        "contradictions": [],
        "discoveries": [],
        "forbidden": [],
        "note": None,
    }
    return Labelled(own["page"], url, own["part"], record)


def write_web(pages: Path, out: Path) -> None:
    """Write all pages as a frozen web."""
    (out / "pages").mkdir(parents=True, exist_ok=True)
    lines: dict[str, str] = {}
    for truth in sorted((pages / "ground-truth").glob("*.json")):
        url, html = json.loads(truth.read_text(encoding="utf-8"))["url"], pages / "html" / f"{truth.stem}.html.gz"
        if not url or url in lines or not html.exists():
            continue
        (out / "pages" / f"{truth.stem}.html").write_bytes(gzip.decompress(html.read_bytes()))
        page = {"url": url, "file": f"pages/{truth.stem}.html", "status": 200, "published": None, "delay_s": 0}
        page |= {"headers": {"content-type": "text/html"}, "redirect": None, "topic": "web"}
        lines[url] = json.dumps(page, ensure_ascii=False)
    (out / "manifest.jsonl").write_text("\n".join(lines.values()) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", type=Path, help="development part of WCXB")
    parser.add_argument("out", type=Path)
    parser.add_argument("--part", choices=["fit", "weights", "held"])
    given = parser.parse_args()
    write_web(given.pages, given.out / "web")
    records = [json.dumps(each.record, ensure_ascii=False) for each in labelled(given.pages, given.part)]
    (given.out / "questions.jsonl").write_text("\n".join(records) + "\n", encoding="utf-8")
    print(f"{len(records)} questions")


if __name__ == "__main__":
    main()
