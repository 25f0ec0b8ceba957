"""Probability that a window of a page answers an aspect, by what both have in common; fitted to labels.

    relevance = 1 / (1 + exp(−(bias + Σ weight × feature)))

This is a logistic regression, fitted by evals/fit_relevance.py to labelled questions over real pages and to our own.
Its features are the words that a window, its heading, its title and its page share with the aspect, each by its
rarity in all that was read; the kind of answer that is asked for; the place of the page among the hits; and, where an
embedding model is installed, the similarity in meaning. There are four sets of weights in programs/parameters.py: for
ranking all windows and for the chance of those that rank best, each with and without the similarity; and a fifth, of
both, for the windows that a model judged besides (judge/answering.py). No feature alone
refuses a window, but for the names: a page that has none of those asked for is about something else. What is shown is
the best that was read, and only an aspect whose best ones are unlikely to answer stays without an answer.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from statistics import median
from typing import TypeAlias

from marchwarden.evidence.answer_kinds import NAME, AnswerKind, counted, general_kind, specific_kinds
from marchwarden.evidence.asking.completeness import is_pointing
from marchwarden.evidence.asking.telling_words import VAGUE_TERMS, names_in
from marchwarden.evidence.framing import QUESTION_MARK
from marchwarden.evidence.tabular.named_rows import TableRows
from marchwarden.evidence.windows import (
    FULL_STOP,
    FURNITURE,
    MOST_PASSAGES_OF_WINDOW,
    Window,
    asks_for_works,
    entries_of_references,
    windows,
)
from marchwarden.injection.detector import drop_injections
from marchwarden.ledger import Aspect, Excerpt, Lead
from marchwarden.observations import Page, Passage, is_database
from marchwarden.programs.parameters import DEFAULT, JudgedWeights, Parameters, RelevanceWeights
from marchwarden.reading.files.kinds import TABLES
from marchwarden.reading.text_blocks import CELL_GAP
from marchwarden.text.countries import PLACES, countries_in
from marchwarden.text.ranking import coverage, guess_language, terms, terms_of
from marchwarden.text.spelling import closest_word

# Cosine similarity of an aspect and a passage of one page, by their numbers.
Alike: TypeAlias = Mapping[tuple[int, int], float]
# Log-odds that windows of one page answer an aspect, as the judge reads them: by the aspect's number, and then by the
# window's start and end. An aspect that is not in it was not judged; one without windows has none that is likely.
Judged: TypeAlias = Mapping[int, Mapping[tuple[int, int], float]]
# The part of such a window that answers by itself, in the same way; a window that is not in it answers as a whole.
Essence: TypeAlias = Mapping[tuple[int, int, int], Window]
Features: TypeAlias = dict[str, float]

# Usual cosine similarity of a question and a passage, and its spread, about: the embedding model's cosines lie close
# together. The weights are fitted to features scaled by them.
USUAL_COSINE, COSINE_SPREAD = 0.85, 0.05
# Terms of a usual window, and the constant of BM25 by which repeats of a term count less (Robertson's k1 and b).
_USUAL_TERMS, _K1, _B = 30, 1.2, 0.75
# Share of a window's score that a part of it has at least where the rest adds nothing. A guess.
_AS_GOOD = 0.995
# Windows of a page for which all features are computed: those that share most of the aspect's words. A guess.
_FULLY_SCORED = 40
# Passages before and after a window that may name what it is about. A guess.
_BEFORE, _AFTER = 3, 2
# Cosine similarity above the median of a table's rows from which on one stands out. Chosen on ten questions in other
# words than a table's twelve rows ("aubergine" for eggplant), and tried on no others.
_STANDS_OUT = 0.013
# Share of an aspect's words that the columns and the title of a table hold at least that is about it. A guess.
_ABOUT = 0.5
# Terms of a window at least: fewer name something and state nothing.
_LEAST_TERMS = 2
_REFERRAL = re.compile(r"^(for|on|about)\b.*\bsee\b|\bsee (the|our|also)\b|\bread (more|on)\b", re.IGNORECASE)


class TermRarity:
    """Rarity of terms among the passages of all pages read: BM25's inverse document frequency."""

    def __init__(self) -> None:
        self._passages = 0
        self._holding: Counter[str] = Counter()

    def add(self, passages: Iterable[Sequence[str]]) -> None:
        """Count the terms of a page's passages."""
        for found in passages:
            self._holding.update(set(found))
            self._passages += 1

    def of(self, term: str) -> float:
        """Return the weight of a term, above 0: the highest for one that no passage holds."""
        holding = self._holding[term]
        return math.log(1 + (self._passages - holding + 0.5) / (holding + 0.5))


class PageTerms:
    """Terms of a page that may be quoted: of its passages, its headings and its title."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.passages = drop_injections(page)
        self.language = page.language or guess_language(" ".join(passage.text for passage in page.passages[:20]))
        # Names of columns stand in each row, and tell none from the others: they count as its heading.
        found = terms_of([passage.said for passage in self.passages], self.language)
        self.own = {passage.number: words for passage, words in zip(self.passages, found, strict=True)}
        above = {
            heading: set(terms(heading, self.language))
            for heading in {each.heading for each in self.passages}
            if heading
        }
        self.headings = {passage.number: above.get(passage.heading or "", set()) for passage in self.passages}
        self.title = set(terms(page.title or "", self.language))
        self.all = self.title.union(*found)
        self.year = {str(page.dated.year)} if page.dated else set()
        self.windows = windows(page, self.passages)
        entries = entries_of_references(page, self.passages)
        self.windows_of_text = [
            each for each in self.windows if entries.isdisjoint(passage.number for passage in each.passages)
        ]
        """Windows without entries of lists of references."""
        self.tables = TableRows(self.passages, page.title or PurePath(page.url).stem)
        rows = [each for each in self.passages if page.media_type in TABLES and CELL_GAP in each.text]
        self.table_rows = Counter(each.heading or "" for each in rows)
        """Number of rows of a file's tables, by heading."""
        self.in_all_rows = {
            heading: _in_nearly_all([self.own[each.number] for each in rows if (each.heading or "") == heading])
            for heading in self.table_rows
        }
        """Terms of those tables that tell no row from the others, by heading: names of columns, units."""

    def near(self, window: Window) -> set[str]:
        """Return the terms of the passages just before and after a window."""
        first, last = window.passages[0].number, window.passages[-1].number
        around = [*range(first - _BEFORE, first), *range(last + 1, last + 1 + _AFTER)]
        return set().union(*(self.own.get(number, ()) for number in around))


def _in_nearly_all(rows: Sequence[Iterable[str]]) -> set[str]:
    """Return the terms that are in all rows but one, or but a tenth: a title or a total may be among them."""
    held = Counter(term for row in rows for term in set(row))
    return {term for term, count in held.items() if count >= len(rows) - max(1, len(rows) // 10)}


class Relevance:
    """Relevance of the windows of one page to each aspect: the probability that one answers, 0–1."""

    def __init__(
        self,
        page: PageTerms,
        aspects: Sequence[Aspect],
        *,
        rarity: TermRarity | None = None,
        position: int = 1,
        alike: Alike | None = None,
        judged: Judged | None = None,
        essence: Essence | None = None,
        parameters: Parameters = DEFAULT,
    ) -> None:
        """Prepare a page.

        `rarity`: of the terms of all pages read; None for this page alone. `position`: the page's place among the
        hits, from 1. `alike`: similarities of passages that an embedding model compared; None where there is none.
        `judged`: what the judge said of windows, and `essence`: the parts of them that answer by themselves; None
        where there is no judge.
        """
        self.page = page
        self._rarity, self._position, self._alike, self.parameters = rarity, position, alike, parameters
        self._judged = judged or {}
        self._essence = essence or {}
        self._features: dict[tuple[int, int, int], Features] = {}
        self._named_rows: dict[int, list[tuple[Passage, ...]] | None] = {}
        self._is_elsewhere: dict[int, bool] = {}
        if rarity is None:
            rarity = TermRarity()
            rarity.add(page.own.values())
        self._asked = {aspect.number: AskedFor.of(aspect.text, page.language).on(rarity) for aspect in aspects}
        self.foreign = {aspect.number for aspect in aspects if page.language[:2] != guess_language(aspect.text)}
        """Numbers of the aspects that are in another language than the page."""

    def to(
        self,
        aspects: Sequence[Aspect],
        alike: Alike | None = None,
        judged: Judged | None = None,
        essence: Essence | None = None,
    ) -> "Relevance":
        """Return the relevance of the same page to other aspects, or with similarities of its passages and what the
        judge said of its windows."""
        return Relevance(
            self.page,
            aspects,
            rarity=self._rarity,
            position=self._position,
            alike=alike,
            judged=judged,
            essence=essence,
            parameters=self.parameters,
        )

    def of(self, window: Window, aspect: Aspect) -> float:
        """Return the relevance of a window, 0–1: the chance that it answers, where it is among the best ranked."""
        features, weights = self.features(window, aspect), self.parameters.relevance
        chance = probability(features, weights.of(features)) * (weights.as_judged if "judged" in features else 1.0)
        if aspect.number not in self._is_elsewhere:
            self._is_elsewhere[aspect.number] = self._names_nothing_of(aspect)
        if self._is_elsewhere[aspect.number] or self._is_of_another_name(window, aspect):
            chance *= weights.nothing_named
        chance *= weights.another_country if features["another_country"] else 1.0
        return chance * (weights.nothing_asked if features["nothing_that_matters"] else 1.0)

    def _names_nothing_of(self, aspect: Aspect) -> bool:
        """Return whether the page names nothing that an aspect is about: it is about something else.

        In another language a name may be spelled in another way, in a question it may be misspelt, and the rows of a
        database need not repeat it.
        """
        asked, page = self._asked[aspect.number], self.page.page
        if not asked.subjects or aspect.number in self.foreign or is_database(page.url):
            return False
        said = self.page.all.union(*self.page.headings.values())
        return not any(
            name in said or name in page.url.lower() or closest_word(name, [" ".join(said)]) for name in asked.names
        )

    def _is_of_another_name(self, window: Window, aspect: Aspect) -> bool:
        """Return whether nothing around a window names what "he" or "it" of the aspect stands for, though the page
        does elsewhere: the window tells of another one."""
        page, asked = self.page, self._asked[aspect.number]
        known = asked.antecedents & page.all.union(*page.headings.values())
        if not known or aspect.number in self.foreign or is_database(page.page.url):
            return False
        own = set().union(*(page.own[each.number] for each in window.passages))
        return known.isdisjoint(own | page.headings[window.passages[0].number] | page.title | page.near(window))

    def rank(self, window: Window, aspect: Aspect) -> float:
        """Return the score by which windows are ranked, 0–1; higher is better, of all pages alike."""
        features, weights = self.features(window, aspect), self.parameters.relevance
        score = probability(features, weights.ranking(features))
        score *= weights.nothing_named if self._is_of_another_name(window, aspect) else 1.0
        return score * (weights.another_country if features["another_country"] else 1.0)

    def best(self, aspect: Aspect, most: int) -> list[tuple[float, Window]]:
        """Return the windows of the page that rank best and do not overlap, best first, with their scores.

        A window is cut to a part of it that ranks about as high, and one of a file's table to the rows that tell.
        """
        chosen = [
            (score, told)
            for score, window in self.candidates(aspect, most)
            for told in self._telling_rows(window, aspect)
        ]
        return chosen[:most]

    def candidates(self, aspect: Aspect, most: int) -> list[tuple[float, Window]]:
        """Return what `best` chooses from: windows that do not overlap, with all rows of a table."""
        scored = [(self.rank(window, aspect), window) for window in self.likely(aspect)]
        chosen: list[tuple[float, Window]] = []
        for best, widest in sorted(scored, key=lambda each: (-each[0], each[1].start)):
            if not any(widest.overlaps(other) for _, other in chosen):
                parts = [each for each in scored if each[0] >= _AS_GOOD * best and each[1].is_in(widest)]
                chosen.append(min(parts, key=lambda each: (len(each[1].passages), -each[0])))
                if len(chosen) == most:
                    break
        return chosen

    def _telling_rows(self, window: Window, aspect: Aspect) -> list[Window]:
        """Return the runs of rows of a file's table that tell what the others don't; none for a window of a long
        table in which no row does: "which is the oldest?".

        Each row says what it says by itself, since its cells are written with the names of their columns, where the
        file has names. Any other window is returned as it is, and so are rows that can be quoted with all others of
        their table. In tables of pages the rows around the one that is named often answer (evals/reading/tables.py).
        """
        rows = window.passages
        is_of_file = self.page.page.media_type in TABLES and all(CELL_GAP in row.text for row in rows)
        heading = rows[0].heading or ""
        is_long = is_of_file and self.page.table_rows[heading] > MOST_PASSAGES_OF_WINDOW
        if not is_of_file or (not is_long and len(rows) == 1):
            return [window]
        asked = self._asked[aspect.number]
        own = [set(self.page.own[row.number]) for row in rows]
        shared = set(self.page.in_all_rows.get(heading, ()))
        if len(rows) > 1:
            shared |= set.intersection(*own)
        told = [row for row, words in zip(rows, own, strict=True) if asked.share(words - shared)]
        if not told and is_long:
            # Rows that are closer in meaning to the aspect than most rows that were compared.
            compared = {row: each for (number, row), each in (self._alike or {}).items() if number == aspect.number}
            usual = median(compared.values()) if compared else 0.0
            told = [row for row in rows if row.number in compared and compared[row.number] >= usual + _STANDS_OUT]
        if not told:
            return [] if is_long else [window]
        runs: list[list[Passage]] = []
        for row in told:
            if runs and row.number == runs[-1][-1].number + 1:
                runs[-1].append(row)
            else:
                runs.append([row])
        return [Window((*run,), self.page.page.text[run[0].start : run[-1].end]) for run in runs]

    def named_rows(self, aspect: Aspect) -> list[tuple[Passage, ...]] | None:
        """Return the rows of tables that the aspect means, each as its passages; None where its words tell none.

        An empty list: no row is about what it names.
        """
        if aspect.number not in self._named_rows:
            self._named_rows[aspect.number] = self.page.tables.named(aspect.text)
        return self._named_rows[aspect.number]

    def names_no_row(self, aspect: Aspect) -> bool:
        """Return whether the page is a file with a long table that is about the aspect, no word of which tells one of
        its rows from the others."""
        # In the question's language: a table seldom tells its own, in which "Hans" may be a stop word.
        language, page = guess_language(aspect.text), self.page
        asked = set(terms(aspect.text, language)) - VAGUE_TERMS
        is_about = False
        for heading, count in page.table_rows.items():
            if count <= MOST_PASSAGES_OF_WINDOW:
                continue
            texts = [each.text for each in page.passages if (each.heading or "") == heading]
            rows = [set(row) for row in terms_of(texts, language)]
            shared = _in_nearly_all(rows)
            if any(asked & (row - shared) for row in rows):
                return False
            about = asked & shared.union(terms(f"{heading} {page.page.title or ''}", language))
            is_about = is_about or len(about) >= _ABOUT * max(1, len(asked))
        return is_about

    def excerpt(self, window: Window, aspect: Aspect) -> Excerpt:
        """Return a window as an excerpt for an aspect; its key passage is the one that fits best by itself."""
        key = max(window.passages, key=lambda passage: (self.of(Window.of(passage), aspect), -passage.number))
        return Excerpt(
            number=0,
            locator=self.page.page.url,
            aspect=aspect.number,
            start=window.start,
            end=window.end,
            text=window.text,
            key=(key.start - window.start, key.end - window.start) if len(window.passages) > 1 else None,
            sentences=len(window.passages),
            relevance=round(self.of(window, aspect), 4),
            code="\n".join(each.text[each.code :] for each in window.passages if each.code is not None),
        )

    def likely(self, aspect: Aspect) -> list[Window]:
        """Return the windows to choose from: those that were judged, or else those compared in meaning, or else those
        that share most words."""
        page, asked = self.page, self._asked[aspect.number]
        windows = page.windows if asks_for_works(aspect.text) else page.windows_of_text
        if (judged := self._judged.get(aspect.number)) is not None:
            return [each for each in windows if (each.start, each.end) in judged]
        if self._alike is not None:
            return [each for each in windows if self._cosine(each, aspect) is not None]
        shares = []
        for window in windows:
            words = [term for passage in window.passages for term in self._words(passage, asked)]
            if len(words) >= _LEAST_TERMS:
                own = set(words)
                around = own | page.headings[window.passages[0].number] | page.near(window)
                share = asked.bm25(words) + asked.share(own) + asked.share(around) / 2
                shares.append((share, window))
        return [window for _, window in sorted(shares, key=lambda each: -each[0])[:_FULLY_SCORED]]

    def is_judged(self, aspect: Aspect, window: Window | None = None) -> bool:
        """Return whether windows of the page were judged for an aspect, or whether this one was."""
        judged = self._judged.get(aspect.number)
        return judged is not None and (window is None or (window.start, window.end) in judged)

    def essence(self, window: Window, aspect: Aspect) -> Window:
        """Return the part of a window that answers an aspect by itself, as the judge reads it; or all of it."""
        return self._essence.get((aspect.number, window.start, window.end), window)

    def is_key(self, passage: Passage, others: Sequence[Passage], aspect: Aspect) -> bool:
        """Return whether a passage alone, of itself and others, has the rarest word of the aspect that they have."""
        asked = self._asked[aspect.number]
        own = asked.terms & set(self.page.own.get(passage.number, ()))
        rest = asked.terms & set().union(*(self.page.own.get(each.number, ()) for each in others))
        rarest = max(own | rest, key=lambda term: (asked.weights[term], term), default=None)
        return rarest is not None and rarest not in rest

    def _words(self, passage: Passage, asked: "AskedFor") -> Sequence[str]:
        """Return the terms of a passage, without those of code that it does not hold as the aspect writes it."""
        words = self.page.own.get(passage.number, ())
        if not asked.code:
            return words
        unsaid = asked.unsaid(passage.text)
        return [term for term in words if term not in unsaid]

    def _cosine(self, window: Window, aspect: Aspect) -> float | None:
        """Return the highest similarity of the window's passages; None where none was compared."""
        known = ((self._alike or {}).get((aspect.number, passage.number)) for passage in window.passages)
        return max((cosine for cosine in known if cosine is not None), default=None)

    def features(self, window: Window, aspect: Aspect) -> Features:
        """Return the features of a window by name."""
        key = (aspect.number, window.start, window.end)
        if key in self._features:
            return self._features[key]
        page, asked = self.page, self._asked[aspect.number]
        words = [term for passage in window.passages for term in self._words(passage, asked)]
        own = set(words) | asked.spelled_out(window.text)
        first = window.passages[0]
        heading = page.headings.get(first.number, set()) - asked.unsaid(first.heading or "")
        together = own | heading | page.title | page.year
        cosine = self._cosine(window, aspect)
        likeness = {} if cosine is None else {"likeness": (cosine - USUAL_COSINE) / COSINE_SPREAD}
        odds = self._judged.get(aspect.number, {}).get((window.start, window.end))
        judged = {} if odds is None else {"judged": odds}
        self._features[key] = {
            **likeness,
            **judged,
            "words": asked.share(own),
            "bm25": asked.bm25(words),
            "best_passage": max(asked.share(set(self._words(each, asked))) for each in window.passages),
            "heading_words": asked.share(heading - own),
            "near_words": asked.share(page.near(window) - own - heading),
            "title_words": asked.share(page.title - own - heading),
            "words_of_title": asked.share(page.title),
            "words_of_page": asked.share(page.all),
            "position": 1 / self._position,
            "pairs": _share(asked.pairs, set(pairwise(words))),
            "matters": _share(asked.matters, own, none=0.5),
            "matters_around": _share(asked.matters, together, none=0.5),
            "nothing_that_matters": float(bool(asked.matters) and not asked.matters & own),
            "names": _share(asked.names, own, none=0.5),
            "names_around": _share(asked.names, together, none=0.5),
            "no_names_asked": float(not asked.names),
            "length": math.log(max(1, len(words))),
            "passages": float(len(window.passages)),
            **asked.kind_features(window.text, together),
            "number": float(any(map(str.isdigit, window.text))),
            "table_row": float(" | " in window.text),
            "referral": float(_REFERRAL.search(window.text) is not None),
            "question": float(window.text.endswith(tuple(QUESTION_MARK))),
            "furniture": float(FURNITURE.search(window.text) is not None),
            "full_stop": float(FULL_STOP.search(window.text) is not None),
            "another_country": float(self._is_of_another_country(window, asked)),
        }
        return self._features[key]

    def _is_of_another_country(self, window: Window, asked: "AskedFor") -> bool:
        """True where the aspect names a country, and the window with its title and heading other ones alone."""
        if not asked.countries:
            return False
        told = " ".join((self.page.page.title or "", window.passages[0].heading or "", window.text))
        return bool(countries_in(told)) and not asked.countries & countries_in(told, by_adjective=True)


def probability(features: Features, weights: RelevanceWeights | JudgedWeights) -> float:
    named = weights.__dict__
    odds = weights.bias + sum(named[name] * value for name, value in features.items() if name in named)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def _share(
    wanted: set[str] | set[tuple[str, str]], found: set[str] | set[tuple[str, str]], none: float = 0.0
) -> float:
    """Return the share of the wanted things that were found; `none` where nothing is wanted."""
    return len(wanted & found) / len(wanted) if wanted else none


@dataclass(frozen=True)
class AskedFor:
    """An aspect in the form in which passages are compared with it."""

    terms: set[str]
    pairs: set[tuple[str, str]]
    """Terms that follow each other."""
    names: set[str]
    """Terms that name something, without numbers; a page on the aspect holds them."""
    subjects: set[str]
    """Terms of its names without abbreviations and countries, which pages take for granted or name otherwise."""
    antecedents: set[str]
    """Those of them that its "he" or "it" stands for: "who beat him (Capablanca)"."""
    matters: set[str]
    """Terms that are neither names nor vague: what is asked about the names."""
    weights: dict[str, float]
    """Weight of each term; a name's is the highest."""
    kind: AnswerKind | None
    """General kind of answer that is asked for; None where no question word tells it."""
    kinds: tuple[AnswerKind, ...]
    """Specific kinds of answer, of which one is enough."""
    counted: frozenset[str]
    """Terms of the things that "how many …" counts."""
    initials: dict[str, re.Pattern[str]]
    """Patterns of the full form, and of the form with stops (U.K.), for each term that is an abbreviation (UK)."""
    countries: frozenset[str] = frozenset()
    """Keys of the countries that the aspect names (text/countries.py)."""
    code: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = ()
    """Patterns of what the aspect writes as code, with the terms that stand nowhere else in it."""

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, text: str, language: str) -> "AskedFor":
        """Return an aspect's text in this form. One object serves all who ask; nobody changes its sets."""
        in_order = terms(text, language)
        words = set(in_order)
        name_terms = [(name, terms(name, language)) for name in names_in(text)]
        named = {term for _, own in name_terms for term in own}
        initials: dict[str, re.Pattern[str]] = {}
        for name in _INITIALS.findall(text):
            full = r"\s+(?:(?:of|and|for|the)\s+){0,2}".join(rf"{letter}[a-zà-ÿ]+" for letter in name)
            pattern = re.compile(rf"\b(?:{full}\b|{'[.] ?'.join(name)}[.])")
            initials.update(dict.fromkeys(terms(name, language), pattern))
        written = [found[0].strip("`").removesuffix("()") for found in _CODE.finditer(text)]
        elsewhere = set(terms(_CODE.sub(" ", text), language))
        code = tuple(
            (
                re.compile(rf"(?<![\w-]){re.escape(each)}(?![\w-])", re.IGNORECASE),
                frozenset(terms(each, language)) - elsewhere,
            )
            for each in written
        )
        subjects = {
            term
            for name, own in name_terms
            if not _INITIALS.fullmatch(name) and name.lower().removesuffix("'s").removesuffix("’s") not in PLACES
            for term in own
            if not term[0].isdigit()
        }
        clause, _, lent = text.partition(" (")
        weights = {term: 1.6 if term in named else 0.35 if term in VAGUE_TERMS else 1.0 for term in words}
        return cls(
            terms=words,
            pairs=set(pairwise(in_order)),
            names={term for term in named if not term[0].isdigit()},
            subjects=subjects,
            antecedents=subjects - set(terms(clause, language)) if lent and is_pointing(clause) else set(),
            matters=words - named - VAGUE_TERMS,
            weights=weights,
            kind=general_kind(text),
            kinds=specific_kinds(text),
            counted=counted(text) - VAGUE_TERMS,
            initials=initials,
            countries=countries_in(text),
            code=code,
        )

    def on(self, rarity: TermRarity) -> "AskedFor":
        """Return the aspect with weights by the rarity of its terms in what was read."""
        return replace(self, weights={term: rarity.of(term) for term in self.terms})

    def spelled_out(self, text: str) -> set[str]:
        """Return the abbreviations that a text writes out."""
        return {term for term, pattern in self.initials.items() if pattern.search(text)}

    def unsaid(self, text: str) -> set[str]:
        """Return the terms of the aspect's code that a text does not hold as it is written: `--frozen`."""
        return {term for pattern, own in self.code if not pattern.search(text) for term in own}

    def share(self, found: set[str]) -> float:
        """Return the share of the aspect's terms that were found, by their weights, 0–1."""
        return coverage(self.terms, found, self.weights)

    def bm25(self, words: Sequence[str]) -> float:
        """Return the BM25 score of a text's terms, as a share of the highest that there can be, 0–1."""
        counts = Counter(term for term in words if term in self.terms)
        total = sum(self.weights.values())
        flat = _K1 * (1 - _B + _B * len(words) / _USUAL_TERMS)
        return sum(self.weights[term] * n / (n + flat) for term, n in counts.items()) / total if total else 0.0

    def kind_features(self, text: str, together: set[str]) -> Features:
        """Return the features on the kind of answer that is asked for.

        Almost every sentence holds a name, so that a name counts only where it is missing.
        """
        general = self.kind.given.search(text) is not None if self.kind else None
        specific = any(kind.given.search(text) for kind in self.kinds) if self.kinds else None
        price = any(kind.name == "price" for kind in self.kinds)
        return {
            "kind": float(general is True and self.kind is not NAME),
            "kind_missing": float(general is False),
            "specific_kind": float(specific is True),
            "specific_kind_missing": float(specific is False),
            "price_missing": float(price and specific is False),
            "counted_missing": float(bool(self.counted) and not self.counted & together),
        }


def promise(lead: Lead, aspects: Sequence[Aspect]) -> float:
    """Return the largest share of one of these aspects that a hit's title and snippet hold, 0–1."""
    says = f"{lead.title} {lead.snippet}"
    language = guess_language(" ".join(aspect.text for aspect in aspects))
    words = set(terms(says, language))
    asked = [AskedFor.of(aspect.text, language) for aspect in aspects]
    return max((each.share(words | each.spelled_out(says)) for each in asked), default=0.0)


_INITIALS = re.compile(r"\b[A-Z]{2,5}\b")
# Code in a question: in backticks, an option, a name with an underscore, a call, a file that begins with a dot.
_CODE = re.compile(
    r"`[^`]+`|(?<![\w-])--?[a-zA-Z][\w-]*|\b\w+_\w+(?:\(\))?|\b\w[\w.]*\(\)|(?<![\w.])\.[a-z][\w.-]*\b"
)
