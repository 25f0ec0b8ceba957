"""Reports of runs: what they say, that they need nothing else, and that no page's text becomes markup."""

from __future__ import annotations

import re
from importlib.resources import files
from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from marchwarden.cli import app
from marchwarden.cli.views.eval_view import runs_view
from marchwarden.cli.views.tables import Figures
from marchwarden.contract import DiscoveryEvent, DiscoveryType, Gap, GapCategory
from marchwarden.errors import EvaluationError, StorageError
from marchwarden.evaluation.labels.questions import Question
from marchwarden.evaluation.reports.figures import amount, words
from marchwarden.evaluation.reports.report import meaning, report_of
from marchwarden.evaluation.reports.report_html import html, logarithmic
from marchwarden.evaluation.reports.report_markdown import markdown
from marchwarden.evaluation.runs.run import Run
from marchwarden.evaluation.scoring.metrics import METRICS
from marchwarden.text.escaping import web_address
from tests.cli.results import a_citation, a_result
from tests.evaluation.made_runs import QUOTE, a_question, a_record, a_run, an_answer
from tests.seen import Seen

ATTACK = "</p></script><script>alert(1)</script><img src=https://evil.example/x onerror=alert(1)>\" onclick='x' &amp; {{ 7*7 }}"
YIELDS = {"topic": "yields of tomatoes", "category": "access_denied"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Three questions: all met; a gap told wrong, and one that no label has; failed."""
    wrong = an_answer(
        confidence=0.4,
        answer="Peas go in early [1].",
        gaps=[
            Gap(topic="yields: tomatoes", category=GapCategory.SOURCE_NOT_FOUND, detail="None."),
            Gap(topic="price of seeds", category=GapCategory.SCOPE_EXCEEDED, detail="A shop knows."),
        ],
    )
    records = [
        a_record(a_question("right-01"), an_answer(confidence=0.9), seconds=1.0),
        a_record(a_question("wrong-01", gaps=[YIELDS], tags=["numeric", "one-fact"]), wrong, seconds=2.0, pages=5),
        a_record(a_question("failed-01"), error="the model service is overloaded", seconds=6.0, pages=0),
    ]
    return a_run(tmp_path / "a-run", records, program="sha-123")


@pytest.fixture
def text(run: Run) -> str:
    return markdown(report_of(run))


@pytest.fixture
def page(run: Run) -> str:
    return html(report_of(run))


def rows(text: str, heading: str) -> list[list[str]]:
    """The cells of the table under a heading, its head and rule left out."""
    part = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_a_question_of_several_epochs_counts_once_and_the_source_is_named(tmp_path: Path) -> None:
    records = [
        a_record(question, epoch=epoch)
        for epoch in (1, 2)
        for question in (a_question("a"), a_question("b", tags=["numeric", "one-fact"]))
    ]
    run = a_run(tmp_path / "twice", records, epochs=2, asked=2, source="corpus:stock")
    report = report_of(run)
    text = markdown(report)
    assert {row[0]: row[4] for row in rows(text, "Scores")}["nugget recall"] == "2"
    assert [row[:2] for row in rows(text, "By kind")] == [["numeric", "1"], ["one-fact", "2"]]
    assert rows(text, "Cost of an answer")[0][:3] == ["tokens", "2", "4"]
    assert "source corpus:stock" in text.replace("\\", "")
    assert "corpus:stock" in html(report)
    broken_off = a_run(tmp_path / "broken-off", records[:3], epochs=2, asked=2)
    (table,) = runs_view([run, broken_off])
    assert isinstance(table, Figures)
    assert [row[2] for row in table.rows] == ["2", "3 of 4 answers"]


# Markdown


def test_the_first_line_says_what_was_scored(text: str) -> None:
    said = text.splitlines()[2]
    for part in ("extractive", "sha-123", "0.1.0", "2026-11-28 03:45 UTC", "shipped (dev)", "1abe15", "9a6e5"):
        assert part in said


def test_every_metric_has_its_figure_and_what_its_docstring_says(text: str) -> None:
    table = {row[0]: row[1:] for row in rows(text, "Scores")}
    (empty,) = [line for line in text.splitlines() if line.startswith("No question has a label or a result for: ")]
    named = empty.partition(": ")[2].removesuffix(".").split(", ")
    assert list(table) == [words(metric.name) for metric in METRICS if words(metric.name) not in named]
    assert set(named) == {words(metric.name) for metric in METRICS} - set(table)
    for metric in METRICS:
        if words(metric.name) in named:
            continue
        opening = " ".join((getdoc(metric.scorer) or "").split())[:30]
        assert table[words(metric.name)][-1].startswith(opening)
    assert table["completed"][:3] == ["0.667", "–", "3"], "of three questions an interval says little"
    assert table["gap F1"][2] == "1", "only one question has or wants any gap"
    assert {"dollars", "discovery F1"} <= set(named)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gap_f1", "F1: their harmonic mean."),
        ("gap_recall", "Recall: labelled and found / labelled."),
        ("brier", "Brier score: mean of"),
        ("calibration_error", "Expected calibration error:"),
        ("confidence_auroc", "AUROC: the chance"),
        ("discovery_recall", "recall and F1 as for gaps."),
    ],
)
def test_metrics_that_share_a_scorer_are_told_apart(name: str, said: str) -> None:
    (metric,) = (each for each in METRICS if each.name == name)
    assert said in meaning(metric)


def test_meanings_are_a_line_each() -> None:
    for metric in METRICS:
        assert meaning(metric).endswith(".")
        assert "\n" not in meaning(metric)


def test_kinds_have_a_row_each(text: str) -> None:
    kinds = {row[0]: row[1:4] for row in rows(text, "By kind")}
    assert kinds == {"numeric": ["1", "1.00", "0.00"], "one-fact": ["3", "0.67", "0.33"]}


def test_gap_categories_are_set_against_what_was_reported(text: str) -> None:
    table = {row[0]: row[1:] for row in rows(text, "Gap categories")}
    assert table["access denied"] == ["1", "0", "0", "0", "0", "0"]
    assert table["not labelled"] == ["0", "0", "0", "0", "1", "0"]


def test_confidence_is_set_against_what_was_right(text: str) -> None:
    assert rows(text, "Confidence") == [["0.4 – 0.5", "1", "0.40", "0.00"], ["0.9 – 1.0", "1", "0.90", "1.00"]]
    assert "brier 0.085 · calibration error 0.250 · confidence AUROC 1.000" in text


def test_costs_are_summed_up(text: str) -> None:
    table = {row[0]: row[1:] for row in rows(text, "Cost of a question")}
    assert table["tokens"] == ["2", "12,345", "12,345", "12,345", "24,690"]
    assert table["seconds"] == ["3", "3", "2", "6", "9"]
    assert table["pages"] == ["3", "2.67", "3", "5", "8"]
    assert "US dollars" not in table


def test_failures_are_named_with_their_reason(text: str) -> None:
    assert "- `failed-01`: the model service is overloaded" in text


def test_the_worst_questions_come_first_and_say_what_is_not_met(text: str) -> None:
    worst = rows(text, "Worst questions")
    assert [row[0] for row in worst] == ["`failed-01`", "`wrong-01`"]
    assert worst[0][2:] == ["0 of 2", "the call failed"]
    assert worst[1][2:] == ["1 of 3", "nugget n1: Tomatoes need sun · gap access_denied: yields of tomatoes"]


def test_a_question_can_break_no_table(tmp_path: Path) -> None:
    question = a_question(question="a | b\n| c | <script> [x](javascript:y) `", nuggets=[], tags=["a|b"])
    records = [a_record(question, error="line | one\n# line two")]
    text = markdown(report_of(a_run(tmp_path / "run", records)))
    assert "# line two" not in text.splitlines()
    assert all(len(row) == 4 for row in rows(text, "Worst questions"))
    assert [row[0] for row in rows(text, "By kind")] == [r"a\|b"]
    assert r"\<script\> \[x\](javascript\:y) \`" in text


def test_a_run_without_any_record_can_be_reported(tmp_path: Path) -> None:
    report = report_of(a_run(tmp_path / "run", []))
    assert "on 0 questions" in markdown(report)
    assert "<b>0 of 0</b>" in html(report)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (12345.6, "12,346"), (3.777, "3.78"), (0.00423, "0.0042"), (7.0, "7"), (0.15, "0.15")],
)
def test_amounts_are_shown_with_the_digits_that_count(value: float, shown: str) -> None:
    assert amount(value) == shown


# The page


def a_hostile_question() -> Question:
    return a_question(
        question=ATTACK,
        context=ATTACK,
        note=ATTACK,
        tags=[ATTACK, "x] { } </style><script>"],
        constraints={"source_filter": "*.gov"},
        gaps=[{"topic": ATTACK, "category": "access_denied", "url": "javascript:alert(1)"}],
        discoveries=[{"type": "new_source", "identifier": ATTACK, "source_locator": "data:text/html,x"}],
        contradictions=[{"about": ATTACK, "sides": [{"url": "x", "quote": ATTACK}] * 2}],
        nuggets=[{"id": ATTACK, "text": ATTACK, "answers": [ATTACK], "evidence": [{"url": "x", "quote": ATTACK}]}],
    )


def a_hostile_page(folder: Path) -> str:
    event: dict[str, Any] = {"type": DiscoveryType.CONTRADICTION, "query": ATTACK, "reason": ATTACK}
    result = a_result(
        answer=f"- {ATTACK} [1]\n{ATTACK}",
        citations=[a_citation(title=ATTACK, raw_excerpt=ATTACK, locator="javascript:alert(1)//https://x.example")],
        gaps=[Gap(topic=ATTACK, category=GapCategory.ACCESS_DENIED, detail=ATTACK)],
        discovery_events=[DiscoveryEvent(**event, source_locator="javascript:alert(1)")],
    )
    records = [a_record(a_hostile_question(), result), a_record(a_question("failed-01"), error=ATTACK)]
    named = dict.fromkeys(("model_id", "program", "version", "questions", "labels", "pages"), ATTACK)
    return html(report_of(a_run(folder / "run", records, **named)))


def test_text_of_pages_models_and_labels_never_becomes_markup(tmp_path: Path) -> None:
    seen = Seen(a_hostile_page(tmp_path))
    assert {tag for tag, _ in seen.tags} & {"script", "img", "iframe", "object", "embed", "link", "base"} == set()
    assert [name for _, attributes in seen.tags for name in attributes if name.startswith("on")] == []
    assert [each["href"] for each in seen.all("a") if not each["href"].startswith("#")] == []
    assert len(seen.all("style")) == 1
    assert seen.text.count("<script>alert(1)</script>") > 15
    assert "{{ 7*7 }}" in seen.text


def test_the_page_may_run_and_load_nothing(page: str) -> None:
    policy = next(each["content"] for each in Seen(page).all("meta") if "http-equiv" in each)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    seen = Seen(page)
    assert [name for _, attributes in seen.tags for name in attributes if name in ("src", "srcset", "data")] == []
    assert "@import" not in page
    assert "url(" not in page


def test_links_lead_to_web_addresses_and_to_places_of_the_page(page: str) -> None:
    seen = Seen(page)
    places = {attributes["id"] for _, attributes in seen.tags if "id" in attributes}
    for target in (each["href"] for each in seen.all("a")):
        assert target.startswith("https://") or target.removeprefix("#") in places


@pytest.mark.parametrize(
    "locator", ["javascript:alert(1)", "data:text/html,x", " https://x.example", "/etc/passwd", "", None]
)
def test_only_web_addresses_are_linked_to(locator: str | None) -> None:
    assert web_address(locator) is None


def test_each_question_opens_to_its_answer_evidence_and_labels(run: Run, page: str) -> None:
    wrong = page[page.index('id="wrong-01"') :].partition("</details>")[0]
    said = " ".join(Seen("<div " + wrong).text.split())
    assert "Peas go in early1." in said
    assert QUOTE in said
    assert "✗" not in said, "marks are the style's"
    assert "wrong category labelled access denied yields of tomatoes reported source not found" in said
    assert "not labelled reported scope exceeded price of seeds A shop knows." in said
    assert run.records[1].trace_id in said


def test_a_question_that_failed_says_why(page: str) -> None:
    assert "The call failed: the model service is overloaded" in page


def test_questions_can_be_narrowed_to_a_kind_and_to_those_that_miss_something(page: str) -> None:
    seen = Seen(page)
    classes = {
        attributes["class"] for attributes in seen.all("details") if attributes["class"].startswith("question")
    }
    assert classes == {"question whole k1", "question k0 k1", "question k1"}
    assert [each["value"] for each in seen.all("option")] == ["all", "k0", "k1"]
    assert "body:has(option[value=k0]:checked) .question:not(.k0)" in page


def test_charts_have_a_mark_for_each_bin_and_each_question_that_was_answered(page: str) -> None:
    reliability, scatter = page.split("<svg")[1:]
    assert reliability.count("<circle") == 2
    assert scatter.count("<circle") == 2
    assert "tokens (logarithmic)" in scatter


def test_calibration_is_shown_before_and_after(tmp_path: Path) -> None:
    factors = an_answer().confidence_factors.model_copy(update={"uncalibrated": 0.9, "calibration": "dev"})
    calibrated = an_answer(confidence=0.6, confidence_factors=factors)
    page = html(report_of(a_run(tmp_path / "run", [a_record(result=calibrated)])))
    assert page.count('class="mark before"') == 1
    assert "before calibration" in page


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.15, 3.4], 0.1, 5), ([0, 0], 1, 2), ([1000], 1000, 2000), ([0, 37, 25_000], 20, 50_000)],
)
def test_a_logarithmic_axis_holds_all_values(values: list[float], low: float, high: float) -> None:
    axis = logarithmic(values, 0, 100)
    assert (axis.low, axis.high) == pytest.approx((low, high))
    assert all(0 <= axis.at(value) <= 100 for value in values)
    assert len(axis.ticks) <= 7


def test_the_template_is_part_of_the_package() -> None:
    found = {each.name for each in files("marchwarden.evaluation.reports").joinpath("templates").iterdir()}
    assert found == {"report.html.jinja", "parts.html.jinja", "report.css"}


# The command


def test_the_command_writes_both_into_the_runs_folder_and_says_so(run: Run) -> None:
    done = CliRunner().invoke(app, ["eval", "report", str(run.folder)])
    assert done.exit_code == 0
    assert str(run.folder) in done.stderr
    assert (run.folder / "report.md").read_text("utf-8").startswith("# extractive on 3 questions")
    assert (run.folder / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_the_command_makes_the_folder_that_is_named(run: Run, tmp_path: Path) -> None:
    CliRunner().invoke(app, ["eval", "report", str(run.folder), "--out", str(tmp_path / "deep" / "er")])
    assert {each.name for each in (tmp_path / "deep" / "er").iterdir()} == {"report.md", "report.html"}
    assert not (run.folder / "report.md").exists()


def test_the_page_says_how_a_trace_is_replayed_from_where_it_was_asked_for(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(app, ["eval", "report", run.folder.name, "--out", "else where"])
    page = (tmp_path / "else where" / "report.html").read_text("utf-8")
    assert f"MARCHWARDEN_TRACE_DIR={run.folder.name}/traces marchwarden replay ID" in page
    spaced = a_run(Path("two words"), [a_record()])
    assert "MARCHWARDEN_TRACE_DIR='two words/traces' marchwarden" in Seen(html(report_of(spaced))).text


def test_the_command_gives_machines_what_the_report_says(
    run: Run, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    import json

    from marchwarden.cli.evaluation.eval_report import command

    command(run.folder, json=True)
    said = json.loads(capsysbinary.readouterr().out)
    assert said["failures"] == [{"id": "failed-01", "reason": "the model service is overloaded"}]
    assert said["gap_confusion"]["access_denied"]["source_not_found"] == 1
    assert said["not_met"]["wrong-01"][0] == {"what": "nugget", "name": "n1: Tomatoes need sun", "met": False}
    assert said["files"] == [str(run.folder / "report.md"), str(run.folder / "report.html")]


def test_a_folder_without_a_run_and_one_that_can_not_be_written_are_errors_that_help(
    run: Run, tmp_path: Path
) -> None:
    nothing = CliRunner().invoke(app, ["eval", "report", str(tmp_path / "nothing")])
    assert isinstance(nothing.exception, EvaluationError)
    (tmp_path / "file").write_text("")
    unwritable = CliRunner().invoke(app, ["eval", "report", str(run.folder), "--out", str(tmp_path / "file" / "x")])
    assert isinstance(unwritable.exception, StorageError)
    assert "--out" in (unwritable.exception.hint or "")
