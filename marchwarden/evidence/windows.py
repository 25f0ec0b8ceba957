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


# Characters of an item of a list, at most. A guess: more is a paragraph.
_ITEM_CHARS = 120
# The end of a line that leads in to a list.
_LEADS_IN = (":", "：")
FULL_STOP = re.compile(r"[.!?。]['\"”’)]*$")
# What a page says to its readers about itself, a date or a time alone, the name of an account alone.
# No answer begins or ends with it.
FURNITURE = re.compile(
    r"^[^\w]*(\d{1,4}[-/. ]\w{1,9}[-/. ]\d{1,4}|\w{3,9} \d{1,2},? \d{4})?[,\sT]*(\d{1,2}:\d\d(:\d\d)?)?[^\w]*$|"
    r"^(?=\S*[_\d])[\w-]+$|"
    r"^(click|sign|subscribe|read more|see also|share|log in|advertisement|photo|image|figure|table of|related|"
    r"originally published|posted|last updated|updated|published|copyright|©|all rights)\b",
    re.IGNORECASE,
)


# An entry of a list of references stands on a line of its own: authors with their initials, and what tells an
# edition. It says that a work exists, which answers only those who ask for works. Of 971 labelled quotes of the
# shipped questions and of real pages none is one.
_AUTHORS = re.compile(
    r"^\W*(?:\d{1,3}[\]).]*\s*)?[A-ZÀ-Þ][\w’'-]+"
    r"(?:,? (?:[A-ZÀ-Þ]\.?[ -]?){1,3}(?:[,;.&(]| and\b| et al\b)| et al\b)"
)
_EDITION = re.compile(
    r"\b\d{1,4} ?(?:\(\d{1,3}\))?[:,] ?\w?\d+[–-]\w?\d+|\bvol(?:ume)?\. ?\d|\bpp?\. ?\d|\bdoi\b|\b10\.\d{4,}/|"
    r"\barxiv[:.]|\bPMID\b|\bISBN\b",
    re.IGNORECASE,
)
# Without its year, a line of that form is as often a result, a telephone number or an opening hour of somebody.
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d[a-z]?\b")
# Characters of an entry at most. A guess: more are prose that cites.
_MAX_ENTRY_CHARS = 500
_ASKS_FOR_WORKS = re.compile(
    r"\b(papers?|articles?|stud(?:y|ies)|publi\w+|journals?|books?|preprints?|references?|cit(?:e|es|ed|ations?)|doi|"
    r"wrote|written|authors?|"
    r"studien?|artikel|veröffentlich\w+|bücher|buch|études?|livres?|libros?|estudios?|artículos?)\b",
    re.IGNORECASE,
)


def entries_of_references(page: Page, passages: Sequence[Passage]) -> set[int]:
    """Return the numbers of the passages that stand in an entry of a list of references."""
    found: set[int] = set()
    line, is_entry = (0, 0), False
    for passage in passages:
        if not line[0] <= passage.start < line[1]:
            start = page.text.rfind("\n", 0, passage.start) + 1
            end = page.text.find("\n", passage.start)
            line = (start, len(page.text) if end < 0 else end)
            text = page.text[slice(*line)]
            is_entry = len(text) <= _MAX_ENTRY_CHARS and all(
                pattern.search(text) for pattern in (_AUTHORS, _EDITION, _YEAR)
            )
        if is_entry:
            found.add(passage.number)
    return found


def asks_for_works(question: str) -> bool:
    """Return whether a question asks for publications or who wrote them."""
    return _ASKS_FOR_WORKS.search(question) is not None


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


# A short line without a stop, and without a number but that of a section.
_TITLE = re.compile(r"(?:\d{1,2}[.)] )?[^\W\d_a-z][^\d.!?:;|•=\n]{1,58}")
_NUMBERED = re.compile(r"\d{1,2}[.)] ")


def _is_title(page: Page, passages: Sequence[Passage], place: int) -> bool:
    """Return whether a passage is the title of what follows it, though it is not marked as one.

    It is neither an item of a list, beside others of its form, nor a button, which stands there again and again.
    """
    before, own, after = passages[place - 1 : place + 2]
    return (
        before.number + 1 == own.number == after.number - 1
        and own.heading == after.heading
        and " " in own.text
        and _TITLE.fullmatch(own.text) is not None
        and not any(_TITLE.fullmatch(each.text) for each in (before, after))
        and page.text.count(f"\n{own.text}\n") == 1
    )


def windows(page: Page, passages: Sequence[Passage]) -> list[Window]:
    """Return the windows over these passages of a page, each within one heading and EXCERPT_LIMIT characters.

    None of several passages begins or ends with furniture, or ends with a question or the title of what follows. None
    goes on over a title that is numbered, or spans a passage that is not among them: one that looks like prompt
    injection.
    """
    found = []
    titles = {passages[place].number for place in range(1, len(passages) - 1) if _is_title(page, passages, place)}
    for first, passage in enumerate(passages):
        for size in range(1, MOST_PASSAGES_OF_WINDOW + 1):
            chosen = passages[first : first + size]
            last = chosen[-1]
            if len(chosen) < size or last.number != passage.number + size - 1 or last.heading != passage.heading:
                break
            if size > 1 and last.number in titles and _NUMBERED.match(last.text):
                break
            if size > 1 and last.end - passage.start > EXCERPT_LIMIT:
                break
            if size > 1 and (
                FURNITURE.search(passage.text)
                or FURNITURE.search(last.text)
                or last.text.endswith(tuple(QUESTION_MARK))
                or last.number in titles
            ):
                continue
            found.append(Window(tuple(chosen), page.text[passage.start : last.end]))
    return found


def with_rest_of_list(page: Page, passages: Sequence[Passage], window: Window, key: Passage, until: int) -> Window:
    """Return a window that ends within a list with the items that follow, as far as all may be quoted together.

    It ends within one where it holds the line that leads in to it, or two items. Where there is no room for the next
    item, the window begins later, but not after the line that leads in, or `key`. It ends before `until`.
    """
    own = list(window.passages)
    items = 0
    while items < len(own) and _is_item(page, own[-1 - items]):
        items += 1
    has_lead_in = items < len(own) and own[-1 - items].text.endswith(_LEADS_IN)
    if not has_lead_in and items < 2:
        return window
    keep = min(key.number, own[-1 - items].number if has_lead_in else own[-items].number)
    # What stands between two items.
    usual = page.text[own[-2].end : own[-1].start] if items > 1 else None
    place = next((at for at, each in enumerate(passages) if each.number == own[-1].number), len(passages))
    for following in passages[place + 1 :]:
        last, gap = own[-1], page.text[own[-1].end : following.start]
        is_first = last.text.endswith(_LEADS_IN)
        if (
            following.number != last.number + 1
            or following.heading != last.heading
            or following.end > until
            or not _is_item(page, following)
            or FURNITURE.search(following.text)
            or (usual is not None and gap != usual)
            # Paragraphs are items only under a line that leads in to them, and where they are no sentences.
            or ("\n\n" in gap and not is_first and (not has_lead_in or FULL_STOP.search(following.text)))
        ):
            break
        usual = usual if is_first else gap
        while following.end - own[0].start > EXCERPT_LIMIT and own[0].number < keep:
            del own[0]
        if following.end - own[0].start > EXCERPT_LIMIT:
            break
        own.append(following)
    return Window(tuple(own), page.text[own[0].start : own[-1].end])


def are_in_one_list(page: Page, one: Passage, other: Passage) -> bool:
    """Return whether two passages, of which the second follows the first, are lines of one list or table."""
    return page.text[one.end : other.start] == "\n" and _is_item(page, one) and _is_item(page, other)


def _is_item(page: Page, passage: Passage) -> bool:
    """Return whether a passage may be an item of a list: a short line, or a row, that is a passage of its own."""
    text, start, end = page.text, passage.start, passage.end
    return (
        end - start <= _ITEM_CHARS
        and "\n" not in passage.text
        and text[max(0, start - 1) : start] in ("", "\n")
        and text[end : end + 1] in ("", "\n")
        and not passage.text.endswith(_LEADS_IN)
    )
