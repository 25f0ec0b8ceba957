"""A conversation written as a context, and read again."""

from __future__ import annotations

from marchwarden.text.turns import Turn, as_context, telling_sentence, turn_of, turns_in, without_turns


def test_a_turn_has_no_markers_no_addresses_and_no_lines() -> None:
    turn = turn_of("Who  won", "- Ann won [1][2].\n- See https://evil.example/?q=Ann now [3].")
    assert turn == Turn("Who won?", "Ann won. See now.")
    assert telling_sentence(turn) == "Ann won."


def test_a_long_answer_is_cut_between_sentences() -> None:
    answer = turn_of("q", "Ann won the race. " * 100).answer
    assert 500 < len(answer) <= 600
    assert answer.endswith("race.")


def test_the_newest_turns_that_fit_are_kept_and_read_back() -> None:
    turns = [Turn(f"Question {number}?", "An answer. " * 20 + "End.") for number in range(5)]
    context = as_context(turns, 600, "I am new to this.")
    assert context is not None
    assert len(context) <= 600
    assert turns_in(context) == turns[-2:]
    assert without_turns(context) == "I am new to this."
    assert as_context([], 600) is None
    assert turns_in(None) == []
