"""Markdown → HTML and the fields of its front matter: CommonMark with tables and definition lists.

What MkDocs, Docusaurus, MyST and Obsidian add is written as plain Markdown first: their admonitions, tabs, callouts,
wiki links, attributes, footnotes, snippets and comments. Own code beside the plugins of mdit-py-plugins: they know
two of these, and that for footnotes takes quadratic time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from marchwarden.reading.files.markup.roles import VERSIONS, role_text
from marchwarden.text.invisible import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n(?:---|\.\.\.)\n", re.DOTALL)
_FRONT_ITEM = re.compile(r"\s*-\s+(?:name\s*:\s*)?(\S.*)")
# Characters that are read: the parser takes about 10 µs for each that is a mark.
_MAX_MARKDOWN_CHARS = 1_000_000


def markdown_markup(text: str) -> tuple[str, dict[str, str]]:
    """Return Markdown as HTML, and the fields of its front matter."""
    text = visible(text)[:_MAX_MARKDOWN_CHARS]
    front = _FRONT_MATTER.match(text)
    # Front matter is YAML; its plain fields are all that is needed of it.
    fields: dict[str, str] = {}
    last = ""
    for line in front[1].split("\n") if front else ():
        if last and (item := _FRONT_ITEM.fullmatch(line)):
            fields[last] = "; ".join(filter(None, (fields[last], item[1].strip().strip("\"'"))))
            continue
        name, colon, value = line.partition(":")
        if colon and name.strip():
            key, said = name.strip().lower(), value.strip().strip("\"'")
            if line[0].isspace():  # of an item of a list
                fields.setdefault(key, said)
            else:
                fields[key], last = said, key
    body = _parser().render(plain_markdown(text[front.end() :] if front else text))
    return f"<html><body>{body}</body></html>", fields


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin

    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(deflist_plugin)


_FENCE = re.compile(r"(?:[ \t]*>)*[ \t]*(`{3,}|~{3,})[ \t]*(.*)")
_INDENTED_HEAD = re.compile(r'([ \t]*)(?:!!!|\?\?\?\+?|===\+?!?)[ \t]+([\w -]*?)[ \t]*(?:"(.*)")?[ \t]*')
_NOTE = re.compile(r"([ \t]{0,3})\[\^[^\]\s]+\]:[ \t]*(.*)")
_CALLOUT = re.compile(r"((?:[ \t]*>)+[ \t]*)\[!\w+\][+-]?[ \t]*(.*)")
_COLON_FENCE = re.compile(r"[ \t]*:{3,}[ \t]*(?:\{?([\w-]+)\}?)?[ \t]*(?:\[(.*)\]|(.*))")
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}[ \t]*(.*)")
_DROPPED_LINE = re.compile(
    # Tags of Obsidian (`#Heading` may be meant as a heading, and `    #endif` is code).
    r"(?: {0,3}(?:#[a-z][\w/-]*|#[^\W\d][\w/-]*(?:[ \t]+#[^\W\d][\w/-]*)+)"
    # Contents, snippets, abbreviations.
    r"|[ \t]*(?:\[TOC\]|\[\[_TOC_\]\]|-+8<-+[ \t]+\S.*|<!-- *-+8<-+.*|\*\[[^\]]+\]:.*"
    r"|\{:?[ \t]*(?:[#.][\w:-]+|[\w-]+=\S+)[^{}]*\}|\{%.*%\}|\{\{[<%].*[>%]\}\}))[ \t]*"
)
_SNIPPETS = re.compile(r"[ \t]*-+8<-+[ \t]*")
# Directives of MyST whose content is text. Others hold code, or name files.
_TEXT_DIRECTIVES = re.compile(
    r"admonition|attention|caution|danger|error|hint|important|note|seealso|tip|warning|version(?:added|changed)|deprecated"
    r"|margin|sidebar|topic|epigraph|dropdown|card|grid(?:-item)?|tab(?:-item|-set|bed)?"
)
_FILE_DIRECTIVES = re.compile("toctree|(?:literal)?include|(?:tableof)?contents|image|figure")


# Characters of the line that opens an admonition, at most. A guess that bounds the work.
_MAX_HEAD_CHARS = 300


def plain_markdown(text: str) -> str:
    """Return Markdown without extensions; code stays as it is, and so does the order of all that is shown."""
    pieces: list[str] = []
    run: list[str] = []
    for is_code, line in _lines(text):
        if not is_code:
            run.append(line)
            continue
        if run:
            pieces.append(_without_inline("\n".join(run)))
            run = []
        pieces.append(line)
    if run:
        pieces.append(_without_inline("\n".join(run)))
    return "\n".join(pieces)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the lines, each with True where it is code; texts of admonitions and tabs are moved left."""
    opened: list[int] = []  # indents of the admonitions that are open, each in what is left of the one before
    fence = ""  # that opened the code
    is_shown = True
    directives: list[str] = []  # fences of directives that hold text
    in_snippets = False
    for raw in text.split("\n"):
        line = raw.expandtabs(4) if opened or raw[:1] == "\t" else raw
        for place, indent in enumerate(opened):
            if line.startswith(" " * (indent + 4)):
                line = line[:indent] + line[indent + 4 :]
            else:
                if line.strip() and not fence:
                    del opened[place:]
                break
        mark = _FENCE.fullmatch(line)
        if fence:
            if is_shown:
                yield True, line
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = ""
        elif mark and directives and not mark[2] and mark[1] == directives[-1]:
            directives.pop()
            yield False, ""
        elif mark:
            named = _DIRECTIVE.match(mark[2])
            if named and _TEXT_DIRECTIVES.fullmatch(named[1]):
                directives.append(mark[1])
                since = VERSIONS.get(named[1])
                yield from ((False, each) for each in _title("", f"{since} {named[2]}" if since else named[2]))
                continue
            fence, is_shown = mark[1], not (named and _FILE_DIRECTIVES.fullmatch(named[1]))
            if is_shown:
                yield True, line
        elif _SNIPPETS.fullmatch(line):
            in_snippets = not in_snippets
        elif in_snippets or _DROPPED_LINE.fullmatch(line):
            yield False, ""
        elif len(line) > _MAX_HEAD_CHARS:
            yield False, line
        elif head := _INDENTED_HEAD.fullmatch(line):
            # A list item can hold one: then its text stays with the item, as deep as the head.
            opened.append(len(head[1]))
            yield from ((False, each) for each in _title(head[1], head[3] or ""))
        elif note := _NOTE.fullmatch(line):
            if not note[1]:
                opened.append(0)
            yield False, ""
            yield False, f"{note[1]}{note[2]}"
        elif callout := _CALLOUT.fullmatch(line):
            yield from ((False, each) for each in _title(callout[1], callout[2]))
        elif colons := _COLON_FENCE.fullmatch(line):
            yield from ((False, each) for each in _title("", colons[2] or colons[3] or ""))
        else:
            yield False, line


def _title(before: str, title: str) -> list[str]:
    """Return the title of an admonition as a paragraph of its own; a kind alone ("note") says nothing."""
    return [before, f"{before}{title}", before] if title.strip() else [before]


# Characters of inline code, and of a comment, at most. Guesses that bound the work.
_MAX_INLINE_CHARS, _MAX_COMMENT_CHARS = 500, 5000
# Alternatives that begin with different marks, so that each character is looked at by few of them.
_INLINE = re.compile(
    # A role of MyST: {ref}`title <label>`
    rf"\{{[a-zA-Z][\w.+:-]{{0,60}}\}}(?P<quote>`+)(?!`)(?P<role>.{{1,{_MAX_INLINE_CHARS}}}?)(?<!`)(?P=quote)(?!`)"
    # An address from a template ({{ site.url }}/a, {% link a.md %}), whose blanks keep it from being a link.
    r"|(?<=\]\()(?P<templated>[^()\s{}]*\{[{%][^{}\n]{1,200}[}%]\}[^()\s]*)(?=\))"
    rf"|(?P<code>(?<!`)(?P<ticks>`+)(?!`).{{1,{_MAX_INLINE_CHARS}}}?(?<!`)(?P=ticks)(?!`))"
    rf"|%%[^%]{{1,{_MAX_COMMENT_CHARS}}}%%"
    r"|!\[\[[^\[\]\n]*\]\]"  # an embedded file
    r"|\[\[(?P<page>[^\[\]|\n]+)(?:\\?\|(?P<alias>[^\[\]\n]+))?\]\]"
    r"|\[\^[^\[\]\s]{1,100}\]"  # a note's mark
    r"|==(?P<marked>[^=\s](?:[^=\n]*[^=\s])?)=="
    r"|\+\+(?P<keys>[\w-]+(?:\+[\w-]+)*|\"[^\"\n]+\")\+\+"
    r"|\{(?:\+\+(?P<inserted>[^{}]+)\+\+|--[^{}]+--|>>[^{}]+<<)\}"  # tracked changes
    r"|(?P<todo>^[ \t]*(?:[-*+]|\d+[.)])[ \t]+)\[(?P<done>[ xX])\](?=[ \t])"
    r"|[ \t]\^[\w-]+$"  # a block's name
    r"|[ \t]{0,9}(?<=[\w)\]}`*_.\"' \t])"
    r"\{:?[ \t]*(?:[#.][\w:-]+|[\w-]+=(?:\"[^\"\n]*\"|[^\s{}]+))(?:[ \t][^{}\n]*)?\}"
    r"|:(?:material|octicons|fontawesome|simple)-[\w-]+:"
    r"|\{%[^{}\n]*%\}|\{\{[<%][^{}\n]*[>%]\}\}"
    r"|(?<=[ \t])\(\d+\)!(?=\s|$)",  # a note's mark
    re.MULTILINE,
)


def _without_inline(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        if role := found["role"]:
            return f"{found['quote']}{role_text(role)}{found['quote']}"
        if found["templated"]:
            return re.sub(r"\s", "", found[0])
        if page := found["page"]:
            return (found["alias"] or page.strip("#^").replace("#", " › ")).strip()
        if found["todo"]:
            return f"{found['todo']}{'☐' if found['done'] == ' ' else '☑'}"
        return found["marked"] or (found["keys"] or "").strip('"') or found["inserted"] or ""

    return _INLINE.sub(shown, text)
