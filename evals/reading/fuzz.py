"""Hostile and broken pages, made up: very deep, very wide, very long, cut, mutated, mislabelled; all of them seeded.

`robustness.py` reads them.
"""

# ruff: noqa: E501  -- tables of cases read better as tables

from __future__ import annotations

import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

HTML, TEXT, MARKDOWN, JSON, PDF = "text/html", "text/plain", "text/markdown", "application/json", "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
EPUB = "application/epub+zip"
ENDINGS = {HTML: "html", TEXT: "txt", MARKDOWN: "md", JSON: "json", PDF: "pdf", DOCX: "docx", EPUB: "epub"}

MEGABYTE = 1_000_000
SENTENCE = "The garden has twelve beds, and each of them was dug in the spring of 2021. "


@dataclass(frozen=True)
class Case:
    """A body to read; made when it is needed, since some are large."""

    name: str
    content_type: str
    make: Callable[[], bytes]

    @property
    def url(self) -> str:
        return f"https://fuzz.example/page.{ENDINGS.get(self.content_type, 'data')}"


def made_up_cases() -> Iterator[Case]:
    """Every case that needs no page to start from."""
    kinds = (
        (HTML, {**_nested(), **_wide(), **_long(), **_in_the_head(), **_about_itself()}),
        (TEXT, _plain()),
        (MARKDOWN, _markdown()),
        (JSON, _json()),
        (PDF, _pdf()),
        (DOCX, _docx()),
        (EPUB, _epub()),
    )
    for content_type, cases in kinds:
        for name, make in cases.items():
            yield Case(f"{ENDINGS[content_type]}: {name}", content_type, make)


def _page(body: str, head: str = "") -> bytes:
    return f"<!doctype html><html><head><title>Beds</title>{head}</head><body>{body}</body></html>".encode()


def _repeated(piece: str, times: int, *, before: str = "", after: str = "", head: bool = False) -> bytes:
    many = before + piece * times + after
    return _page(f"<p>{SENTENCE * 5}</p>", many) if head else _page(f"<p>{SENTENCE * 5}</p>{many}")


def _filled(piece: str, size: int) -> str:
    return piece * (size // len(piece) + 1)


Makers = dict[str, Callable[[], bytes]]


# HTML

_DEEP = {
    "div": "<div>", "b": "<b>", "table": "<table><tr><td>", "bare table": "<table>", "list": "<ul><li>",
    "blockquote": "<blockquote>", "font": "<font size=1>", "paragraph": "<p>", "svg": "<svg>", "math": "<math><mi>",
    "link": "<a href=/x>", "span with words": "<span>word ", "div with words": "<div>word ", "form": "<form>",
    "heading": "<h1>", "article": "<article>", "section with a heading": "<section><h2>Bed</h2>",
    "definition": "<dl><dt>a<dd>", "ruby": "<ruby><rt>", "pre": "<pre>", "main": "<main>", "iframe": "<iframe>",
    "nav": "<nav>", "sup": "<sup><a href=#a>", "noscript": "<noscript>", "template": "<template>", "select": "<select>",
    "footer": "<footer>", "object": "<object>", "details": "<details><summary>a</summary>",
}  # fmt: skip


def _nested() -> Makers:
    return {
        f"100,000 nested, {name}": partial(_repeated, tag, 100_000, after=SENTENCE) for name, tag in _DEEP.items()
    }


_MANY = {
    "paragraph": "<p>word</p>", "empty div": "<div></div>", "line break": "a<br>", "list item": "<li>one",
    "link": "<a href=/x>word</a> ", "row": "<tr><td>1<td>2</tr>", "span": "<span>a</span>", "heading": "<h2>a</h2>",
    "unclosed b": "<b>a", "comment": "<!-- a -->", "entity": "&amp;", "wrong entity": "&nonsense", "stray end": "</div>",
    "half tag": "<a", "processing instruction": "<?x y?>", "CDATA": "<![CDATA[a]]>", "footer": "<footer>a</footer>",
    "table": "<table><tr><td>a</table>", "footnote mark": "<sup><a href=#a>1</a></sup>", "doctype": "<!doctype html>",
    "numeric entity": "&#x10FFFF;", "article": "<article>a</article>", "time": "<time>2 May</time>", "image": "<img src=x>",
    "image before a word": "<img src=x>word ", "definition": "<dt>a<dd>b", "hidden": "<p hidden>a</p>", "form": "<form><input></form>", "NUL": "\0", "open": "<",
    "quote": '<p title="', "definition without end": "<dd>", "details": "<details>a", "nested inline": "<i><b>x</i></b>",
}  # fmt: skip


def _wide() -> Makers:
    return {f"a million, {name}": partial(_repeated, tag, MEGABYTE) for name, tag in _MANY.items()}


def _long() -> Makers:
    def attribute() -> bytes:
        return _page(f'<p title="{"a" * 50 * MEGABYTE}">{SENTENCE * 5}</p>')

    def attributes() -> bytes:
        return _page(f"<p {' '.join(f'a{number}=1' for number in range(MEGABYTE))}>{SENTENCE * 5}</p>")

    def tag_name() -> bytes:
        return _page(f"<{'a' * 10 * MEGABYTE}>{SENTENCE * 5}")

    def row() -> bytes:
        return _page(f"<table><tr>{'<td>cell</td>' * 200_000}</tr></table>")

    def columns() -> bytes:
        return _page(f"<table><tr>{'<th>name</th>' * 20_000}</tr>{'<tr><td>a<td>b</tr>' * 20_000}</table>")

    texts = {
        "letters": "a", "words": "word ", "sentences": SENTENCE, "blanks": " ", "line ends": "\n", "full stops": ". ",
        "abbreviations": "e.g. ", "initials": "A. B. ", "zero width": "a\u200b", "right to left": "\u202eא",
        "combining": "\u0301", "Chinese": "花园里有十二个苗床。", "Thai": "สวนมีสิบสอง", "emoji": "👩‍🌾", "digits": "1",
        "brackets": "[1]", "quotes": "“", "tags": "\U000e0041", "Arabic": "الحديقة فيها اثنا عشر. ", "dashes": "-",
        "closing quotes": '." ', "question marks": "?", "semicolons": "a;", "Hindi": "बगीचे में बारह क्यारियाँ हैं। ",
    }  # fmt: skip
    found: Makers = {
        f"10 MB of text, {name}": partial(_text_node, text, 10 * MEGABYTE) for name, text in texts.items()
    }
    found |= {
        "50 MB of text": partial(_text_node, SENTENCE, 50 * MEGABYTE),
        "an attribute of 50 MB": attribute,
        "a million attributes": attributes,
        "a tag's name of 10 MB": tag_name,
        "a row of 200,000 cells": row,
        "20,000 named columns": columns,
        "a pre of 10 MB": lambda: _page(f"<pre>{_filled(SENTENCE + chr(10), 10 * MEGABYTE)}</pre>"),
        "nothing but blanks": lambda: b" " * 50 * MEGABYTE,
        "nothing but zeros": lambda: b"\0" * 50 * MEGABYTE,
        "zeros between letters": lambda: _page("\0".join(SENTENCE * 10_000)),
    }
    return found


def _text_node(text: str, size: int) -> bytes:
    return _page(f"<p>{_filled(text, size // len(text.encode()) * len(text))}</p>")


_HEAD = {
    "style rules": "<style>{}</style>|p.a{display:block}", "half rules": "<style>{}</style>|a{",
    "half rules without end": "<style>{}</style>|a,", "closing braces": "<style>{}</style>|}}",
    "media rules": "<style>{}</style>|@media print{{a{{b:c}}}}", "open media rules": "<style>{}</style>|@media a{",
    "media rules with open rules": "<style>@media a{{{}</style>|b{{c}}", "at signs": "<style>{}</style>|@a",
    "style comments": "<style>{}</style>|/*", "selectors": "<style>{} {{display:none}}</style>|.a,",
    "hiding blanks": '<style>p{{display:{}}}</style>| ', "ld+json": '<script type="application/ld+json">{}</script>|[',
    "ld+json objects": '<script type="application/ld+json">{}</script>|{"@graph":', "refreshes":
    '{}|<meta http-equiv=refresh content="0;url=/a">', "half metas": "{}|<meta ", "half refreshes": "{}|<meta http-equiv=",
    "meta tags": '{}|<meta name="author" content="Ann">', "canonical": '{}|<link rel=canonical href="/x">',
    "base": '{}|<base href="/x">', "titles": "{}|<title>a</title>", "XML declarations": "<?xml {}|version=1 ",
}  # fmt: skip


def _in_the_head() -> Makers:
    found: Makers = {}
    for name, pattern in _HEAD.items():
        frame, _, piece = pattern.partition("|")
        before, _, after = (part.replace("{{", "{").replace("}}", "}") for part in frame.partition("{}"))
        piece = piece.replace("{{", "{").replace("}}", "}") or " "
        found[f"3 MB in the head, {name}"] = partial(
            _repeated, piece, 3 * MEGABYTE // len(piece), before=before, after=after, head=True
        )
    return found


def _about_itself() -> Makers:
    """What is looked for by patterns: days, labels, walls, standing; each over and over, nearly."""
    pieces = (
        "May 3 ", "3 May 20", "Updated ", "Updated: \xa0 ", "published on on ", "2021-", "2021-05-", "20210503", "Stand ",
        "this article has been ", "this article of ", "superseded by", "note: note: notice ", "you’re looking for ",
        "page you look page you look ", "you are reading an older ", "“", "to continue reading, ", "404 ", "page 404 not found ",
        "the page that you requested could not ", "subscribe now to ", "a-", "a | ", "a: ", "sign in to ", "ignore ",
        "Monday, ", "updated \xa0", "this these those old ", "this " + "a " * 20, "a.b", "1. ", "(a) ", "°C. ", "4 m. ",
    )  # fmt: skip
    one_line = {f"2 MB of {piece[:20]!r}": partial(_text_node, piece, 2 * MEGABYTE) for piece in pieces}
    lines = {
        f"2 MB of lines of {piece[:20]!r}": partial(_repeated, f"{piece}<br>\n", 2 * MEGABYTE // (len(piece) + 5))
        for piece in pieces
    }
    titles = {f"a title of 200 kB, {piece[:20]!r}": partial(_titled, _filled(piece, 200_000)) for piece in pieces}
    return {**one_line, **lines, **titles}


def _titled(title: str) -> bytes:
    return f"<title>{title}</title><h1>{title}</h1><p>{SENTENCE}</p><meta name=author content='{title}'>".encode()


# Plain text, Markdown, JSON


def _plain() -> Makers:
    pieces = {
        "sentences": SENTENCE, "wrapped lines": SENTENCE + "\n", "letters": "a", "lines of a letter": "a\n",
        "blank lines": "\n", "blanks": " ", "columns": "a   b\n", "tabs": "\t", "underlines": "---\n", "items": "- a\n",
        "blank pairs": "\n \n", "numbers": "1 ", "page numbers": "page 1 of 2\n", "form feeds": "a\f", "zeros": "a\0b ",
        "words": "word ", "carriage returns": "a\r", "line separators": "a\u2028", "low lines": "a\nb", "stops": "... ",
        "columns in one line": "a   ", "combining": "e\u0301", "right to left": "\u202eא ", "commas": "a, ",
    }  # fmt: skip
    found: Makers = {
        f"10 MB of {name}": lambda piece=piece: _filled(
            piece, 10 * MEGABYTE // len(piece.encode()) * len(piece)
        ).encode()
        for name, piece in pieces.items()
    }
    found["50 MB of sentences"] = lambda: _filled(SENTENCE, 50 * MEGABYTE).encode()
    found["50 MB of wrapped lines"] = lambda: _filled(SENTENCE + "\n", 50 * MEGABYTE).encode()
    found["50 MB of letters"] = lambda: b"a" * 50 * MEGABYTE
    found["10 MB of no encoding"] = lambda: random.Random(1).randbytes(10 * MEGABYTE).replace(b"\0", b"\xff")
    found["10 MB of noise"] = lambda: random.Random(2).randbytes(10 * MEGABYTE)
    found["10 MB of UTF-16"] = lambda: _filled(SENTENCE, 5 * MEGABYTE).encode("utf-16")
    found["10 MB of half a character each"] = lambda: b"\xe2\x80 " * (3 * MEGABYTE)
    return found


_MARKS = (
    "[", "]", "![", "[a](", "[a](<", "[a]: b\n", "[a][b] ", "*", "_", "*a _b ", "**a ", "*a**b", "`", "`a ``", ">", "> > a\n",
    "- ", "- a\n ", "1. ", "#", "# a\n", "|", "|a|\n|-|\n", "| a ", "\\", "<", "<a", "<!--", "&", "&a;", "&#", "~", "~~~\n", "```\n",
    "    a\n", "\t", "---\n", "===\n", "a\n===\n", "<http://a>", "<a href=", "[[a]", "[a](b '", "![a](", "**_", "(", "  \n",
    "<![CDATA[", "<?", "*a_ ", "[a]\n", "\"", "a`b``c```", "- - ", "+ * - ", "a|b\n-|-\n", "~~a", "http://a.b/", "'a' ",
)  # fmt: skip


def _markdown() -> Makers:
    found: Makers = {f"1 MB of {mark!r}": lambda mark=mark: _filled(mark, MEGABYTE).encode() for mark in _MARKS}
    found["brackets, open and closed"] = lambda: b"[" * 500_000 + b"]" * 500_000
    found["links in links"] = lambda: b"[a" * 250_000 + b"](b)" * 250_000
    found["emphasis in emphasis"] = lambda: b"*a " * 200_000 + b"a*" * 200_000
    found["quotation in quotation"] = lambda: b"\n".join(b">" * depth + b" a" for depth in range(1, 1400))
    found["list in list"] = lambda: b"\n".join(b"  " * depth + b"- a" for depth in range(1, 1000))
    found["ticks of all lengths"] = lambda: b" ".join(b"`" * length for length in range(1, 1400))
    found["front matter without end"] = lambda: b"---\n" + b"a: b\n" * 200_000
    found["10 MB of sentences"] = lambda: _filled(SENTENCE + "\n\n", 10 * MEGABYTE).encode()
    found["50 MB of sentences"] = lambda: _filled(SENTENCE, 50 * MEGABYTE).encode()
    found["a table of 100,000 rows"] = lambda: b"|a|b|\n|-|-|\n" + b"|1|2|\n" * 100_000
    found["a table of 2,000 columns"] = lambda: (b"|a" * 2000 + b"|\n" + b"|-" * 2000 + b"|\n") + b"|1|\n" * 2000
    return found


def _json() -> Makers:
    return {
        "100,000 nested lists": lambda: b"[" * 100_000 + b"]" * 100_000,
        "100,000 nested objects": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        "900 nested lists of two": lambda: b'["a b",' * 900 + b"1" + b"]" * 900,
        "lists without end": lambda: b"[" * 10 * MEGABYTE,
        "a string of 10 MB": lambda: json.dumps({"text": _filled(SENTENCE, 10 * MEGABYTE)}).encode(),
        "a string of 50 MB": lambda: json.dumps({"text": _filled(SENTENCE, 50 * MEGABYTE)}).encode(),
        "a million numbers": lambda: json.dumps(list(range(MEGABYTE))).encode(),
        "a million names": lambda: json.dumps({f"name {number}": "a b" for number in range(MEGABYTE)}).encode(),
        "300,000 records": lambda: json.dumps([{"name": "Bed", "size": 1}] * 300_000).encode(),
        "a number of a million digits": lambda: b'{"a":' + b"1" * MEGABYTE + b"}",
        "numbers beyond all": lambda: b"[1e999999,-1e999999,NaN,Infinity]",
        "names of 50 kB at 40 depths": lambda: (('{"' + "n " * 25_000 + '":') * 40 + '"a b"' + "}" * 40).encode(),
        "half surrogates": lambda: b'{"a": "\\ud800 word word \\udfff"}',
        "deep under long names": lambda: (
            ('{"' + "n" * 999 + '":[1,') * 49 + '["a b"' + ",[1]" * 100_000 + "]" + "]}" * 49
        ).encode(),
        "escaped quotes": lambda: b'{"a": "' + b'\\"' * (5 * MEGABYTE) + b'"}',
    }


# PDF


def pdf(objects: list[str | bytes], *, root: int = 1) -> bytes:
    """A PDF file of these objects, numbered from 1."""
    body, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, each in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, each.encode("latin-1") if isinstance(each, str) else each)
    at = len(body)
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    body += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root {root} 0 R >>\n".encode()
    return bytes(body + b"startxref\n%d\n%%%%EOF" % at)


_FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_CATALOG = "<< /Type /Catalog /Pages 2 0 R >>"


def _stream(content: bytes, more: str = "") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), more.encode(), content)


def _one_page(content: bytes, *, more: str = "", box: str = "0 0 612 792", page: str = "") -> bytes:
    return pdf([
        _CATALOG,
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> {page} >>",
        _stream(content, more),
        _FONT,
    ])  # fmt: skip


_SHOWN = b"BT /F 12 Tf 72 720 Td (" + SENTENCE.encode() + b") Tj ET\n"


def _pages(count: int) -> bytes:
    kids = " ".join(f"{5 + number} 0 R" for number in range(count))
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R /Resources << /Font << /F 4 0 R >> >> >>"
    return pdf(
        [_CATALOG, f"<< /Type /Pages /Kids [{kids}] /Count {count} >>", _stream(_SHOWN), _FONT, *[page] * count]
    )


def _chained_pages(depth: int) -> bytes:
    nodes = [
        f"<< /Type /Pages /Parent {1 + number} 0 R /Kids [{3 + number} 0 R] /Count 1 >>" for number in range(depth)
    ]
    return pdf([_CATALOG, *nodes, "<< /Type /Page /MediaBox [0 0 9 9] >>"])


def _deflated_bomb() -> bytes:
    import zlib

    return _one_page(zlib.compress(_SHOWN * (300 * MEGABYTE // len(_SHOWN)), 9), more="/Filter /FlateDecode")


def _twice_deflated_bomb() -> bytes:
    import zlib

    inner = zlib.compress(b" " * (1000 * MEGABYTE), 9)
    return _one_page(zlib.compress(inner, 9), more="/Filter [/FlateDecode /FlateDecode]")


def _pdf() -> Makers:
    form = "/Resources << /XObject << /X 4 0 R >> >>"
    return {
        "10,000 pages": partial(_pages, 10_000),
        "a count that is not true": lambda: pdf([_CATALOG, "<< /Type /Pages /Kids [] /Count 2000000000 >>"]),
        "pages that are their own": lambda: pdf([_CATALOG, "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 100000 >>"]),
        "a chain of 20,000 page nodes": partial(_chained_pages, 20_000),
        "a huge page": lambda: _one_page(_SHOWN, box="0 0 1e30 1e30"),
        "a page inside out": lambda: _one_page(_SHOWN, box="612 792 0 0"),
        "a page of no size": lambda: _one_page(_SHOWN, box="0 0 0 0"),
        "20 MB of shown text": lambda: _one_page(_SHOWN * (20 * MEGABYTE // len(_SHOWN))),
        "20 MB of open texts": lambda: _one_page(b"BT " * (7 * MEGABYTE)),
        "5 MB of saved states": lambda: _one_page(b"q " * (2 * MEGABYTE + 500_000)),
        "1 MB of open lists": lambda: _one_page(b"[" * MEGABYTE),
        "1 MB of open dictionaries": lambda: _one_page(b"<<" * 500_000),
        "open lists for objects": lambda: pdf([_CATALOG, "[" * MEGABYTE]),
        "300 MB in a stream": _deflated_bomb,
        "1 GB in a stream in a stream": _twice_deflated_bomb,
        "a form that draws itself": lambda: _one_page(b"/X Do " * 1000, more=f"/Type /XObject /Subtype /Form {form}", page=form),
        "a million lines": lambda: _one_page(b"0 0 m 9 9 l S\n" * MEGABYTE),
        "nothing but a head": lambda: b"%PDF-1.7\n",
        "a head and noise": lambda: b"%PDF-1.7\n" + random.Random(3).randbytes(MEGABYTE),
        "a head and zeros": lambda: b"%PDF-1.7\n" + b"\0" * (50 * MEGABYTE),
        "a million objects": lambda: pdf([_CATALOG, "<< /Type /Pages /Kids [] /Count 0 >>", *["null"] * MEGABYTE]),
        "a catalogue that is its pages": lambda: pdf(["<< /Type /Catalog /Pages 1 0 R >>"]),
    }  # fmt: skip


# Zip files


def zipped(members: dict[str, bytes | str]) -> bytes:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return body.getvalue()


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_PARAGRAPH = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>"
_LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(12))
_DOCTYPE = f'<!DOCTYPE x [<!ENTITY l0 "ha">{_LAUGHS}<!ENTITY f SYSTEM "file:///etc/passwd">]>'


def _document(body: str, before: str = "") -> bytes:
    return zipped({"word/document.xml": f"{before}<w:document {_W}><w:body>{body}</w:body></w:document>"})


def _docx() -> Makers:
    def cells(depth: int) -> str:
        return "<w:tbl><w:tr><w:tc>" * depth + _PARAGRAPH + "</w:tc></w:tr></w:tbl>" * depth

    return {
        "100,000 nested controls": lambda: _document("<w:sdt>" * 100_000 + _PARAGRAPH + "</w:sdt>" * 100_000),
        "200 nested controls": lambda: _document("<w:sdt>" * 200 + _PARAGRAPH + "</w:sdt>" * 200),
        "80 nested tables": lambda: _document(cells(80)),
        "100,000 nested tables": lambda: _document(cells(100_000)),
        "80 nested tables of two cells": lambda: _document(
            f"<w:tbl><w:tr><w:tc>{_PARAGRAPH}</w:tc><w:tc>" * 80 + _PARAGRAPH + "</w:tc></w:tr></w:tbl>" * 80
        ),
        "300,000 paragraphs": lambda: _document(_PARAGRAPH * 300_000),
        "a million empty paragraphs": lambda: _document("<w:p/>" * MEGABYTE),
        "a paragraph of 500,000 runs": lambda: _document(f"<w:p>{'<w:r><w:t>word </w:t></w:r>' * 500_000}</w:p>"),
        "a table of 300,000 rows": lambda: _document(
            f"<w:tbl>{'<w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr>' * 300_000}</w:tbl>"
        ),
        "a row of 300,000 cells": lambda: _document(f"<w:tbl><w:tr>{'<w:tc><w:p/></w:tc>' * 300_000}</w:tr></w:tbl>"),
        "a text of 90 MB": lambda: _document(f"<w:p><w:r><w:t>{_filled(SENTENCE, 90 * MEGABYTE)}</w:t></w:r></w:p>"),
        "a member of 1 GB": lambda: zipped({"word/document.xml": b" " * 1000 * MEGABYTE}),
        "entities in entities": lambda: _document("<w:p><w:r><w:t>&l9;&l12;&f;</w:t></w:r></w:p>", _DOCTYPE),
        "an entity in an attribute": lambda: _document('<w:p a="&l9;"/>' + _PARAGRAPH, _DOCTYPE),
        "names that lead out": lambda: zipped({"../../etc/word/document.xml": "x", "/word/document.xml": "y"}),
        "a zip in a zip": lambda: zipped({"word/document.xml": zipped({"word/document.xml": b"x" * MEGABYTE})}),
        "50,000 members": lambda: zipped({f"word/document.xml{number}": b"" for number in range(50_000)}),
        "the same member 1,000 times": _same_member,
        "line breaks": lambda: _document(f"<w:p><w:r>{'<w:br/>' * MEGABYTE}</w:r></w:p>{_PARAGRAPH}"),
        "styles": lambda: zipped({
            "word/document.xml": f"<w:document {_W}><w:body>{_PARAGRAPH}</w:body></w:document>",
            "word/styles.xml": f"<w:styles {_W}>{'<w:style/>' * MEGABYTE}</w:styles>",
        }),
    }  # fmt: skip


def _same_member() -> bytes:
    import warnings

    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(1000):
            archive.writestr("word/document.xml", b"x" * 100_000)
    return body.getvalue()


_CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="book.opf"/></rootfiles></container>'
)


def book(chapters: dict[str, bytes | str], *, spine: int = 1, before: str = "", container: str = _CONTAINER) -> bytes:
    """An EPUB of these members, whose spine names each of them `spine` times."""
    items = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate(chapters)
    )
    references = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters))) * spine
    package = (
        f'{before}<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}</manifest>'
        f"<spine>{references}</spine></package>"
    )
    members: dict[str, bytes | str] = {"META-INF/container.xml": container, "book.opf": package, **chapters}
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, content in members.items():
            archive.writestr(name, content)
    return body.getvalue()


def _epub() -> Makers:
    chapter = f"<html><body><p>{SENTENCE * 5}</p></body></html>"
    return {
        "2,000 chapters": lambda: book({f"c{number}.xhtml": chapter for number in range(2_000)}),
        "one empty chapter 100,000 times": lambda: book({"c.xhtml": "<html/>"}, spine=100_000),
        "one long chapter 1,000 times": lambda: book({"c.xhtml": f"<p>{SENTENCE * 20_000}</p>"}, spine=1_000),
        "one chapter of markup 1,000 times": lambda: book({"c.xhtml": "<i></i>" * 400_000}, spine=1_000),
        "chapters of 90 MB": lambda: book({f"c{n}.xhtml": _filled(SENTENCE, 30 * MEGABYTE) for n in range(3)}),
        "a deep chapter": lambda: book({"c.xhtml": "<div>" * 100_000 + SENTENCE}),
        "chapters outside": lambda: book({"../../../etc/passwd": chapter, "/etc/hosts": chapter}),
        "entities in entities": lambda: book({"c.xhtml": chapter}, before=_DOCTYPE),
        "a package that is its container": lambda: book(
            {"c.xhtml": chapter}, container=_CONTAINER.replace("book.opf", "META-INF/container.xml")
        ),
        "no container": lambda: book({"c.xhtml": chapter}, container="<container/>"),
    }


# From pages that there are


def mutants_of(name: str, body: bytes, content_type: str, count: int, chance: random.Random) -> Iterator[Case]:
    """So many broken copies of a page: bytes flipped, pieces cut, doubled or moved, the end lost, the type wrong."""
    for number in range(count):
        change = chance.choice(_CHANGES)
        seed = chance.randrange(2**32)
        kind = chance.choice(list(ENDINGS)) if change is _unchanged else content_type
        label = f"{name}, {change.__name__.strip('_')} ({number})"
        yield Case(label, kind, partial(lambda change, seed: change(body, random.Random(seed)), change, seed))


def truncations_of(name: str, body: bytes, content_type: str, parts: int = 20) -> Iterator[Case]:
    """The page, cut after every twentieth of it."""
    for part in range(1, parts):
        yield Case(
            f"{name}, {part}/{parts}", content_type, partial(lambda end: body[:end], len(body) * part // parts)
        )


def _flipped(body: bytes, chance: random.Random) -> bytes:
    found = bytearray(body)
    for _ in range(chance.randint(1, max(1, len(body) // 100))):
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)
    return bytes(found)


def _piece(body: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(body))
    return start, min(len(body), start + chance.randint(1, max(1, len(body) // 4)))


def _cut(body: bytes, chance: random.Random) -> bytes:
    start, end = _piece(body, chance)
    return body[:start] + body[end:]


def _doubled(body: bytes, chance: random.Random) -> bytes:
    start, end = _piece(body, chance)
    return body[:end] + body[start:end] * chance.randint(1, 20) + body[end:]


def _moved(body: bytes, chance: random.Random) -> bytes:
    start, end = _piece(body, chance)
    rest, to = body[:start] + body[end:], chance.randrange(len(body))
    return rest[:to] + body[start:end] + rest[to:]


def _zeroed(body: bytes, chance: random.Random) -> bytes:
    start, end = _piece(body, chance)
    return body[:start] + b"\0" * (end - start) + body[end:]


def _ended(body: bytes, chance: random.Random) -> bytes:
    return body[: chance.randrange(1, len(body) + 1)]


def _without_ends(body: bytes, chance: random.Random) -> bytes:
    """Most end tags lost."""
    pieces = body.split(b"</")
    return b"".join(piece if chance.random() < 0.7 else b"</" + piece for piece in pieces)


def _unchanged(body: bytes, chance: random.Random) -> bytes:
    """To be read as another type."""
    return body


_CHANGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flipped, _cut, _doubled, _moved, _zeroed, _ended, _without_ends, _unchanged,
)  # fmt: skip
