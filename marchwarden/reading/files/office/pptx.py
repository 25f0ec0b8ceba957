"""PPTX → blocks: title, texts, tables and speaker notes of each visible slide, in order (ECMA-376).

Own code beside python-pptx: it reads hidden slides and shapes too, and unpacks without limits. The test compares
both.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.files.archive import RELATION, Archive, Unpackable
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.office.core_properties import core_properties
from marchwarden.reading.files.office.shown_text import raised, shown_lines
from marchwarden.reading.files.tabular.rows import table_blocks
from marchwarden.reading.text_blocks import Block, first_blocks

if TYPE_CHECKING:
    from lxml.etree import _Element

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
# Placeholders that repeat themselves on every slide.
_REPEATED = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})
_TITLES = frozenset({"title", "ctrTitle"})
# Titles that programs write.
_NO_TITLES = frozenset({"powerpoint presentation", "slide 1", "presentation", "powerpoint-präsentation", "untitled"})
_NOTES = "Speaker notes"


def read_pptx(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a presentation; hidden slides and shapes are left out. Places are `slide=3`."""
    try:
        archive = Archive(body)
        blocks = tuple(first_blocks(_blocks(archive)))
        facts = core_properties(archive)
    except Unpackable as error:
        return Failure(FailureKind.NO_TEXT, f"the presentation can't be read: {error}")
    content = facts.of(blocks)
    return replace(content, title=None) if (facts.title or "").lower() in _NO_TITLES else content


def _blocks(archive: Archive) -> Iterator[Block]:
    path = "ppt/presentation.xml"
    slides = [each.get(RELATION) for each in archive.xml(path).iterfind(f"{_P}sldIdLst/{_P}sldId")]
    parts = {each.get("Id"): name for each, name in _parts(archive, path)}
    read: set[str] = set()
    for number, relation in enumerate(slides, 1):
        name = parts.get(relation, "")
        if name in read or name not in archive:
            continue
        read.add(name)
        slide = archive.xml(name)
        if slide.get("show") in ("0", "false"):
            continue
        place = ((0, f"slide={number}"),)
        title, blocks = _slide(slide)
        yield Block("heading", title if title and blocks else f"Slide {number}", places=place)
        for block in blocks or ([Block("line", title)] if title else []):
            yield Block(block.kind, block.text, block.header, block.shown, block.cells, place)
        for each, notes in _parts(archive, name):
            if each.get("Type", "").endswith("/notesSlide") and notes in archive and notes not in read:
                read.add(notes)
                for block in _slide(archive.xml(notes))[1]:
                    yield Block("paragraph", block.text, header=_NOTES, places=place)


def _parts(archive: Archive, path: str) -> Iterator[tuple[_Element, str]]:
    """Yield the relations of a part, each with the name of the member that it leads to."""
    folder, name = posixpath.split(path)
    relations = f"{folder}/_rels/{name}.rels"
    for each in archive.xml(relations) if relations in archive else ():
        target = each.get("Target", "")
        yield each, posixpath.normpath(target.lstrip("/") if target[:1] == "/" else f"{folder}/{target}")


def _slide(slide: _Element) -> tuple[str, list[Block]]:
    """Return the title of a slide, and its other blocks in the order of the file."""
    from lxml import etree

    title = ""
    blocks: list[Block] = []
    walk = etree.iterwalk(slide, events=("start",), tag=[f"{_P}sp", f"{_P}grpSp", f"{_P}graphicFrame", _FALLBACK])
    for _, shape in walk:
        facts = shape.find("*/{*}cNvPr")
        if shape.tag == _FALLBACK or (facts is not None and facts.get("hidden") in ("1", "true")):
            walk.skip_subtree()
        elif shape.tag == f"{_P}graphicFrame":
            for table in shape.iter(f"{_A}tbl"):
                blocks += _table(table)
        elif shape.tag == f"{_P}sp":
            placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
            kind = "" if placeholder is None else placeholder.get("type", "obj")
            texts = [(each, _text(each)) for each in shape.iterfind(f"{_P}txBody/{_A}p")]
            texts = [(each, text) for each, text in texts if text]
            if kind in _TITLES and texts and not title:
                title = " ".join(" ".join(text for _, text in texts).split())
            elif kind not in _REPEATED:
                is_list = kind in ("obj", "body") and len(texts) > 1
                for each, text in texts:
                    facts = each.find(f"{_A}pPr")
                    marks = () if facts is None else {mark.tag for mark in facts}
                    has_mark = f"{_A}buChar" in marks or f"{_A}buAutoNum" in marks
                    is_item = (is_list or has_mark) and f"{_A}buNone" not in marks
                    blocks.append(Block("item" if is_item else "paragraph", text))
    return title, blocks


def _text(paragraph: _Element) -> str:
    """Return the visible characters of a paragraph, without blank lines."""
    pieces: list[str] = []
    for each in paragraph.iter(f"{_A}t", f"{_A}br", f"{_A}tab"):
        if each.tag == f"{_A}br":
            pieces.append("\n")
            continue
        run = each.getparent()
        facts = run.find(f"{_A}rPr") if run is not None else None
        text = each.text or ""
        if facts is not None and facts.get("strike", "noStrike") != "noStrike":
            continue
        is_raised = facts is not None and facts.get("baseline", "0")[:1] not in ("0", "-")
        pieces.append(raised(text) if is_raised else text)
    return shown_lines("".join(pieces))


def _table(table: _Element) -> Iterator[Block]:
    facts = table.find(f"{_A}tblPr")
    rows: list[list[str]] = []
    for row in table.iterfind(f"{_A}tr"):
        texts: list[str] = []
        for cell in row.iterfind(f"{_A}tc"):
            text = " ".join(filter(None, map(_text, cell.iterfind(f"{_A}txBody/{_A}p"))))
            if cell.get("hMerge") in ("1", "true") and texts:
                text = texts[-1]
            elif cell.get("vMerge") in ("1", "true") and rows and len(texts) < len(rows[-1]):
                text = rows[-1][len(texts)]
            texts.append(text)
        rows.append(texts)
    yield from table_blocks(rows, has_names=facts is not None and facts.get("firstRow") in ("1", "true"))
