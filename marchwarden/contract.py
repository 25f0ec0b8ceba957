"""The research contract, v1, as types: the request that a caller sends, and the result that every researcher returns.

Every limit of docs/wiki/ResearchContract.md is enforced here and nowhere else. This module imports no other of ours.
"""

from __future__ import annotations

import re
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, TypeAlias
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator
from typing_extensions import Self, assert_never

CONTRACT_VERSION: Literal["v1"] = "v1"
# Characters of a raw_excerpt, at most.
EXCERPT_LIMIT = 500
# The end of a raw_excerpt that was cut.
EXCERPT_CUT = "[...]"
# The raw_excerpt of a source that has no text, such as an image.
NON_TEXT_SOURCE = "[non-text source]"
# The start of the lines of a model-free answer that name disagreements. They claim nothing.
DISAGREEMENT = "Sources disagree, and nothing read settles it"

# A citation's number in an answer.
_MARKER = re.compile(r"\[(\d{1,3})\]")


class Depth(str, Enum):
    """Thoroughness of the research: a target for the planner, not a limit."""

    SHALLOW = "shallow"
    BALANCED = "balanced"
    DEEP = "deep"


class GapCategory(str, Enum):
    """Reason for which something stayed open; each calls for another step (see `next_step`)."""

    SOURCE_NOT_FOUND = "source_not_found"
    ACCESS_DENIED = "access_denied"
    BUDGET_EXHAUSTED = "budget_exhausted"
    CONTRADICTORY_SOURCES = "contradictory_sources"
    SCOPE_EXCEEDED = "scope_exceeded"


class DiscoveryType(str, Enum):
    RELATED_RESEARCH = "related_research"
    NEW_SOURCE = "new_source"
    CONTRADICTION = "contradiction"


class Priority(str, Enum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class SourceAuthority(str, Enum):
    """`high`: .gov, .edu, peer-reviewed · `medium`: established organisations · `low`: blogs, forums."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Recency(str, Enum):
    """Age of the newest evidence: under 1 year · 1 to 3 years · over 3 years."""

    CURRENT = "current"
    RECENT = "recent"
    DATED = "dated"


class SourceFilter:
    """Domains whose hosts may be searched and fetched: `usu.edu, *.gov, -pinterest.com`.

    A name covers itself and its subdomains (`*.gov` and `gov` are the same); a leading `-` excludes, and an
    exclusion wins. With no inclusion at all, every host that is not excluded is allowed.
    """

    _DOMAIN = re.compile(r"^(\*\.)?([a-z0-9_](-*[a-z0-9_])*\.)*[a-z0-9](-*[a-z0-9])*$")

    def __init__(self, text: str | None) -> None:
        """Raises ValueError, which names the entry, where one is not a domain."""
        self.include: list[str] = []
        self.exclude: list[str] = []
        for entry in (part.strip() for part in (text or "").split(",")):
            if not entry:
                continue
            chosen = self.exclude if entry.startswith("-") else self.include
            domain = entry.removeprefix("-").strip()
            wildcard, name = ("*.", domain[2:]) if domain.startswith("*.") else ("", domain)
            name = ascii_host(name)
            if not self._DOMAIN.match(wildcard + name):
                raise ValueError(f"{domain!r} is not a domain; write domains such as usu.edu, *.gov, -pinterest.com")
            chosen.append(name)

    def allows(self, host: str) -> bool:
        """Return whether a host may be searched and fetched."""
        host = ascii_host(host)
        if any(_is_within(host, domain) for domain in self.exclude):
            return False
        return not self.include or any(_is_within(host, domain) for domain in self.include)


def ascii_host(host: str) -> str:
    """Return a host name as it goes over the wire: lower case, IDNA 2008 where it is not ASCII (RFC 5891)."""
    host = host.strip().rstrip(".").lower()
    if host.isascii():
        return host
    # Few hosts need it, and it takes time to import.
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        return host


def _is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith("." + domain)


def _valid_filter(text: str | None) -> str | None:
    SourceFilter(text)
    return text


def _as_integer(value: Any) -> Any:
    # JSON Schema's integers include 5.0, which some clients send for 5.
    return int(value) if isinstance(value, float) and value.is_integer() else value


# A whole number in any spelling of JSON; neither text nor a boolean.
Integer: TypeAlias = Annotated[int, BeforeValidator(_as_integer), Field(strict=True)]


class _Asked(BaseModel):
    """Base of what a caller sends: unknown fields are errors, and null means that a field is not given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = {name for name, field in cls.model_fields.items() if not field.is_required()}
        return {name: value for name, value in data.items() if value is not None or name not in optional}


class _Answered(BaseModel):
    """Base of what a researcher sends: fields that a reader does not know are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Constraints(_Asked):
    max_iterations: Integer = Field(5, ge=1, le=20, description="Turns of the loop, at most.")
    token_budget: Integer = Field(
        20_000,
        ge=500,
        le=1_000_000,
        description="Model tokens, input and output: never exceeded. 25000 where depth is deep and none is given.",
    )
    max_sources: Integer = Field(10, ge=1, le=50, description="Pages fetched, at most.")
    source_filter: Annotated[str, AfterValidator(_valid_filter)] | None = Field(
        None, description="Domains separated by commas; a leading - excludes: usu.edu, *.gov, -pinterest.com"
    )


class ResearchRequest(_Asked):
    question: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=500),
    ] = Field(description="The question to investigate.")
    context: Annotated[str, StringConstraints(max_length=2000)] | None = Field(
        None, description="What the caller already knows; it is not researched again."
    )
    depth: Depth = Field(Depth.BALANCED, description="How thoroughly to research: a target, not a limit.")
    constraints: Constraints = Field(default_factory=Constraints, description="Hard limits of this call.")

    @model_validator(mode="before")
    @classmethod
    def _deep_gets_more(cls, data: Any) -> Any:
        """Set the token budget of a deep call to 25000 where none is given."""
        if not isinstance(data, dict) or data.get("depth") != Depth.DEEP.value:
            return data
        given = {} if data.get("constraints") is None else data["constraints"]
        if isinstance(given, dict) and given.get("token_budget") is None:
            return {**data, "constraints": {**given, "token_budget": 25_000}}
        return data


class WorkNotice(_Answered):
    """News of a cited work as a whole, from its publisher or from a registry."""

    kind: str = Field(
        min_length=1,
        description='"corrected", "concern" (an expression of concern), "retracted", "superseded", "newer_version"; '
        '"notice" where it is itself a notice about another work.',
    )
    detail: str = Field(min_length=1, description="The news, in a sentence.")
    url: str | None = Field(None, description="Address of the notice.")


class Citation(_Answered):
    source: str = Field(min_length=1, description='"web", "file", "arxiv", "database" …')
    locator: str = Field(min_length=1, description="URL, path or row id that a person can follow.")
    title: str | None = None
    snippet: Annotated[str, StringConstraints(min_length=50, max_length=200)] | None = Field(
        None, description="The researcher's own summary."
    )
    raw_excerpt: Annotated[str, StringConstraints(min_length=1, max_length=EXCERPT_LIMIT)] = Field(
        description="An exact run of characters of the text extracted from the fetched content."
    )
    confidence: float = Field(ge=0, le=1, description="In this source's accuracy.")
    content_hash: Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")] | None = None
    published: date | None = Field(None, description="Day of publication that the source states.")
    modified: date | None = Field(
        None, description="Day of the last change: the one that the source states, or else that of the file itself."
    )
    version: str | None = Field(None, description="Version that was read: v2 on arXiv, a revision's number.")
    authors: list[str] | None = None
    year: int | None = Field(None, description="Year of the first publication.")
    venue: str | None = Field(None, description="Journal, proceedings or site.")
    doi: str | None = None
    query: str | None = Field(None, description="SQL statement that gave the rows, where the source is a database.")
    researcher: str | None = Field(None, description="Researcher that found it, where an investigator sent several.")
    trace_id: str | None = Field(None, description="Trace of the call in which that researcher read it.")
    notices: list[WorkNotice] | None = Field(
        None, description="Corrections, expressions of concern and the like that were known when it was cited."
    )

    @model_validator(mode="after")
    def _excerpt_is_text(self) -> Self:
        if not self.raw_excerpt.removesuffix(EXCERPT_CUT).strip(" .…[]"):
            raise ValueError("raw_excerpt holds no text")
        return self


# Failure that left a gap, which says nothing about the question: a source that could not be reached, is down, or
# refuses the key or the rate of calls; the model's service.
GapCause: TypeAlias = Literal["source_failed", "model_failed"]


class Gap(_Answered):
    topic: str = Field(min_length=1)
    category: GapCategory
    detail: str = Field(min_length=1)
    cause: GapCause | None = Field(
        None,
        description="Failure that left the gap and says nothing about the question: of a source, or of the model; "
        "null where nothing failed.",
    )


class DiscoveryEvent(_Answered):
    type: DiscoveryType
    suggested_researcher: str | None = None
    query: str = Field(min_length=1, description="A question that the other researcher can be asked as it is.")
    reason: str = Field(min_length=1)
    source_locator: str | None = None
    identifier: str | None = Field(None, description="DOI, arXiv id, trial number or name that it is about.")


class OpenQuestion(_Answered):
    question: str = Field(min_length=1)
    context: str = Field(min_length=1, description="The evidence that raised it.")
    priority: Priority
    source_locator: str | None = None
    suggested_researcher: str | None = None


class ConfidenceFactors(_Answered):
    num_corroborating_sources: int = Field(ge=0)
    source_authority: SourceAuthority
    contradiction_detected: bool
    query_specificity_match: float = Field(ge=0, le=1)
    budget_exhausted: bool
    recency: Recency | None = None
    uncalibrated: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The score before it was calibrated or lowered by the model's estimate, if it was.",
    )
    calibration: str | None = Field(None, description="What the confidence was calibrated on; null where it was not.")
    estimated: float | None = Field(
        None, ge=0, le=1, description="The model's own probability that the answer is right; null where it gave none."
    )
    would_change: str | None = Field(
        None, description="What evidence would change the confidence most, by the model; null where it said nothing."
    )


class CostMetadata(_Answered):
    tokens_used: int = Field(ge=0)
    iterations_run: int = Field(ge=0)
    wall_time_sec: float = Field(ge=0)
    budget_exhausted: bool
    model_id: str = Field(min_length=1)


class SubQuestion(_Answered):
    text: str = Field(min_length=1)
    answered: bool = Field(description="True where the answer says something about it.")


Outcome: TypeAlias = Literal["answered", "nothing", "lost"]


class Lineage(_Answered):
    """One rihla: the journey of one researcher that an investigator sent out."""

    trace_id: str = Field(min_length=1, description="Trace of the call; the call's own id where none came back.")
    researcher: str = Field(min_length=1)
    question: str = Field(min_length=1)
    origin: str = Field(min_length=1, description="Reason to ask: sub_question, a gap's category, discovery …")
    parent: str | None = Field(None, description="trace_id of the rihla that led to it; null for a first one.")
    tokens_used: int = Field(ge=0, description="Tokens charged for it.")
    outcome: Outcome = Field(description="answered: with verified evidence; nothing: without; lost: no result came.")


Wording: TypeAlias = Literal["model", "program", "none"]

# The end of a call: a result with citations, a result without one, or no result that says anything.
Status: TypeAlias = Literal["answered", "nothing_found", "failed"]


class ResearchResult(_Answered):
    answer: str = Field(min_length=1)
    citations: list[Citation]
    gaps: list[Gap]
    discovery_events: list[DiscoveryEvent]
    open_questions: list[OpenQuestion]
    confidence: float = Field(ge=0, le=1)
    confidence_factors: ConfidenceFactors
    cost_metadata: CostMetadata
    trace_id: Annotated[str, AfterValidator(lambda text: str(UUID(text)))]
    contract_version: str | None = CONTRACT_VERSION
    worded_by: Wording | None = Field(
        None,
        description="Who worded the answer: the model, the program from sentences of pages, or none without a claim.",
    )
    sub_questions: list[SubQuestion] | None = Field(
        None, description="Sub-questions that the question was split into."
    )
    lineage: list[Lineage] | None = Field(
        None, description="Rihlas of an investigation; null for a researcher's own."
    )
    sources_failed: bool | None = Field(
        None,
        description="True where no source could be asked, since each failed or could not be reached, so that the "
        "missing answer says nothing about the question; else null.",
    )

    @model_validator(mode="after")
    def _markers_have_citations(self) -> Self:
        """Refuse a marker `[n]` without its citation, and an answer with citations but without a marker."""
        markers = set(markers_of(self.answer))
        if wrong := sorted(n for n in markers if not 1 <= n <= len(self.citations)):
            raise ValueError(f"answer cites {wrong}, but there are {len(self.citations)} citations")
        if self.citations and not markers:
            raise ValueError("answer has citations but no marker [n]")
        return self

    @property
    def status(self) -> Status:
        """`answered` where anything is cited, `failed` where no source could be asked, else `nothing_found`."""
        if self.citations:
            return "answered"
        return "failed" if self.sources_failed else "nothing_found"


ConfidenceBand: TypeAlias = Literal["high", "moderate", "low", "very low"]


def confidence_band(confidence: float) -> ConfidenceBand:
    """Return the contract's words for a score: ≥0.9 high · ≥0.7 moderate · ≥0.5 low · else very low."""
    if confidence >= 0.9:
        return "high"
    if confidence >= 0.7:
        return "moderate"
    return "low" if confidence >= 0.5 else "very low"


def next_step(category: GapCategory, cause: GapCause | None = None) -> str:
    """Return the step that a caller can take about a gap of this category and cause."""
    match cause:
        case "source_failed":
            return "fix what failed, or ask again later"
        case "model_failed":
            return "check the model, and ask again"
    match category:
        case GapCategory.SOURCE_NOT_FOUND:
            return "ask another researcher, or accept it"
        case GapCategory.ACCESS_DENIED:
            return "needs a special fetcher, or a person who has access"
        case GapCategory.BUDGET_EXHAUSTED:
            return "ask again with more tokens, iterations, pages or time"
        case GapCategory.CONTRADICTORY_SOURCES:
            return "compare the excerpts; let a person decide"
        case GapCategory.SCOPE_EXCEEDED:
            return "ask the researcher of that kind of source"
        case _:
            assert_never(category)


def markers_of(answer: str) -> list[int]:
    """Return the citation numbers in an answer, in order of appearance, with repeats."""
    return [int(number) for number in _MARKER.findall(answer)]


def cut_excerpt(text: str) -> str:
    """Return `text` as a raw_excerpt: whole where it fits, else its start and `[...]`, 500 characters in all."""
    if len(text) <= EXCERPT_LIMIT:
        return text
    return text[: EXCERPT_LIMIT - len(EXCERPT_CUT)] + EXCERPT_CUT


def json_schema(which: Literal["request", "result"]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a call's arguments, or of its result."""
    if which == "request":
        return ResearchRequest.model_json_schema()
    return ResearchResult.model_json_schema(mode="serialization")
