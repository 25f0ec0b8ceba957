"""`marchwarden eval init`: questions and answers of one's own, or drafts over a corpus, as labelled questions."""

from __future__ import annotations

import re
import shlex
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from marchwarden.cli import options
from marchwarden.cli.client.question_file import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marchwarden.evaluation.labels.questions import Question
    from marchwarden.observations import Page

EPILOGUE = """Examples:

marchwarden eval init answers.csv --out mine.jsonl
    columns: question, answer, and where you like id, context, depth, url and quote
marchwarden eval init corpus:notes --out mine.jsonl --limit 30
marchwarden eval label mine.jsonl --source corpus:notes
    facts of your own files, each with its quote; word the questions in the browser
marchwarden ask --file answers.csv --output asked.jsonl
marchwarden eval freeze 3f2a 77c0 --out frozen
marchwarden eval --questions mine.jsonl --web frozen/web
    asked once, frozen with their pages, and scored by the answers of the file"""

# Drafts over a corpus where no number is given. A guess: an evening's work in the browser.
_DRAFTS = 20


def command(
    given: Annotated[
        str,
        typer.Argument(
            metavar="FILE|corpus:NAME",
            help="Questions and answers, .csv or .jsonl; separate accepted spellings of an answer with |. "
            "Or a corpus of your own files.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE.jsonl", help="The labelled questions to write.")],
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            help="Number of questions to make, at most. Default: all of a file, 20 over a corpus.",
        ),
    ] = None,
    force: options.ForceFile = False,
) -> None:
    """Make labelled questions from a table of questions and answers, or drafts over a corpus.

    An answer becomes a nugget: a fact that a right answer states. `url` and `quote` become its evidence. A question
    without an answer gets no label. evals/README.md describes what else can be labelled.

    Of a corpus, each draft is a sentence of another file with its answer left out. Word the question yourself:
    `eval` asks no draft.
    """
    # Imported here: `--help` must import none of the heavy modules.
    from marchwarden.cli.views import console
    from marchwarden.cli.views.safe_text import count
    from marchwarden.errors import StorageError
    from marchwarden.files import write_output

    options.check_output(out, "--out", (".jsonl",), force=force)
    if is_corpus := (given == "corpus" or given.startswith("corpus:")):
        questions = {each.id: each for each in _drafts(given, limit or _DRAFTS)}
    else:
        questions = _questions(Path(given), limit)
    if not questions:
        raise typer.BadParameter(f"{given} holds no {'fact to ask for' if is_corpus else 'question'}")
    lines = (f"{each.model_dump_json(exclude_defaults=True)}\n" for each in questions.values())
    try:
        write_output(out, "".join(lines).encode("utf-8"))
    except OSError as error:
        raise StorageError(f"{out} can't be written: {error.strerror or error}") from error
    bare = sum(not each.is_labelled for each in questions.values())
    without = f", {bare} of them without a label" if bare else ""
    console.line(f"{count(len(questions), 'draft' if is_corpus else 'question')} in {out}{without}")
    if is_corpus:
        console.done(
            f"Word the questions in the browser: marchwarden eval label {shlex.quote(str(out))} --source {given}"
        )


def _drafts(source: str, limit: int) -> list[Question]:
    """Return drafts over the files of a corpus, evenly chosen."""
    import anyio

    from marchwarden.evaluation.labels.drafts import drafts
    from marchwarden.evaluation.labels.known_pages import known_pages
    from marchwarden.evaluation.labels.label_check import read_pages
    from marchwarden.settings import load_settings

    settings = load_settings(source=source)
    urls = sorted(known_pages(settings) or ())
    chosen = [urls[place * len(urls) // min(limit, len(urls))] for place in range(min(limit, len(urls)))]
    others = iter(sorted(set(urls).difference(chosen)))
    pages: dict[str, Page] = {}
    found: list[Question] = []
    # Many files may state nothing that can be asked for: then others are read.
    while chosen and len(found) < limit:
        pages |= anyio.run(read_pages, chosen, settings)
        found = drafts(pages.values(), limit)
        chosen = list(islice(others, limit))
    return found


def _questions(file: Path, limit: int | None) -> dict[str, Question]:
    """Return the labelled questions of a table, by id, or the first of them. Raises BadParameter for a bad line."""
    from pydantic import ValidationError

    from marchwarden.errors import InvalidRequest

    questions: dict[str, Question] = {}
    for line, fields in islice(rows_of(file), limit):
        try:
            question = _question(fields, len(questions) + 1)
        except ValidationError as error:
            raise typer.BadParameter(f"{file}, line {line}: {InvalidRequest.of(error)}") from None
        if question.id in questions:
            raise typer.BadParameter(f"{file}, line {line}: the id {question.id} is there twice")
        questions[question.id] = question
    return questions


def _question(fields: Mapping[str, Any], number: int) -> Question:
    """Return a row as a labelled question. Raises pydantic.ValidationError."""
    from marchwarden.evaluation.labels.questions import Question

    given = fields.get("answers") or fields.get("answer") or []
    spellings = given if isinstance(given, list) else str(given).split("|")
    answers = [spelling for each in spellings if (spelling := str(each).strip())]
    evidence = [{"url": fields["url"], "quote": fields["quote"]}] if fields.get("url") and fields.get("quote") else []
    named = re.sub(r"[^A-Za-z0-9._-]+", "-", str(fields.get("id") or "")).strip("-._")
    question = Question.model_validate(
        {
            "id": named or f"q{number}",
            "question": fields.get("question"),
            "context": fields.get("context") or None,
            "depth": fields.get("depth") or "balanced",
            "split": fields.get("split") or "dev",
            "tags": ["one-fact"] if answers else [],
            "nuggets": [{"id": "n1", "text": answers[0], "answers": answers, "evidence": evidence}]
            if answers
            else [],
        }
    )
    question.request  # noqa: B018  building it checks the limits of a call
    return question
