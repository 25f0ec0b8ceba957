"""The numbers that the model-free stages decide by, as data. `marchwarden compile --model extractive` searches them.

The defaults were found on the shipped training questions. A program may hold others; each stage is given those in
force, and no module keeps any. Bounds keep every number in the range where its meaning holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from marchwarden.contract import SourceAuthority

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Weight: TypeAlias = Annotated[float, Field(ge=-30, le=30)]
Value: TypeAlias = float | int
# Parameters that changed, by dotted name: the value before and after.
Changes: TypeAlias = dict[str, tuple[Value, Value]]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RelevanceWeights(_Group):
    """Weights of a window's features in the log-odds that it answers an aspect (evidence/relevance.py).

    They apply where window and aspect were compared by words alone.
    """

    words: Weight
    """Weight of the share of the aspect's terms that the window holds, each by its rarity in what was read."""
    bm25: Weight
    """Weight of the window's BM25 score, as a share of the highest."""
    best_passage: Weight
    """Weight of the share of terms that the best of its passages holds."""
    heading_words: Weight
    """Weight of the share of terms that only the heading adds."""
    near_words: Weight
    """Weight of the share of terms that only the passages just before and after add."""
    title_words: Weight
    """Weight of the share of terms that only the title adds."""
    words_of_title: Weight
    """Weight of the share of terms that the page's title holds."""
    words_of_page: Weight
    """Weight of the share of terms that the whole page holds."""
    position: Weight
    """Weight of one over the page's place among the hits."""
    pairs: Weight
    """Weight of the share of the aspect's neighbouring terms that stand side by side in the window."""
    matters: Weight
    """Weight of the share of the aspect's terms beside its names that the window holds."""
    matters_around: Weight
    """Weight of the share of those terms that the window with its title and heading holds."""
    nothing_that_matters: Weight
    """Added where the window holds none of those terms."""
    names: Weight
    """Weight of the share of the aspect's names that the window holds."""
    names_around: Weight
    """Weight of the share of the aspect's names that the window with its title and heading holds."""
    no_names_asked: Weight
    """Added where the aspect holds no name."""
    length: Weight
    """Weight of the logarithm of the number of terms."""
    passages: Weight
    """Weight of the number of passages."""
    kind: Weight
    """Added where the window holds the kind of thing that is asked for."""
    kind_missing: Weight
    """Added where it holds none of that kind."""
    specific_kind: Weight
    """Added where it holds a thing of a specific kind that is asked for, such as a date or a distance."""
    specific_kind_missing: Weight
    """Added where it holds none of that specific kind."""
    price_missing: Weight
    """Added where a price is asked for and the window holds none."""
    counted_missing: Weight
    """Added where nothing names the thing that "how many …" counts."""
    number: Weight
    """Added where the window holds a digit."""
    table_row: Weight
    """Added where the window holds a row of a table."""
    referral: Weight
    """Added where the window sends its reader elsewhere ("for prices, see …")."""
    question: Weight
    """Added where the window ends with a question."""
    furniture: Weight
    """Added where the window begins as what a page says about itself does ("Published", "Photo")."""
    full_stop: Weight
    """Added where the window ends as a sentence does."""
    bias: Weight
    """Log-odds of a window without any feature."""


class MeaningWeights(RelevanceWeights):
    """Weights where window and aspect were also compared by the embedding model; words then count less."""

    likeness: Weight
    """Weight of their similarity, in standard deviations above the usual similarity."""


class JudgedWeights(_Group):
    """Weights of a window that the judge read (judge/answering.py), in the log-odds that it answers."""

    judged: Weight
    """Weight of the log-odds that the judge tells."""
    likeness: Weight
    """Weight of the similarity in meaning, in standard deviations above the usual similarity."""
    specific_kind_missing: Weight = 0.0
    """Added where the window holds none of a specific kind that is asked for, such as a date or a distance."""
    counted_missing: Weight = 0.0
    """Added where nothing names the thing that "how many …" counts."""
    bias: Weight
    """Log-odds of a window without any feature."""


class Relevance(_Group):
    # All sets of weights were fitted by `python evals/fit_relevance.py`, whose head says on what.
    by_meaning: MeaningWeights = MeaningWeights(
        words=3.25,
        bm25=-0.27,
        best_passage=-0.316,
        heading_words=2.976,
        near_words=0.922,
        title_words=2.152,
        words_of_title=-1.166,
        words_of_page=-1.66,
        position=1.494,
        pairs=1.247,
        matters=0.355,
        matters_around=0.417,
        nothing_that_matters=0.328,
        names=-0.403,
        names_around=0.575,
        no_names_asked=0.124,
        length=-0.394,
        passages=0.16,
        kind=0.353,
        kind_missing=-0.598,
        specific_kind=0.518,
        specific_kind_missing=-0.657,
        price_missing=-1.388,
        counted_missing=-0.625,
        number=0.663,
        table_row=0.802,
        referral=-3.759,
        question=0.0,
        furniture=0.0,
        full_stop=0.365,
        bias=-3.43,
        likeness=1.035,
    )
    by_words: RelevanceWeights = RelevanceWeights(
        words=2.562,
        bm25=1.279,
        best_passage=0.756,
        heading_words=3.305,
        near_words=1.124,
        title_words=1.772,
        words_of_title=-1.392,
        words_of_page=-1.851,
        position=1.664,
        pairs=1.968,
        matters=0.204,
        matters_around=0.678,
        nothing_that_matters=-0.221,
        names=-0.08,
        names_around=0.811,
        no_names_asked=0.112,
        length=-0.246,
        passages=0.082,
        kind=0.397,
        kind_missing=-0.355,
        specific_kind=0.683,
        specific_kind_missing=-0.759,
        price_missing=-0.554,
        counted_missing=-0.464,
        number=0.67,
        table_row=0.674,
        referral=-3.831,
        question=0.0,
        furniture=0.0,
        full_stop=0.202,
        bias=-4.283,
    )
    ranking_by_meaning: MeaningWeights = MeaningWeights(
        words=0.584,
        bm25=0.959,
        best_passage=0.471,
        heading_words=1.453,
        near_words=0.038,
        title_words=1.017,
        words_of_title=-0.141,
        words_of_page=-0.133,
        position=0.727,
        pairs=1.467,
        matters=0.261,
        matters_around=0.409,
        nothing_that_matters=-0.022,
        names=0.059,
        names_around=0.337,
        no_names_asked=0.019,
        length=-0.007,
        passages=0.043,
        kind=0.216,
        kind_missing=-0.322,
        specific_kind=0.651,
        specific_kind_missing=-0.22,
        price_missing=-0.327,
        counted_missing=-0.233,
        number=0.313,
        table_row=0.157,
        referral=-0.745,
        question=-0.982,
        furniture=-0.674,
        full_stop=0.041,
        bias=-3.624,
        likeness=0.46,
    )
    ranking_by_words: RelevanceWeights = RelevanceWeights(
        words=0.875,
        bm25=1.551,
        best_passage=0.692,
        heading_words=2.287,
        near_words=0.569,
        title_words=1.1,
        words_of_title=-0.745,
        words_of_page=-0.139,
        position=1.526,
        pairs=2.64,
        matters=0.437,
        matters_around=0.575,
        nothing_that_matters=-0.039,
        names=0.336,
        names_around=0.627,
        no_names_asked=-0.068,
        length=0.056,
        passages=0.024,
        kind=0.301,
        kind_missing=-0.351,
        specific_kind=0.979,
        specific_kind_missing=-0.294,
        price_missing=-0.409,
        counted_missing=-0.244,
        number=0.481,
        table_row=0.274,
        referral=-0.771,
        question=-0.795,
        furniture=-0.538,
        full_stop=0.084,
        bias=-5.718,
    )
    by_judge: JudgedWeights = JudgedWeights(
        judged=0.297, likeness=1.135, specific_kind_missing=-1.16, counted_missing=-0.421, bias=-0.662
    )
    """Weights of a window that was judged; it is ranked by them, too."""
    as_judged: Share = 1.0
    """Factor on the chance of a window that was judged, for a judge whose chances are too high. 1 changes nothing; it
    stays so that older programs and traces can be read."""
    nothing_asked: Share = 0.8
    """Factor on the chance of a window that holds none of the aspect's terms beside its names."""
    nothing_named: Share = 0.2
    """Factor on the chance of a window whose page names nothing that the aspect names, or around which nothing names
    what "he" or "it" of the aspect stands for."""
    another_country: Share = 0.2
    """Factor on the chance of a window that names another country than the aspect, and on its rank. Over real pages
    none of 30 such windows answers, but three of a question that has "finnish" for "finish"."""

    def of(self, features: Mapping[str, float]) -> RelevanceWeights | JudgedWeights:
        """Return the weights for the chance of a window with these features."""
        if "judged" in features:
            return self.by_judge
        return self.by_meaning if "likeness" in features else self.by_words

    def ranking(self, features: Mapping[str, float]) -> RelevanceWeights | JudgedWeights:
        """Return the weights for ranking windows with these features."""
        if "judged" in features:
            return self.by_judge
        return self.ranking_by_meaning if "likeness" in features else self.ranking_by_words


class Extract(_Group):
    relevant: Share = 0.32
    """Least chance of a page's best passage to answer an aspect, from which on the page bears on the aspect."""
    judged: Share = 0.15
    """The same of a passage that the judge read. It tells better, so that less is enough (reports/passages.md)."""
    together: Share = 0.5
    """Least chance that one of the three best passages of all pages answers, from which on all three are evidence."""
    relevant_too: Share = 0.1
    """Least chance of another passage of such a page, from which on it is evidence, too."""
    picked: Share = 0.02
    """Least chance of a passage that a model picks. Of 81 single passages of real pages that answer, 1 has less, of
    939 others a quarter (by words 0 of 86, and 46 % of 4,536)."""
    picks_per_aspect: int = Field(3, ge=1, le=8)
    """Passages taken from one page for one aspect, at most."""


class Conflicts(_Group):
    close_to_best: Share = 0.6
    """Least relevance of an excerpt, as a share of the best one's, from which on it counts against others."""
    answers: Share = 0.4
    """Least chance of an excerpt with a value of the kind asked for, from which on that value is its answer."""


class _ByAuthority(_Group):
    def of(self, authority: SourceAuthority) -> float:
        value: float = getattr(self, authority.value)
        return value


class AuthorityCounts(_ByAuthority):
    # Added to a sentence's relevance: a guess.
    high: float = Field(0.05, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.1, ge=-1, le=1)


class Synthesize(_Group):
    close_to_best: Share = 0.6
    """Least relevance of a sentence, as a share of the best one's, from which on it is said."""
    fresh_source: Share = 0.1
    """Relevance that a sentence of a source new to the answer may lack, compared with a known source's second one."""
    authority: AuthorityCounts = AuthorityCounts()
    """Added to the relevance of a sentence, by its source's authority."""


class Gaps(_Group):
    relevant_closed: Share = 0.5
    """Least share of its aspect in a closed page's hit, from which on the page is a gap although others answered."""
    relevant_lead: Share = 0.4
    """The same where nothing answered, or the page is among the first hits: the search may know better."""


class AuthorityTrust(_ByAuthority):
    # Added to the confidence: a guess.
    high: float = Field(0.05, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.12, ge=-1, le=1)


class Confidence(_Group):
    """The rubric of evidence/confidence.py. Its upper bounds are promises to callers, and no parameters."""

    nothing_cited: Share = 0.05
    """Base of the score where no source is cited."""
    one_source: Share = 0.69
    """Base of the score where one independent source is cited."""
    two_sources: Share = 0.7
    """Base of the score where two independent sources are cited."""
    three_sources: Share = 0.71
    """Base of the score where three independent sources are cited."""
    more_sources: Share = 0.73
    """Base of the score where more independent sources are cited."""
    authority: AuthorityTrust = AuthorityTrust()
    """Added to the score, by the median authority of the cited sources."""
    dated: Share = 0.05
    """Taken off where all sources are old."""
    unresolved: Share = 0.1
    """Taken off where sources disagree and nothing settles it."""
    resolved: Share = 0.03
    """Taken off where sources disagree and something settles it."""
    exhausted: Share = 0.15
    """Taken off where a limit cut the research short."""
    fit_half: Share = 0.1
    """Fit of the evidence to the question with which the factor on the score is a half."""
    fit_slope: float = Field(0.8, ge=0, le=5)
    """Slope of that factor in the log-odds of the fit. Both were chosen on 403 answers over real pages."""
    answered_floor: Share = 0.4
    """Factor on the score where no aspect is answered."""

    def base(self, sources: int) -> float:
        """Return the base of the score for this number of independent sources that are cited."""
        return (self.nothing_cited, self.one_source, self.two_sources, self.three_sources, self.more_sources)[
            min(sources, 4)
        ]


# In an investigation: least relevance of a quote, as a share of the best one's, from which on the answer says it.
# Each researcher has left out what is far below its own best. Of .6, .45, .3 and .2 for the train and dev questions
# of evals/investigations/follow_ups.py: 22, 23, 25 and 25 of 26 nuggets that researchers found, 45 to 48 citations.
CHOSEN_CLOSE_TO_BEST = 0.3


class Parameters(_Group):
    """All parameters, by the stage that they belong to."""

    relevance: Relevance = Relevance()
    extract: Extract = Extract()
    conflicts: Conflicts = Conflicts()
    synthesize: Synthesize = Synthesize()
    gaps: Gaps = Gaps()
    confidence: Confidence = Confidence()

    def of_an_investigation(self) -> Parameters:
        """Return the parameters by which an investigation's answer is written from what its researchers chose."""
        close = min(CHOSEN_CLOSE_TO_BEST, self.synthesize.close_to_best)
        return self.model_copy(update={"synthesize": self.synthesize.model_copy(update={"close_to_best": close})})

    def values(self) -> dict[str, Value]:
        """Return every number by its dotted name: `extract.relevant`."""
        return dict(_flat(self))

    def changes(self, other: Parameters) -> Changes:
        """Return the numbers that are others in `other`: (this value, the other's)."""
        theirs = other.values()
        return {name: (value, theirs[name]) for name, value in self.values().items() if value != theirs[name]}

    def with_values(self, values: dict[str, Value]) -> Parameters:
        """Return the parameters with some numbers changed, by dotted name.

        Raises ValueError for an unknown name, and for a number out of its bounds.
        """
        known = self.values()
        if unknown := [name for name in values if name not in known]:
            raise ValueError(f"there is no parameter {unknown[0]}")
        tree = self.model_dump()
        for name, value in values.items():
            *groups, last = name.split(".")
            place = tree
            for group in groups:
                place = place[group]
            place[last] = value
        return Parameters.model_validate(tree)


def _flat(group: BaseModel, prefix: str = "") -> Iterator[tuple[str, Value]]:
    for name in type(group).model_fields:
        value = getattr(group, name)
        if isinstance(value, BaseModel):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


# The parameters in force where no program holds others.
DEFAULT = Parameters()
