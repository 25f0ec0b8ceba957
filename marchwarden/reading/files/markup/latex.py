"""LaTeX → blocks: the text of a document without its commands; pylatexenc writes accents and formulas in Unicode.

Own code around pylatexenc, which turns a document into one text: it has no headings, items or rows to quote, and
takes a second for 100,000 characters in one piece. No file that a document names is read.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate, islice
from typing import TYPE_CHECKING

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.tabular.rows import MAX_COLUMNS, table_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.text_blocks import Block, BlockKind, first_blocks
from marchwarden.text.invisible import visible

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

logging.getLogger("pylatexenc").addHandler(logging.NullHandler())

# Characters that are read, and characters that are converted at once. Guesses that bound the time.
_MAX_CHARS, _MAX_PARAGRAPH_CHARS = 1_000_000, 20_000
# Characters of a heading, or another argument. A guess that bounds the work.
_MAX_ARGUMENT_CHARS = 2_000
# Open braces in a paragraph: pylatexenc takes stack frames for each. A guess.
_MAX_DEPTH = 50

_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_BODY = re.compile(r"\\begin\s*\{document\}(.*?)(?:\\end\s*\{document\}|\Z)", re.DOTALL)
_CODE = re.compile(
    r"\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt)\}(?:\[[^\]\n]{0,300}\]|\{[^}\n]{0,300}\})*\n?"
)
_TABLE = re.compile(r"\\begin\{(tabular[x*]?|longtable|tabulary)\}")
_UNSEEN = re.compile(r"\\begin\{(comment|tikzpicture|filecontents\*?|thebibliography|CCSXML|picture|pgfpicture)\}")
# Lines of a table.
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfoot)\b|\\c(?:line|midrule)\s*(?:\(\w+\))?\{[^}]{0,300}\}"
)
_HEADING = re.compile(
    r"\\(?:part|chapter|section|subsection|subsubsection|paragraph|subparagraph)\*?\s*(?:\[[^\]\n]{0,300}\])?\s*\{"
)
_EDGE = re.compile(
    r"\\item\b\s*(?:\[([^\]\n]{0,300})\])?|\\(?:begin|end)\s*\{(itemize|enumerate|description|abstract|quote|quotation|center"
    r"|figure\*?|table\*?|document|theorem|lemma|proof|definition|frame|minipage|flushleft|flushright|itemize\*)\}"
    r"(?:\[[^\]\n]{0,300}\])?"
)
# Commands with what they name: labels, citations, files, lengths. `\\today` would say another thing tomorrow.
_NAMING = re.compile(
    r"~?\\(?:label|cite\w*|ref|eqref|autoref|pageref|nocite|input|include|includegraphics|bibliography|bibliographystyle"
    r"|usepackage|documentclass|newcommand|renewcommand|providecommand|setlength|vspace|hspace|pagestyle|thispagestyle"
    r"|index|hypersetup|addbibresource|graphicspath|definecolor|vskip|hskip|newtheorem|setcounter|addtolength|maketitle|today|tableofcontents)(?![a-zA-Z])\*?\s*"
    r"(?:\[[^\[\]\n]{0,500}\]|\{[^{}]{0,2000}\})*"
)


# Places where a word may be broken, as \- tells them; \\- is a line break and a hyphen.
_HYPHENATION = re.compile(r"(?<!\\)((?:\\\\)*)\\-")


def read_latex(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a document; macros that it defines itself are not carried out."""
    text = visible(decode(body, content_type))[:_MAX_CHARS]
    listings: list[str] = []
    pieces: list[str] = []
    at = 0
    for start, end, inner in _environments(text, _CODE):
        pieces.append(f"{text[at:start]}\n\n\x1c{len(listings)}\x1d\n\n")
        listings.append(inner)
        at = end
    text = _COMMENT.sub(r"\1", "".join([*pieces, text[at:]]))
    found = _BODY.search(text)
    preamble, inner = (text[: found.start()] + found[1], found[1]) if found else (text, text)
    facts: dict[str, str] = {}
    for name in ("title", "author", "date"):
        command = re.compile(rf"\\{name}\s*(?:\[[^\]\n]{{0,300}}\])?\s*\{{")
        told = command.search(preamble)
        facts[name] = preamble[told.end() : _end_of(preamble, told.end())] if told else ""
        if stated := command.search(inner):
            inner = inner[: stated.start()] + inner[_end_of(inner, stated.end()) + 1 :]
    edges = [0, *(edge for start, end, _ in _environments(inner, _UNSEEN) for edge in (start, end)), len(inner)]
    seen = "".join(inner[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    blocks = tuple(first_blocks(_blocks(seen, listings)))
    if not blocks:
        return Failure(FailureKind.NO_TEXT, "the document holds no text")
    title = " ".join(_plain(facts["title"]).split())
    return FileContent(
        ((Block("heading", title), *blocks) if title else blocks),
        title=title or None,
        authors=tuple(_authors(preamble)),
        published=as_date(_plain(facts["date"])),
    )


def _environments(text: str, begin: re.Pattern[str]) -> Iterator[tuple[int, int, str]]:
    """Yield where each environment begins and ends, and what is in it; one that doesn't end is none."""
    at = 0
    endless: set[str] = set()
    while found := begin.search(text, at):
        at, name = found.end(), found[1]
        end = -1 if name in endless else text.find(f"\\end{{{name}}}", at)
        if end < 0:
            endless.add(name)
            continue
        yield found.start(), end + len(name) + 6, text[at:end]
        at = end + len(name) + 6


# Commands for authors that are read, and characters of each. Guesses that bound the work.
_MAX_AUTHORS, _MAX_AUTHOR_CHARS = 200, 5000
_AUTHOR = re.compile(r"\\author\s*(?:\[[^\]\n]{0,300}\])?\s*\{")
_AUTHOR_NOTE = re.compile(
    r"\\(?:thanks|inst|footnote|textsuperscript|orcid(?:ID|link)?|email|IEEEauthor(?:refmark|blockA))\s*\{"
)


def _authors(preamble: str) -> Iterator[str]:
    """Yield the names of the commands for authors; below a name stands where its bearer works."""
    for command in islice(_AUTHOR.finditer(preamble), _MAX_AUTHORS):
        told = preamble[command.end() : _end_of(preamble, command.end())][:_MAX_AUTHOR_CHARS]
        while note := _AUTHOR_NOTE.search(told):
            told = told[: note.start()] + told[_end_of(told, note.end()) + 1 :]
        for name in re.split(r"\\(?:and|And|AND)\b", told):
            yield " ".join(_plain(name.strip().partition(r"\\")[0]).split())


def _end_of(text: str, start: int) -> int:
    """Return the offset of the brace that closes the one before `start`; at most _MAX_ARGUMENT_CHARS away."""
    depth = 1
    for at in range(start, min(len(text), start + _MAX_ARGUMENT_CHARS)):
        if text[at] in "{}" and text[at - 1] != "\\":
            depth += 1 if text[at] == "{" else -1
            if not depth:
                return at
    return min(len(text), start + _MAX_ARGUMENT_CHARS)


def _blocks(text: str, listings: list[str]) -> Iterator[Block]:
    at = 0
    for start, end, inner in _environments(text, _TABLE):
        yield from _prose(text[at:start], listings)
        # The first group describes the columns.
        cells = inner[_end_of(inner, inner.find("{") + 1) + 1 :] if "{" in inner else inner
        yield from table_blocks(
            [_plain(cell) for cell in re.split(r"(?<!\\)&", row)[:MAX_COLUMNS]]
            for row in _RULES.sub("", cells).split(r"\\")
        )
        at = end
    yield from _prose(text[at:], listings)


def _prose(text: str, listings: list[str]) -> Iterator[Block]:
    for paragraph in re.split(r"\n\s*\n", text):
        if code := re.fullmatch(r"\s*\x1c(\d+)\x1d\s*", paragraph):
            lines = [line.rstrip() for line in listings[int(code[1])].split("\n")]
            if listing := "\n".join(line for line in lines if line).strip():
                yield Block("code", listing)
            continue
        at = 0
        while heading := _HEADING.search(paragraph, at):
            end = _end_of(paragraph, heading.end())
            yield from _pieces(paragraph[at : heading.start()])
            if title := " ".join(_plain(paragraph[heading.end() : end]).split()):
                yield Block("heading", title)
            at = end + 1
        yield from _pieces(paragraph[at:])


def _pieces(paragraph: str) -> Iterator[Block]:
    """Yield the items of a list, and what stands before and after it."""
    at = 0
    kind: BlockKind = "paragraph"
    term = ""
    for edge in [*_EDGE.finditer(paragraph), None]:
        piece = _plain(paragraph[at : edge.start() if edge else None])
        if piece:
            yield Block(kind, f"{term} {piece}".strip())
        if edge is None:
            return
        is_item = edge[0].startswith("\\item")
        kind, term = ("item" if is_item else "paragraph"), _plain(edge[1] or "") if is_item else ""
        at = edge.end()


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text

    return LatexNodes2Text(math_mode="text", keep_comments=False, strict_latex_spaces=False)


def _plain(text: str) -> str:
    """Return the text of a piece of LaTeX, on one line."""
    if len(text) > _MAX_PARAGRAPH_CHARS:
        cut = text.rfind(" ", 1, _MAX_PARAGRAPH_CHARS) + 1 or _MAX_PARAGRAPH_CHARS
        return f"{_plain(text[:cut])} {_plain(text[cut:])}".strip()
    text = _NAMING.sub("", _HYPHENATION.sub(r"\1", text))
    if not any(mark in text for mark in "\\${}~`'-"):
        return " ".join(text.split())
    depths = accumulate((letter == "{") - (letter == "}") for letter in text)
    if text.count("{") > 20 and max(depths) > _MAX_DEPTH:
        return " ".join(re.sub(r"\\[a-zA-Z]+\*?|[{}$]", " ", text).split())
    try:
        shown: str = _converter().latex_to_text(text)
    except Exception:  # pylatexenc raises whatever its parts raise
        shown = re.sub(r"\\[a-zA-Z]+\*?|[{}$]", " ", text)
    return " ".join(shown.replace("\x1c", "").replace("\x1d", "").split())
