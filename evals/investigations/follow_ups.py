"""Pages moved to a second server that is asked only for what the first one points at: are they found?

    python evals/investigations/follow_ups.py closed|discovered [--split train,dev] [--most N]
        [--least-utility U] [--without]

closed: the pages of a vital nugget answer 403 on the first server; the second has open copies.
discovered: the pages of a vital nugget are on the second server alone, which answers for papers, registers, data
sets and court files; the first keeps the page that names one.

Prints the moved nuggets that are found by one server with all pages, with the second server, and without it; how many
of those that are not found without it come with a gap, and with one that tells where they are: the closed page, or a
discovery. A page that no search names, or that nobody tried since others had answered, can't be told: "tried without"
counts the nuggets of which a page was tried in vain, "tried and told without" those of them with such a gap.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import anyio

from evals.investigations.asking import Answered, ask, member_of, settings_for, start
from marchwarden.contract import GapCategory
from marchwarden.evaluation.labels.questions import Nugget, Question, evenly_spaced, load_questions
from marchwarden.evaluation.labels.scoring_text import address
from marchwarden.orchestrator import next_steps
from marchwarden.settings import Settings, shipped
from marchwarden.trace.events import Fetched
from marchwarden.trace.reader import read_trace

CLOSED, DISCOVERED = "closed", "discovered"
ANSWERS = {CLOSED: ("open_copies",), DISCOVERED: ("academic", "arxiv", "database", "legal")}


def movable(question: Question, kind: str) -> set[str]:
    """Return the pages of the first vital nugget that can be moved; none where the question is of no use here."""
    keep: set[str] = set()
    if kind == DISCOVERED:
        keep = {
            address(each.source_locator) for each in question.discoveries if each.required and each.source_locator
        }
        if not keep:
            return set()
    for nugget in question.vital:
        pages = {address(quote.url) for quote in nugget.evidence}
        if pages and not pages & keep:
            return pages
    return set()


def write_webs(folder: Path, moved: set[str], kind: str) -> tuple[Path, Path]:
    """Write the first server's web and the second's."""
    web = shipped("web")
    first: list[str] = []
    second: list[str] = []
    for line in (web / "manifest.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if entry["url"].endswith("/robots.txt"):
            first.append(line)
            second.append(line)
        elif address(entry["url"]) not in moved:
            first.append(line)
        else:
            second.append(line)
            if kind == CLOSED:
                first.append(json.dumps({**entry, **_closed(web, entry)}))
    made = []
    for name, lines in (("first", first), ("second", second)):
        part = folder / name
        part.mkdir(parents=True)
        (part / "manifest.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (part / "pages").symlink_to((web / "pages").resolve(), target_is_directory=True)
        made.append(part)
    return made[0], made[1]


def _closed(web: Path, entry: dict[str, object]) -> dict[str, object]:
    """Return what an entry has otherwise where its page is closed: search still knows its title and first words."""
    from marchwarden.observations import Page
    from marchwarden.reading.page import read_page

    page = None
    if entry.get("file"):
        headers = entry.get("headers")
        kind = headers.get("content-type", "text/html") if isinstance(headers, dict) else "text/html"
        page = read_page((web / str(entry["file"])).read_bytes(), url=str(entry["url"]), content_type=kind)
    known = page if isinstance(page, Page) and page.passages else None
    told = {
        "title": entry.get("title") or (known.title if known else None) or str(entry["url"]),
        "snippet": entry.get("snippet") or (known.passages[0].text[:200] if known else ""),
    }
    return {"status": 403, "file": None, **told}


def pages_of(nugget: Nugget) -> set[str]:
    return {address(quote.url) for quote in nugget.evidence}


def tried_in_vain(answered: Answered, settings: Settings) -> set[str]:
    """Return the pages that the researchers of an investigation tried and could not read."""
    traces = [read_trace(settings.traces / f"{each.trace_id}.jsonl") for each in answered.result.lineage or []]
    events = [event for trace in traces for _, _, event in trace.events]
    return {address(event.url) for event in events if isinstance(event, Fetched) and event.failure}


def is_told(answered: Answered, kind: str, pages: set[str]) -> bool:
    """Return whether a result tells where what is missing is: a gap that names a moved page, or a discovery."""
    if kind == DISCOVERED:
        return bool(answered.result.discovery_events) or any(
            gap.category is GapCategory.SCOPE_EXCEEDED for gap in answered.result.gaps
        )
    told = " ".join(f"{gap.topic} {gap.detail}" for gap in answered.result.gaps)
    return any(page in told for page in pages)


async def main(kind: str, split: str, most: int, least: float | None, only_without: bool) -> None:
    if least is not None:
        next_steps.LEAST_UTILITY = least
    questions = [
        each
        for name in split.split(",")
        for each in load_questions(shipped("questions") / f"{name}.jsonl")
        if movable(each, kind)
    ]
    questions = evenly_spaced(questions, most) if most else questions
    moved = set().union(*(movable(each, kind) for each in questions))
    counts = {
        "questions": len(questions),
        "answered by other pages": 0,
        "found by one server": 0,
        "nuggets": 0,
        "found": 0,
        "found without": 0,
        "gap without": 0,
        "told without": 0,
        "tried without": 0,
        "tried and told without": 0,
        "rihlas": 0,
    }
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        first, second = write_webs(folder, moved, kind)
        web, library = (settings_for(part, folder / "traces") for part in (first, second))
        start(web)
        alone = [member_of("web", web)]
        everything = [member_of("all", settings_for(shipped("web"), folder / "traces"))]
        both = [*alone, member_of("library", library, ANSWERS[kind])]
        for question in questions:
            nuggets = [each for each in question.vital if each.evidence and pages_of(each) <= moved]
            only = question.model_copy(update={"nuggets": nuggets})
            without = await ask(only, alone, web)
            if without.said == len(nuggets):
                counts["answered by other pages"] += 1
                continue
            counts["nuggets"] += len(nuggets)
            counts["found without"] += without.found
            counts["gap without"] += len(nuggets) * bool(without.result.gaps)
            tried = tried_in_vain(without, web)
            for nugget in nuggets:
                is_named, was_tried = is_told(without, kind, pages_of(nugget)), bool(pages_of(nugget) & tried)
                counts["told without"] += is_named
                counts["tried without"] += was_tried
                counts["tried and told without"] += was_tried and is_named
            if only_without:
                continue
            found = await ask(only, both, web)
            counts["found by one server"] += (await ask(only, everything, web)).found
            counts["found"] += found.found
            counts["rihlas"] += len(found.result.lineage or [])
            if found.found < len(nuggets):
                who = [f"{each.researcher}: {each.question} ({each.origin})" for each in found.result.lineage or []]
                print(f"{question.id}: {found.found} of {len(nuggets)}; {who}", flush=True)
    print(json.dumps({"kind": kind, "split": split, **counts}, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=[CLOSED, DISCOVERED])
    parser.add_argument("--split", default="train")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--least-utility", type=float)
    parser.add_argument("--without", action="store_true", help="Ask without the second server only.")
    given = parser.parse_args()
    anyio.run(main, given.kind, given.split, given.most, given.least_utility, given.without)
