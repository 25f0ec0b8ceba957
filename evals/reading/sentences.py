"""Precision and recall of sentence boundaries on labelled paragraphs, of sentencex alone and of what is built on it.

    python evals/reading/sentences.py [--path FOLDER] [--wrong] [--languages de ja] [--declared en]

A file `de.txt` holds German paragraphs, one a line, with ‖ before each sentence but the first; lines that begin with
`# ` are comments. A boundary is right where a labelled sentence begins; what begins a paragraph is not counted.
`--wrong` prints the paragraphs where boundaries differ, `--declared` says of all files that they are in one language.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import sentencex

from marchwarden.text.ranking import told_language
from marchwarden.text.segmentation.sentences import sentences

LABELLED = Path(__file__).resolve().parents[2] / "tests" / "text" / "segmentation" / "sentences"
MARK = "‖"

Segmenter = Callable[[str, str | None], Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class Paragraph:
    text: str
    starts: frozenset[int]
    """Where its sentences begin, but for the first."""


@dataclass(frozen=True)
class Score:
    right: int = 0
    found: int = 0
    labelled: int = 0
    wrong: tuple[str, ...] = ()
    """The paragraphs that came out otherwise, as they were cut."""

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.labelled if self.labelled else 1.0

    def __add__(self, other: Score) -> Score:
        return Score(
            self.right + other.right,
            self.found + other.found,
            self.labelled + other.labelled,
            self.wrong + other.wrong,
        )


def read_labelled(path: Path) -> list[Paragraph]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [_paragraph(line) for line in lines if line and not line.startswith("# ")]


def _paragraph(line: str) -> Paragraph:
    pieces = line.split(MARK)
    starts = [len("".join(pieces[:number])) for number in range(1, len(pieces))]
    return Paragraph("".join(pieces), frozenset(starts))


def score(paragraphs: Iterable[Paragraph], language: str | None, segmenter: Segmenter = sentences) -> Score:
    return sum((_score(paragraph, segmenter(paragraph.text, language)) for paragraph in paragraphs), Score())


def _score(paragraph: Paragraph, spans: Sequence[tuple[int, int]]) -> Score:
    text = paragraph.text
    found = {_first_letter(text, start) for start, _ in spans if text[:start].strip() and text[start:].strip()}
    wrong = () if found == paragraph.starts else (_marked(text, found),)
    return Score(len(found & paragraph.starts), len(found), len(paragraph.starts), wrong)


def _first_letter(text: str, start: int) -> int:
    return start + len(text[start:]) - len(text[start:].lstrip())


def _marked(text: str, starts: Iterable[int]) -> str:
    cuts = [0, *sorted(starts), len(text)]
    return MARK.join(text[start:end] for start, end in pairwise(cuts))


def library_alone(text: str, language: str | None) -> list[tuple[int, int]]:
    boundaries = sentencex.get_sentence_boundaries(language or "en", text)
    return [(int(each["start_index"]), int(each["end_index"])) for each in boundaries]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--path", type=Path, default=LABELLED)
    parser.add_argument("--languages", nargs="*", help="only these files")
    parser.add_argument("--declared", help="the language that is said of every file, right or wrong")
    parser.add_argument("--wrong", action="store_true")
    arguments = parser.parse_args()
    print("| language | boundaries | sentencex: precision | recall | here: precision | recall |\n|---|" + "---|" * 5)
    alone, here = Score(), Score()
    for path in sorted(arguments.path.glob("*.txt")):
        if arguments.languages and path.stem not in arguments.languages:
            continue
        paragraphs = read_labelled(path)
        language = arguments.declared or path.stem
        if arguments.declared:  # as a page is read that declares it
            language = told_language("\n".join(paragraph.text for paragraph in paragraphs), arguments.declared)
        these = score(paragraphs, arguments.declared or path.stem, library_alone), score(paragraphs, language)
        print(_row(path.stem, *these))
        if arguments.wrong:
            print(*these[1].wrong, sep="\n")
        alone, here = alone + these[0], here + these[1]
    print(_row("all", alone, here))


def _row(name: str, alone: Score, here: Score) -> str:
    figures = (alone.precision, alone.recall, here.precision, here.recall)
    return f"| {name} | {here.labelled} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |"


if __name__ == "__main__":
    main()
