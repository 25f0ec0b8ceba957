"""Tables of questions and answers become labelled questions."""

from __future__ import annotations

from pathlib import Path

import pytest

from marchwarden.evaluation.labels.questions import load_questions
from tests.cli.conftest import Run
from tests.webs import article, make_web


def test_an_answer_becomes_a_nugget_with_its_evidence(run: Run) -> None:
    Path("qa.csv").write_text(
        "id,question,answer,url,quote\n"
        "a 1,How many flights?,72 flights| seventy-two,,\n"
        ",How long?,155 km,https://x.example/,155 km long\n"
        ",Who is she?,,,\n"
    )
    ran = run("eval", "init", "qa.csv", "--out", "mine.jsonl")
    assert (ran.code, ran.out) == (0, "3 questions in mine.jsonl, 1 of them without a label\n")
    Path("all.csv").write_text("question,answer\nHow many flights?,72 flights\n")
    assert run("eval", "init", "all.csv", "--out", "all.jsonl").out == "1 question in all.jsonl\n"
    first, second, third = load_questions(Path("mine.jsonl"))
    assert (first.id, first.nuggets[0].answers, first.quotes) == ("a-1", ["72 flights", "seventy-two"], [])
    assert (second.id, second.quotes[0].url) == ("q2", "https://x.example/")
    assert not third.is_labelled
    assert "already exists" in run("eval", "init", "qa.csv", "--out", "mine.jsonl").said


def test_a_limit_holds_for_a_table_too(run: Run) -> None:
    Path("qa.csv").write_text("question,answer\n" + "".join(f"How many {n}?,{n}\n" for n in range(30)))
    assert run("eval", "init", "qa.csv", "--out", "two.jsonl", "--limit", "2").out == "2 questions in two.jsonl\n"
    assert [each.id for each in load_questions(Path("two.jsonl"))] == ["q1", "q2"]
    assert run("eval", "init", "qa.csv", "--out", "all.jsonl").out == "30 questions in all.jsonl\n"


def test_what_cannot_be_labelled_is_said_before_a_browser_opens(run: Run) -> None:
    assert "can't be used together" in run("eval", "label", "x.jsonl", "--web", "w", "--source", "corpus").said
    gone = run("eval", "label", "x.jsonl", "--no-browser")
    assert (gone.code, "x.jsonl can't be read: No such file" in gone.said) == (2, True)


def test_what_init_makes_is_accepted_by_check_with_a_list_of_what_is_left(run: Run) -> None:
    Path("qa.csv").write_text(
        "question,answer,url,quote\nHow many flights?,72 flights,,\nHow long?,155 km,https://x.example/,155 km long\nWho?,,,\n"
    )
    run("eval", "init", "qa.csv", "--out", "mine.jsonl")
    ran = run("eval", "--check", "--questions", "mine.jsonl")
    said = " ".join(ran.out.split())
    assert ran.code == 0
    assert "q1: nugget n1 has no evidence: the url of a page, and a quote of it" in said
    assert "q2: https://x.example/ is not in the manifest" in said
    assert "q3: it has no label" in said
    assert "Not labelled yet: 4 things in 3 questions. Every existing label is correct." in said
    assert "Name the pages that the questions are about: --web DIR" in ran.said


def test_the_command_that_labels_carries_the_pages_quoted_for_the_shell(run: Run, tmp_path: Path) -> None:
    make_web(tmp_path / "my web", {"https://x.example/": article("Flights", "There were 72 flights in all.")})
    Path("mine.jsonl").write_text('{"id": "q", "question": "How many flights?", "split": "dev"}\n')
    given = ("--questions", "mine.jsonl", "--web", str(tmp_path / "my web"))
    command = f"marchwarden eval label mine.jsonl --web '{tmp_path / 'my web'}'"
    assert command in " ".join(run("eval", "--check", *given).said.split())
    assert command in " ".join(run("eval", *given).said.split())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"question": "x", "answer": ["1"], "depth": "huge"}', "qa.jsonl, line 1: depth: must be 'shallow'"),
        ('{"answer": "1"}', "qa.jsonl, line 1: question: must be text"),
        ('{"question": "x", "id": 1}\n{"question": "y", "id": 1}', "qa.jsonl, line 2: the id 1 is there twice"),
        ("", "qa.jsonl holds no question"),
    ],
)
def test_what_is_no_question_is_named_with_its_line(run: Run, text: str, said: str) -> None:
    Path("qa.jsonl").write_text(text)
    ran = run("eval", "init", "qa.jsonl", "--out", "mine.jsonl")
    assert (ran.code, Path("mine.jsonl").exists()) == (2, False)
    assert said in ran.said


def test_a_corpus_becomes_drafts_that_a_person_words(run: Run) -> None:
    folder = Path("notes")
    folder.mkdir()
    (folder / "ferry.md").write_text(
        "# Ferry\n\nThe ferry Aurora of 1240 carries 240 passengers. It is new.\n\n```\nrun at 8\n```\n"
    )
    (folder / "fares.csv").write_text("Ticket,Price\nSingle,3.40 euros\nMonth pass,58 euros\n")
    (folder / "rules.txt").write_text("Ask the man at the pier, and be kind to all the gulls there.\n")
    assert run("index", "notes", "--name", "notes").code == 0
    ran = run("eval", "init", "corpus:notes", "--out", "mine.jsonl", "--limit", "2")
    assert (ran.code, ran.out) == (0, "2 drafts in mine.jsonl\n")
    assert "marchwarden eval label mine.jsonl --source corpus:notes" in ran.said
    drafts = load_questions(Path("mine.jsonl"))
    assert [(each.question, each.nuggets[0].answers) for each in drafts] == [
        ("TODO: Ticket: Single | Price: …", ["3.40 euros"]),
        ("TODO: The ferry Aurora of 1240 carries … passengers.", ["240"]),
    ]
    given = ("--questions", "mine.jsonl", "--source", "corpus:notes")
    checked = run("eval", "--check", *given)
    assert (checked.code, "Every existing label is correct." in checked.out) == (0, True)
    assert "q1: its question is a draft" in " ".join(checked.out.split())
    refused = run("eval", *given)
    assert (refused.code, "questions are still to be worded: q1, q2" in refused.said) == (1, True)
    Path("mine.jsonl").write_text(Path("mine.jsonl").read_text().replace("TODO: ", "What is missing: "))
    assert "is a draft" not in run("eval", "--check", *given).out


def test_a_corpus_that_is_not_there_or_holds_no_fact_makes_no_file(run: Run) -> None:
    Path("notes.txt").write_text("Be kind to all the gulls at the pier.\n")
    assert run("index", "notes.txt", "--name", "kind").code == 0
    assert "corpus:kind holds no fact to ask for" in run("eval", "init", "corpus:kind", "--out", "a.jsonl").said
    assert "there is no corpus gone" in run("eval", "init", "corpus:gone", "--out", "a.jsonl").said
    assert not Path("a.jsonl").exists()


def test_files_that_state_no_fact_are_passed_over_for_others(run: Run) -> None:
    for name, text in {
        "a": "Be kind to all the gulls at the pier.",
        "b": "The ferry carries 240 passengers.",
    }.items():
        Path(f"{name}.txt").write_text(f"{text}\n")
    assert run("index", "a.txt", "b.txt", "--name", "pier").code == 0
    assert run("eval", "init", "corpus:pier", "--out", "mine.jsonl", "--limit", "1").out == "1 draft in mine.jsonl\n"
