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
    """Weights of a passage's features in the log-odds that it answers an aspect (evidence/relevance.py).

    They apply where passage and aspect were compared by words alone.
    """

    words: Weight
    """Weight of the share of the aspect's terms that the passage holds."""
    words_around: Weight
    """Weight of the share of terms that only the title, the heading or the page's year holds."""
    pairs: Weight
    """Weight of the share of the aspect's neighbouring terms that stand side by side in the passage."""
    matters: Weight
    """Weight of the share of the aspect's terms beside its names that the passage holds."""
    matters_around: Weight
    """Weight of the share of those terms that the passage with its title and heading holds."""
    nothing_that_matters: Weight
    """Added where the passage holds none of those terms."""
    names: Weight
    """Weight of the share of the aspect's names that the passage holds."""
    names_around: Weight
    """Weight of the share of the aspect's names that the passage with its title and heading holds."""
    no_names_asked: Weight
    """Added where the aspect holds no name."""
    short: Weight
    """Added for a passage of fewer than five terms."""
    long: Weight
    """Weight of the number of terms as a share of forty, at most 1."""
    early: Weight
    """Weight of one over the passage's number on its page."""
    kind: Weight
    """Added where the passage holds the kind of thing that is asked for."""
    kind_missing: Weight
    """Added where it holds none of that kind."""
    specific_kind: Weight
    """Added where the passage holds a thing of a specific kind that is asked for, such as a date or a distance."""
    specific_kind_missing: Weight
    """Added where it holds none of that specific kind."""
    price_missing: Weight
    """Added where a price is asked for and the passage holds none."""
    counted_missing: Weight
    """Added where the passage does not name the thing that "how many …" counts."""
    dangling: Weight
    """Added where the passage opens with a word that points back."""
    table_row: Weight
    """Added where the passage is a row of a table."""
    bibliography: Weight
    """Added where the passage reads like a reference."""
    bias: Weight
    """Log-odds of a passage without any feature."""


class MeaningWeights(RelevanceWeights):
    """Weights where passage and aspect were also compared by the embedding model; words then count less."""

    likeness: Weight
    """Weight of their similarity, in standard deviations above the usual similarity."""


class Relevance(_Group):
    # Both sets of weights were fitted on the shipped train questions: `python evals/fit_relevance.py`.
    by_meaning: MeaningWeights = MeaningWeights(
        words=1.998,
        words_around=0.523,
        pairs=1.492,
        matters=0.621,
        matters_around=1.167,
        nothing_that_matters=0.556,
        names=-1.156,
        names_around=1.393,
        no_names_asked=-0.489,
        short=-0.507,
        long=-1.053,
        early=0.168,
        kind=0.086,
        kind_missing=-0.662,
        specific_kind=0.647,
        specific_kind_missing=-0.608,
        price_missing=-2.131,
        counted_missing=-1.074,
        dangling=0.554,
        table_row=0.58,
        bibliography=-0.67,
        likeness=1.404,
        bias=-2.236,
    )
    by_words: RelevanceWeights = RelevanceWeights(
        words=4.904,
        words_around=0.873,
        pairs=1.151,
        matters=-0.16,
        matters_around=1.853,
        nothing_that_matters=-0.231,
        names=-0.077,
        names_around=0.856,
        no_names_asked=-0.251,
        short=-0.943,
        long=0.077,
        early=0.401,
        kind=0.064,
        kind_missing=-0.781,
        specific_kind=1.043,
        specific_kind_missing=-0.796,
        price_missing=-2.156,
        counted_missing=-0.665,
        dangling=0.275,
        table_row=0.775,
        bibliography=-1.081,
        bias=-3.926,
    )
    headline: Share = 0.6
    """Factor on a passage's chance where it is a headline."""
    referral: Share = 0.5
    """Factor on the chance of a passage that sends its reader elsewhere ("for prices, see …")."""
    nothing_asked: Share = 0.6
    """Factor on the chance of a passage that holds none of the aspect's terms beside its names."""
    nothing_asked_in_meaning: Share = 0.85
    """Factor in the same case where the embedding model compared them, since other words may carry the meaning."""
    counted_missing: Share = 0.7
    """Factor on the chance of a passage that does not name the thing that "how many …" counts."""
    name_missing: Share = 0.85
    """Factor on the chance of a passage that lacks a name of the question."""
    most_names_missing: Share = 0.7
    """Factor on top of that where half of the names are missing."""


class Extract(_Group):
    relevant: Share = 0.46
    """Least chance of a page's best passage to answer an aspect, from which on the page bears on the aspect."""
    relevant_too: Share = 0.3
    """Least chance of another passage of such a page, from which on it is evidence, too."""
    picks_per_aspect: int = Field(3, ge=1, le=8)
    """Passages taken from one page for one aspect, at most."""


class Conflicts(_Group):
    close_to_best: Share = 0.6
    """Least relevance of an excerpt, as a share of the best one's, from which on it counts against others."""
    answers: Share = 0.5
    """Least chance of an excerpt with a value of the kind asked for, from which on that value is its answer."""


class _ByAuthority(_Group):
    def of(self, authority: SourceAuthority) -> float:
        value: float = getattr(self, authority.value)
        return value


class AuthorityCounts(_ByAuthority):
    # Added to a sentence's relevance: a guess.
    high: float = Field(0.1, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.15, ge=-1, le=1)


class Synthesize(_Group):
    close_to_best: Share = 0.6
    """Least relevance of a sentence, as a share of the best one's, from which on it is said."""
    fresh_source: Share = 0.3
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
