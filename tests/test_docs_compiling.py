"""docs/wiki/Compiling.md says what the code does: optimizers, efforts, what decides."""

from __future__ import annotations

import re

from marchwarden.optimization.estimate import (
    EFFORT_OF,
    EFFORTS,
    OPTIMIZER_OF,
    QUESTIONS_OF,
    SMALL_BILLIONS,
    WHOLE_EFFORTS,
    WHOLE_OPTIMIZER_OF,
    WHOLE_OPTIMIZERS,
    size_of,
)
from marchwarden.optimization.model_free.parameter_search import OBJECTIVE, TRIALS
from marchwarden.optimization.optimizers import OPTIMIZERS
from marchwarden.optimization.program_records import DECIDING
from marchwarden.optimization.whole.whole_search import RIGHT_WHOLE
from tests.test_docs import COMMAND_LINE, options, page, rows, section

COMPILING = "docs/wiki/Compiling.md"


def named(cell: str) -> str:
    return cell.partition("`")[2].partition("`")[0]


def test_numbers_of_options_stand_there() -> None:
    text = " ".join(page(COMPILING).split())
    assert f"with {TRIALS} trials" in text
    assert f"{QUESTIONS_OF['small']} for a small model, {QUESTIONS_OF['large']} for a large one" in text


def test_every_option_is_explained_or_shown() -> None:
    text = page(COMPILING) + page("docs/how-to/compile.md") + section(COMMAND_LINE, "## `marchwarden compile`")
    assert {option for option in options("compile") if option not in text} == set()


def test_every_optimizer_has_a_row_and_its_package_stands_there() -> None:
    table = {named(row[0]): row for row in rows(section(COMPILING, "## Optimizers")) if len(row) == 4}
    assert set(table) == set(OPTIMIZERS)
    for name, optimizer in OPTIMIZERS.items():
        if optimizer.needs and optimizer.needs != "gepa":  # which comes with DSPy
            assert table[name][2] == optimizer.needs
        assert ("to write" in table[name][3] or name == "simba") is optimizer.reflects
    text = section(COMPILING, "## Optimizers")
    for size, name in OPTIMIZER_OF.items():
        assert f"`{name}` for a {size} " in text
    assert f"({SMALL_BILLIONS:.0f} billion parameters and fewer" in text


def test_every_effort_has_a_row_with_its_numbers() -> None:
    table = {named(row[0]): row[1:] for row in rows(section(COMPILING, "## Optimizers")) if len(row) == 6}
    assert table == {
        name: [
            str(each.candidates),
            str(each.demos),
            str(each.train),
            str(each.choose),
            str(each.dev or "all"),
        ]
        for name, each in EFFORTS.items()
    }
    for size, name in EFFORT_OF.items():
        assert f"| `{name}` ({size} models)" in page(COMPILING)


def test_the_whole_program_has_its_own_efforts_optimizers_and_threshold() -> None:
    text = section(COMPILING, "## The whole program")
    table = {named(row[0]): row[1:] for row in rows(text)}
    assert table == {
        name: [str(each.candidates), str(each.demos), str(each.train + each.choose)]
        for name, each in WHOLE_EFFORTS.items()
    }
    assert all(f"`{name}`" in text for name in WHOLE_OPTIMIZERS)
    assert f"`{WHOLE_OPTIMIZER_OF['small']}` (the default for a small model)" in text
    assert f"`{WHOLE_OPTIMIZER_OF['large']}` (for a" in text
    assert f"scores {RIGHT_WHOLE} become demonstrations" in " ".join(text.split())


def test_what_keeps_a_program_out_is_listed() -> None:
    text = " ".join(section(COMPILING, "## What happens").split())
    listed = re.search(r"certainly worse in (.*?), nothing is saved", text)
    assert listed
    told = {each.replace(" ", "_").lower() for each in re.split(r", | or ", listed[1])}
    assert told == set(DECIDING)


def test_the_weights_of_the_objective_stand_there() -> None:
    text = section(COMPILING, "## Without a model")
    assert f"nugget recall ({OBJECTIVE['nugget_recall']:g})" in text
    assert f"recall and precision ({OBJECTIVE['evidence_recall']:g} each)" in text
    others = set(OBJECTIVE.values()) - {OBJECTIVE["nugget_recall"], OBJECTIVE["evidence_recall"]}
    assert others == {1}
    assert "injection resistance (1 each)" in text


def test_sizes_are_read_from_names() -> None:
    small = ("openai/qwen1.5b", "ollama_chat/llama3.1:8b", "openai/SmolLM2-135M", "mistral-7b-instruct")
    large = ("anthropic/claude-sonnet-5-5", "openai/gpt-5-mini", "ollama_chat/llama3.3:70b", "openai/mixtral-8x22b")
    assert {size_of(name) for name in small} == {"small"}
    assert {size_of(name) for name in large} == {"large"}
