"""Probability that a passage answers an aspect, from what both have in common, with weights fitted to labels.

    relevance = 1 / (1 + exp(−(bias + Σ weight × feature)))

This is a logistic regression, fitted to the training questions by evals/fit_relevance.py. Its features are the words
that a passage, its title and its heading share with the aspect, the kind of answer that is asked for, signs that the
passage can't be quoted alone, and, where an embedding model is installed, the similarity in meaning. There are two
sets of weights, since without the similarity the other features count more. They are in programs/parameters.py, with
the factors that lower a relevance.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeAlias

from marchwarden.evidence.answer_kinds import NAME, AnswerKind, counted, general_kind, specific_kinds
from marchwarden.evidence.question import VAGUE_TERMS, names_in
from marchwarden.injection.detector import drop_injections
from marchwarden.ledger import Aspect, Lead
from marchwarden.observations import Page, Passage
from marchwarden.programs.parameters import DEFAULT, Parameters
from marchwarden.text.embedding import Embedder
from marchwarden.text.ranking import coverage, guess_language, term_weights, terms, terms_of

# Cosine similarity of an aspect and a passage, by their numbers.
Alike: TypeAlias = Mapping[tuple[int, int], float]
Features: TypeAlias = dict[str, float]

_HEADLINE = re.compile(r"^(?:[^\s|·]+\s+){0,11}[^\s|·]*[^\W_]$")
_REFERRAL = re.compile(r"^(for|on|about)\b.*\bsee\b|\bsee (the|our|also)\b|\bread (more|on)\b", re.IGNORECASE)
# Usual cosine similarity of a question and a passage, and its spread, about: the embedding model's cosines lie close
# together. The weights are fitted to features scaled by them.
USUAL_COSINE, COSINE_SPREAD = 0.85, 0.05
_DANGLING = re.compile(
    r"^(it|its|they|these|this|that|those|he|she|his|her|such|both|then|there|here|but|and|or|so|however|also|instead)\b",
    re.IGNORECASE,
)
_NOT_A_STATEMENT = re.compile(
    r"\?$|^(click|sign|subscribe|read more|see also|share|log in|advertisement|photo|image|figure|table of|related|"
    r"originally published|posted|last updated|updated|published|copyright|©|all rights)\b",
    re.IGNORECASE,
)
_WEAK: dict[str, re.Pattern[str]] = {
    "dangling": _DANGLING,  # it can't be quoted alone
    "table_row": re.compile(r" \| "),
    "bibliography": re.compile(
        r"\bet al\b|\bdoi\b|https?://|\b\d{4};\d+|\b(vol|pp?)\. ?\d|\bJournal of\b", re.IGNORECASE
    ),
}


class Relevance:
    """Relevance of each passage of one page to each aspect: the probability that it answers, 0–1."""

    def __init__(
        self,
        page: Page,
        aspects: Sequence[Aspect],
        alike: Alike | None = None,
        parameters: Parameters = DEFAULT,
    ) -> None:
        self._parameters = parameters.relevance
        self._by_meaning = parameters.relevance.by_meaning.model_dump()
        self._by_words = parameters.relevance.by_words.model_dump()
        language = page.language or guess_language(" ".join(passage.text for passage in page.passages[:20]))
        found = terms_of([passage.text for passage in page.passages], language)
        self._words = {passage.number: words for passage, words in zip(page.passages, found, strict=True)}
        self._title = set(terms(page.title or "", language))
        self._headings = {passage.number: set(terms(passage.heading or "", language)) for passage in page.passages}
        self._year = {str(page.dated.year)} if page.dated else set()
        telling = term_weights(self._words.values())
        most = math.log(1 + 2 * len(page.passages) + 1)  # what a term weighs that no passage holds
        self._asked = {aspect.number: AskedFor.of(aspect.text, language).on_page(telling, most) for aspect in aspects}
        self._alike = alike or {}

    def of(self, passage: Passage, aspect: Aspect) -> float:
        """Return the relevance, 0–1; 0 for a passage that is no statement, or shares nothing with the aspect."""
        features = self.features(passage, aspect)
        if features is None:
            return 0.0
        weights = self._by_meaning if "likeness" in features else self._by_words
        return round(probability(features, weights) * self._doubt(passage, aspect), 4)

    def _doubt(self, passage: Passage, aspect: Aspect) -> float:
        """Return the factor, 0–1, for faults that no sum of features outweighs.

        A headline names a subject and states nothing. A text without the names of the question is on something else.
        """
        parameters, asked = self._parameters, self._asked[aspect.number]
        names = asked.names
        together = set(self._words[passage.number]) | self._title | self._headings[passage.number] | self._year
        found = names & (together | asked.spelled_out(passage.text))
        doubt = 1.0
        if _HEADLINE.search(passage.text):
            doubt = parameters.headline
        elif _REFERRAL.search(passage.text):
            doubt = parameters.referral
        if asked.matters and not asked.matters & together:
            in_meaning = (aspect.number, passage.number) in self._alike
            doubt *= parameters.nothing_asked_in_meaning if in_meaning else parameters.nothing_asked
        if asked.counted and not asked.counted & together:
            doubt *= parameters.counted_missing
        if len(found) < len(names):
            doubt *= parameters.name_missing
        if len(names) > 1 and 2 * len(found) <= len(names):
            doubt *= parameters.most_names_missing
        return doubt

    def features(self, passage: Passage, aspect: Aspect) -> Features | None:
        """Return the features by name; None for a passage that is no statement or shares nothing with the aspect."""
        asked = self._asked[aspect.number]
        words = self._words[passage.number]
        own = set(words) | asked.spelled_out(passage.text)
        around = self._title | self._headings[passage.number] | self._year
        together = own | around
        cosine = self._alike.get((aspect.number, passage.number))
        if _NOT_A_STATEMENT.search(passage.text) or (cosine is None and not own & asked.terms):
            return None
        likeness = {} if cosine is None else {"likeness": (cosine - USUAL_COSINE) / COSINE_SPREAD}
        return {
            **likeness,
            "words": asked.share(own),
            "words_around": asked.share((around & asked.terms) - own),
            "pairs": _share(asked.pairs, set(pairwise(words))),
            "matters": _share(asked.matters, own, none=0.5),
            "matters_around": _share(asked.matters, together, none=0.5),
            "nothing_that_matters": float(bool(asked.matters) and not asked.matters & own),
            "names": _share(asked.names, own, none=0.5),
            "names_around": _share(asked.names, together, none=0.5),
            "no_names_asked": float(not asked.names),
            "short": float(len(own) < 5),
            "long": min(1.0, len(own) / 40),
            "early": 1 / passage.number,
            **asked.kind_features(passage.text, own | self._headings[passage.number]),
            **{name: float(bool(pattern.search(passage.text))) for name, pattern in _WEAK.items()},
        }


def probability(features: Features, weights: Features) -> float:
    odds = weights["bias"] + sum(weights[name] * value for name, value in features.items())
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))), 4)


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

    @classmethod
    def of(cls, text: str, language: str) -> "AskedFor":
        in_order = terms(text, language)
        words = set(in_order)
        named = {term for name in names_in(text) for term in terms(name, language)}
        weights = {term: 1.6 if term in named else 0.35 if term in VAGUE_TERMS else 1.0 for term in words}
        return cls(
            terms=words,
            pairs=set(pairwise(in_order)),
            names={term for term in named if not term[0].isdigit()},
            matters=words - named - VAGUE_TERMS,
            weights=weights,
            kind=general_kind(text),
            kinds=specific_kinds(text),
            counted=counted(text) - VAGUE_TERMS,
            initials={term: _in_full(name) for name in _INITIALS.findall(text) for term in terms(name, language)},
        )

    def on_page(self, telling: dict[str, float], most: float) -> "AskedFor":
        """Return the aspect with weights for one page.

        A term in every passage weighs three quarters of a term that the page lacks.
        """
        scaled = {
            term: weight * (0.75 + 0.25 * telling.get(term, most) / most) for term, weight in self.weights.items()
        }
        return replace(self, weights=scaled)

    def spelled_out(self, text: str) -> set[str]:
        """Return the abbreviations that a text writes out."""
        return {term for term, pattern in self.initials.items() if pattern.search(text)}

    def share(self, found: set[str]) -> float:
        return coverage(self.terms, found, self.weights)

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
    words = set(terms(says))
    asked = [AskedFor.of(aspect.text, "en") for aspect in aspects]
    return max((each.share(words | each.spelled_out(says)) for each in asked), default=0.0)


_INITIALS = re.compile(r"\b[A-Z]{2,5}\b")


def _in_full(initials: str) -> re.Pattern[str]:
    words = r"\s+(?:(?:of|and|for|the)\s+){0,2}".join(rf"{letter}[a-zà-ÿ]+" for letter in initials)
    return re.compile(rf"\b(?:{words}\b|{'[.] ?'.join(initials)}[.])")


# Passages of a page that are embedded for each aspect: those with the highest relevance by words. A guess.
CANDIDATES = 4
# Passages from the top of a page in another language than the question, where shared words say little. A guess.
CANDIDATES_OF_ANOTHER_LANGUAGE = 24


def candidates(page: Page, aspects: Sequence[Aspect], parameters: Parameters = DEFAULT) -> list[Passage]:
    """Return the passages of a page that may answer an aspect, in page order."""
    passages = drop_injections(page)
    relevance = Relevance(page, aspects, parameters=parameters)
    language = page.language or guess_language(" ".join(passage.text for passage in page.passages[:20]))
    if language[:2] != guess_language(" ".join(aspect.text for aspect in aspects)):
        return [each for each in passages if not _NOT_A_STATEMENT.search(each.text)][:CANDIDATES_OF_ANOTHER_LANGUAGE]
    chosen = set()
    for aspect in aspects:
        scored = {passage.number: relevance.of(passage, aspect) for passage in passages}
        best = sorted(scored, key=lambda number: -scored[number])[:CANDIDATES]
        chosen |= {number for number in best if scored[number] > 0}
    return [passage for passage in passages if passage.number in chosen]


def likeness(embedder: Embedder, page: Page, aspects: Sequence[Aspect], parameters: Parameters = DEFAULT) -> Alike:
    """Return the similarity of each aspect and each candidate. Blocks, for about 30 ms a passage that is new."""
    chosen = candidates(page, aspects, parameters)
    similar = embedder.likeness([aspect.text for aspect in aspects], [passage.text for passage in chosen])
    return {
        (aspect.number, passage.number): cosine
        for aspect, row in zip(aspects, similar, strict=True)
        for passage, cosine in zip(chosen, row, strict=True)
    }
