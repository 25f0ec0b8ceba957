"""Windows of a page: runs of one to four neighbouring passages, as an answer may quote them.

An answer often stands in two sentences, or in a list and the line that leads to it. A window is one slice of the
page's text, so it can be cited as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from marchwarden.contract import EXCERPT_LIMIT
from marchwarden.evidence.framing import QUESTION_MARK
from marchwarden.observations import Page, Passage

# Passages of a window at most. Four held most facts of the labelled real pages (evals/reports/passages.md).
MOST_PASSAGES_OF_WINDOW = 4


# What a page says to its readers about itself, a date or a time alone, the name of an account alone.
# No answer begins or ends with it.
FURNITURE = re.compile(
    r"^[^\w]*(\d{1,4}[-/. ]\w{1,9}[-/. ]\d{1,4}|\w{3,9} \d{1,2},? \d{4})?[,\sT]*(\d{1,2}:\d\d(:\d\d)?)?[^\w]*$|"
    r"^(?=\S*[_\d])[\w-]+$|"
    r"^(click|sign|subscribe|read more|see also|share|log in|advertisement|photo|image|figure|table of|related|"
    r"originally published|posted|last updated|updated|published|copyright|©|all rights)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Window:
    """Neighbouring passages under one heading: `page.text[start:end] == text`."""

    passages: tuple[Passage, ...]
    text: str

    @classmethod
    def of(cls, passage: Passage) -> Window:
        """Return the window of one passage."""
        return cls((passage,), passage.text)

    @property
    def start(self) -> int:
        return self.passages[0].start

    @property
    def end(self) -> int:
        return self.passages[-1].end

    def overlaps(self, other: Window) -> bool:
        return self.start < other.end and other.start < self.end

    def is_in(self, other: Window) -> bool:
        return other.start <= self.start and self.end <= other.end


def windows(page: Page, passages: Sequence[Passage]) -> list[Window]:
    """Return the windows over these passages of a page, each within one heading and EXCERPT_LIMIT characters.

    None of several passages begins or ends with furniture, or ends with a question. None spans a passage that is not
    among them, such as one that looks like prompt injection.
    """
    found = []
    for first, passage in enumerate(passages):
        for size in range(1, MOST_PASSAGES_OF_WINDOW + 1):
            chosen = passages[first : first + size]
            last = chosen[-1]
            if len(chosen) < size or last.number != passage.number + size - 1 or last.heading != passage.heading:
                break
            if size > 1 and last.end - passage.start > EXCERPT_LIMIT:
                break
            if size > 1 and (
                FURNITURE.search(passage.text)
                or FURNITURE.search(last.text)
                or last.text.endswith(tuple(QUESTION_MARK))
            ):
                continue
            found.append(Window(tuple(chosen), page.text[passage.start : last.end]))
    return found
