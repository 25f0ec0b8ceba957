"""How well closed pages are told from open ones: paywalls and log-ins, checks for robots, consent pages, and others.

    python evals/reading/access.py [--path data] [--presumed] [--json]

The labels are in evals/reading/access/labels.jsonl, each with its reason; own pages lie beside them. Some were
written before the rules were looked at, some along with them, some after: the rules were not fitted to these last.
Figures are given for each. With --path, labelled pages of the collections extract-aeb and extract-wcxb are read as
well; with --presumed also all others of these, which nobody has read, as open. An open page counts as right when it
is taken for no wall, whether or not there is text in it.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.page import read_page

OWN_PAGES = Path(__file__).parent / "access"

Label = Literal["open", "paywall", "login", "bot", "cookie", "forbidden", "not_found", "no_text"]
_LABELS: dict[FailureKind, Label] = {
    FailureKind.PAYWALL: "paywall",
    FailureKind.LOGIN_REQUIRED: "login",
    FailureKind.BOT_WALL: "bot",
    FailureKind.COOKIE_WALL: "cookie",
    FailureKind.FORBIDDEN: "forbidden",
    FailureKind.NOT_FOUND: "not_found",
    FailureKind.NO_TEXT: "no_text",
}
_PAGES = {"extract-aeb": Path("html"), "extract-wcxb": Path("dev/html")}
"""Where the collections keep their pages."""


@dataclass(frozen=True)
class LabelledPage:
    name: str
    label: Label
    reason: str
    source: str
    """own pages by when they were written (before, with or after the rules), else the collection."""
    url: str
    file: Path
    asked: str = ""
    status: int = 200

    def body(self) -> bytes:
        content = self.file.read_bytes()
        return gzip.decompress(content) if self.file.suffix == ".gz" else content


@dataclass(frozen=True)
class Verdict:
    name: str
    source: str
    label: Label
    found: str
    reason: str


# The labelled pages


def own_pages(folder: Path = OWN_PAGES) -> list[LabelledPage]:
    return [
        LabelledPage(
            name=each["page"],
            label=each["label"],
            reason=each["reason"],
            source=f"written {each['written']} the rules",
            url=each["url"],
            file=folder / each["page"],
            asked=each.get("asked", ""),
            status=each.get("status", 200),
        )
        for each in _labels(folder)
        if "collection" not in each
    ]


def collection_pages(data: Path, *, presumed: bool = False) -> Iterator[LabelledPage]:
    """The labelled pages of the collections in the folder `data`, and all others of theirs if those count as open."""
    labels = {(each["collection"], each["page"]): each for each in _labels(OWN_PAGES) if "collection" in each}
    for collection, place in _PAGES.items():
        urls = _urls(data / collection)
        for file in sorted((data / collection / place).glob("*.html.gz")):
            name = file.name.removesuffix(".html.gz")
            label = labels.get((collection, name))
            if label or presumed:
                known = label or {"label": "open", "reason": "presumed"}
                source = collection if label else f"{collection}, presumed open"
                yield LabelledPage(name, known["label"], known["reason"], source, urls[name], file)


def _labels(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / "labels.jsonl").read_text("utf-8").splitlines()]


def _urls(folder: Path) -> dict[str, str]:
    """Of the pages of a collection; one page names none."""
    if (folder / "ground-truth.json").exists():
        truths = json.loads((folder / "ground-truth.json").read_text("utf-8"))
    else:
        files = (folder / "dev" / "ground-truth").glob("*.json")
        truths = {file.stem: json.loads(file.read_text("utf-8")) for file in files}
    return {name: truth.get("url") or "https://example.org/" for name, truth in truths.items()}


# What is made of them


def judge(pages: Iterable[LabelledPage]) -> list[Verdict]:
    return [Verdict(page.name, page.source, page.label, found(page), page.reason) for page in pages]


def found(page: LabelledPage) -> str:
    """What the page is taken for: a label, or another kind of failure."""
    read = read_page(
        page.body(), url=page.url, content_type="text/html; charset=utf-8", status=page.status, asked=page.asked
    )
    if not isinstance(read, Failure):
        return "open"
    return _LABELS.get(read.kind, read.kind.value)


@dataclass(frozen=True)
class Figure:
    pages: int
    """That are of the kind by their labels."""
    taken: int
    """That were taken for it."""
    right: int

    @property
    def precision(self) -> float | None:
        return self.right / self.taken if self.taken else None

    @property
    def recall(self) -> float | None:
        return self.right / self.pages if self.pages else None


PAID_OR_SIGNED_IN = frozenset({"paywall", "login"})
KINDS: dict[str, frozenset[str]] = {
    "paywall or login": PAID_OR_SIGNED_IN,
    "paywall": frozenset({"paywall"}),
    "login": frozenset({"login"}),
    "bot": frozenset({"bot"}),
    "cookie": frozenset({"cookie"}),
    "forbidden": frozenset({"forbidden"}),
    "not_found": frozenset({"not_found"}),
}


def figure(verdicts: Sequence[Verdict], kind: frozenset[str]) -> Figure:
    of_kind = [each.label in kind for each in verdicts]
    taken = [each.found in kind for each in verdicts]
    return Figure(sum(of_kind), sum(taken), sum(map(bool.__and__, of_kind, taken)))


def errors(verdicts: Sequence[Verdict]) -> list[Verdict]:
    no_wall = {"open", "no_text"}
    return [each for each in verdicts if each.found != each.label and not {each.found, each.label} <= no_wall]


# Tables


def table(verdicts: Sequence[Verdict]) -> str:
    lines = ["| kind | pages | taken for it | right | precision | recall |", "|---|---|---|---|---|---|"]
    for name, kind in KINDS.items():
        each = figure(verdicts, kind)
        if each.pages or each.taken:
            rates = f"{_rate(each.precision)} | {_rate(each.recall)}"
            lines.append(f"| {name} | {each.pages} | {each.taken} | {each.right} | {rates} |")
    return "\n".join(lines)


def _rate(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def confusion(verdicts: Sequence[Verdict]) -> str:
    counts = Counter((each.label, each.found) for each in verdicts)
    labels, taken = (sorted({pair[at] for pair in counts}) for at in (0, 1))
    lines = [f"| labelled ↓, taken for → | {' | '.join(taken)} |", "|---" * (len(taken) + 1) + "|"]
    lines += [f"| {one} | {' | '.join(str(counts[one, other] or '') for other in taken)} |" for one in labels]
    return "\n".join(lines)


def report(verdicts: Sequence[Verdict]) -> str:
    parts = []
    sources = list(dict.fromkeys(each.source for each in verdicts))
    for source in [*sources, "all"]:
        group = [each for each in verdicts if source in (each.source, "all")]
        parts.append(f"## {source}: {len(group)} pages\n\n{table(group)}")
    wrong = [f"- {each.name}: {each.label}, taken for {each.found} ({each.reason})" for each in errors(verdicts)]
    return "\n\n".join([*parts, confusion(verdicts), "Wrong:\n" + "\n".join(wrong or ["none"])])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--path", type=Path, help="the folder of the collections")
    parser.add_argument("--presumed", action="store_true", help="unlabelled pages of the collections, too, as open")
    parser.add_argument("--json", action="store_true", help="each page's verdict as JSON, a line a page")
    given = parser.parse_args()
    if given.path and not given.path.exists():
        parser.error(f"{given.path} is not there; evals/reports/reading.md says what the collections are")
    pages = own_pages()
    if given.path:
        pages += collection_pages(given.path, presumed=given.presumed)
    verdicts = judge(pages)
    if given.json:
        for each in verdicts:
            print(json.dumps(asdict(each), ensure_ascii=False))
        return
    print(report(verdicts))


if __name__ == "__main__":
    main()
