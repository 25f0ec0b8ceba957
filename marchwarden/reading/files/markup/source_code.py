"""Source code → blocks: each definition with the comment above it and the documentation in it.

A definition that is too long for one excerpt is its head (comment, signature, documentation) and the definitions
inside; all of them stand below its name. Only indentation, blank lines and comment marks are looked at, so that a
file is read alike in every version. Own code beside tree-sitter, which needs a compiled grammar for each language,
and Python's `ast`, which reads one language, and otherwise in each version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.text_blocks import MOST_CHARACTERS, Block, first_blocks
from marchwarden.text.invisible import visible

# Levels of definitions that are looked into. A guess: a method in a class in a namespace.
_MAX_DEPTH = 4
# Characters of a line that can begin a definition. A guess that bounds the work.
_MAX_LINE_CHARS = 400

_COMMENT = re.compile(r"\s*(?:#(?!include|define|if|endif|else|pragma)|//|/\*|\*|--|;;|%|@|\[|'''|\"\"\")")
_CLOSER = re.compile(r"\s*(?:[)\]}]|end\b|else\b|elif\b|except\b|finally\b|catch\b|then\b|fi\b|done\b|esac\b)")
_NAME = re.compile(
    r"(?:\b(?:def|class|func|fun|fn|function|interface|struct|enum|trait|impl|mod|module|namespace|object|record|type|protocol"
    r"|extension|sub|macro|TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX)\b[*\s]+(?:IF\s+NOT\s+EXISTS\s+)?(?:\([^)]*\)\s*)?"
    r"(?P<named>[A-Za-z_$][\w.:$]*))"
    r"|(?:\b(?:const|let|var|val)\s+(?P<assigned>[A-Za-z_$][\w$]*)\s*=)"
    # A function without such a word: `int main(void)`, `warn(level) {`.
    r"|^\s*(?!(?:return|if|for|while|switch|else|await|yield|raise|throw|new|import|from|assert|with|elif|case)\b)"
    r"(?:(?P<typed>[\w:*&<>~\[\],]+\s+(?:[\w:*&<>~\[\],]+\s+)*[*&]*)?(?P<called>[A-Za-z_~][\w:~]*)\s*\([^;=]*$)"
)
_DOCUMENTATION = re.compile(r"\s*[rRuUbB]?(\"\"\"|''')")


def read_source(body: bytes, content_type: str | None) -> FileContent:
    """Read a file of source code; blank lines are left out, all else stays as it is."""
    text = visible(decode(body, content_type))[:MOST_CHARACTERS].expandtabs(4)
    lines = [line.rstrip() for line in text.split("\n")]
    return FileContent(tuple(first_blocks(_blocks(lines, (), 0))), is_prose=False)


def _blocks(lines: list[str], above: tuple[str, ...], depth: int) -> Iterator[Block]:
    for piece in _pieces(lines):
        shown = [line for line in piece if line.strip()]
        text = "\n".join(shown)
        name = _name_in(next((line for line in shown if not _COMMENT.match(line)), ""))
        names = (*above, name) if name else above
        header = " › ".join(names) or None
        head = _head_of(shown) if len(text) > EXCERPT_LIMIT and depth < _MAX_DEPTH else len(shown)
        indent = min(map(_indent, shown[:head]), default=0)
        yield Block("code", "\n".join(line[indent:] for line in shown[:head]).strip(), header=header)
        if head < len(shown):
            # The lines with the blank ones, by which the definitions inside are told apart.
            filled = [at for at, line in enumerate(piece) if line.strip()]
            rest = piece[filled[head] :]
            yield from _blocks(rest, names, depth + 1)


def _pieces(lines: list[str]) -> Iterator[list[str]]:
    """Yield runs of lines: each begins at the least indentation, after a blank line or with a definition's name."""
    base = min((_indent(line) for line in lines if line.strip()), default=0)
    piece: list[str] = []
    is_after_blank = False
    in_text = ""  # mark of a text over several lines, whose lines are no definitions
    for line in lines:
        if not line.strip():
            is_after_blank = True
            piece.append(line)
            continue
        if not in_text and piece and _indent(line) == base and not _CLOSER.match(line):
            only_comments = all(_COMMENT.match(each) for each in piece if each.strip())
            last = next((each for each in reversed(piece) if each.strip()), "")
            begins = is_after_blank or (_name_in(line) and _indent(last) > base)
            if begins and not (only_comments and not is_after_blank):
                yield piece
                piece = []
        for mark in ('"""', "'''"):
            if in_text in ("", mark) and line.count(mark) % 2:
                in_text = "" if in_text else mark
        piece.append(line)
        is_after_blank = False
    if any(line.strip() for line in piece):
        yield piece


def _head_of(lines: list[str]) -> int:
    """Return the number of lines of a definition's head: those up to its body, and the documentation in it."""
    base = _indent(lines[-1]) if _CLOSER.match(lines[-1]) else min(map(_indent, lines))
    first = next((at for at, line in enumerate(lines) if not _COMMENT.match(line)), 0)
    body = next((at for at in range(first + 1, len(lines)) if _indent(lines[at]) > base), len(lines))
    # A signature over several lines ends with a line at the left.
    closer = next((at for at in range(body, len(lines)) if lines[at].lstrip()[:1] == ")"), 0)
    if closer and _indent(lines[closer]) == base and sum(map(len, lines[first:closer])) < EXCERPT_LIMIT:
        body = closer + 1
    if body < len(lines) and (opened := _DOCUMENTATION.match(lines[body])):
        if lines[body].count(opened[1]) > 1:
            return body + 1
        ends = (at + 1 for at in range(body + 1, len(lines)) if opened[1] in lines[at])
        return next(ends, len(lines))
    while body < len(lines) and _COMMENT.match(lines[body]):
        body += 1
    return body


def _name_in(line: str) -> str:
    found = _NAME.search(line[:_MAX_LINE_CHARS])
    if found is None or (found["called"] and not (found["typed"] or line.endswith("{"))):
        return ""
    return str(found["named"] or found["assigned"] or found["called"]).strip(".:")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
