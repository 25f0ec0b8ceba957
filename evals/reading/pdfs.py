"""Sentences of PDFs that come out whole, beside the source that they were typeset from.

    python evals/reading/pdfs.py --path pairs [--part even|odd] [--reader here pdfium pdfminer pymupdf4llm] [--wrong]

`pairs` holds a PDF `x.pdf` beside `x.jats` (JATS XML) or `x.tex` (LaTeX). Sentences of the source's paragraphs are
compared as sequences of words. Sentences with formulas or other commands are left out. *exact* is the share that are
one passage of the PDF, *whole* the share that stand in its text in one piece. *true* is the share of passages before
the references that stand in the source in one piece; it is given for JATS only, which has the whole text. *letters*
is the share of sentences that stand in the text with every mark. *named* is the share of table rows that come out as
one row under the names of their columns. Small raised numbers are marks of notes, which the sources do not have.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lxml import etree

from marchwarden.observations import Failure
from marchwarden.reading.files.pdf import read_pdf, read_text_layer
from marchwarden.reading.files.pdf_layout import pdf_blocks
from marchwarden.reading.files.plain_text import plain_blocks
from marchwarden.reading.passages import lay_out
from marchwarden.reading.text_blocks import Block
from marchwarden.text.segmentation.sentences import sentences

# Words of a sentence that is counted, at least, and characters, at most: a longer one is no passage.
_LEAST_WORDS, _MOST_CHARS = 6, 480

_WORD = re.compile(r"[^\W_]+")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl"})
_MARKS = str.maketrans("", "", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def words(text: str) -> str:
    return " " + " ".join(_WORD.findall(text.translate(_LIGATURES).translate(_MARKS).lower())) + " "


def letters(text: str) -> str:
    return " ".join(text.translate(_LIGATURES).translate(_MARKS).split())


# Sources


def jats_rows(path: Path) -> list[tuple[str, str]]:
    """Return the rows of tables, each below the names of its columns."""
    found = []
    for table in etree.parse(str(path), etree.XMLParser(recover=True, huge_tree=True)).iterfind(".//table"):
        head, *rows = [words(" ".join(row.itertext())) for row in table.iter("tr")] or [""]
        found += [(head, row) for row in rows]
    return found


def jats_paragraphs(path: Path) -> tuple[list[str], str]:
    tree = etree.parse(str(path), etree.XMLParser(recover=True, huge_tree=True))
    whole = " ".join(tree.getroot().itertext())
    found = []
    for paragraph in tree.iterfind(".//body//p"):
        if paragraph.find(".//inline-formula") is None and paragraph.find(".//disp-formula") is None:
            found.append(" ".join("".join(paragraph.itertext()).split()))
    return found, whole


_COMMENT = re.compile(r"(?<!\\)%.*")
_KEPT = re.compile(r"\\(?:emph|textit|textbf|textsc|text|url|underline|textrm)\{([^{}]*)\}")
_CITED = re.compile(r"~?\\(?:cite[a-z]*|ref|autoref|cref|eqref)\*?(?:\[[^\]]*\])*\{[^{}]*\}")


def latex_paragraphs(path: Path) -> tuple[list[str], str]:
    text = "\n".join(_COMMENT.sub("", line) for line in path.read_text(errors="replace").splitlines())
    text = text.split("\\begin{document}")[-1].split("\\begin{thebibliography}")[0]
    text = _CITED.sub(" \\\\cite ", _KEPT.sub(r"\1", text))
    text = text.replace("``", '"').replace("''", '"').replace("~", " ").replace("\\%", "%").replace("\\&", "&")
    text = re.sub(r"\\item\b(\[[^\]]*\])?|\\(?:sub)*section\*?\{[^}]*\}|\\label\{[^}]*\}", "\n\n", text)
    text = re.sub(r"\\(?:begin|end)\{(?:itemize|enumerate|abstract)\}", "\n\n", text)
    return [" ".join(each.split()) for each in re.split(r"\n\s*\n", text)], ""


def wanted_sentences(paragraphs: Iterable[str], language: str) -> list[str]:
    found = []
    for paragraph in paragraphs:
        for start, end in sentences(paragraph, language):
            sentence = paragraph[start:end].strip()
            plain = not re.search(r"[\\${}^_]|\[@", sentence) and sentence[-1:] in ".?!؟"
            if plain and len(_WORD.findall(sentence)) >= _LEAST_WORDS and len(sentence) <= _MOST_CHARS:
                found.append(letters(sentence))
    return list(dict.fromkeys(found))


# The number of an item or a caption, which sources leave to the typesetter.
_ITEM = re.compile(r"^\W*(?:(?:\d{1,3}|[a-z])[.):]\s|(?:figure|fig\.|table)\s*\d+\s*[:.])", re.IGNORECASE)


# Readers


def here(body: bytes) -> list[Block]:
    found = read_pdf(body)
    return [] if isinstance(found, Failure) else list(found.blocks)


def line_by_line(body: bytes) -> list[Block]:
    """Read a PDF whose columns are drawn line by line: the pieces of each page come from top to bottom."""
    layer = read_text_layer(body)
    if isinstance(layer, Failure):
        return []
    pages = [
        replace(page, pieces=tuple(sorted(page.pieces, key=lambda piece: (-round(piece.bottom), piece.left))))
        for page in layer.pages
    ]
    return list(pdf_blocks(pages))


def pdfium(body: bytes) -> list[Block]:
    from pypdfium2 import PdfDocument

    texts = [page.get_textpage().get_text_range(errors="ignore") for page in PdfDocument(body)]
    return [block for text in texts for block in plain_blocks(re.sub("[\ufffe\u0002]\\s*", "", text))]


def pdfminer(body: bytes) -> list[Block]:
    from io import BytesIO

    from pdfminer.high_level import extract_text

    text = re.sub(r"(?<=[a-z])-\n(?=[a-z])", "", extract_text(BytesIO(body)))
    return [
        Block("paragraph", joined) for each in re.split(r"\n\s*\n|\f", text) if (joined := " ".join(each.split()))
    ]


def pymupdf4llm(body: bytes) -> list[Block]:
    import pymupdf
    import pymupdf4llm as library

    text = re.sub(r"[*_#|]", "", library.to_markdown(pymupdf.open(stream=body), show_progress=False))
    return [Block("paragraph", joined) for each in re.split(r"\n\s*\n", text) if (joined := " ".join(each.split()))]


READERS: dict[str, Callable[[bytes], list[Block]]] = {
    each.__name__: each for each in (here, line_by_line, pdfium, pdfminer, pymupdf4llm)
}


@dataclass
class Score:
    wanted: int = 0
    exact: int = 0
    whole: int = 0
    letters: int = 0
    passages: int = 0
    true: int = 0
    rows: int = 0
    named: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        shares = [
            f"{part / of:.3f}" if of else "–"
            for part, of in (
                (self.exact, self.wanted),
                (self.whole, self.wanted),
                (self.letters, self.wanted),
                (self.true, self.passages),
                (self.named, self.rows),
            )
        ]
        return f"{' | '.join(shares)} | {self.seconds:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, required=True)
    parser.add_argument("--language", default="en")
    parser.add_argument("--part", choices=["even", "odd"])
    parser.add_argument("--reader", nargs="*", choices=list(READERS), default=["here"])
    parser.add_argument("--each", action="store_true", help="a row for each file")
    parser.add_argument("--wrong", action="store_true", help="print the sentences and passages that are not whole")
    arguments = parser.parse_args()
    print("| files | reader | sentences | exact | whole | letters | true | named | seconds |\n|---|" + "---|" * 8)
    for kind, read in (("jats", jats_paragraphs), ("tex", latex_paragraphs)):
        files = sorted(arguments.path.glob(f"*.{kind}"))
        if arguments.part:
            files = files[arguments.part == "odd" :: 2]
        for name in arguments.reader:
            score = Score()
            for path in files:
                paragraphs, source = read(path)
                rows = jats_rows(path) if kind == "jats" else []
                wanted = wanted_sentences(paragraphs, arguments.language)
                one = measure(READERS[name], path, wanted, rows, source, arguments)
                if arguments.each and one.wanted:
                    print(f"| {path.name} | {name} | {one.wanted} | {one} |")
                for field in vars(score):
                    setattr(score, field, getattr(score, field) + getattr(one, field))
            if files:
                print(f"| {len(files)} {kind} | {name} | {score.wanted} | {score} |", flush=True)


def measure(
    reader: Callable[[bytes], list[Block]],
    path: Path,
    wanted: list[str],
    rows: list[tuple[str, str]],
    source: str,
    arguments: argparse.Namespace,
) -> Score:
    body = path.with_suffix(".pdf").read_bytes()
    began = time.process_time() if reader is not here else time.perf_counter()
    blocks = reader(body)
    seconds = (time.process_time() if reader is not here else time.perf_counter()) - began
    text, passages = lay_out(blocks, arguments.language)
    exact = {words(said) for each in passages for said in (each.text, _ITEM.sub("", each.text))}
    flat, marked = words(text), letters(text)
    named = {(words(block.header or ""), words(block.text)) for block in blocks if block.kind == "row"}
    score = Score(
        len(wanted),
        exact=sum(words(each) in exact for each in wanted),
        whole=sum(words(each) in flat for each in wanted),
        letters=sum(each in marked for each in wanted),
        rows=len(rows),
        named=sum(row in named for row in rows),
    )
    score.seconds = seconds
    ends = [match.start() for match in re.finditer(r"(?m)^\W*(?:\d+\W+)?References\W*$", text)]
    full = words(source)
    for passage in passages:
        said = words(_ITEM.sub("", passage.text))
        if source and said.count(" ") > _LEAST_WORDS and passage.start < (ends[-1] if ends else len(text)):
            score.passages += 1
            score.true += said in full
            if arguments.wrong and said not in full:
                print("  passage:", passage.text.replace("\n", "⏎"))
    if arguments.wrong:
        for each in wanted:
            if words(each) not in exact or each not in marked:
                print("  sentence:", "whole" if words(each) in flat else "broken", each)
        for row in rows:
            if row not in named:
                print("  row:", *row, sep=" | ")
    return score


if __name__ == "__main__":
    main()
