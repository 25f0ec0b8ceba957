"""Reading of pages by meaning: which passages are like an aspect, and what the judge says of the likeliest."""

import re
from collections.abc import Sequence
from typing import TypeAlias

from marchwarden.evidence.relevance import Alike, Essence, Judged, Relevance
from marchwarden.evidence.windows import Window, are_in_one_list
from marchwarden.judge.answering import AnswerJudge, in_place
from marchwarden.ledger import Aspect
from marchwarden.observations import Passage
from marchwarden.reading.files.kinds import TABLES
from marchwarden.text.embedding import Embedder
from marchwarden.text.ranking import guess_language

# Windows of each of several pages, in the order of the pages.
Quoted: TypeAlias = Sequence[Sequence[Window]]

# Passages that are embedded for each aspect in one turn: those of the windows with the highest relevance by words, of
# which one page has so many at most. Guesses: embedding one takes about 30 ms of a core.
EMBEDDED, WINDOWS_OF_PAGE = 24, 6
# Passages from the top of a page in another language than the question, where shared words say little. A guess.
EMBEDDED_OF_FOREIGN_PAGE = 24


def likeness(
    embedder: Embedder, pages: Sequence[Relevance], aspects: Sequence[Aspect], quoted: Quoted | None = None
) -> list[Alike]:
    """Return the similarities of the aspects and each page's likeliest passages, or those of `quoted`, in the order
    of the pages.

    Blocks, for about 30 ms a passage that is new.
    """
    # For each place in what is embedded: the page, the aspect's row, and the passage.
    wanted: list[tuple[int, int, Passage]] = []
    for row, aspect in enumerate(aspects):
        ranked: list[tuple[float, int, Window]] = []
        for place, relevance in enumerate(pages):
            if quoted is not None:
                ranked += [(relevance.rank(window, aspect), place, window) for window in quoted[place]]
            elif aspect.number in relevance.foreign:
                wanted += [(place, row, each) for each in relevance.page.passages[:EMBEDDED_OF_FOREIGN_PAGE]]
            else:
                ranked += [(score, place, window) for score, window in relevance.candidates(aspect, WINDOWS_OF_PAGE)]
        ranked.sort(key=lambda each: -each[0])
        likely = [(place, row, passage) for _, place, window in ranked for passage in window.passages]
        wanted += likely[: EMBEDDED if quoted is None else QUOTES]
    similar = embedder.likeness([aspect.text for aspect in aspects], [passage.text for _, _, passage in wanted])
    found: list[dict[tuple[int, int], float]] = [{} for _ in pages]
    for column, (place, row, passage) in enumerate(wanted):
        found[place][aspects[row].number, passage.number] = similar[row][column]
    return list(found)


# Quotes of others that are compared and judged for each aspect, at most. A guess: both together take 2 s of a core.
QUOTES = 48

# Language that the judge reads.
JUDGED_LANGUAGE = "en"
# Windows that are judged for each aspect in one turn, at most: usually five to eleven, since only those that were
# compared in meaning are. Judging one takes about 12 ms of a core. A guess.
JUDGED = 16


def judge_windows(
    judge: AnswerJudge, pages: Sequence[Relevance], aspects: Sequence[Aspect], quoted: Quoted | None = None
) -> list[Judged]:
    """Return what the judge says of the windows that rank best for each aspect, or of `quoted`, in the order of the
    pages.

    Rows of tables in files and pages in another language than the aspect are not judged. Blocks, for about 12 ms a
    window.
    """
    found: list[dict[int, dict[tuple[int, int], float]]] = [{} for _ in pages]
    for aspect in aspects:
        if guess_language(aspect.text) != JUDGED_LANGUAGE:
            continue
        read = [
            place
            for place, relevance in enumerate(pages)
            if aspect.number not in relevance.foreign and relevance.page.page.media_type not in TABLES
        ]
        for place in read:
            found[place][aspect.number] = {}
        if quoted is None:
            most = JUDGED
            ranked = [(score, place, each) for place in read for score, each in pages[place].candidates(aspect, most)]
        else:
            most = QUOTES
            ranked = [(pages[place].rank(each, aspect), place, each) for place in read for each in quoted[place]]
        best = sorted(ranked, key=lambda each: -each[0])[:most]
        texts = [
            in_place(pages[place].page.page.title, window.passages[0].heading, window.text)
            for _, place, window in best
        ]
        for (_, place, window), odds in zip(best, judge.log_odds(aspect.text, texts), strict=True):
            found[place][aspect.number][window.start, window.end] = odds
    return list(found)


# Log-odds that a window must gain where its first or last passage is cut off, and by which that passage alone is less
# likely to answer than the rest. An answer stands at the end more often. Chosen on 287 questions over real pages and
# 40 over our own (evals/reports/passages.md).
_OF_FIRST, _OF_LAST = (0.4, 2.5), (1.0, 5.0)
# What tells nothing without the sentence before it.
_POINTS_BACK = re.compile(r"\W*(?:it|its|they|their|them|he|his|she|her|this|these|those|that|such)\b", re.IGNORECASE)


def find_essence(judge: AnswerJudge, pages: Sequence[Relevance], aspects: Sequence[Aspect]) -> list[Essence]:
    """Return the parts that answer of the windows that may be quoted for each aspect, in the order of the pages.

    A window has up to four passages, of which the first or the last is often about something else: a post above the
    one that answers, the name of an account, the next heading. The items of a list stay together. Blocks, for about
    12 ms a part that is judged.
    """
    found: list[dict[tuple[int, int, int], Window]] = [{} for _ in pages]
    for aspect in aspects:
        likely = [
            (chance, place, window)
            for place, page in enumerate(pages)
            for _, window in page.best(aspect, page.parameters.extract.picks_per_aspect)
            if page.is_judged(aspect, window)
            and (chance := page.of(window, aspect)) >= page.parameters.extract.judged
        ]
        best = max((chance for chance, _, _ in likely), default=0.0)
        for chance, place, window in likely:
            if chance >= pages[place].parameters.synthesize.close_to_best * best:
                part = _essence(judge, pages[place], aspect, window)
                if part is not window:
                    found[place][aspect.number, window.start, window.end] = part
    return list(found)


def _essence(judge: AnswerJudge, relevance: Relevance, aspect: Aspect, window: Window) -> Window:
    page = relevance.page.page

    def odds(part: Window) -> float:
        (found,) = judge.log_odds(aspect.text, [in_place(page.title, part.passages[0].heading, part.text)])
        return found

    judged = relevance.features(window, aspect)["judged"]
    while len(window.passages) > 1:
        first, *_, last = window.passages
        ends = (first, window.passages[1:], _OF_FIRST), (last, window.passages[:-1], _OF_LAST)
        parts: list[tuple[float, Window]] = []
        for cut_off, rest, (gain, less) in ends:
            beside = (first, rest[0]) if cut_off is first else (rest[-1], last)
            if (
                (cut_off is first and _POINTS_BACK.match(rest[0].text))
                or are_in_one_list(page, *beside)
                or relevance.is_key(cut_off, rest, aspect)
            ):
                continue
            part = Window(rest, page.text[rest[0].start : rest[-1].end])
            if (own := odds(part)) >= judged + gain and odds(Window.of(cut_off)) <= own - less:
                parts.append((own, part))
        if not parts:
            break
        window = max(parts, key=lambda each: each[0])[1]
    return window


def read_closely(
    pages: Sequence[Relevance],
    aspects: Sequence[Aspect],
    embedder: Embedder,
    judge: AnswerJudge | None,
    quoted: Quoted | None = None,
) -> list[Relevance]:
    """Return the relevance of the pages by meaning, and by what the judge says of the windows likeliest by it.

    `quoted`: the windows of each page that others chose, which are all that is looked at then, and stay as they are;
    None where nobody did. Blocks.
    """
    alike = likeness(embedder, pages, aspects, quoted)
    compared = [page.to(aspects, known) for page, known in zip(pages, alike, strict=True)]
    if judge is None:
        return compared
    judged = judge_windows(judge, compared, aspects, quoted)
    read = [page.to(aspects, *known) for page, known in zip(pages, zip(alike, judged, strict=True), strict=True)]
    if quoted is not None:
        return read
    essence = find_essence(judge, read, aspects)
    return [
        page.to(aspects, *known) for page, known in zip(pages, zip(alike, judged, essence, strict=True), strict=True)
    ]
