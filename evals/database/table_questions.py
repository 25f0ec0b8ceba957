"""Denotation accuracy of the planner on WikiTableQuestions (Pasupat and Liang 2015), a table at a time.

    python -m evals.database.table_questions ../shared/data/tables-wtq --half unseen
    python -m evals.database.table_questions DIR --predictions told.tsv

DIR is a clone of ppasupat/WikiTableQuestions, 7d455a5, whose test set is asked: 4,344 questions over tables of their
own. Its `evaluator.py -t tagged/data told.tsv` reads the predictions.
The families of planning/single_table were written with half of the tables in sight. An answer without rows is a gap.
"""

from __future__ import annotations

import argparse
import csv
import io
import random
import re
import sqlite3
import tarfile
import tempfile
import unicodedata
from pathlib import Path

from evals.database.comparing import summary
from evals.database.spider import run, schema_of
from marchwarden.sources.database.allow_list import StatementRefused, check_statement
from marchwarden.sources.database.planning.planner import NotPlanned, plan_statement

# Draws the halves of the tables.
SEED = 7


def plain(text: object) -> object:
    """Return a value as it is compared: a number, or a text as the set's official evaluator normalizes it.

    It takes out accents, marks of notes, remarks in brackets at the end and outer quotation marks. Beside it, all
    punctuation and separators of thousands are taken out here.
    """
    said = "".join(each for each in unicodedata.normalize("NFKD", str(text)) if unicodedata.category(each) != "Mn")
    before = None
    while said != before:
        before = said
        said = re.sub(r"((?<!^)\[[^\]]*\]|\[\d+\]|[•♦†‡*#+])*$", "", said.strip())
        said = re.sub(r"(?<!^)( \([^)]*\))*$", "", said.strip())
        said = re.sub(r'^"([^"]*)"$', r"\1", said.strip())
    said = said.strip().casefold().replace(",", "")
    try:
        return float(said)
    except ValueError:
        return re.sub(r"\W+", " ", said).strip()


def make_table(file: Path, text: str) -> None:
    """Write a CSV with the set's escapes as the table `entry` of a SQLite file."""
    rows = list(csv.reader(io.StringIO(text.replace('\\"', '""'))))
    names: list[str] = []
    for place, name in enumerate(rows[0]):
        clean = " ".join(re.findall(r"\w+", name)) or f"column {place}"
        names.append(clean if clean.lower() not in (each.lower() for each in names) else f"{clean} {place}")
    body: list[list[str | None]] = [[*row[: len(names)], *[""] * (len(names) - len(row))] for row in rows[1:]]
    columns = []
    for place, name in enumerate(names):
        cells = [(row[place] or "").strip() for row in body]
        is_number = any(cells) and all(re.fullmatch(r"-?[\d,]*\.?\d*", cell) for cell in cells)
        columns.append(f'"{name}" {"REAL" if is_number else "TEXT"}')
        for row in body:
            cell = (row[place] or "").strip()
            cell = cell.replace(",", "") if is_number else cell
            row[place] = cell or None  # an empty cell of a CSV is NULL, as DuckDB reads it
    connection = sqlite3.connect(file)
    connection.execute(f"CREATE TABLE entry ({', '.join(columns)})")
    connection.executemany(f"INSERT INTO entry VALUES ({', '.join('?' * len(names))})", body)
    connection.commit()
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=["seen", "unseen", "all"], default="all")
    parser.add_argument("--show", choices=["wrong", "gaps", "right"])
    parser.add_argument("--predictions", type=Path, help="file for a line with the values of each answer")
    given = parser.parse_args()
    is_clone = (given.folder / "csv").exists()
    questions = given.folder / ("data/pristine-unseen-tables.tsv" if is_clone else "dev.tsv")
    items = list(csv.DictReader(questions.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE))
    tables = sorted({item["context"] for item in items})
    random.Random(SEED).shuffle(tables)
    halves = {"seen": tables[: len(tables) // 2], "unseen": tables[len(tables) // 2 :], "all": tables}
    chosen = frozenset(halves[given.half])
    items = [item for item in items if item["context"] in chosen]
    records, lines = [], []
    if is_clone:
        texts = {name: (given.folder / name).read_text(encoding="utf-8") for name in chosen}
    else:
        with tarfile.open(given.folder / "tables.tar.xz") as archive:
            texts = {each.name: archive.extractfile(each).read().decode() for each in archive if each.isfile()}
    with tempfile.TemporaryDirectory() as folder:
        schemas = {}
        for item in items:
            file = Path(folder) / f"{item['context'].replace('/', '-')}.sqlite"
            if file not in schemas:
                make_table(file, texts[item["context"]])
                schemas[file] = schema_of(file)
            planned = plan_statement(item["utterance"], schemas[file])
            try:
                if isinstance(planned, NotPlanned):
                    raise StatementRefused(planned.reason)
                found = run(file, check_statement(planned, "sqlite", schemas[file]).sql)
                if all(cell is None for row in found for cell in row):
                    raise StatementRefused("it gives no rows")
            except (StatementRefused, sqlite3.Error) as error:
                records.append((False, False))
                if given.show == "gaps":
                    print(f"{item['utterance']}\n   {error}")
                continue
            lines.append("\t".join([item["id"], *(str(row[0]).replace("\n", " ") for row in found)]))
            told = sorted(str(plain(row[0])) for row in found)
            is_right = told == sorted(str(plain(value)) for value in item["targetValue"].split("|"))
            records.append((True, is_right))
            if given.show == ("right" if is_right else "wrong"):
                print(f"{item['utterance']}\n   {planned}\n   {told} {item['targetValue']}")
    print(summary(records))
    if given.predictions:
        given.predictions.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
