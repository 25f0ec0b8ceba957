"""Files of several kinds, read by us and by a library for each kind: the words that both have.

    python -m evals.reading.own_files FOLDER ...     # a line for each file, and a line for each kind
    python -m evals.reading.own_files --record FOLDER  # writes what the library reads beside each file, for the tests

The libraries are no dependencies: nbformat, openpyxl, odfpy, python-pptx, orgparse.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from marchwarden.corpus.documents import kind_of
from marchwarden.observations import Page
from marchwarden.reading.page import read_page

WORD = re.compile(r"[^\W_]+")


def words_of(text: str) -> Counter[str]:
    return Counter(WORD.findall(text))


def notebook(path: Path) -> Iterator[str]:
    import nbformat

    for cell in nbformat.read(path, as_version=4).cells:
        yield cell.source
        for output in cell.get("outputs", ()):
            yield output.get("text", "") or output.get("data", {}).get("text/plain", "")


def workbook(path: Path) -> Iterator[str]:
    import openpyxl

    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets:
        if sheet.sheet_state == "visible":
            yield sheet.title
            for row in sheet.iter_rows(values_only=True):
                yield " ".join(str(value) for value in row if value is not None)


def presentation(path: Path) -> Iterator[str]:
    import pptx

    def texts(shapes: object) -> Iterator[str]:
        for shape in shapes:  # type: ignore[attr-defined]
            if shape.shape_type == 6:
                yield from texts(shape.shapes)
            elif shape.has_text_frame:
                yield shape.text_frame.text
            elif getattr(shape, "has_table", False) and shape.has_table:
                yield from (cell.text for row in shape.table.rows for cell in row.cells)

    for slide in pptx.Presentation(str(path)).slides:
        yield from texts(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            yield slide.notes_slide.notes_text_frame.text


def text_document(path: Path) -> Iterator[str]:
    from odf import teletype, text
    from odf.opendocument import load

    body = load(str(path)).text
    for element in (*body.getElementsByType(text.H), *body.getElementsByType(text.P)):
        yield teletype.extractText(element)


def restructured(path: Path) -> Iterator[str]:
    from docutils.core import publish_doctree

    settings = {"report_level": 5, "file_insertion_enabled": False, "raw_enabled": False}
    yield publish_doctree(path.read_text(encoding="utf-8"), settings_overrides=settings).astext()


def org(path: Path) -> Iterator[str]:
    import orgparse

    for node in orgparse.load(str(path))[1:]:
        yield f"{node.heading}\n{node.body}"


ORACLES = {
    ".ipynb": notebook,
    ".xlsx": workbook,
    ".pptx": presentation,
    ".odt": text_document,
    ".rst": restructured,
    ".org": org,
}


def ours(path: Path) -> str:
    page = read_page(path.read_bytes(), url=str(path), content_type=kind_of(str(path)))
    return page.text if isinstance(page, Page) else ""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    totals: dict[str, Counter[str]] = {}
    for path in sorted(each for folder in options.folders for each in folder.rglob("*") if each.suffix in ORACLES):
        try:
            read = "\n".join(ORACLES[path.suffix](path))
        except Exception as error:  # a library that can't read the file tells nothing of our reader
            print(f"{path.name}: the library fails: {error!r}"[:200], file=sys.stderr)
            continue
        if options.record:
            path.with_name(path.name + ".txt").write_text(read, encoding="utf-8")
        theirs, found = words_of(read), words_of(ours(path))
        both = (theirs & found).total()
        total = totals.setdefault(path.suffix, Counter())
        total.update(files=1, both=both, theirs=theirs.total(), ours=found.total())
        print(f"{path.name}: {both} of {theirs.total()} words read, {found.total() - both} others")
    for ending, total in totals.items():
        share = total["both"] / max(total["theirs"], 1)
        print(f"{ending}: {total['files']} files, {share:.3f} of {total['theirs']} words, {total['ours']} ours")


if __name__ == "__main__":
    main()
