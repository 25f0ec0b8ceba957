"""The questions of questions.jsonl with their pages: written out for `marchwarden eval`, or as rows to fit to.

    python evals/answering/labels.py OUT --wcxb data/extract-wcxb/dev --aeb FOLDER --trafilatura FOLDER
        --readability FOLDER [--part held]

writes for each set of pages a frozen web, OUT/SET/web, and OUT/SET/questions.jsonl, so that

    marchwarden eval --questions OUT/wcxb/questions.jsonl --web OUT/wcxb/web --no-program

scores a run on them. The pages are not part of this project:

    wcxb         the development part of WCXB (CC BY 4.0)
    aeb          scrapinghub/article-extraction-benchmark (MIT): ground-truth.json and html/
    trafilatura  adbar/trafilatura e90b0ef: tests/evaldata.json, tests/eval and tests/cache
    readability  mozilla/readability ab4027a: test/test-pages

A label holds places in the main text of a page in place of its words: the annotators' text, or in the last two sets,
which have none, what trafilatura 2.3.1 extracts.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SETS = ("wcxb", "aeb", "trafilatura", "readability")


@dataclass(frozen=True)
class SetPage:
    url: str
    kind: str
    html: Callable[[], bytes]
    main_text: Callable[[], str]


@dataclass(frozen=True)
class Labelled:
    part: str
    """`fit`: the encoder is trained on it; `weights`: the weights beside it are; `held`: neither."""
    record: dict[str, Any]
    """The question as `marchwarden eval` reads it."""


def pages_of(name: str, folder: Path) -> dict[str, SetPage]:
    """Return the pages of a set by their names in questions.jsonl."""
    readers: dict[str, Callable[[Path], Iterator[tuple[str, SetPage]]]]
    readers = {"wcxb": _of_wcxb, "aeb": _of_aeb, "trafilatura": _of_trafilatura, "readability": _of_readability}
    return dict(readers[name](folder))


def _of_wcxb(folder: Path) -> Iterator[tuple[str, SetPage]]:
    for path in sorted((folder / "ground-truth").glob("*.json")):
        truth = json.loads(path.read_text(encoding="utf-8"))
        html = folder / "html" / f"{path.stem}.html.gz"
        if truth["url"] and html.exists():
            text, kind = truth["ground_truth"].get("main_content") or "", truth["_internal"]["page_type"]["primary"]
            yield path.stem, SetPage(truth["url"], kind, _packed(html), lambda text=text: text)


def _of_aeb(folder: Path) -> Iterator[tuple[str, SetPage]]:
    for name, truth in json.loads((folder / "ground-truth.json").read_text(encoding="utf-8")).items():
        html = _packed(folder / "html" / f"{name}.html.gz")
        yield name[:12], SetPage(truth["url"], "article", html, lambda text=truth["articleBody"]: text)


def _of_trafilatura(folder: Path) -> Iterator[tuple[str, SetPage]]:
    for url, about in json.loads((folder / "tests" / "evaldata.json").read_text(encoding="utf-8")).items():
        found = [path for part in ("eval", "cache") if (path := folder / "tests" / part / about["file"]).exists()]
        if found:
            # Some have no address.
            full = url if url.startswith("http") else f"https://{url.split('::')[-1].replace(' ', '-')}"
            html = found[0].read_bytes
            yield about["file"], SetPage(full, "article", html, lambda html=html: _extracted(html()))


def _of_readability(folder: Path) -> Iterator[tuple[str, SetPage]]:
    import trafilatura

    for path in sorted((folder / "test" / "test-pages").glob("*/source.html")):
        html, name = path.read_bytes(), path.parent.name
        told = trafilatura.extract_metadata(html)
        # Some tell no address of their own.
        full = told.url if told and told.url and told.url.startswith("http") else f"https://{name}.example/"
        yield name, SetPage(full, "article", path.read_bytes, lambda html=html: _extracted(html))


def _packed(path: Path) -> Callable[[], bytes]:
    return lambda: gzip.decompress(path.read_bytes())


def _extracted(html: bytes) -> str:
    import trafilatura

    return trafilatura.extract(html) or ""


def labelled(pages: Mapping[str, SetPage], name: str, part: str | None = None) -> Iterator[Labelled]:
    """Yield the questions of a part, or all, over the pages of a set, with their quotes."""
    for line in (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        own = json.loads(line)
        if own["set"] == name and part in (None, own["part"]):
            yield _question(own, pages[own["page"]])


def _question(own: dict[str, Any], page: SetPage) -> Labelled:
    text = page.main_text()
    nuggets = [
        {
            "id": f"{own['id']}-n{number}",
            "text": fact["fact"],
            "answers": fact["answers"],
            "evidence": [{"url": page.url, "quote": text[start:end]} for start, end in fact["at"]],
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
        "topic": page.kind,
        "tags": own["tags"],
        "nuggets": nuggets,
        "gaps": [] if nuggets else [open_],
        "contradictions": [],
        "discoveries": [],
        "forbidden": [],
        "note": None,
    }
    return Labelled(own["part"], record)


def write_web(pages: Mapping[str, SetPage], out: Path) -> None:
    """Write all pages of a set as a frozen web."""
    (out / "pages").mkdir(parents=True, exist_ok=True)
    lines: dict[str, str] = {}
    for number, page in enumerate(pages.values()):
        if page.url in lines:
            continue
        (out / "pages" / f"{number:04d}.html").write_bytes(page.html())
        told = {"url": page.url, "file": f"pages/{number:04d}.html", "status": 200, "published": None, "delay_s": 0}
        told |= {"headers": {"content-type": "text/html"}, "redirect": None, "topic": "web"}
        lines[page.url] = json.dumps(told, ensure_ascii=False)
    (out / "manifest.jsonl").write_text("\n".join(lines.values()) + "\n", encoding="utf-8")


def add_folders(parser: argparse.ArgumentParser) -> None:
    for name in SETS:
        parser.add_argument(f"--{name}", type=Path, help=f"folder of the set {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    add_folders(parser)
    parser.add_argument("--part", choices=["fit", "weights", "held"])
    given = parser.parse_args()
    for name in SETS:
        if (folder := getattr(given, name)) is not None:
            pages = pages_of(name, folder)
            write_web(pages, given.out / name / "web")
            records = [json.dumps(each.record, ensure_ascii=False) for each in labelled(pages, name, given.part)]
            (given.out / name / "questions.jsonl").write_text("\n".join(records) + "\n", encoding="utf-8")
            print(f"{name}: {len(records)} questions")


if __name__ == "__main__":
    main()
