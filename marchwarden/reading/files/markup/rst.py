"""reStructuredText → blocks, by docutils; what Sphinx adds to it is read for its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from marchwarden.observations import Failure, FailureKind
from marchwarden.reading.decoding import decode
from marchwarden.reading.files.content import FileContent
from marchwarden.reading.files.markup.rendered import rendered_blocks
from marchwarden.reading.html.dates import as_date
from marchwarden.reading.text_blocks import first_blocks
from marchwarden.text.invisible import visible

# Characters that are read: docutils takes about 30 µs for each. A guess.
_MAX_CHARS = 400_000
# Blanks before a line, and equal marks in a row: docutils takes stack frames and quadratic time for them. Guesses.
_MAX_BLANKS, _MAX_EQUAL_MARKS = 200, 200

_BLANKS = re.compile(rf"^([ \t]{{{_MAX_BLANKS}}})[ \t]+", re.MULTILINE)
_EQUAL_MARKS = re.compile(rf"([^\w\s]|\+[-=])\1{{{_MAX_EQUAL_MARKS},}}")
_BLOCK_EDGE = re.compile(r"\n[ \t]*\n")
_MARKS = re.compile(r"[*`|_]+")
# Marks of a block times its characters: docutils looks for the end of each up to the end of the block. A guess.
_MAX_SEARCHED = 100_000_000
# docutils refuses a text with longer lines than "line_length_limit".
_MAX_LINE_CHARS = 5000
# Directives that change what later files mean, or say another thing tomorrow: without `::`, they are comments.
_UNSTEADY = re.compile(r"^([ \t]*\.\.[ \t]+)(?:(?:default-)?role|\|[^|\n]+\|[ \t]+date)::", re.MULTILINE)
# docutils knows directives for code that refuse the options of Sphinx.
_CODE_DIRECTIVE = re.compile(r"^([ \t]*\.\. )(code|code-block|sourcecode)::", re.MULTILINE)
_CODE_MARK = re.compile(r"\bsphinx-(code|code-block|sourcecode)(?=::)")

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,  # nothing is reported,
    "halt_level": 5,  # and nothing ends the reading
    "traceback": True,  # exceptions are raised, not written to stderr
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "stylesheet": None,
    "syntax_highlight": "none",
    "math_output": "LaTeX",
    "toc_backlinks": False,
    "footnote_backlinks": False,
    "line_length_limit": 10_000,
}


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, cut at the first blank behind each _MAX_LINE_CHARS characters."""
    begin = 0
    while (end := line.find(" ", begin + _MAX_LINE_CHARS)) >= 0:
        yield line[begin:end]
        begin = end + 1
    yield line[begin:]


def read_rst(body: bytes, content_type: str | None) -> FileContent | Failure:
    """Read a text; no file that it names is read, and raw HTML in it is left out."""
    text = visible(decode(body, content_type))[:_MAX_CHARS]
    text = _BLANKS.sub(r"\1", text)
    text = _EQUAL_MARKS.sub(lambda found: found[1] * _MAX_EQUAL_MARKS, text)
    text = _BLOCK_EDGE.sub("\n\n", text)
    # A block loses its marks where docutils would look too long for the ends of them.
    text = "\n\n".join(
        block if sum(map(block.count, "*`|_")) * len(block) < _MAX_SEARCHED else _MARKS.sub(" ", block)
        for block in text.split("\n\n")
    )
    text = "\n".join(piece for line in text.split("\n") for piece in _pieces(line))
    text = _CODE_DIRECTIVE.sub(r"\1sphinx-\2::", _UNSTEADY.sub(r"\1", text))
    try:
        markup, facts = _render(text)
    except Exception as error:  # docutils raises whatever its parts raise
        detail = f"the reStructuredText is built in a way that can't be read ({type(error).__name__})"
        return Failure(FailureKind.NO_TEXT, detail)
    blocks, links = rendered_blocks(markup)
    return FileContent(
        tuple(first_blocks(blocks)),
        title=facts.get("title"),
        authors=(facts.get("author", ""),),
        published=as_date(facts.get("date", "")),
        links=tuple(links),
    )


def _reader() -> Any:
    """Return docutils' reader without its substitutions: those that name others grow without bounds."""
    from docutils.readers.standalone import Reader
    from docutils.transforms.references import Substitutions

    class SteadyReader(Reader):
        def get_transforms(self) -> list[Any]:
            return [each for each in super().get_transforms() if each is not Substitutions]

    return SteadyReader("rst")


def _render(text: str) -> tuple[str, dict[str, str]]:
    """Return the text as HTML, and title, author and date as it states them."""
    from docutils import nodes
    from docutils.core import publish_doctree, publish_from_doctree

    from marchwarden.reading.files.markup.sphinx_directives import register_missing

    register_missing(text)
    tree = publish_doctree(text, reader=_reader(), settings_overrides=_SETTINGS)
    # The text of each substitution is written where it is referred to, until _MAX_CHARS are written.
    left = _MAX_CHARS
    for reference in list(tree.findall(nodes.substitution_reference)):
        definition = tree.substitution_defs.get(reference.get("refname", ""))
        shown = definition.astext() if definition is not None else f"|{reference.astext()}|"
        if reference.parent is not None and left > 0:
            left -= len(shown)
            reference.parent.replace(reference, nodes.Text(shown))
    facts = {"title": tree.get("title", "")}
    for name, kind in (("author", nodes.author), ("date", nodes.date)):
        found = next(iter(tree.findall(kind)), None)
        facts[name] = found.astext() if found is not None else ""
    unseen = (nodes.image, nodes.decoration, nodes.system_message, nodes.comment, nodes.substitution_definition)
    for listing in tree.findall(nodes.literal_block):
        # So that the reader of the HTML needn't guess, of a single line neither.
        listing["classes"].append("code")
        listing += nodes.Text("\n")
    for node in list(tree.findall()):
        is_contents = isinstance(node, nodes.topic) and "contents" in node["classes"]
        if node.parent is None:
            continue
        if is_contents or isinstance(node, unseen):
            node.parent.remove(node)
        elif isinstance(node, nodes.problematic):  # markup that could not be read is shown as it is written
            node.parent.replace(node, nodes.Text(node.astext()))
        elif isinstance(node, nodes.Text) and isinstance(node.parent, nodes.literal_block | nodes.literal):
            node.parent.replace(node, nodes.Text(_CODE_MARK.sub(r"\1", node.astext())))
    markup = publish_from_doctree(
        tree, writer="html5", settings_overrides={**_SETTINGS, "output_encoding": "unicode"}
    )
    # Notes and admonitions stand in <aside>, which on a page of the web is beside the text.
    return re.sub(r"<(/?)aside\b", r"<\1div", str(markup)), {name: value for name, value in facts.items() if value}
