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
        words=2.685,
        bm25=0.157,
        best_passage=-0.239,
        heading_words=2.999,
        near_words=1.245,
        title_words=1.715,
        words_of_title=-1.264,
        words_of_page=-1.826,
        position=1.462,
        pairs=1.197,
        matters=0.494,
        matters_around=0.595,
        nothing_that_matters=0.408,
        names=-0.251,
        names_around=0.571,
        no_names_asked=-0.016,
        length=-0.407,
        passages=0.121,
        kind=0.317,
        kind_missing=-0.506,
        specific_kind=0.516,
        specific_kind_missing=-0.543,
        price_missing=-1.343,
        counted_missing=-0.532,
        number=0.637,
        table_row=0.583,
        referral=-2.796,
        question=0.0,
        furniture=0.0,
        full_stop=0.281,
        bias=-3.143,
        likeness=0.966,
    )
    by_words: RelevanceWeights = RelevanceWeights(
        words=2.565,
        bm25=0.779,
        best_passage=0.631,
        heading_words=2.775,
        near_words=1.209,
        title_words=1.518,
        words_of_title=-1.499,
        words_of_page=-1.904,
        position=1.718,
        pairs=1.867,
        matters=0.199,
        matters_around=0.871,
        nothing_that_matters=-0.121,
        names=0.153,
        names_around=0.786,
        no_names_asked=0.053,
        length=-0.253,
        passages=0.074,
        kind=0.406,
        kind_missing=-0.3,
        specific_kind=0.663,
        specific_kind_missing=-0.672,
        price_missing=-0.967,
        counted_missing=-0.522,
        number=0.748,
        table_row=0.687,
        referral=-2.829,
        question=0.0,
        furniture=0.0,
        full_stop=0.233,
        bias=-4.416,
    )
    ranking_by_meaning: MeaningWeights = MeaningWeights(
        words=0.512,
        bm25=0.8,
        best_passage=0.42,
        heading_words=1.348,
        near_words=0.2,
        title_words=0.855,
        words_of_title=-0.294,
        words_of_page=-0.183,
        position=0.752,
        pairs=1.447,
        matters=0.273,
        matters_around=0.442,
        nothing_that_matters=-0.003,
        names=0.116,
        names_around=0.365,
        no_names_asked=-0.04,
        length=-0.012,
        passages=0.033,
        kind=0.224,
        kind_missing=-0.322,
        specific_kind=0.619,
        specific_kind_missing=-0.192,
        price_missing=-0.307,
        counted_missing=-0.235,
        number=0.344,
        table_row=0.125,
        referral=-0.693,
        question=-0.902,
        furniture=-0.527,
        full_stop=0.065,
        bias=-3.619,
        likeness=0.445,
    )
    ranking_by_words: RelevanceWeights = RelevanceWeights(
        words=0.827,
        bm25=1.353,
        best_passage=0.614,
        heading_words=1.906,
        near_words=0.661,
        title_words=0.937,
        words_of_title=-0.951,
        words_of_page=-0.166,
        position=1.6,
        pairs=2.582,
        matters=0.428,
        matters_around=0.623,
        nothing_that_matters=-0.004,
        names=0.389,
        names_around=0.646,
        no_names_asked=-0.103,
        length=0.038,
        passages=0.017,
        kind=0.3,
        kind_missing=-0.34,
        specific_kind=0.951,
        specific_kind_missing=-0.286,
        price_missing=-0.416,
        counted_missing=-0.251,
        number=0.526,
        table_row=0.248,
        referral=-0.738,
        question=-0.744,
        furniture=-0.505,
        full_stop=0.092,
        bias=-5.696,
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
