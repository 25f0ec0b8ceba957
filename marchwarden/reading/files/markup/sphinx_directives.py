"""Roles and directives that docutils doesn't know, Sphinx's above all: they are read for their text.

docutils keeps them in tables of the process. Only names that it lacks are added, each always with the same meaning,
so that a file is read in the same way whatever was read before it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList

from marchwarden.reading.files.markup.roles import VERSIONS, role_text

# Names of one file that are added. A guess.
_MAX_NAMES = 200
_ROLE = re.compile(r":([a-z][\w.+:-]{0,60}):`", re.IGNORECASE)
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w.+:-]{1,60}?)::", re.MULTILINE)
# Directives that name files and modules, or draw: nothing of them is text.
_NOT_SHOWN = re.compile(
    r"toctree|literalinclude|only-latex|index|tabularcolumns|highlight|(?:py:)?(?:current)?module|auto\w+|(?:di)?graph"
    r"|graphviz|plot|mermaid|uml|.*-diagram|bibliography|test(?:setup|cleanup)|default-domain|video|youtube"
)
_CODE = re.compile(r"sphinx-.*|prompt|test(?:code|output)|doctest|ipython|jupyter-.*|productionlist|.*code.*")


def register_missing(text: str) -> None:
    """Register the roles and directives of a text that docutils lacks."""
    for name in islice({found.lower() for found in _ROLE.findall(text)}, _MAX_NAMES):
        if name not in en.roles:
            roles.register_local_role(name, _role)
    for name in islice({found.lower() for found in _DIRECTIVE.findall(text)}, _MAX_NAMES):
        if name in en.directives:
            continue
        kind: type[Directive] = _Shown
        if _NOT_SHOWN.fullmatch(name):
            kind = _Unseen
        elif name in VERSIONS:
            kind = _Version
        elif _CODE.fullmatch(name):
            kind = _Code
        directives.register_directive(name, kind)


def _role(name: str, rawtext: str, text: str, *_: Any, **__: Any) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """Return the text of a role as nodes of docutils."""
    return [nodes.Text(role_text(text.replace("\0", "")))], []


class _Unseen(Directive):
    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    content: StringList
    # Any option is accepted.
    option_spec: ClassVar[dict[str, Any]] = defaultdict(lambda: directives.unchanged, {"class": directives.unchanged})

    def run(self) -> list[nodes.Node]:
        return []

    def parsed(self) -> list[nodes.Node]:
        """Return the nodes of the content."""
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder)
        return list(holder.children)

    def line(self, text: str) -> nodes.paragraph:
        """Return a paragraph of a text with markup."""
        return nodes.paragraph("", "", *self.state.inline_text(text, self.lineno)[0])


class _Shown(_Unseen):
    """A box with a title, or the description of a function with its signature."""

    def run(self) -> list[nodes.Node]:
        above = " ".join(self.arguments).strip()
        if not above:
            return self.parsed()
        if "(" in above:
            lines = filter(None, map(str.strip, above.split("\n")))
            return [*(nodes.paragraph("", "", nodes.Text(line)) for line in lines), *self.parsed()]
        return [self.line(above), *self.parsed()]


class _Code(_Unseen):
    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        return [nodes.literal_block(code, code, classes=["code"])] if code.strip() else []


class _Version(_Unseen):
    def run(self) -> list[nodes.Node]:
        version, text = [*" ".join(self.arguments).split(None, 1), "", ""][:2]
        lead = f"{VERSIONS[self.name.lower()]} {version}"
        if text.strip():
            self.content = StringList([text.strip(), "", *self.content])
        inner = self.parsed()
        if inner and isinstance(inner[0], nodes.paragraph):
            inner[0].insert(0, nodes.Text(f"{lead}: "))
            return inner
        return [nodes.paragraph("", "", nodes.Text(f"{lead}.")), *inner]
