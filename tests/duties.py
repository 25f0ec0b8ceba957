"""The contract's duties of a researcher, each with the tests that hold it to them. What is not held stands in GAPS."""

from __future__ import annotations

DUTIES: dict[str, tuple[str, ...]] = {
    "1 never cites what it did not fetch": (
        "agent/test_behaviours.py::test_2_every_locator_was_fetched_in_this_call",
        "agent/test_researcher_with_a_model.py::test_2_an_invented_locator_is_dropped_and_the_trace_says_so",
    ),
    "2 raw evidence on every citation": (
        "agent/test_verbatim.py::test_every_excerpt_is_an_exact_run_of_stored_text_and_every_sentence_has_a_marker",
        "test_contract.py::test_an_excerpt_without_text_is_none",
    ),
    "3 admits and categorizes gaps": (
        "agent/test_behaviours.py::test_1_no_usable_page_gives_no_citation_a_gap_and_low_confidence",
        "agent/test_researcher.py::test_conflicting_numbers_are_a_gap_a_discovery_and_a_lower_confidence",
        "agent/test_researcher.py::test_a_question_for_a_register_is_out_of_scope",
    ),
    "4 reports lateral discoveries": (
        "agent/test_researcher.py::test_pointers_to_papers_trials_and_cases_become_discoveries",
    ),
    "5 surfaces open questions": ("agent/test_researcher_with_a_model.py::test_a_model_plans_reads_and_writes",),
    "6 respects budgets": (
        "agent/test_researcher_with_a_model.py::test_tokens_used_never_exceeds_the_budget",
        "agent/test_researcher.py::test_max_iterations_is_a_hard_limit",
        "agent/test_researcher.py::test_max_sources_bounds_the_pages_and_says_when_it_cut_something_short",
        "agent/test_researcher.py::test_the_wall_clock_ends_a_call_with_what_was_found",
    ),
    "7 grounds every claim": (
        "agent/test_judging_the_answer.py::test_a_claim_that_the_check_refuses_is_not_shown_and_the_trace_says_why",
        "agent/test_researcher_with_a_model.py::test_a_claim_that_its_excerpts_do_not_carry_is_dropped",
        "agent/test_verbatim.py::test_every_excerpt_is_an_exact_run_of_stored_text_and_every_sentence_has_a_marker",
    ),
    "8 explains its confidence without inflating it": (
        "agent/test_judging_the_answer.py::test_a_model_that_is_sure_of_everything_lifts_no_confidence",
        "agent/test_researcher.py::test_independent_sources_raise_confidence",
        "agent/test_behaviours.py::test_12_copies_and_pages_of_one_organisation_count_once",
    ),
    "9 hashes all fetched content": (
        "agent/test_researcher.py::test_fetched_pages_and_their_texts_are_in_the_store",
    ),
    "10 takes failures gracefully": (
        "agent/test_researcher_with_a_model.py::test_6_a_model_that_is_down_gives_a_model_free_answer_and_a_readable_trace",
        "agent/test_researcher_on_the_web.py::test_6_a_search_that_fails_midway_leaves_a_partial_answer",
    ),
}

GAPS: dict[str, str] = {
    "8 explains its confidence without inflating it": "the rubric is not fitted to labels yet, so its numbers are a first guess",
}
