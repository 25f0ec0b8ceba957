"""Whether every page can be read: those of the public collections, broken copies of them, and made-up hostile ones.

    python evals/reading/robustness.py --path data [--only collections made-up mutants] [--match TEXT]
        [--mutants 10] [--seconds 60] [--megabytes 4000] [--most-bytes 50000000] [--seed 0] [--json]

Each page is read in a process with a limit on its memory and a clock, as the web and a corpus read it. Printed
are how many pages became a text or a failure, the slowest in seconds of one core, and the highest memory. A crash is
an exception, a process that died, a clock that ran out, or a passage that is not in its text: then the status is 1.
Linux only.
"""

from __future__ import annotations

import argparse
import gzip
import json
import logging
import multiprocessing
import random
import resource
import signal
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz import (
    DOCX,
    EPUB,
    HTML,
    JSON,
    MARKDOWN,
    PDF,
    TEXT,
    Case,
    book,
    made_up_cases,
    mutants_of,
    truncations_of,
    zipped,
)

from marchwarden.corpus.documents import page_of_line
from marchwarden.corpus.places import with_places
from marchwarden.observations import Failure, Page
from marchwarden.reading.page import read_page, refresh_target

ROOT = Path(__file__).resolve().parents[2]
_TYPES = {".html": HTML, ".htm": HTML, ".txt": TEXT, ".md": MARKDOWN, ".json": JSON, ".pdf": PDF, ".docx": DOCX}
_TYPES |= {".epub": EPUB, ".xml": "application/xml"}
_LINE = "application/jsonl"


@dataclass(frozen=True)
class Reading:
    """What came of one page."""

    name: str
    outcome: str
    """`text`, `empty` (a kind without text), `failure`, `crash`."""
    detail: str = ""
    seconds: float = 0.0
    """Of one core."""
    megabytes: float = 0.0
    """The most that its process held; that of a PDF's own reader is limited, and not counted."""


# Pages that there are


def collections(data: Path) -> Iterator[Case]:
    for name in ("extract-aeb/html", "extract-wcxb/dev/html"):
        for file in sorted((data / name).glob("*.html.gz")):
            yield Case(f"{name}/{file.name}", HTML, partial(_unpacked, file))
    for name in ("encodings-chardet/encodings.tar.xz", "ir-cacm/cacm.tar.gz"):
        yield from _archived(data / name)
    for file in sorted((data / "pdf-samples").glob("*.pdf")):
        yield Case(f"pdf-samples/{file.name}", PDF, file.read_bytes)
    for file in sorted((data / "corpus-wiki-vital").glob("*.jsonl.gz")):
        for number, line in enumerate(_unpacked(file).splitlines(), 1):
            yield Case(f"{file.name}#L{number}", _LINE, partial(bytes, line))


def _unpacked(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes())


def _archived(file: Path) -> Iterator[Case]:
    if not file.is_file():
        return
    with tarfile.open(file) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                kind = _TYPES.get(Path(member.name).suffix, TEXT)
                yield Case(f"{file.parent.name}/{member.name}", kind, partial(bytes, content.read()))


def mutants(data: Path, each: int, chance: random.Random) -> Iterator[Case]:
    """Broken copies of the frozen web's pages, of some of each collection, and of a book and a document."""
    for case in _originals(data, chance):
        body = case.make()
        if body:
            yield from mutants_of(case.name, body, case.content_type, each, chance)
            if case.content_type in (PDF, DOCX, EPUB):
                yield from truncations_of(case.name, body, case.content_type)


def _originals(data: Path, chance: random.Random) -> Iterator[Case]:
    web = sorted(file for file in (ROOT / "data" / "web" / "pages").rglob("*") if file.suffix in _TYPES)
    for file in chance.sample(web, min(100, len(web))):
        yield Case(f"web/{file.name}", _TYPES[file.suffix], file.read_bytes)
    collected = [case for case in collections(data) if case.content_type != _LINE]
    by_folder: dict[str, list[Case]] = {}
    for case in collected:
        by_folder.setdefault(case.name.partition("/")[0], []).append(case)
    for cases in by_folder.values():
        yield from chance.sample(cases, min(40, len(cases)))
    web_page = next(file for file in web if file.suffix == ".html").read_bytes()
    yield Case("a book", EPUB, partial(book, {"a.xhtml": web_page, "b.xhtml": web_page}))
    yield Case("a document", DOCX, partial(zipped, {"word/document.xml": _SMALL_DOCUMENT}))


_SMALL_DOCUMENT = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    + "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>Peas climb up to the roof.</w:t></w:r></w:p>" * 20
    + "</w:body></w:document>"
)


# Reading


def read(case: Case, most_bytes: int) -> Reading:
    body = case.make()[:most_bytes]
    began = _seconds()
    try:
        outcome, detail = _read(case, body)
    except Exception as error:  # every one of them is what is looked for
        outcome, detail = "crash", f"{type(error).__name__}: {str(error)[:200]}"
    return Reading(case.name, outcome, detail, _seconds() - began)


def _seconds() -> float:
    """Of a core, in this process and in those that read PDFs for it."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _read(case: Case, body: bytes) -> tuple[str, str]:
    if case.content_type == _LINE:
        page = page_of_line(case.url, body, None)
    else:
        refresh_target(body, url=case.url, content_type=case.content_type)
        page = read_page(body, url=case.url, content_type=case.content_type)
    if isinstance(page, Failure):
        return "failure", page.detail
    page = with_places(page, body)
    _check(page)
    return ("text", "") if page.text else ("empty", page.media_type or "")


def _check(page: Page) -> None:
    page.text.encode("utf-8")
    for passage in page.passages:
        if page.text[passage.start : passage.end] != passage.text or len(passage.text) > 500:
            raise AssertionError(f"a passage is not where it is said to be: {passage.number}")


def _serve(cases: list[Case], start: int, given: argparse.Namespace, to_parent: Connection) -> None:
    """In a child: read one case after another; a case's clock counts its own seconds of a core."""
    logging.disable()
    most = int(given.megabytes * 1_000_000)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for case in cases[start:]:
        Path("/proc/self/clear_refs").write_text("5")  # the highest memory is counted anew
        signal.setitimer(signal.ITIMER_PROF, given.seconds)
        found = read(case, given.most_bytes)
        signal.setitimer(signal.ITIMER_PROF, 0)
        to_parent.send({**asdict(found), "megabytes": _highest_megabytes()})


def _highest_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmHWM"))


def readings(cases: list[Case], given: argparse.Namespace) -> Iterator[Reading]:
    """Of each case, in order; a process that died costs its case only."""
    done = 0
    while done < len(cases):
        ours, theirs = multiprocessing.Pipe()
        child = multiprocessing.get_context("fork").Process(target=_serve, args=(cases, done, given, theirs))
        child.start()
        theirs.close()
        try:
            while done < len(cases):
                yield Reading(**ours.recv())
                done += 1
        except EOFError:
            child.join()
            yield Reading(cases[done].name, "crash", _how_it_ended(child.exitcode or 0, given.seconds))
            done += 1
        child.join()


def _how_it_ended(code: int, seconds: float) -> str:
    if code == -signal.SIGPROF:
        return f"it took more than {seconds:g} seconds of a core"
    return f"the process ended with {signal.Signals(-code).name if code < 0 else f'status {code}'}"


# The report


def report(found: list[Reading]) -> str:
    outcomes = Counter(each.outcome for each in found)
    lines = [f"{len(found)} pages: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())]
    lines += [f"crash  {each.name}: {each.detail}" for each in found if each.outcome == "crash"]
    slowest = sorted(found, key=lambda each: -each.seconds)[:5]
    lines += [f"slow   {each.seconds:6.1f} s {each.megabytes:6.0f} MB  {each.name}" for each in slowest]
    largest = sorted(found, key=lambda each: -each.megabytes)[:3]
    lines += [f"large  {each.seconds:6.1f} s {each.megabytes:6.0f} MB  {each.name}" for each in largest]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--path", type=Path, default=Path("data"), help="the folder of the public collections")
    parser.add_argument("--only", nargs="+", choices=("collections", "made-up", "mutants"))
    parser.add_argument("--match", default="", help="only cases with this in their name")
    parser.add_argument("--mutants", type=int, default=10, help="of each page")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a core, for one page")
    parser.add_argument("--megabytes", type=float, default=4000.0, help="of address space")
    parser.add_argument("--most-bytes", type=int, default=50_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="a line of JSON for each page")
    given = parser.parse_args()
    if given.only != ["made-up"] and not given.path.exists():
        parser.error(f"{given.path} is not there; evals/reports/reading.md says what the collections are")
    groups = {
        "collections": lambda: collections(given.path),
        "made-up": made_up_cases,
        "mutants": lambda: mutants(given.path, given.mutants, random.Random(given.seed)),
    }
    status = 0
    for name in given.only or groups:
        cases = [case for case in groups[name]() if given.match in case.name]
        found = []
        for each in readings(cases, given):
            found.append(each)
            if given.json:
                print(json.dumps(asdict(each)), flush=True)
        print(
            f"{name}: {report(found)}" if found else f"{name}: no pages",
            file=sys.stderr if given.json else sys.stdout,
        )
        status |= any(each.outcome == "crash" for each in found)
    return status


if __name__ == "__main__":
    sys.exit(main())
