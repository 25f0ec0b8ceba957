"""The numbers that the model-free stages decide by, as data: what `marchwarden compile --model extractive` searches.

The defaults were found on the shipped training questions. A program may hold others; what a stage is given carries
those in force, and nothing is kept in a module. Bounds keep every number where its meaning holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from marchwarden.contract import SourceAuthority

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Weight: TypeAlias = Annotated[float, Field(ge=-30, le=30)]
Value: TypeAlias = float | int
# By dotted name: what it was, and what it is.
Changes: TypeAlias = dict[str, tuple[Value, Value]]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RelevanceWeights(_Group):
    """What each feature of a passage adds to the log-odds that it answers an aspect (evidence/relevance.py), where it
    was not compared in meaning."""

    words: Weight
    """The share of the aspect's terms that the passage holds."""
    words_around: Weight
    """The share that only its title, its heading or its page's year holds."""
    pairs: Weight
    """The share of the aspect's neighbouring terms that stand side by side."""
    matters: Weight
    """The share of what is asked about the names that the passage holds."""
    matters_around: Weight
    """The same, with title and heading."""
    nothing_that_matters: Weight
    """That it holds none of it."""
    names: Weight
    """The share of the aspect's names that it holds."""
    names_around: Weight
    """The same, with title and heading."""
    no_names_asked: Weight
    """That the aspect names nothing."""
    short: Weight
    """Fewer than five terms."""
    long: Weight
    """Its terms, forty and more as one."""
    early: Weight
    """One over its place on the page."""
    kind: Weight
    """It holds the kind of thing that is asked for."""
    kind_missing: Weight
    specific_kind: Weight
    """The same for kinds such as a date or a distance."""
    specific_kind_missing: Weight
    price_missing: Weight
    """No price where one is asked for."""
    counted_missing: Weight
    """Nothing of what "how many …" counts."""
    dangling: Weight
    """It opens with a word that points back."""
    table_row: Weight
    bibliography: Weight
    """It reads like a reference."""
    bias: Weight


class MeaningWeights(RelevanceWeights):
    """The same where it was compared in meaning; the others then have less to say."""

    likeness: Weight
    """How alike both are, in spreads above what is usual."""


class Relevance(_Group):
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
    """What is left of a passage's chance where it is a headline; the names below say the same of other faults."""
    referral: Share = 0.5
    """Where it sends its reader elsewhere ("for prices, see …")."""
    nothing_asked: Share = 0.6
    """Where nothing of what is asked about the names stands there."""
    nothing_asked_in_meaning: Share = 0.85
    """The same, where both were compared in meaning, which other words may carry."""
    counted_missing: Share = 0.7
    """Where what "how many …" counts does not stand there: the number is of something else."""
    name_missing: Share = 0.85
    """Where a name that the question holds is missing …"""
    most_names_missing: Share = 0.7
    """… and, once more, where half of them are."""


class Extract(_Group):
    relevant: Share = 0.46
    """A page bears on an aspect where its best passage is at least this likely to answer it."""
    relevant_too: Share = 0.3
    """Other passages of such a page are evidence where they are at least this likely to."""
    picks_per_aspect: int = Field(3, ge=1, le=8)
    """Passages of one page, at most."""


class Conflicts(_Group):
    close_to_best: Share = 0.6
    """What an excerpt must carry of its aspect, as a share of what the best one carries, to count against others."""
    answers: Share = 0.5
    """An excerpt that is this likely to answer an aspect, and holds a value of what it asks for, answers it so."""


class _ByAuthority(_Group):
    def of(self, authority: SourceAuthority) -> float:
        value: float = getattr(self, authority.value)
        return value


class AuthorityCounts(_ByAuthority):
    high: float = Field(0.1, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.15, ge=-1, le=1)


class Synthesize(_Group):
    close_to_best: Share = 0.6
    """What a sentence must carry of its aspect, as a share of what the best one carries, to be said."""
    fresh_source: Share = 0.3
    """How much less relevant a sentence of a source without one in the answer may be than a source's second one."""
    authority: AuthorityCounts = AuthorityCounts()
    """What the source's authority adds to the relevance of a sentence."""


class Gaps(_Group):
    relevant_closed: Share = 0.5
    """A closed page whose hit carries this share of its aspect is a gap, even where other pages answered."""
    relevant_lead: Share = 0.4
    """The same where nothing answered: the closed page may have."""


class AuthorityTrust(_ByAuthority):
    high: float = Field(0.05, ge=-1, le=1)
    medium: float = Field(0.0, ge=-1, le=1)
    low: float = Field(-0.12, ge=-1, le=1)


class Confidence(_Group):
    """The rubric of evidence/confidence.py. Its upper bounds are promises to callers, and no parameters."""

    nothing_cited: Share = 0.05
    one_source: Share = 0.65
    """The base, by independent sources that are cited."""
    two_sources: Share = 0.74
    three_sources: Share = 0.82
    more_sources: Share = 0.88
    authority: AuthorityTrust = AuthorityTrust()
    """What the median authority of what is cited adds."""
    dated: Share = 0.05
    """Taken off where everything is old …"""
    unresolved: Share = 0.1
    """… where sources disagree and nothing settled it …"""
    resolved: Share = 0.03
    """… where something did …"""
    exhausted: Share = 0.15
    """… and where a limit cut the research short."""
    fit_floor: Share = 0.3
    """What is left of the score where the evidence does not fit the question at all."""
    answered_floor: Share = 0.4
    """What is left of it where no aspect is answered."""

    def base(self, sources: int) -> float:
        return (self.nothing_cited, self.one_source, self.two_sources, self.three_sources, self.more_sources)[
            min(sources, 4)
        ]


class Parameters(_Group):
    """All of them, by the stage that they are of."""

    relevance: Relevance = Relevance()
    extract: Extract = Extract()
    conflicts: Conflicts = Conflicts()
    synthesize: Synthesize = Synthesize()
    gaps: Gaps = Gaps()
    confidence: Confidence = Confidence()

    def values(self) -> dict[str, Value]:
        """Every number by its dotted name: `extract.relevant`."""
        return dict(_flat(self))

    def changes(self, other: Parameters) -> Changes:
        """What is another number in `other`: ours, then theirs."""
        theirs = other.values()
        return {name: (value, theirs[name]) for name, value in self.values().items() if value != theirs[name]}

    def with_values(self, values: dict[str, Value]) -> Parameters:
        """These with some numbers changed, by dotted name. Raises ValueError for a name that there is none of, and
        for a number out of its bounds."""
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


# What is used where no program holds others.
DEFAULT = Parameters()
