"""References of a work: the entries of its list, and where its text cites them.

JATS and HTML mark citations as elements, which are placed in the extracted text by the letters before them. Other
texts, such as those of PDFs, have numbers in brackets.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lxml import etree
from lxml.html import HtmlElement

from marchwarden.observations import Page, Reference, Work, plain_line
from marchwarden.text.invisible import visible
from marchwarden.text.works import doi_of, identified, work_of_address

# Entries and marks of one work that are kept. Guesses: long reviews have a thousand of each.
_MAX_ENTRIES, _MAX_MARKS = 2_000, 5_000
# Characters of an entry that are kept. A guess: long lists of authors.
_MAX_ENTRY_CHARS = 500
# Letters before a mark by which its place is found, tried in this order. Guesses: formulas and captions between them
# are not in the text as they are in the markup.
_BEFORE_LETTERS = (60, 24, 12)
_ARXIV = re.compile(
    r"\barxiv[:\s.]*(?:preprint\s*)?(?:arxiv[:\s]*)?(?:org/(?:abs|pdf)/)?(\d{4}\.\d{4,5})", re.IGNORECASE
)
_PMID = re.compile(r"\b(?:PMID|PubMed)\W{0,3}(\d{4,9})\b")

# Ids of entries in a list of references, as publishers' HTML has them: `bib.bib12`, `B12`, `ref-12`, `CR12`, `R12`.
_ENTRY_ID = re.compile(
    r"(?:[\w.:-]*(?:bib|ref|cit|reference|citation)[\w.:-]*|(?:B|R|CR|b|r|cr|en|rf)-?)\d[\w.:-]*$", re.IGNORECASE
)
# Characters of the words of a link that is a mark, at most. A guess: "Tavakkoli-Moghaddam et al. (2010)".
_MAX_MARK_CHARS = 60


@dataclass(frozen=True)
class Mark:
    """A citation in the text of a work."""

    entry: str
    """Id of the entry that it cites."""
    before: str
    """Letters before it, in lower case, at most _BEFORE_LETTERS[0]."""


def marks_in(
    parts: Iterable[etree._Element],
    cited: Callable[[etree._Element], Sequence[str]],
    left_out: frozenset[str] = frozenset(),
) -> list[Mark]:
    """Return the marks in the parts of a tree, in reading order. `cited` gives the ids of the entries that an element
    cites. The text of elements in `left_out` does not count."""
    found: list[Mark] = []
    before = ""
    for part in parts:
        for text, element in _walk(part, left_out):
            # Digits are left out, since raised marks are dropped from the text, and so are formulas' signs.
            letters = "".join(filter(str.isalpha, text)).lower()
            before = (before + letters)[-_BEFORE_LETTERS[0] :]
            if element is not None:
                found += [Mark(entry, before) for entry in cited(element)]
            if len(found) >= _MAX_MARKS:
                return found
    return found


def with_references(page: Page, entries: Mapping[str, Reference], marks: Iterable[Mark]) -> Page:
    """Return the page with its references, each with the places of its marks in the page's text."""
    if not entries:
        return page
    kept = dict(islice(entries.items(), _MAX_ENTRIES))
    places: dict[str, list[int]] = {}
    # The letters of the text in lower case, and for each the place behind it.
    signs: list[str] = []
    ends: list[int] = []
    for place, sign in enumerate(page.text, start=1):
        if sign.isalpha():
            for each in filter(str.isalpha, sign.lower()):
                signs.append(each)
                ends.append(place)
    letters = "".join(signs)
    at = 0
    for mark in marks:
        if mark.entry not in kept:
            continue
        for length in _BEFORE_LETTERS:
            wanted = mark.before[-length:]
            if len(wanted) < _BEFORE_LETTERS[-1]:
                break
            # Marks come in the order of the text, so that words said twice are told apart.
            if (start := letters.find(wanted, max(0, at - length))) >= 0:
                at = start + len(wanted)
                places.setdefault(mark.entry, []).append(ends[at - 1])
                break
    return replace(
        page,
        references=tuple(
            replace(entry, marks=tuple(dict.fromkeys(places.get(name, ())))) for name, entry in kept.items()
        ),
    )


def reference_of(
    text: str, links: Iterable[str] = (), work: Work | None = None, title: str | None = None
) -> Reference:
    """Return the entry with this text; the identifiers that `work` lacks are looked for in it and in its links."""
    known = work or Work()
    line = plain_line(visible(text), _MAX_ENTRY_CHARS)
    by_link = [Work(doi=doi_of(link)) if "doi.org/" in link else work_of_address(link) for link in links]
    named = [Work(doi=doi_of(text)), *(Work(arxiv=found[1]) for found in _ARXIV.finditer(text))]
    named += [Work(pmid=found[1]) for found in _PMID.finditer(text)]
    for each in filter(None, (*by_link, *named)):
        known = replace(
            known, doi=known.doi or each.doi, arxiv=known.arxiv or each.arxiv, pmid=known.pmid or each.pmid
        )
    return Reference(work=identified(known), text=line, title=plain_line(title, _MAX_ENTRY_CHARS) if title else None)


# HTML


def html_references(tree: HtmlElement) -> tuple[dict[str, Reference], list[Mark]]:
    """Return the entries of a page's list of references by their ids, and the marks that link to them."""
    links: dict[str, int] = {}
    for link in islice(tree.iter("a"), 4 * _MAX_MARKS):
        for name in _cited_by_link(link):
            links[name] = links.get(name, 0) + 1
    entries: dict[str, Reference] = {}
    for element in tree.iter("li", "p", "div", "dd", "tr", "span", "cite"):
        name = element.get("id")
        if name not in links or name in entries or len(entries) >= _MAX_ENTRIES:
            continue
        text = " ".join("".join(element.itertext()).split())
        if _MIN_ENTRY_CHARS <= len(text) <= 4 * _MAX_ENTRY_CHARS:
            hrefs = [link.get("href") or "" for link in element.iter("a")]
            # LaTeXML puts authors, title and venue into blocks of their own.
            parts = [
                " ".join("".join(each.itertext()).split())
                for each in element.iter("span")
                if "ltx_bibblock" in (each.get("class") or "").split()
            ]
            title = parts[1].strip(' .,“”"') if len(parts) > 2 and len(parts[1].split()) > 2 else None
            entries[name] = reference_of(text, hrefs, title=title)
    return entries, marks_in([tree], _cited_by_link, frozenset({"script", "style", "head", "template"}))


# Characters of an entry, at least. A guess: the number of a footnote is shorter.
_MIN_ENTRY_CHARS = 20


def _cited_by_link(element: etree._Element) -> tuple[str, ...]:
    href = element.get("href") if element.tag == "a" else None
    if not href or "#" not in href or not _ENTRY_ID.match(name := href.rpartition("#")[2]):
        return ()
    # A link back to the text stands inside an entry, and a long one is a table of contents.
    is_mark = len("".join(map(str, element.itertext())).strip()) <= _MAX_MARK_CHARS
    return (name,) if is_mark else ()


# Text


# On one line: a run of lines without words would be read once for each of them.
_HEADING = re.compile(
    r"^[^\w\n]*(?:\d+[^\w\n]+)?(?:references|bibliography|literature cited|works cited)[^\w\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(r"^[^\S\n]*\[(\d{1,3})\]\s+", re.MULTILINE)
_CITED = re.compile(r"\[(\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*)\]")
# Numbers of a range of citations that are kept: `[3–40]` says nothing of one of them. A guess.
_MAX_RANGE = 10


def text_references(page: Page) -> Page:
    """Return the page with the references that its text numbers in brackets; unchanged where it has none."""
    heading = next(reversed(list(_HEADING.finditer(page.text))), None)
    if heading is None:
        return page
    starts = list(islice(_NUMBERED.finditer(page.text, heading.end()), _MAX_ENTRIES))
    ends = [each.start() for each in starts[1:]] + [starts[-1].end() + _MAX_ENTRY_CHARS] if starts else []
    entries = {
        start[1]: reference_of(" ".join(page.text[start.end() : end].split()))
        for start, end in zip(starts, ends, strict=True)
    }
    places: dict[str, list[int]] = {}
    for mark in islice(_CITED.finditer(page.text, 0, heading.start()), _MAX_MARKS):
        for part in re.split(r"[,;]", mark[1]):
            first, *last = (int(each) for each in re.findall(r"\d+", part))
            end = last[0] if last and first < last[0] <= first + _MAX_RANGE else first
            for number in range(first, end + 1):
                places.setdefault(str(number), []).append(mark.start())
    return replace(
        page,
        references=tuple(replace(entry, marks=tuple(places.get(name, ()))) for name, entry in entries.items()),
    )


# Letters


def _walk(root: etree._Element, left_out: frozenset[str]) -> Iterator[tuple[str, etree._Element | None]]:
    """Yield each text with the element that begins behind it; None where one ends there."""
    skipped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if skipped is None and isinstance(element.tag, str):
                yield "", element
                if etree.QName(element).localname in left_out:
                    skipped = element
                else:
                    yield element.text or "", None
        else:
            if element is skipped:
                skipped = None
            if skipped is None and element is not root:
                yield element.tail or "", None


def cited_within(page: Page, start: int, end: int) -> list[Reference]:
    """Return the references of a page that are cited between two places of its text, or right behind the second."""
    # A mark may stand behind the full stop: "… was lower.[12]"
    end += _MARK_BEHIND_CHARS
    return [each for each in page.references if bisect_right(each.marks, end) > bisect_right(each.marks, start)]


# Characters behind a sentence in which its mark may stand. A guess: `." [`.
_MARK_BEHIND_CHARS = 3
