"""Questions of two parts that no single researcher can answer, over pages, papers, files and databases.

    python -m evals.investigations.labelled DATA [--split train|dev|test] [--most N] [--who NAMES] [--scores FILE]
        [--model openai/NAME --api-base URL] [--tokens N] [--seconds N]

DATA is a folder with real-web, extract-wcxb, qa-pubmedqa, gaps-v0 and sql-spider. Each question is made of two
labelled questions of two of these sources, one after the other; pages, labels and wordings are their authors'. The
four researchers are

    web       the pages of real-web (its train questions in train and dev, its dev questions in test)
    notes     a corpus of paragraphs of SQuAD 2, as gaps-v0 holds them
    papers    a corpus of the 1,000 abstracts of PubMedQA
    records   the databases of Spider's development set (in test, those that no rule of the planner was made with)

A part is found where a citation stands on the labelled page and holds the labelled evidence (of an abstract: any of
it; of a database: the gold value), and said where the answer has an accepted string (PubMedQA has none). Compared are
each researcher alone, the best of them for each question (known afterwards), one server with all four sources, the
team without next steps, and the team; each has the same budget of tokens in all.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import uuid4

import anyio

from evals.database.spider import run
from evals.investigations.asking import member_of, start
from evals.investigations.labelled_report import Score, report
from marchwarden.contract import Constraints, ResearchRequest, ResearchResult
from marchwarden.corpus.corpora import corpus_at
from marchwarden.corpus.indexing import index_files
from marchwarden.evaluation.labels.questions import load_questions
from marchwarden.evaluation.labels.scoring_text import address, overlaps, says_one_of
from marchwarden.orchestrator import next_steps
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.team import Team, TeamMember
from marchwarden.server.worker import research_in_worker
from marchwarden.settings import Settings, load_settings
from marchwarden.sources.snapshot_search import SnapshotSearch

TEAM = "team"
WEB, NOTES, PAPERS, RECORDS = SOURCES = ("web", "notes", "papers", "records")
EVERYBODY = (*SOURCES, "all", "without next steps", TEAM)
ANSWERS = {PAPERS: ("academic", "arxiv"), RECORDS: ("database",)}
# Questions of a split, for each pair of sources; the seed that draws them; tokens of a question, whoever answers it.
OF_A_PAIR, SEED, TOKENS = 4, 11, 40_000
SPLITS = ("train", "dev", "test")
# Seconds of a call of one researcher, and how many times that an investigation has, at most. A machine that is busy
# with other work, or that runs a small model, takes minutes; the usual 55 would measure the machine.
CALL_SECONDS, INVESTIGATION = 300, 3
# Characters that a question may have, by the contract.
QUESTION_CHARS = 500


@dataclass(frozen=True)
class Part:
    source: str
    question: str
    place: str
    """Address of the page, name of the file, or name of the database."""
    quotes: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def is_found(self, result: ResearchResult) -> bool:
        return any(self.is_evidence(each.locator, each.raw_excerpt) for each in result.citations)

    def is_evidence(self, locator: str, excerpt: str) -> bool:
        """Return whether an excerpt of a page holds the labelled evidence."""
        return self.is_place(locator) and (
            self.source == PAPERS
            or says_one_of(excerpt, self.answers)
            or any(overlaps(excerpt, quote, None) for quote in self.quotes)
        )

    def is_said(self, result: ResearchResult) -> bool:
        return bool(self.answers) and says_one_of(result.answer, self.answers)

    def is_place(self, locator: str) -> bool:
        if self.source == WEB:
            return address(locator) == address(self.place)
        if self.source == RECORDS:
            return locator.startswith(f"db:{self.place}/")
        return locator.partition("#")[0].endswith(f"/{self.source}/{self.place}")


def of_web(data: Path, split: str) -> list[Part]:
    questions = load_questions(data / "real-web" / ("dev.jsonl" if split == "test" else "train.jsonl"))
    return [
        Part(WEB, each.question, nugget.evidence[0].url, [quote.quote for quote in nugget.evidence], nugget.answers)
        for each in questions
        if len(each.vital) == 1 and each.vital[0].evidence and not each.context
        for nugget in each.vital
    ]


def of_notes(data: Path, folder: Path) -> list[Part]:
    """Write the paragraphs as files, and return the questions that they answer."""
    folder.mkdir()
    parts, names = [], {}
    with gzip.open(data / "gaps-v0" / "dev.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["source"] != "squad2":
                continue
            for each in row["docs"]:
                name = names.setdefault(each["text"], f"note-{len(names):04d}.txt")
                (folder / name).write_text(each["text"] + "\n", "utf-8")
            if not row["expected_gaps"] and row["gold_answers"]:
                place = names[row["docs"][0]["text"]]
                parts.append(Part(NOTES, row["question"], place, answers=sorted(set(row["gold_answers"]))))
    return parts


def of_papers(data: Path, folder: Path) -> list[Part]:
    folder.mkdir()
    parts = []
    for pmid, each in json.loads(gzip.decompress((data / "qa-pubmedqa" / "ori_pqal.json.gz").read_bytes())).items():
        (folder / f"{pmid}.txt").write_text("\n\n".join(each["CONTEXTS"]) + "\n", "utf-8")
        parts.append(Part(PAPERS, each["QUESTION"], f"{pmid}.txt"))
    return parts


def of_records(data: Path, split: str) -> list[Part]:
    """Return the questions whose gold statement gives one value that is not small enough to be right by chance."""
    items = json.loads((data / "sql-spider" / "dev.json").read_text("utf-8"))
    names = sorted({item["db_id"] for item in items})
    parts = []
    for item in items:
        if item["db_id"] not in (names[1::2] if split == "test" else names[0::2]):
            continue
        rows = run(data / "sql-spider" / "database" / f"{item['db_id']}.sqlite", item["query"])
        if len(rows) == 1 and len(rows[0]) == 1 and len(str(rows[0][0])) > 1:
            parts.append(Part(RECORDS, item["question"], item["db_id"], answers=[str(rows[0][0])]))
    return parts


def composed(data: Path, folder: Path, split: str) -> list[tuple[str, tuple[Part, Part]]]:
    """Return the questions of a split, each with its parts; no part is in two questions or two splits."""
    drawn: dict[str, list[Part]] = {
        WEB: of_web(data, split),
        NOTES: of_notes(data, folder / NOTES),
        PAPERS: of_papers(data, folder / PAPERS),
        RECORDS: of_records(data, split),
    }
    chance = random.Random(SEED)
    for parts in drawn.values():
        chance.shuffle(parts)
    place = SPLITS.index(split)
    # A source is in three of the six pairs.
    own = {
        source: parts[place * 3 * OF_A_PAIR :] if source in (NOTES, PAPERS) or split == "dev" else parts
        for source, parts in drawn.items()
    }
    taken: Counter[str] = Counter()
    questions = []
    for pair in combinations(SOURCES, 2):
        for number in range(OF_A_PAIR):
            first, second = (own[source][taken[source]] for source in pair)
            taken.update(pair)
            if number % 2:
                first, second = second, first
            question = f"{_asked(first.question)} {_asked(second.question)}"
            if len(question) <= QUESTION_CHARS:
                questions.append((question, (first, second)))
    return questions


def _asked(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip().rstrip("?.! ")
    return f"{text[:1].upper()}{text[1:]}?"


def settings_of(data: Path, folder: Path, seconds: float = CALL_SECONDS, **model: Any) -> dict[str, Settings]:
    """Make webs, indexes and the list of databases; return the settings of each researcher, and of all in one.

    `model` holds the settings of the model of all of them; without any, they work by words.
    """
    web = folder / "web"
    build = [sys.executable, str(data / "real-web" / "build.py"), str(data / "extract-wcxb" / "dev"), str(web)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    for name in (NOTES, PAPERS):
        index_files(corpus_at(name), [folder / name], jobs=2)
    files = sorted((data / "sql-spider" / "database").glob("*.sqlite"))
    databases = folder / "databases.toml"
    databases.write_text("".join(f'[{file.stem}]\nurl = "{file.resolve()}"\n' for file in files), "utf-8")
    records = ",".join(f"db:{file.stem}" for file in files)
    sources = {WEB: "snapshot", NOTES: f"corpus:{NOTES}", PAPERS: f"corpus:{PAPERS}", RECORDS: records}
    sources["all"] = ",".join(sources[source] for source in SOURCES)
    common: dict[str, Any] = {"web": web, "trace_dir": folder / "traces", "databases": databases}
    common |= {"model": "extractive", "max_seconds": seconds, **model}
    return {name: load_settings(semantic=False, source=source, **common) for name, source in sources.items()}


async def investigated(
    request: ResearchRequest, team: Sequence[TeamMember], settings: Settings, seconds: float, *, steps: bool
) -> ResearchResult:
    most, next_steps.FOLLOW_UPS_A_ROUND = next_steps.FOLLOW_UPS_A_ROUND, 4 if steps else 0
    try:
        return await run_investigation(
            request, Team(tuple(team)), settings, trace_id=str(uuid4()), seconds=seconds, at_once=3
        )
    finally:
        next_steps.FOLLOW_UPS_A_ROUND = most


async def main(given: argparse.Namespace) -> None:
    data, split, who, scores = given.data, given.split, given.who.split(","), given.scores
    model = {"model": given.model, "api_base": given.api_base} if given.model else {}
    # A run that was stopped goes on with its scores.
    kept = scores.read_text("utf-8").splitlines() if scores and scores.exists() else []
    rows = [Score.model_validate_json(line) for line in kept]
    scored = {(row.question, row.who) for row in rows}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        os.environ["HOME"] = made
        questions = composed(data, folder, split)
        if given.most:  # a few are to be of all pairs of sources
            questions = questions[:: max(1, len(questions) // given.most)][: given.most]
        servers = settings_of(data, folder, given.seconds, **model)
        SnapshotSearch(servers[WEB]).prepare()
        start(servers[WEB])
        team = [member_of(name, servers[name], ANSWERS.get(name, ())) for name in SOURCES]
        # One question of each pair of sources, then the next one: a run that is stopped has some of all.
        for number in sorted(range(len(questions)), key=lambda number: (number % OF_A_PAIR, number)):
            question, parts = questions[number]
            for name in who:
                if (number, name) in scored:
                    continue
                began = time.monotonic()
                request = ResearchRequest(question=question, constraints=Constraints(token_budget=given.tokens))
                if name in servers:
                    result = await research_in_worker(
                        request, settings=servers[name], trace_id=str(uuid4()), on_progress=lambda _: None
                    )
                else:
                    result = await investigated(
                        request, team, servers[WEB], INVESTIGATION * given.seconds, steps=name == TEAM
                    )
                row = Score(
                    question=number,
                    who=name,
                    sources=[part.source for part in parts],
                    found=[part.is_found(result) for part in parts],
                    said=[part.is_said(result) if part.answers else None for part in parts],
                    seconds=round(time.monotonic() - began, 2),
                    tokens=result.cost_metadata.tokens_used,
                    calls=len(result.lineage or [None]),
                    lost=sum(each.outcome == "lost" for each in result.lineage or ()),
                )
                rows.append(row)
                if scores:
                    with scores.open("a", encoding="utf-8") as lines:
                        lines.write(row.model_dump_json() + "\n")
    print(json.dumps({"split": split, **report(rows, SOURCES, given.tokens)}, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--who", default=",".join(EVERYBODY), help="those compared, with commas between")
    parser.add_argument(
        "--scores",
        type=Path,
        help="JSON Lines that each answer's score is added to; what is in it is not asked again",
    )
    parser.add_argument("--model", help="without it, everybody works by words")
    parser.add_argument("--api-base", help="address of the model's server")
    parser.add_argument("--seconds", type=float, default=CALL_SECONDS, help="of one researcher's call, at most")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of a question, whoever answers it")
    anyio.run(main, parser.parse_args())
