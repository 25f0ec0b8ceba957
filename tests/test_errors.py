"""One tree of errors; what a model library raises has a place in it, and a new class of theirs is noticed."""

from __future__ import annotations

import builtins
import inspect
import itertools

import dspy.utils.exceptions as dspy_errors
import pydantic
import pytest
from dspy import lm15
from dspy.clients.errors import ERROR_MAPPING, wrap_error

from marchwarden import errors
from marchwarden.contract import Constraints
from marchwarden.errors import (
    BudgetExhausted,
    ConfigurationError,
    InvalidRequest,
    MarchwardenError,
    ModelError,
    ResearchFailed,
    model_error,
)


def exceptions_of(module: object) -> list[type[Exception]]:
    found = [each for _, each in inspect.getmembers(module, inspect.isclass) if issubclass(each, Exception)]
    return [each for each in found if not issubclass(each, Warning)]


def test_the_tree_at_the_top_of_the_module_names_every_class() -> None:
    ours = [each for each in exceptions_of(errors) if each.__module__ == errors.__name__]
    assert len(ours) >= 8
    for each in ours:
        assert each.__name__ in str(errors.__doc__)
        assert issubclass(each, MarchwardenError)


@pytest.mark.parametrize("each", [e for e in exceptions_of(lm15) if issubclass(e, lm15.LM15Error)])
def test_every_error_of_lm15_is_translated_by_name(each: type[Exception]) -> None:
    """Fails when dspy.lm15 grows an error class: decide then what it means."""
    assert each.__name__ in errors._KINDS
    assert isinstance(model_error(each("what happened")), ModelError)


@pytest.mark.parametrize("each", [e for e in exceptions_of(dspy_errors) if issubclass(e, dspy_errors.LMError)])
def test_every_model_error_of_dspy_is_translated_by_name(each: type[Exception]) -> None:
    assert each.__name__ in errors._KINDS
    assert isinstance(model_error(each(message="what happened")), ModelError)


@pytest.mark.parametrize("source", [source for source, _ in ERROR_MAPPING], ids=lambda each: str(each.__name__))
def test_an_error_means_the_same_before_and_after_dspy_wraps_it(source: type[Exception]) -> None:
    before = source("what happened")
    after = wrap_error(before, model="m")
    kinds = [model_error(each) for each in (before, after)]
    assert isinstance(kinds[0], ModelError)
    assert isinstance(kinds[1], ModelError)
    assert kinds[0].kind == kinds[1].kind


def chained(*causes: BaseException) -> BaseException:
    for outer, inner in itertools.pairwise(causes):
        outer.__cause__ = inner
    return causes[0]


def test_an_error_of_ours_is_found_wherever_it_stands_in_the_chain() -> None:
    ours = BudgetExhausted("tokens", "none left")
    error = chained(RuntimeError("outer"), dspy_errors.LMUnexpectedError("none left"), ours)
    assert model_error(error) is ours


def test_the_most_telling_error_of_a_chain_decides() -> None:
    error = chained(dspy_errors.LMUnexpectedError("?"), lm15.RateLimitError("slow down"))
    translated = model_error(error)
    assert isinstance(translated, ModelError)
    assert translated.kind == "rate_limited"
    assert "slow down" in str(translated)


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = RuntimeError("a"), RuntimeError("b")
    first.__cause__, second.__cause__ = second, first
    assert isinstance(model_error(first), ModelError)


def test_an_overload_is_told_from_other_failures_of_a_server() -> None:
    translated = model_error(lm15.ServerError("Overloaded", status=529))
    assert isinstance(translated, ModelError)
    assert translated.kind == "overloaded"


@pytest.mark.parametrize("error", [builtins.TimeoutError("ours"), KeyError("a bug"), ValueError("x")])
def test_what_no_model_library_raised_is_unknown(error: Exception) -> None:
    translated = model_error(error)
    assert isinstance(translated, ModelError)
    assert translated.kind == "unknown"


def test_output_that_breaks_its_type_is_unusable() -> None:
    with pytest.raises(pydantic.ValidationError) as broken:
        Constraints(token_budget=3)
    translated = model_error(broken.value)
    assert isinstance(translated, ModelError)
    assert translated.kind == "unusable_output"


@pytest.mark.parametrize(
    "key", ["sk-ant-api03-AbC_dEf-123", "sk-proj-abcdefgh", "tvly-dev-12345678", "gsk_abcdefghij", "Bearer abc.def"]
)
def test_keys_in_a_providers_message_are_not_passed_on(key: str) -> None:
    text = str(model_error(lm15.AuthError(f"Incorrect API key provided: {key}. See the docs.")))
    assert key.removeprefix("Bearer ") not in text
    assert "[key]" in text


def test_escape_codes_in_a_providers_message_are_not_passed_on() -> None:
    said = str(model_error(lm15.ServerError("\x1b[31mbusy\x1b[0m\x00 now" + "!" * 1_000)))
    assert said.startswith("the model service failed: busy now!")
    assert len(said) < 400


def test_a_model_error_is_one_sentence_with_what_to_do() -> None:
    translated = model_error(lm15.AuthError("invalid x-api-key"))
    assert str(translated) == "the model service refuses the key or the account: invalid x-api-key"
    assert translated.hint


@pytest.mark.parametrize("wrapped", [False, True])
def test_an_answer_that_is_none_is_not_told_as_a_service_that_could_not_be_reached(wrapped: bool) -> None:
    error: Exception = lm15.StreamAssemblyError("Engine stream ended without a completion event")
    translated = model_error(wrap_error(error, model="m") if wrapped else error)
    assert str(translated) == "the model service sent no whole answer"
    assert "MARCHWARDEN_API_BASE" in str(translated.hint)


@pytest.mark.parametrize("said", ["", "slow down"])
def test_a_librarys_advice_on_itself_is_left_out(said: str) -> None:
    for error in (lm15.RateLimitError(said), wrap_error(lm15.RateLimitError(said), model="m")):
        told = str(model_error(error))
        assert told == f"the model service limits the rate of calls{said and ': ' + said}"


def test_broken_arguments_are_named_with_their_limit_and_without_their_value() -> None:
    with pytest.raises(pydantic.ValidationError) as broken:
        Constraints(token_budget=3, max_sources=99)
    invalid = InvalidRequest.of(broken.value)
    assert [field for field, _ in invalid.problems] == ["token_budget", "max_sources"]
    assert "500" in str(invalid)
    assert "99" not in str(invalid)


def test_what_each_error_carries() -> None:
    assert BudgetExhausted("seconds", "late").limit == "seconds"
    assert ConfigurationError("no", hint="do this").hint == "do this"
    assert ResearchFailed("no", trace_id="t").trace_id == "t"
