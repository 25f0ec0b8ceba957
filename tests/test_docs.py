"""README and the documentation are true of the code: settings, commands, examples, limits, events, metrics, links."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import enum
import functools
import io
import itertools
import json
import re
import runpy
import shlex
import textwrap
import typing
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel

import marchwarden
from marchwarden import contract
from marchwarden.agent.arguments import request_of
from marchwarden.agent.depths import PAGES_PER_TURN, SOURCES_WANTED, TURNS_BY_DEPTH
from marchwarden.agent.loop import FINISH_SECONDS
from marchwarden.audit import citation_check
from marchwarden.budget import SYNTHESIS_SHARE, SYNTHESIS_TOKENS, VERIFY_SHARE, VERIFY_TOKENS
from marchwarden.cli import app
from marchwarden.contract import Constraints, Depth, GapCategory, ResearchRequest, ResearchResult
from marchwarden.errors import InvalidRequest
from marchwarden.evaluation.datasets import DATASETS
from marchwarden.evaluation.labels.questions import SPLITS, load_questions
from marchwarden.evaluation.runs import calibration_fit as calibration
from marchwarden.evaluation.runs.run import Record, RunInfo
from marchwarden.evaluation.scoring import bootstrap, judge
from marchwarden.evaluation.scoring.metrics import BY_NAME, METRICS
from marchwarden.evidence import close_reading, confidence
from marchwarden.evidence.entailment.rules import CLAUSE_SHARE
from marchwarden.http import addresses, robots, robots_rules
from marchwarden.http import cache as http_cache
from marchwarden.http import rate_limits as politeness
from marchwarden.ledger import Ledger
from marchwarden.optimization.stage_sets import STAGE_SETS
from marchwarden.orchestrator.investigator_call import MOST_NESTED
from marchwarden.programs import Calibration, CompiledStage, ProgramInfo, StageRecord
from marchwarden.programs.parameters import DEFAULT
from marchwarden.server.admission import HEARTBEAT_SECONDS
from marchwarden.server.call_ids import CALL_META, CONTINUES_META, REPEATED_META, TEAMS_META
from marchwarden.server.mcp import build
from marchwarden.server.worker import GRACE_SECONDS
from marchwarden.settings import SECONDS_BY_DEPTH, Settings, load_settings, shipped
from marchwarden.sources import fetch
from marchwarden.stages.stage import FAILURES_BORNE
from marchwarden.store import check_record
from marchwarden.trace import events
from tests.corpora import corpus_of
from tests.evaluation.made_runs import a_record, a_run
from tests.runs import run
from tests.test_layers import LAYERS, layer_of

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "data/web/README.md",
    "evals/README.md",
    "evals/reports/README.md",
    "evals/reports/compiling.md",
    "evals/reports/reading.md",
    "evals/questions/README.md",
    "programs/README.md",
    "tests/cassettes/anthropic/README.md",
    "tests/cassettes/tavily/README.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
)
ARCHITECTURE = "docs/wiki/Architecture.md"
CITATIONS = "docs/how-to/look-after-citations.md"
CHECK = "docs/how-to/check-an-answer.md"
CLIENTS = "docs/how-to/mcp-clients.md"
COMMAND_LINE = "docs/reference/command-line.md"
CONTRACT = "docs/wiki/ResearchContract.md"
EVALUATION = "docs/wiki/Evaluation.md"
GLOSSARY = "docs/wiki/Glossary.md"
GUIDE = "docs/wiki/DevelopmentGuide.md"
MAN_PAGE = "docs/reference/marchwarden.1"
MEASURE = "docs/how-to/evaluate.md"
METRICS_PAGE = "docs/reference/metrics.md"
PYTHON = "docs/reference/python.md"
READING = "docs/wiki/Reading.md"
RUNS = "docs/reference/runs.md"
SETTINGS = "docs/reference/settings.md"
TUTORIAL = "docs/tutorial.md"

GENERATED = runpy.run_path(str(ROOT / "docs/generate.py"))
"""The functions that write the generated pages."""

_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    return [block[2] for block in _BLOCK.findall(page(name)) if block[1] == language]


def prose(name: str) -> str:
    return _BLOCK.sub("", page(name))


def section(name: str, heading: str) -> str:
    """What stands under a heading, up to the next one of its level or above."""
    level = heading.split(" ")[0]
    _, found, after = page(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{len(level)}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row, heads and rules left out."""
    lines = text.splitlines()
    tables = [line for number, line in enumerate(lines) if line.startswith("|") and not _is_head(lines, number)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in tables if not _is_rule(line)]


def _is_rule(line: str) -> bool:
    return bool(re.fullmatch(r"[|\- ]+", line))


def _is_head(lines: list[str], number: int) -> bool:
    return number + 1 < len(lines) and lines[number + 1].startswith("|") and _is_rule(lines[number + 1])


def first_cells(text: str) -> list[str]:
    return [row[0].strip("`") for row in rows(text)]


# Generated pages


def test_the_page_of_settings_is_the_generated_one() -> None:
    assert page(SETTINGS) == GENERATED["settings_page"](), "`make reference` writes it"
    variables = {row[0].strip("`").removeprefix("MARCHWARDEN_").lower() for row in rows(page(SETTINGS))}
    assert variables == Settings.model_fields.keys()
    assert all(len(row) == 3 and all(row) for row in rows(page(SETTINGS))), "every setting has a sentence"


def test_the_page_of_the_command_line_is_the_generated_one() -> None:
    assert page(COMMAND_LINE) == GENERATED["command_line_page"](), "`make reference` writes it"
    assert page(MAN_PAGE) == GENERATED["man_page"](), "`make reference` writes it"
    for names in [(name,) for name in group().commands] + [
        ("eval", "compare"),
        ("eval", "report"),
        ("programs", "show"),
    ]:
        text = section(COMMAND_LINE, f"#{'#' * len(names)} `marchwarden {' '.join(names)}`")
        assert {
            option for option in options(*names) if f"{option}`" not in text and f"{option} " not in text
        } == set()


@pytest.mark.filterwarnings("default")
def test_the_site_builds_without_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pytest.importorskip("mkdocs.commands.build", reason="the extra `docs` is not installed")
    from mkdocs.config import load_config

    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.chdir(ROOT)
    build.build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(tmp_path / "site")))
    assert "research_sync(" in re.sub(
        r"<[^>]+>", "", (tmp_path / "site/reference/python/index.html").read_text("utf-8")
    )


def variables() -> set[str]:
    return {row[0].strip("`") for row in rows(page(SETTINGS))}


@pytest.mark.parametrize("name", [*PAGES, ".env.example"])
def test_variables_that_are_named_exist(name: str) -> None:
    known = variables() | {"MARCHWARDEN_TEST_LM", "MARCHWARDEN_TEST_PROFILE"}
    assert set(re.findall(r"\bMARCHWARDEN_[A-Z_]*[A-Z]\b", page(name))) <= known


# Commands


def commands(name: str) -> list[str]:
    """The `marchwarden …` commands of a page: lines of its shell blocks, and code in its text."""
    shell = [line for block in blocks(name, "sh") for line in block.splitlines()]
    inline = re.findall(r"`([^`\n]+)`", re.sub(r"^#.*", "", prose(name), flags=re.MULTILINE))
    ours = [_started_by_claude(each) for each in shell + inline]
    found = [match[1].strip() for each in ours if (match := _COMMAND.search(each))]
    return [command for command in found if " " in command]


def _started_by_claude(line: str) -> str:
    """`claude mcp add NAME … -- COMMAND`: the command; any other line as it is."""
    return line.partition(" -- ")[2] if line.strip().startswith("claude ") else line


_COMMAND = re.compile(r"(?:^|[|\s/])(marchwarden (?:[^|\"'#]|\"[^\"]*\"|'[^']*')*)")

ALL_COMMANDS = sorted({command for name in PAGES for command in commands(name)})


@functools.cache
def group() -> Any:
    return typer.main.get_command(app)


def parse(arguments: list[str]) -> None:
    """Parses as the command line would, and runs nothing; raises where it would report wrong usage."""
    if arguments[0].startswith("--"):  # `--install-completion`, which would act at once
        assert any(arguments[0] in each.opts for each in group().params)
        return
    context = group().make_context("marchwarden", list(arguments))
    name, command, rest = group().resolve_command(context, list(arguments))
    inner = getattr(command, "commands", {})
    if rest and rest[0] in inner:  # `eval compare`
        name, command, rest = rest[0], inner[rest[0]], rest[1:]
    if "--help" not in rest:
        command.make_context(name, rest, parent=context)


def test_the_pages_show_every_command() -> None:
    shown = {shlex.split(command)[1] for name in PAGES if name != COMMAND_LINE for command in commands(name)}
    assert {each for each in shown if not each.startswith("--")} == group().commands.keys()


@pytest.mark.parametrize("command", ALL_COMMANDS)
def test_a_command_that_is_shown_parses(command: str) -> None:
    parse(shlex.split(command)[1:])


@pytest.mark.parametrize(
    "wrong",
    [
        "ask x --no-such-option",
        "ask x --depth huge",
        "no-such-command",
        "ask",
        "eval --no-such-option",
        "eval compare a",
        "eval compare a b --no-such-option",
    ],
)
def test_a_command_that_does_not_exist_would_be_noticed(wrong: str) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|not one of|missing"):
        parse(shlex.split(wrong))


def test_configurations_of_clients_start_the_server() -> None:
    configurations = [json.loads(block) for name in ("README.md", CLIENTS) for block in blocks(name, "json")]
    servers = [server for each in configurations for key in each for server in each[key].values()]
    assert len(servers) == 3
    for server in servers:
        assert server["command"].endswith("/bin/marchwarden")
        assert server["env"].keys() <= variables()
        parse(server["args"])


@pytest.mark.parametrize("name", PAGES)
def test_targets_of_make_exist(name: str) -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    shown = [line for block in blocks(name, "sh") for line in block.splitlines()]
    named = re.findall(r"`make (\w+)", prose(name)) + [
        each for line in shown for each in re.findall(r"^make (\w+)", line)
    ]
    assert set(named) <= targets


# Examples


def test_the_python_examples_of_readme_run() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for example in blocks("README.md", "python"):
            exec(compile(example, "README.md", "exec"), {})
    assert "Pasqua" in printed.getvalue()
    assert Path("researcher.json").exists()
    assert "[1] https://" in printed.getvalue()
    assert "access_denied" in printed.getvalue()


def test_the_python_examples_of_the_reference_run() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        for example in blocks(PYTHON, "python"):
            exec(compile(example, PYTHON, "exec"), {})
    assert Path("researcher.json").exists()
    assert "[1]" in printed.getvalue()
    assert "# The queen" in printed.getvalue()


def test_the_example_of_the_mcp_sdk_runs() -> None:
    """Over a server in this process, where the example starts one."""
    guide = "docs/how-to/mcp-clients.md"
    (example,) = blocks(guide, "python")
    begun = re.sub(r"StdioServerParameters\(.*\)", "own_server", example)
    assert begun != example
    own_server = build(load_settings(model="extractive", source="snapshot"))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(begun, guide, "exec"), {"own_server": own_server})
    assert "crops" in printed.getvalue()
    assert printed.getvalue().endswith(" steps\n")


def test_the_cells_of_the_notebook_run_one_after_another() -> None:
    printed, names = io.StringIO(), dict[str, Any]()
    with contextlib.redirect_stdout(printed):
        for cell in blocks("docs/how-to/notebooks.md", "python"):
            code = compile(cell, "a cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
            ended = eval(code, names)
            if ended is not None:
                asyncio.run(ended)
    told = printed.getvalue()
    assert "modle: no such setting - Did you mean model?" in told
    assert "1 document" in told
    assert "14 litres of rain a week" in told
    assert len(told.splitlines()) > 8, "progress is told"
    assert "14 litres" in names["result"]._repr_markdown_()


def test_the_file_of_the_tutorial_is_found_cited_and_verified(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shell,) = [block for block in blocks(TUTORIAL, "sh") if "marchwarden index" in block]
    text, file, name, question, source = re.findall(
        r'echo "(.+)" > ~/notes/(\S+)\nmarchwarden index ~/notes --name (\w+)\nmarchwarden ask "(.+)" --source (\S+)\n',
        shell,
    )[0]
    corpus_of(tmp_path / "notes", {file: text + "\n"}, name)
    result = marchwarden.research_sync(question, settings=marchwarden.load_settings(source=source))
    assert [citation.locator for citation in result.citations] == [f"{tmp_path}/notes/{file}#L1"]
    app(["replay"], standalone_mode=False)
    assert "1 of 1 excerpt verified" in " ".join(capsys.readouterr().out.split())


def test_the_example_that_prints_a_page_for_labelling_runs() -> None:
    (example,) = blocks("evals/README.md", "python")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(textwrap.dedent(example), "evals/README.md", "exec"), {})
    assert "loaves" in printed.getvalue().casefold()


def test_the_reference_of_python_has_every_public_name() -> None:
    told = {name.rpartition(".")[2] for name in re.findall(r"^::: (\S+)$", page(PYTHON), re.MULTILINE)}
    assert told == set(marchwarden.__all__)


@pytest.mark.anyio
async def test_the_example_of_a_test_passes() -> None:
    (example,) = blocks(GUIDE, "python")
    namespace: dict[str, Any] = {}
    exec(compile(example, GUIDE, "exec"), namespace)
    tests = [value for name, value in namespace.items() if name.startswith("test_")]
    assert len(tests) == 1
    await tests[0]()


_CITED = re.compile(r" ?(?:\[\d+\])+\.?")


@pytest.mark.anyio
async def test_the_answer_that_readme_shows_is_the_one_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    for set_up in ("MARCHWARDEN_PROGRAM", "MARCHWARDEN_SEMANTIC"):
        monkeypatch.delenv(set_up)
    shown = " ".join(blocks("README.md", "text")[0].split())
    done = await run("What are ideal crops for a garden in Utah?")
    result = done.result
    answer = {" ".join(_CITED.sub("", line).removeprefix("- ").split()) for line in result.answer.splitlines()}
    # In either order: their scores are so close that it depends on how a processor rounds embeddings.
    assert len([line for line in answer if line in _CITED.sub("", shown)]) == 2
    assert f"({result.confidence:.2f})" in shown
    (excerpt,) = re.findall(r"“(.+?)”", shown)
    assert excerpt in [citation.raw_excerpt for citation in result.citations[:3]]
    assert [gap.detail in shown for gap in result.gaps] == [True]
    for folder, rest in re.findall(r"store/(\w\w)/(\w{62})\.zst", page("README.md")):
        assert "repay the water" in done.store.get(f"sha256:{folder}{rest}").decode()


@pytest.mark.anyio
async def test_the_question_about_prompt_injection_meets_one() -> None:
    (question,) = re.findall(r'marchwarden ask "([^"]+)" --source snapshot\nmarchwarden replay --json', page(CHECK))
    done = await run(question)
    assert {event.what for event in done.events("drop")} == {"instruction"}


def test_the_schema_example_prints_both_schemas() -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(blocks(CONTRACT, "python")[-1], CONTRACT, "exec"), {})
    assert '"question"' in printed.getvalue()
    assert '"answer"' in printed.getvalue()


def test_the_worked_examples_are_the_fixtures() -> None:
    fixtures = sorted((ROOT / "tests/fixtures").glob("*.json"))
    shown = [json.loads(block) for block in blocks(CONTRACT, "json")]
    assert shown == [json.loads(path.read_text(encoding="utf-8")) for path in fixtures]
    assert [path.name for path in fixtures if f"tests/fixtures/{path.name}" not in page(CONTRACT)] == []


# The contract


def limit(model: type[BaseModel], field: str) -> str:
    schema = model.model_json_schema()["properties"][field]
    schema = next((each for each in schema.get("anyOf", []) if each["type"] != "null"), schema)
    if schema["type"] == "integer":
        return f"{schema['minimum']}–{schema['maximum']}"
    return f"{schema.get('minLength', 0)}–{schema['maxLength']} characters"


def test_limits_of_arguments_are_those_of_the_code() -> None:
    table = {row[0].strip("`"): row for row in rows(section(CONTRACT, "## The call"))}
    assert table["question"][2].startswith(limit(ResearchRequest, "question"))
    assert table["context"][2] == limit(ResearchRequest, "context")
    assert re.findall(r"`(\w+)`", table["depth"][2]) == [depth.value for depth in Depth]
    assert table["depth"][3] == f"`{ResearchRequest(question='x').depth.value}`"
    for name in ("max_iterations", "max_sources", "token_budget"):
        assert table[name][2] == limit(Constraints, name)
    assert table["max_iterations"][3] == str(Constraints().max_iterations)
    assert table["max_sources"][3] == str(Constraints().max_sources)
    deep = ResearchRequest(question="x", depth=Depth.DEEP).constraints.token_budget
    assert table["token_budget"][3] == f"{Constraints().token_budget}; {deep} where `depth` is `deep`"
    arguments = {*ResearchRequest.model_fields, *Constraints.model_fields}
    assert arguments <= table.keys() <= arguments | {depth.value for depth in Depth}


def test_keys_in_meta_are_those_of_the_code() -> None:
    told = section(CONTRACT, "### Optional keys in `_meta`")
    keys = (CALL_META, CONTINUES_META, TEAMS_META, REPEATED_META)
    assert [key for key in keys if f"`{key}`" not in told] == []
    assert f"if the list has {MOST_NESTED}." in told


def test_aims_of_depth_are_those_of_the_code() -> None:
    table = {row[0].strip("`"): row[1:] for row in rows(section(CONTRACT, "## The call"))}
    for depth in Depth:
        aims = (TURNS_BY_DEPTH, SOURCES_WANTED, PAGES_PER_TURN, SECONDS_BY_DEPTH)
        assert table[depth.value] == [f"{aim[depth]:g}" for aim in aims]


def test_the_error_that_is_shown_is_the_one_that_is_given() -> None:
    with pytest.raises(InvalidRequest) as caught:
        request_of("x", None, "balanced", {"token_budget": 499})
    assert blocks(CONTRACT, "text")[0].strip() == str(caught.value)


RESULT_MODELS = [ResearchResult] + [
    each
    for each in vars(contract).values()
    if isinstance(each, type)
    and issubclass(each, contract._Answered)
    and each not in (ResearchResult, contract._Answered)
]


@pytest.mark.parametrize("model", RESULT_MODELS, ids=lambda model: model.__name__)
def test_fields_of_the_result_are_those_of_the_code(model: type[BaseModel]) -> None:
    described = [row for row in rows(section(CONTRACT, f"### {model.__name__}")) if len(row) == 3 and row[0][1:-1] in
                 model.model_fields]  # fmt: skip
    assert [row[0].strip("`") for row in described] == list(model.model_fields)
    for (_, kind, _), field in zip(described, model.model_fields.values(), strict=True):
        assert kind.endswith("or null") == (type(None) in typing.get_args(field.annotation))
        for annotation in (field.annotation, *typing.get_args(field.annotation)):
            if isinstance(annotation, enum.EnumMeta) and annotation is not GapCategory:
                assert re.findall(r"`(\w+)`", kind) == [each.value for each in annotation]


def test_gap_categories_are_those_of_the_code() -> None:
    table = [row for row in rows(section(CONTRACT, "### Gap")) if row[0].strip("`") not in contract.Gap.model_fields]
    assert [row[0].strip("`") for row in table] == [category.value for category in GapCategory]
    assert all(len(row) == 3 and all(row) for row in table)


def test_the_excerpt_limit_is_that_of_the_code() -> None:
    described = section(CONTRACT, "### Citation")
    assert f"1–{contract.EXCERPT_LIMIT} characters" in described
    assert f"`{contract.EXCERPT_CUT}`" in described
    assert f"`{contract.NON_TEXT_SOURCE}`" in described


def test_confidence_bands_are_those_of_the_code() -> None:
    bands = [row for row in rows(section(CONTRACT, "## Confidence")) if re.match(r"[≥<] \d", row[0])]
    assert len(bands) == 4
    for score, band, _ in bands:
        value = float(score[2:])
        assert contract.confidence_band(value if score.startswith("≥") else value - 0.001) == band
        assert contract.confidence_band(value - 0.001) != band or score.startswith("<")


def test_the_confidence_rubric_is_that_of_the_code() -> None:
    rubric = dict(row for row in rows(section(CONTRACT, "## Confidence")) if len(row) == 2)
    assert [float(number) for number in re.findall(r"\d\.\d+", rubric["base: independent sources"])] == [
        DEFAULT.confidence.base(sources) for sources in range(5)
    ]
    authority = DEFAULT.confidence.authority.model_dump()
    said = dict(re.findall(r"(\w+) ([+−]?[\d.]+)", rubric["authority"]))
    assert {level: float(amount.replace("−", "-")) for level, amount in said.items()} == authority
    numbers = re.findall(r"\d\.\d+", " ".join(list(rubric.values())[2:]))
    assert set(numbers) <= set(re.findall(r"\d\.\d+", str(confidence.__doc__))) | {"0.97"}


def test_the_confidence_that_is_worked_out_is_the_one_that_is_computed() -> None:
    factors = contract.ConfidenceFactors(
        num_corroborating_sources=4,
        source_authority=contract.SourceAuthority.MEDIUM,
        contradiction_detected=False,
        query_specificity_match=1.0,
        budget_exhausted=False,
        recency=contract.Recency.CURRENT,
    )
    assert f"with a full match: {confidence.score_of(factors, 1.0, unresolved=False)}" in page(CONTRACT)


# The trace


def test_trace_events_are_those_of_the_code() -> None:
    models = {model.model_fields["action"].default: model for model in typing.get_args(events.Event)}
    table = {row[0].strip("`"): row for row in rows(section(CONTRACT, "## Trace"))}
    assert list(table) == list(models)
    for action, model in models.items():
        fields = [name for name in model.model_fields if name not in ("action", "decision")]
        assert re.findall(r"`(\w+)`", table[action][2]) == fields


def test_numbers_of_architecture_are_those_of_the_code() -> None:
    text = page(ARCHITECTURE)
    assert f"at least {CLAUSE_SHARE:.0%}".replace("%", " %") in text
    assert f"{SYNTHESIS_SHARE:.0%}".replace("%", " %") + f" of the tokens ({SYNTHESIS_TOKENS:,}" in text
    assert f"and {VERIFY_SHARE * 100:.0f} % ({VERIFY_TOKENS:,} at most) for verifying" in text
    assert f"{PAGES_PER_TURN[Depth.BALANCED]} pages a turn at depth `balanced`" in text
    assert FINISH_SECONDS == 2.0, "the page says 2 s"
    assert FAILURES_BORNE == 3, "the page says three times"
    plain = " ".join(text.split())
    assert f"Only {close_reading.EMBEDDED} passages are embedded for each sub-question in a turn" in plain
    assert f"the first {close_reading.EMBEDDED_OF_FOREIGN_PAGE} of a page in another language" in plain
    assert f"at most {contract.EXCERPT_LIMIT} characters (`evidence/windows.py`)" in plain
    assert (HEARTBEAT_SECONDS, GRACE_SECONDS) == (8, 2), "the page says every 8 seconds, and 2 seconds"


def test_the_ledger_holds_what_architecture_says() -> None:
    (said,) = re.findall(r"memory of a call: ([\w, ]+)\.", " ".join(page(ARCHITECTURE).split()))
    assert said.split(", ") == [name for name in Ledger.model_fields if name not in ("question", "context")]


# Evaluation


def options(*names: str) -> set[str]:
    """The options of a command, such as `eval` or `eval compare`, in their long form."""
    command = group()
    for name in names:
        command = command.commands[name]
    return {option for each in command.params for option in each.opts if option.startswith("--")} - {"--help"}


def test_every_option_of_eval_and_calibrate_is_shown_in_a_command() -> None:
    shown = " ".join(block for name in PAGES if name != COMMAND_LINE for block in blocks(name, "sh"))
    for names in (("eval",), ("eval", "compare"), ("eval", "report"), ("calibrate",)):
        unseen = {
            each for each in options(*names) if not re.search(rf"marchwarden {' '.join(names)}[^\n]* {each}\b", shown)
        }
        assert unseen == set(), names


def test_metrics_are_those_of_the_code() -> None:
    described = rows(page(METRICS_PAGE))
    assert [row[0].strip("`") for row in described] == [metric.name for metric in METRICS]
    arrows = {"higher": " ↑", "lower": " ↓", "neither": ""}
    expected = [("0–1" if metric.is_share else "≥ 0") + arrows[metric.better] for metric in METRICS]
    assert [row[2] for row in described] == expected
    assert all(len(row) == 5 and all(row) for row in described)


def test_figures_of_readme_are_of_metrics_that_there_are() -> None:
    for text in re.split(r"^\*\*", section("README.md", "## How good is it?"), flags=re.MULTILINE)[1:]:
        lines = text.splitlines()
        (head,) = [line for number, line in enumerate(lines) if _is_head(lines, number)]
        named = [cell.strip().casefold().replace(" ", "_") for cell in head.strip("|").split("|")[1:]]
        assert [name for name in named if name not in BY_NAME] == []
        assert all(len(row) == len(named) + 1 and all(row) for row in rows(text))


def test_what_a_run_holds_is_what_the_code_writes() -> None:
    text = page(RUNS)
    said = " ".join(text.partition("\n`run.json`: ")[2].partition("\n\n")[0].split())
    assert re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", said)) == list(RunInfo.model_fields)
    assert [cell for cell in first_cells(text) if "." not in cell and "/" not in cell] == list(Record.model_fields)


def test_the_example_that_loads_a_run_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets", reason="the extra `evaluate` is not installed")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "datasets"))
    (example,) = blocks(MEASURE, "python")
    made = a_run(Path("runs/before"), [a_record()])
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, MEASURE, "exec"), {})
    assert [line.split()[0] for line in printed.getvalue().splitlines()] == [record.id for record in made.records]


def test_stages_and_data_sets_are_those_of_the_code() -> None:
    assert first_cells(section(EVALUATION, "## One stage alone")) == list(STAGE_SETS)
    table = {row[0].strip("`"): row for row in rows(section(EVALUATION, "## Public data sets"))}
    assert list(table) == list(DATASETS)
    for name, dataset in DATASETS.items():
        files = re.findall(r"[\w.]+\.(?:jsonl|gz|txt)", dataset.expects)
        assert [file for file in files if f"`{file}`" not in table[name][1]] == []


def test_numbers_of_evaluation_are_those_of_the_code() -> None:
    text = " ".join(page(EVALUATION).split())
    counts = {split: len(load_questions(shipped("questions") / f"{split}.jsonl")) for split in SPLITS}
    assert f"{sum(counts.values())} labelled questions" in text
    assert f"**train** ({counts['train']} questions)" in text
    assert f"**dev** ({counts['dev']})" in text
    assert f"**test** ({counts['test']})" in text
    assert f"{bootstrap.LEVEL:.0%}".replace("%", " %") + " interval" in text
    assert f"{bootstrap.SAMPLES:,} resamples" in text
    assert f"{calibration.FOLDS}-fold cross-validation" in text
    assert f"must contain at least {calibration.LEAST} answers" in text
    assert f"{judge.TOKENS:,} tokens for each answer" in text


@pytest.mark.parametrize(
    ("head", "model"),
    [
        ("## program.json", ProgramInfo),
        ("## The record of a stage", StageRecord),
        ("## The file of a stage", CompiledStage),
        ("## calibration.json", Calibration),
    ],
)
def test_fields_of_a_programs_files_are_those_of_the_code(head: str, model: type[BaseModel]) -> None:
    text = section("programs/README.md", head)
    assert re.findall(r"`(\w+)`", " ".join(row[0] for row in rows(text))) == list(model.model_fields)


# Reading


def test_numbers_of_politeness_and_safety_are_those_of_the_code() -> None:
    text = " ".join((section(READING, "## Politeness") + section(READING, "## Safety")).split())
    assert politeness.AT_ONCE == 2
    assert "**Two requests at once**" in text
    assert f"the first {robots_rules.MOST_BYTES // 1024} KiB count" in text
    assert robots.SECONDS_KEPT == 24 * 3600
    assert "for a day at most" in text
    assert fetch.MOST_ROBOTS_REDIRECTS == 5
    assert "up to five redirects" in text
    kept = f"{http_cache.MOST_BYTES // 1024**2} MB and {http_cache.SECONDS_KEPT / 86400:.0f} days"
    assert kept in text
    assert ", ".join(map(str, sorted(addresses.PORTS))).replace(", 8443", " and 8443") in text
    assert f"`{robots.PRODUCT_TOKEN}`" in text


# The glossary


def test_the_glossary_defines_few_terms_once_and_in_order() -> None:
    terms = [row[0] for row in rows(page(GLOSSARY))]
    assert terms == sorted(set(terms))
    assert len(terms) <= 25


def test_what_the_page_on_citations_says_is_in_the_code() -> None:
    text = " ".join(page(CITATIONS).split())
    assert set(first_cells(page(CITATIONS))) == set(typing.get_args(citation_check.State))
    assert f"up to {citation_check.FETCH_S:.0f} seconds for a page" in text
    assert f"the last {check_record.MOST_CHECKS} checks" in text


# Paths and links


@pytest.mark.parametrize("name", PAGES)
def test_relative_links_lead_somewhere(name: str) -> None:
    for target in _LINK.findall(prose(name)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = ((ROOT / name).parent / path).resolve() if path else ROOT / name
        assert linked.exists(), target
        if anchor:
            assert anchor in {
                _anchor(title) for title in re.findall(r"^#+ (.+)$", linked.read_text("utf-8"), re.MULTILINE)
            }


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("name", PAGES)
def test_files_that_are_named_exist(name: str) -> None:
    """`stages/plan.py` is looked for in the repository, the package, the tests and beside the page; NAME is any name."""
    bases = (ROOT, ROOT / "marchwarden", ROOT / "tests", (ROOT / name).parent)
    named = re.findall(r"`((?:\.ci|[\w.-]+)(?:/[\w.{}-]+)*(?:/|\.py|\.md|\.txt|\.toml|\.json|\.jsonl))`", prose(name))
    for path in named:
        if "NAME" not in path and "{" not in path and path not in KEPT_ELSEWHERE:
            assert any((base / path).exists() for base in bases), path


def test_the_layers_of_architecture_are_those_of_the_test() -> None:
    tree = _BLOCK.search(section(ARCHITECTURE, "## Layers"))
    assert tree
    shown = [line.split(" · ") for line in tree[3].splitlines()]
    depths = [{layer_of(name) for name in line} for line in reversed(shown)]
    assert all(len(each) == 1 for each in depths), shown
    assert all(max(lower) < min(higher) for lower, higher in itertools.pairwise(depths)), shown
    left_out = {"__main__"}
    assert {name for names in LAYERS for name in names} - left_out <= {name for line in shown for name in line}


KEPT_ELSEWHERE = {"store/", "claude_desktop_config.json", ".vscode/mcp.json", ".cursor/mcp.json"}
"""Made on the user's machine, or another program's."""
KEPT_ELSEWHERE |= {
    "run.json",
    "results.jsonl",
    "scores.json",
    "report.md",
    "traces/",
    "traces/store/",
    "web/",
    ".test_cache/",
}
"""What a run's folder holds."""
KEPT_ELSEWHERE |= {
    "hotpot_distractor_100.jsonl",
    "topics.cacm.txt",
    "qrels.cacm.txt",
    "calibration.json",
    "program.json",
}
KEPT_ELSEWHERE |= {"plan.3f9a12c4.json"}
KEPT_ELSEWHERE |= {
    "result.json",
    "result.md",
    "trace.jsonl",
    "annotations.jsonld",
    "ro-crate-metadata.json",
    "verify.py",
}
KEPT_ELSEWHERE |= {"texts/", "objects/", "evidence.html"}
"""Files of public data sets, and of programs."""


def test_the_folders_of_architecture_are_those_of_the_package() -> None:
    tree = section(ARCHITECTURE, "## Folders")
    named = set(re.findall(r"[\w]+(?:\.py|/)", tree))
    package = {
        each.name + "/" * each.is_dir() for each in (ROOT / "marchwarden").iterdir() if each.suffix in ("", ".py")
    }
    plumbing = {"__init__.py", "__main__.py", "__pycache__/", "logs.py", "_data/"}
    assert package - plumbing <= named
    assert set(re.findall(r"^  (\w+(?:\.py|/))", tree, re.MULTILINE)) <= package


def test_the_files_of_evaluation_are_those_of_the_package_in_the_order_of_their_imports() -> None:
    table = rows(section(ARCHITECTURE, "## Evaluation"))
    named = [re.findall(r"`evaluation/(\w+(?:/\w+)?)(?:\.py|/)`", row[0]) for row in table]
    row_of = {name: number for number, names in enumerate(named) for name in names}
    folder = ROOT / "marchwarden/evaluation"
    files = {
        file: "datasets" if parts[0] == "datasets" else "/".join(parts).removesuffix(".py")
        for file in sorted(folder.rglob("*.py"))
        if (parts := file.relative_to(folder).parts)[-1] != "__init__.py"
    }
    assert {*files.values(), "reports/templates"} == row_of.keys()
    for file, name in files.items():
        text = file.read_text(encoding="utf-8")
        imported = [each.replace(".", "/") for each in re.findall(r"from marchwarden\.evaluation\.([\w.]+)", text)]
        imported = ["datasets" if each.startswith("datasets") else each for each in imported]
        assert [each for each in imported if row_of[each] > row_of[name]] == [], name


@pytest.mark.parametrize("report", sorted((ROOT / "evals" / "reports").glob("*.html")), ids=lambda path: path.name)
def test_a_report_names_no_folder_of_the_machine_that_made_it(report: Path) -> None:
    folders = re.findall(r"MARCHWARDEN_TRACE_DIR=(\S+)", report.read_text(encoding="utf-8"))
    assert folders
    assert not any(Path(folder).is_absolute() for folder in folders)
