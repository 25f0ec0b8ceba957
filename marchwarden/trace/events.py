"""The lines of a trace: one frozen model for each kind of event, told apart by `action`.

A writer adds `step` and `timestamp` to each (see trace/writer.py). Nothing here may hold a key.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal, Protocol, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from marchwarden.contract import Constraints, Depth, DiscoveryEvent, Gap, OpenQuestion, ResearchResult
from marchwarden.errors import Limit


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    decision: str
    """The reason for the event, in a sentence."""


class FailureRecord(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: str
    detail: str


class EngineFeatures(BaseModel):
    """Features of the model's service that decide how a prompt is written."""

    model_config = ConfigDict(frozen=True)

    response_schema: bool
    function_calling: bool
    reasoning: bool
    params: list[str]


class MemberRecord(BaseModel):
    """A researcher of an investigation, by what decides who is asked what."""

    model_config = ConfigDict(frozen=True)

    name: str
    answers: list[str]
    """Kinds of questions that it is meant for; empty for a general one."""
    share: float
    """Weight of its part of the tokens."""
    is_own: bool
    """True where it ran in the process of the investigation."""


class Started(_Event):
    action: Literal["start"] = "start"
    question: str
    context: str | None
    depth: Depth
    constraints: Constraints
    max_seconds: float
    model_id: str
    source: str
    """Sources in force, separated by commas: `web`, `snapshot`, `corpus:NAME`."""
    version: str
    """Version of Marchwarden."""
    program: str | None = None
    """Fingerprint of what was compiled or fitted for the model and is in force; None where nothing is."""
    compiled: list[str] = []
    """Stages that run in their compiled form."""
    without_model: list[str] = []
    """Compiled stages that run without the model, because the program says that the model does worse."""
    program_of: str | None = None
    """Model that the stages were compiled for, where that is another one of the same family."""
    program_notes: list[str] = []
    """Sentences on parts of the program that are not used, or that another model's program lends, each with a fix."""
    # The rest is for `rerun`. Each is None in traces of versions that did not record it.
    today: date | None = None
    """Day that the age of sources is counted to."""
    kind: str | None = None
    """Kind of the sources, as citations name it: `web`, `snapshot`, `file`, `web,file`."""
    web: str | None = None
    """Hash of the frozen web's manifest; None for the shipped one, and where none is searched."""
    semantic: bool | None = None
    """True where pages are read by meaning, too."""
    judged: bool | None = None
    """True where a model judges whether passages answer."""
    model_calls: int | None = None
    """Number of model calls that run side by side, at most."""
    program_hash: str | None = None
    """Hash under which the store holds the program and the parameters in force."""
    engine: EngineFeatures | None = None
    """Features of the model's service; None without a model."""
    rerun_of: str | None = None
    """Id of the trace that this call is a re-run of; None for any other call."""
    continues: str | None = None
    """Id of the trace that this call follows up; None for any other call."""
    team: list[str] | None = None
    """Names of an investigation's researchers; None for the call of a single one."""
    team_hash: str | None = None
    """Fingerprint of the team, which a resumed investigation must have again."""
    members: list[MemberRecord] | None = None
    """Researchers of an investigation, for its re-run; None in other traces, and in those of earlier versions."""


class Dispatched(_Event):
    """A rihla that an investigation sends out; it is on the disk before the researcher is asked."""

    action: Literal["dispatch"] = "dispatch"
    rihla: int
    """Number of the rihla, from 1."""
    call_id: str
    """Id that the researcher is asked to give its trace."""
    researcher: str
    question: str
    context: str | None
    depth: Depth
    origin: str
    """Reason to ask: `sub_question`, a gap's category, `too_few_sources`, `discovery`, `open_question`, `tie_break`
    or `retry`."""
    parent: int | None
    """Number of the rihla that led to this one; None for a first one."""
    tokens: int
    """Tokens that are reserved for it."""
    utility: float | None
    """Expected worth, 0–1; None for a first one."""
    attempt: int = 1
    """2 and more where the investigation ended while the rihla was out, and was resumed."""


class Returned(_Event):
    """A rihla's result, before anything of it is believed."""

    action: Literal["return"] = "return"
    rihla: int
    call_id: str
    researcher: str
    trace_id: str
    """Trace of the call as its result names it."""
    result_hash: str
    """Hash under which the store holds the result as it came."""
    citations: int
    gaps: int
    confidence: float
    reported_tokens: int
    """Tokens that the result says were used."""
    charged_tokens: int
    """Tokens charged for it: never more than were reserved."""
    tokens_used: int
    """Tokens charged to the investigation so far."""
    duration_sec: float


class TraceKept(_Event):
    """A researcher's own trace, which is evidence of an investigation as a page is."""

    action: Literal["keep_trace"] = "keep_trace"
    rihla: int
    researcher: str
    trace_id: str
    trace_hash: str
    """Hash under which the store holds it."""


class Lost(_Event):
    """A rihla without a result: its researcher was not there, died, hung, or sent no valid one."""

    action: Literal["lost"] = "lost"
    rihla: int
    call_id: str
    researcher: str
    sent: bool
    """False where the researcher was never asked, or refused; then nothing is charged."""
    final: bool = False
    """True where the same question would meet the same end, and is not asked again."""
    charged_tokens: int
    tokens_used: int
    duration_sec: float


class Skipped(_Event):
    """A next step that is not taken; `decision` says why."""

    action: Literal["skip"] = "skip"
    researcher: str | None
    question: str
    origin: str
    parent: int | None
    utility: float | None


class Resumed(_Event):
    """An investigation that goes on after it was killed, or had ended before everything was asked."""

    action: Literal["resume"] = "resume"
    finished: list[int]
    """Numbers of the rihlas that had come back or were lost."""
    in_flight: list[int]
    """Numbers of the rihlas that were out; they are asked again under the same ids."""
    seconds_used: float
    token_budget: int | None = None
    """Token budget of the whole investigation from here on; None where it is that of the first line."""
    max_seconds: float | None = None
    """Seconds for what is asked from here on; None in traces of versions that did not record them."""


class Planned(_Event):
    action: Literal["plan"] = "plan"
    iteration: int
    aspects: list[str]
    queries: list[str]
    read: list[str]
    """URLs chosen to be read next."""
    done: bool
    stage_form: Literal["model", "model_free"]
    least_tokens: int | None = None
    """Tokens that each researcher of an investigation gets at least; None in the trace of a researcher."""


class HitRecord(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str
    title: str
    # None in traces of versions that did not record them.
    snippet: str | None = None
    score: float | None = None
    """Score by the provider, comparable within one search only."""
    published: date | None = None


class Searched(_Event):
    action: Literal["search"] = "search"
    query: str
    provider: str
    hits: list[HitRecord]
    failure: FailureRecord | None = None
    duration_sec: float
    meant: dict[str, str] = {}
    """Words that were searched for too, by the misspelt word of the query."""
    malformed: int = 0
    """Number of results that were skipped, because they have no usable address."""
    failed: list[str] = []
    """Providers that failed, of a search that asked several of which others answered; else none."""
    incomplete: list[str] = []
    """Sentences on what a provider that answered could not search; else none."""


class NoticeRecord(BaseModel):
    """News of the work on a page, from a registry: a correction, an expression of concern."""

    model_config = ConfigDict(frozen=True)

    kind: str
    detail: str
    url: str | None = None


class Fetched(_Event):
    action: Literal["fetch_url"] = "fetch_url"
    url: str
    final_url: str
    status: int | None
    content_type: str | None
    content_hash: str | None
    content_length: int | None
    text_hash: str | None = None
    """Hash of the extracted text, under which the store holds it; every excerpt is a slice of that text."""
    title: str | None = None
    published: date | None = None
    modified: date | None = None
    """Day of the last change of the page or the file."""
    redirects: list[str] = []
    source: str | None = None
    """Source that a citation of the page names; None for that of the search."""
    collection: str | None = None
    """Publisher of a file: the site that it was saved from, else its corpus; None for other pages."""
    notices: list[NoticeRecord] = []
    """Notices of the page's work that a registry told while it was read."""
    failure: FailureRecord | None = None
    duration_sec: float
    kept_sec: float | None = None
    """Seconds since the server gave or confirmed the answer, where it came from the HTTP cache."""


class PickRecord(BaseModel):
    """One excerpt: characters `start` to `end` of the text under the page's `text_hash`."""

    model_config = ConfigDict(frozen=True)

    start: int
    end: int
    excerpt: str
    aspect: str
    stance: str
    relevance: float | None = None
    """Relevance to the aspect as the researcher measured it, 0–1; None in traces of earlier versions."""


class Extracted(_Event):
    action: Literal["extract"] = "extract"
    url: str
    passages: int
    """Number of passages that the stage was shown."""
    picks: list[PickRecord]
    stage_form: Literal["model", "model_free"]


class ModelCalled(_Event):
    """One attempt that went out to the model, failed ones included."""

    action: Literal["model_call"] = "model_call"
    stage: str
    model_id: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    """Part of `input_tokens` that the provider read from its prompt cache."""
    reserved_tokens: int
    charged_tokens: int
    tokens_used: int
    """Tokens charged to the research call so far, this model call included."""
    duration_sec: float
    error: str | None = None
    request_hash: str | None = None
    """Hash of what was asked, by which a re-run finds the answer (lm/recorded.py)."""
    answer: str | None = None
    """Text of the answer; None where none came to its end."""
    finish: str | None = None
    """Reason for which the answer ended, in lm15's words."""
    counted_tokens: int | None = None
    """Tokens of the prompt as the service counted them before it was sent; None where it was not asked."""


class FellBack(_Event):
    """A stage's model gave nothing usable; its model-free form ran instead."""

    action: Literal["fallback"] = "fallback"
    stage: str
    reason: str
    limit: Limit | None = None
    """Limit that left nothing for the stage; None where something else was the reason."""


class Dropped(_Event):
    """Something that does not reach the result: text of a model that no source supports, or a prompt injection."""

    action: Literal["drop"] = "drop"
    what: Literal[
        "claim", "aspect", "excerpt", "locator", "discovery", "gap", "open_question", "query", "instruction"
    ]
    text: str


class Stopped(_Event):
    """The end of the loop, with its reason."""

    action: Literal["stop"] = "stop"
    reason: Literal[
        "covered", "no_new_leads", "iterations", "sources", "seconds", "tokens", "low_utility", "interrupted"
    ]
    iterations_run: int
    asking: list[str] | None = None
    """Stages whose model was being asked as the time ran out; None in traces of earlier versions."""


class Synthesized(_Event):
    action: Literal["synthesize"] = "synthesize"
    claims: int
    dropped: int
    stage_form: Literal["model", "model_free"]
    in_time: bool = True
    """False where the time for the model was over, so that the end of the call was made without it."""
    asking: list[str] | None = None
    """Stages whose model was being asked as that time ran out; None in traces of earlier versions."""


class Assessed(_Event):
    action: Literal["assess"] = "assess"
    gaps: list[Gap]
    discovery_events: list[DiscoveryEvent]
    open_questions: list[OpenQuestion]
    confidence: float
    uncalibrated: float | None = None
    """The score before it was calibrated, where it was."""


class ClaimRecord(BaseModel):
    """A sentence of the answer, and the numbers of the excerpts in the ledger that carry it."""

    model_config = ConfigDict(frozen=True)

    text: str
    excerpts: list[int]


class EstimateRecord(BaseModel):
    """A model's own estimate that the answer is right, as stages/score_confidence.py has it."""

    model_config = ConfigDict(frozen=True)

    of_claims: list[float]
    of_whole: float
    would_change: str | None


class Concluded(_Event):
    """Everything that the result is made from: whoever has it can make the result again, and compare."""

    action: Literal["conclude"] = "conclude"
    claims: list[ClaimRecord]
    state: dict[str, Any]
    """State that the call ended in, with the whole ledger (agent/conclusion.py, Checkpoint)."""
    estimate: EstimateRecord | None
    day: date
    """Day that the age of a source was counted to."""
    model_free: bool
    """True where no model had a part in the end of the call: then gaps and claims follow from the state alone."""


class WasCancelled(_Event):
    action: Literal["cancelled"] = "cancelled"
    by: Literal["caller", "operator"] = "caller"
    """Name of the one who ended the call: whoever made it, or whoever stopped the server."""
    question: str | None = None
    """Question of the call, which may have been cancelled before its first step."""


class WasKilled(_Event):
    """The call's process did not stop in time, or died, and the result was finished outside of it."""

    action: Literal["killed"] = "killed"
    reason: Literal["seconds", "tokens", "stopped"]
    """Limit that was passed; `stopped` where the operator stopped the server."""


class Failed(_Event):
    action: Literal["failed"] = "failed"
    error: str
    """Type of the exception; never its traceback or a secret."""
    question: str | None = None
    """Question of the call, which may have failed before its first step."""


class Finished(_Event):
    """The last line of a finished call: the whole result."""

    action: Literal["result"] = "result"
    result: ResearchResult


Event: TypeAlias = (
    Started
    | Resumed
    | Dispatched
    | Returned
    | TraceKept
    | Lost
    | Skipped
    | Planned
    | Searched
    | Fetched
    | Extracted
    | ModelCalled
    | FellBack
    | Dropped
    | Stopped
    | Synthesized
    | Assessed
    | Concluded
    | WasCancelled
    | WasKilled
    | Failed
    | Finished
)

# Built once: it takes longer than reading a trace.
_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="action")])


# Actions of all events, one for each.
FIELDS: dict[str, frozenset[str]] = {
    each.model_fields["action"].default: frozenset(each.model_fields) for each in get_args(Event)
}
"""Names of the fields of each event, by its action."""


def parse_event(data: dict[str, Any]) -> Event:
    """Return the event in one line of a trace.

    Raises pydantic.ValidationError where the action is not known or a field is wrong.
    """
    return _ADAPTER.validate_python(data)


class Recorder(Protocol):
    """Receiver of a running call's events; the only channel out of the call besides its result."""

    def record(self, event: Event) -> None:
        """Write the event, or pass it on, before returning."""
        ...

    def progress(self, message: str) -> None:
        """Show the current step to a waiting person; nothing is stored."""
        ...
