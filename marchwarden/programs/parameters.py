"""The numbers that the model-free stages decide by, as data. `marchwarden compile --model extractive` searches them.

The defaults were found on the shipped training questions. A program may hold others; each stage is given those in
force, and no module keeps any. Bounds keep every number in the range where its meaning holds.
"""

from __future__ import annotations

from collections.abc import Iterator
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


class Relevance(_Group):
    # All sets of weights were fitted by `python evals/fit_relevance.py`, whose head says on what.
    by_meaning: MeaningWeights = MeaningWeights(
        words=3.063,
        bm25=0.33,
        best_passage=-0.303,
        heading_words=3.248,
        near_words=1.311,
        title_words=2.137,
        words_of_title=-1.199,
        words_of_page=-1.807,
        position=1.484,
        pairs=1.289,
        matters=0.333,
        matters_around=0.532,
        nothing_that_matters=0.328,
        names=-0.177,
        names_around=0.396,
        no_names_asked=0.079,
        length=-0.357,
        passages=0.148,
        kind=0.308,
        kind_missing=-0.479,
        specific_kind=0.517,
        specific_kind_missing=-0.633,
        price_missing=-1.303,
        counted_missing=-0.48,
        number=0.718,
        table_row=0.6,
        referral=-2.675,
        question=0.0,
        furniture=0.0,
        full_stop=0.31,
        bias=-3.558,
        likeness=0.947,
    )
    by_words: RelevanceWeights = RelevanceWeights(
        words=2.606,
        bm25=1.302,
        best_passage=0.826,
        heading_words=3.305,
        near_words=1.148,
        title_words=1.436,
        words_of_title=-1.156,
        words_of_page=-1.938,
        position=1.688,
        pairs=1.987,
        matters=0.163,
        matters_around=0.711,
        nothing_that_matters=-0.153,
        names=0.009,
        names_around=0.655,
        no_names_asked=0.103,
        length=-0.204,
        passages=0.07,
        kind=0.388,
        kind_missing=-0.424,
        specific_kind=0.688,
        specific_kind_missing=-0.69,
        price_missing=-0.55,
        counted_missing=-0.466,
        number=0.767,
        table_row=0.732,
        referral=-2.767,
        question=0.0,
        furniture=0.0,
        full_stop=0.249,
        bias=-4.538,
    )
    ranking_by_meaning: MeaningWeights = MeaningWeights(
        words=0.569,
        bm25=0.954,
        best_passage=0.483,
        heading_words=1.452,
        near_words=0.139,
        title_words=0.925,
        words_of_title=-0.138,
        words_of_page=-0.144,
        position=0.741,
        pairs=1.502,
        matters=0.252,
        matters_around=0.408,
        nothing_that_matters=-0.018,
        names=0.085,
        names_around=0.308,
        no_names_asked=-0.035,
        length=-0.022,
        passages=0.04,
        kind=0.209,
        kind_missing=-0.334,
        specific_kind=0.611,
        specific_kind_missing=-0.219,
        price_missing=-0.338,
        counted_missing=-0.221,
        number=0.337,
        table_row=0.136,
        referral=-0.704,
        question=-0.985,
        furniture=-0.516,
        full_stop=0.063,
        bias=-3.607,
        likeness=0.447,
    )
    ranking_by_words: RelevanceWeights = RelevanceWeights(
        words=0.853,
        bm25=1.505,
        best_passage=0.696,
        heading_words=2.067,
        near_words=0.581,
        title_words=1.044,
        words_of_title=-0.748,
        words_of_page=-0.136,
        position=1.559,
        pairs=2.675,
        matters=0.426,
        matters_around=0.568,
        nothing_that_matters=-0.037,
        names=0.35,
        names_around=0.594,
        no_names_asked=-0.073,
        length=0.038,
        passages=0.022,
        kind=0.298,
        kind_missing=-0.345,
        specific_kind=0.945,
        specific_kind_missing=-0.295,
        price_missing=-0.407,
        counted_missing=-0.247,
        number=0.513,
        table_row=0.262,
        referral=-0.754,
        question=-0.801,
        furniture=-0.497,
        full_stop=0.1,
        bias=-5.683,
    )
    nothing_asked: Share = 0.8
    """Factor on the chance of a window that holds none of the aspect's terms beside its names."""


class Extract(_Group):
    relevant: Share = 0.32
    """Least chance of a page's best passage to answer an aspect, from which on the page bears on the aspect."""
    relevant_too: Share = 0.1
    """Least chance of another passage of such a page, from which on it is evidence, too."""
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
    """Least share of its aspect in a closed page's hit, from which on the page is a gap where nothing answered."""


class AuthorityTrust(_ByAuthority):
    # Added to the confidence: a guess.
    high: float = Field(0.05, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.12, ge=-1, le=1)


class Confidence(_Group):
    """The rubric of evidence/confidence.py. Its upper bounds are promises to callers, and no parameters."""

    nothing_cited: Share = 0.05
    """Base of the score where no source is cited."""
    one_source: Share = 0.65
    """Base of the score where one independent source is cited."""
    two_sources: Share = 0.74
    """Base of the score where two independent sources are cited."""
    three_sources: Share = 0.82
    """Base of the score where three independent sources are cited."""
    more_sources: Share = 0.88
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
    fit_floor: Share = 0.3
    """Factor on the score where the evidence does not fit the question at all."""
    answered_floor: Share = 0.4
    """Factor on the score where no aspect is answered."""

    def base(self, sources: int) -> float:
        """Return the base of the score for this number of independent sources that are cited."""
        return (self.nothing_cited, self.one_source, self.two_sources, self.three_sources, self.more_sources)[
            min(sources, 4)
        ]


class Parameters(_Group):
    """All parameters, by the stage that they belong to."""

    relevance: Relevance = Relevance()
    extract: Extract = Extract()
    conflicts: Conflicts = Conflicts()
    synthesize: Synthesize = Synthesize()
    gaps: Gaps = Gaps()
    confidence: Confidence = Confidence()

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
