"""A team file is an MCP client's configuration; without one the sources in the settings are the team."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from marchwarden.budget import SYNTHESIS_SHARE, SYNTHESIS_TOKENS, VERIFY_SHARE, VERIFY_TOKENS, Budget
from marchwarden.contract import Constraints, Depth
from marchwarden.errors import ConfigurationError
from marchwarden.ledger import Aspect
from marchwarden.orchestrator.agenda import least_tokens, shares, utility
from marchwarden.orchestrator.rihla import Step, first_steps
from marchwarden.orchestrator.team import Team, own_team, read_team
from tests.orchestrator.fakes import settings_of


def write(folder: Path, servers: Any) -> Path:
    path = folder / "team.json"
    path.write_text(json.dumps(servers if isinstance(servers, list) else {"mcpServers": servers, "theme": "dark"}))
    return path


def test_commands_and_addresses_make_a_team_and_strange_keys_are_left_alone(tmp_path: Path) -> None:
    servers = {
        "web": {
            "command": "marchwarden",
            "args": ["serve"],
            "env": {"TAVILY_API_KEY": "tvly-x"},
            "autoApprove": [],
            "type": "stdio",
            "envFile": ".env",
            "timeout": 60,
            "answers": ["Web"],
        },
        "papers": {
            "url": "https://user:secret@papers.example/mcp",
            "answers": ["Academic"],
            "at_once": 2,
            "share": 2,
        },
        "old": {"command": "x", "disabled": True},
    }
    team = read_team(write(tmp_path, servers))
    assert [member.name for member in team.members] == ["web", "papers"]
    assert [member.is_general for member in team.members] == [True, False]
    assert [member.name for member in team.answering("arxiv")] == ["papers"]
    assert not any("secret" in member.identity or "tvly" in member.identity for member in team.members)


@pytest.mark.parametrize(
    ("servers", "problem"),
    [
        ({}, "names no researcher"),
        ([], "names no researcher"),
        ({"a": {"command": "x", "url": "https://x.example"}}, "either a command or a url"),
        ({"a": {"url": "ftp://x.example"}}, "must begin with http"),
        ({"a": {"command": "x", "at_once": 0}}, "at_once: must be at least 1"),
        ({"\n": {"command": "x"}}, "not a valid name of a researcher"),
        ({"a": {"command": "x", "disabled": True}}, "disabled"),
        ({"a": {"command": "x", "anwsers": ["legal"]}}, r"a: 'anwsers' is not known \(did you mean answers\?\)"),
        ({"a": {"command": "x", "atOnce": 2}}, "did you mean at_once"),
        ({"a": {"command": "x", "answers": ["databse"]}}, "did you mean database"),
    ],
)
def test_a_team_file_that_can_t_be_used_says_why(servers: Any, problem: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        read_team(write(tmp_path, servers))


def test_a_file_that_is_not_there_or_no_json_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="can't be read"):
        read_team(tmp_path / "team.json")
    (tmp_path / "team.json").write_text("{")
    with pytest.raises(ConfigurationError, match="is not JSON"):
        read_team(tmp_path / "team.json")


def test_another_team_has_another_fingerprint(tmp_path: Path) -> None:
    one = read_team(write(tmp_path, {"a": {"command": "x"}}))
    same = read_team(write(tmp_path, {"a": {"command": "x", "env": {"KEY": "other"}}}))
    other = read_team(write(tmp_path, {"a": {"command": "y"}}))
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_each_source_is_a_researcher_and_a_group_is_several(tmp_path: Path) -> None:
    settings = settings_of(tmp_path).model_copy(update={"source": "scholarly,snapshot"})
    team = own_team(settings)
    names = [member.name for member in team.members]
    assert "arxiv" in names
    assert names[-1] == "snapshot"
    assert "scholarly" not in names
    assert {member.name for member in team.members if member.is_general} == {"snapshot"}
    assert "arxiv" in [member.name for member in team.answering("arxiv")]


def team_of(**answers: tuple[str, ...]) -> Team:
    from tests.orchestrator.fakes import Script, member

    return Team(tuple(member(name, Path(), Script(), answers=kinds)[1] for name, kinds in answers.items()))


def test_a_specialist_is_asked_first_only_for_what_is_its_own() -> None:
    aspects = [
        Aspect(number=1, text="When was it built?"),
        Aspect(number=2, text="Which raw data is in the database?"),
    ]
    steps = first_steps("Both?", aspects, team_of(web=(), stats=("database",), law=("legal",)), None, Depth.BALANCED)
    assert [(step.researcher, step.question, step.aspect) for step in steps] == [
        ("web", "Both?", 1),
        ("stats", "Which raw data is in the database?", 2),
    ]


def test_where_all_are_specialists_each_is_asked() -> None:
    steps = first_steps(
        "When?", [Aspect(number=1, text="When?")], team_of(stats=("database",), law=("legal",)), None, Depth.DEEP
    )
    assert [step.researcher for step in steps] == ["stats", "law"]


def test_a_step_is_worth_less_the_further_it_is_off_and_the_less_was_gained() -> None:
    def step(question: str, generation: int) -> Step:
        return Step("web", question, "discovery", 1, "it is named", 0.6, generation=generation)

    near, far = step("Who built the bridge?", 1), step("Who sings?", 1)
    asked = "Who built the bridge?"
    assert utility(near, asked, []) > utility(far, asked, [])
    assert utility(near, asked, []) > utility(step(asked, 2), asked, [])
    assert utility(near, asked, [0.5]) > utility(near, asked, [0.5, 0.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("weights", "tokens", "expected"),
    [([1, 1], 4_000, [2_000, 2_000]), ([3, 1], 4_000, [3_000, 1_000]), ([1, 1], 900, [500, 0]), ([1], 499, [0])],
)
def test_shares_are_by_weight_and_none_is_too_small(weights: list[float], tokens: int, expected: list[int]) -> None:
    assert shares(weights, tokens) == expected


def test_a_researcher_gets_what_its_first_model_call_takes_or_answers_without_it() -> None:
    least = least_tokens(first_call=1_200)
    # Who gets fewer is asked all the same, and answers without the model.
    assert shares([1, 1, 1, 1], 6_000, least) == [3_000, 500, 500, 500]
    assert shares([1, 1, 1, 1], 7_000, least) == [3_000, 3_000, 500, 500]
    assert shares([1, 2], 2_000, least) == [500, 500]
    assert shares([1, 2], 900, least) == [500, 0]
    budget = Budget(Constraints(token_budget=least), 10.0)
    budget.set_aside("synthesize", min(SYNTHESIS_TOKENS, int(SYNTHESIS_SHARE * least)))
    budget.set_aside("verify", min(VERIFY_TOKENS, int(VERIFY_SHARE * least)))
    assert budget.tokens_left("plan") >= 1_200
    assert least_tokens(first_call=0) == 500
