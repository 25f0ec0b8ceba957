"""Marchwarden's investigator and GPT Researcher on the same questions, pages, search and model.

    python -m evals.investigations.peer DATA --model NAME --model-base URL [--peer PYTHON] [--split train|dev|test]
        [--who NAMES] [--most N] [--tokens N] [--seconds N] [--scores FILE] [--said FOLDER]

DATA and the questions are those of labelled.py, without those that need a database, since the peer asks none. All
pages (web, notes, papers) are one frozen web; each note and each paper is a page with a host of its own. PYTHON is
the interpreter of an environment with `gpt-researcher` (measured: 0.15.1). URL is an OpenAI-compatible server. Both
reach it through the server of peer_pages.py, which counts tokens. Compared are

    bm25-8, bm25-2   the best windows of four sentences of the ten best pages, for the whole question
    words            Marchwarden's team of three (web, notes, papers), without a model
    words-one        the same with one researcher for all pages
    team, one        the same two with the model
    research_report  GPT Researcher as it comes: sub-queries side by side, then a report
    deep             its supervisor: researchers for sub-queries, what they learnt, then a report

A part of a question counts as

    found   an excerpt of the labelled page with the labelled evidence is cited, or is in the peer's context
    cited   the answer names the labelled page: a citation, or its URL in the report
    said    an accepted string or a labelled quote stands in the answer's text (papers have no such labels)
    read    the peer fetched the labelled page, and its text has the evidence

Quotes are the excerpts of citations, and what the peer's report has in quotation marks (five words or more). They
stand verbatim where their letters and digits follow one another in the text of a page.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import anyio
from lxml import html as lxml_html
from pydantic import Field

from evals.investigations.asking import member_of, start
from evals.investigations.labelled import NOTES, PAPERS, RECORDS, SPLITS, WEB, Part, composed
from evals.investigations.labelled_report import Score, report
from evals.investigations.parts import deal
from evals.investigations.peer_pages import ANSWER_TOKENS, Loopback, served
from marchwarden.contract import Constraints, ResearchRequest, ResearchResult
from marchwarden.evaluation.labels.scoring_text import address, addresses_in, says_one_of
from marchwarden.orchestrator.investigator_call import run_investigation
from marchwarden.orchestrator.team import Team
from marchwarden.settings import Settings, load_settings
from marchwarden.text.ranking import rank
from marchwarden.text.segmentation.sentences import sentences

OWN = ("words", "words-one", "team", "one")
PEER = {"research_report": "research_report", "deep": "deep"}
EVERYBODY = ("bm25-8", "bm25-2", *OWN, *PEER)
MEMBERS = (WEB, NOTES, PAPERS)
WINDOW, PAGES = 4, 10
_QUOTED = re.compile(r"[\"“]([^\"“”\n]+)[\"”]")


class PeerScore(Score):
    cited: list[bool] = Field(default_factory=list)
    read: list[bool] = Field(default_factory=list)
    quotes: int = 0
    verbatim: int = 0
    named: int = 0
    """Addresses that the answer names."""
    invented: int = 0
    """Of those, addresses of no page."""
    excerpt_chars: int = 0
    """Characters of all excerpts, or of the peer's context."""
    failure: str | None = None
    counted: dict[str, int] = Field(default_factory=dict)


def make_web(data: Path, texts: Path, web: Path) -> None:
    """Add the notes and papers, which `composed` wrote into `texts`, to a frozen web of the real pages."""
    build = [sys.executable, str(data / "real-web" / "build.py"), str(data / "extract-wcxb" / "dev"), str(web)]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    lines = []
    for source in (NOTES, PAPERS):
        for file in sorted((texts / source).glob("*.txt")):
            name = f"pages/{source}-{file.stem}.html"
            body = "".join(f"<p>{html.escape(each)}</p>\n" for each in file.read_text("utf-8").split("\n\n"))
            page = f"<!doctype html><html><head><title>{file.stem}</title></head><body>\n{body}</body></html>\n"
            (web / name).write_text(page, "utf-8")
            url = f"https://www.{source}-{file.stem}.example/{source}/{file.name}"
            headers = {"content-type": "text/html; charset=utf-8"}
            lines.append(json.dumps({"url": url, "file": name, "status": 200, "headers": headers}))
    with (web / "manifest.jsonl").open("a", encoding="utf-8") as manifest:
        manifest.write("\n".join(lines) + "\n")


def kind_of(url: str) -> int:
    host = urlsplit(url).hostname or ""
    return next(
        (n for n, name in enumerate(MEMBERS) if host.startswith(f"www.{name}-") and host.endswith(".example")), 0
    )


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())


class Comparison:
    """The pages and those who are asked."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self.given, self.folder = given, folder
        web = folder / "web"
        parts = deal(folder / "parts", kind_of, 3, web)
        self.webs = {"one": web, **dict(zip(MEMBERS, parts, strict=True))}
        plain = self.settings("one", model=False)
        bare = Loopback(plain, given.model_base, [])
        self.texts = {page.spelling: text_of(page.body()) for page in bare.web.pages.values()}
        self.loopback = Loopback(plain, given.model_base, list(self.texts.values()))
        self.letters = {url: letters(text) for url, text in self.texts.items()}

    def settings(self, name: str, *, model: bool) -> Settings:
        asked: dict[str, Any] = {"model": "extractive"}
        if model:
            asked = {"model": f"openai/{self.given.model}", "api_base": f"{self.loopback.base}/v1"}
        return load_settings(
            web=self.webs[name],
            trace_dir=self.folder / "traces",
            semantic=False,
            source="snapshot",
            max_seconds=self.given.seconds,
            **asked,
        )

    def prepare(self) -> None:
        for name in self.webs:
            Loopback(self.settings(name, model=False), "", []).search.prepare()
        self.loopback.search.prepare()
        start(self.settings("one", model=False))

    async def ask(self, number: int, who: str, question: str, parts: tuple[Part, Part]) -> PeerScore:
        self.loopback.reset()
        began = time.monotonic()
        if who.startswith("bm25-"):
            row = await self.windows(question, parts, int(who.removeprefix("bm25-")))
        elif who in OWN:
            row = await self.investigated(who, question, parts)
        else:
            row = await anyio.to_thread.run_sync(self.peer, number, who, question, parts)
        counted = dict(self.loopback.counted)
        spent = counted.get("prompt_tokens", 0) + counted.get("completion_tokens", 0)
        more = {"seconds": round(time.monotonic() - began, 1), "counted": counted, "tokens": spent}
        return row.model_copy(update={"question": number, "who": who, **more})

    async def windows(self, question: str, parts: tuple[Part, Part], most: int) -> PeerScore:
        hits = await self.loopback.find(question, PAGES)
        urls = [page.spelling for hit in hits if (page := self.loopback.web.page(hit.url))]
        cut: list[tuple[str, str]] = []
        for url in urls:
            text = self.texts[url]
            ends = list(sentences(text))
            for first in range(0, len(ends), WINDOW // 2):
                window = ends[first : first + WINDOW]
                cut.append((url, text[window[0][0] : window[-1][1]]))
        scores = rank(question, [text for _, text in cut])
        best = sorted(range(len(cut)), key=lambda each: -scores[each])[:most]
        chosen = [cut[each] for each in best]
        return self._scored(parts, chosen, "\n".join(text for _, text in chosen), {url for url, _ in chosen}, [])

    async def investigated(self, who: str, question: str, parts: tuple[Part, Part]) -> PeerScore:
        model = who in ("team", "one")
        names = ("one",) if who in ("one", "words-one") else MEMBERS
        team = Team(tuple(member_of(name, self.settings(name, model=model)) for name in names))
        request = ResearchRequest(question=question, constraints=Constraints(token_budget=self.given.tokens))
        result: ResearchResult = await run_investigation(
            request,
            team,
            self.settings("one", model=model),
            trace_id=str(uuid4()),
            seconds=self.given.seconds,
            at_once=3,
        )
        if self.given.said:
            (self.given.said / f"{who}-{uuid4()}.json").write_text(result.model_dump_json(indent=1), "utf-8")
        excerpts = [(each.locator, each.raw_excerpt) for each in result.citations]
        quotes = [text for _, text in excerpts]
        row = self._scored(parts, excerpts, result.answer, {url for url, _ in excerpts}, quotes)
        return row.model_copy(update={"calls": len(result.lineage or [None])})

    def peer(self, number: int, who: str, question: str, parts: tuple[Part, Part]) -> PeerScore:
        """Ask the peer in a process of its own, which is ended when its time is over."""
        out = (self.given.said or self.folder) / f"{who}-{number}.json"
        out.unlink(missing_ok=True)
        log = out.with_suffix(".log")
        script = Path(__file__).with_name("peer_ask.py")
        failure = None
        with log.open("wb") as lines:
            command = [self.given.peer, str(script), PEER[who], str(out)]
            try:
                done = subprocess.run(
                    command,
                    input=question.encode(),
                    env=os.environ | self.peer_environment(),
                    cwd=self.folder,
                    stdout=lines,
                    stderr=lines,
                    timeout=self.given.seconds,
                )
                failure = None if done.returncode == 0 else f"exit status {done.returncode}"
            except subprocess.TimeoutExpired:
                failure = "time over"
        said: dict[str, str | None] = json.loads(out.read_text("utf-8")) if out.exists() else {}
        answer = self.loopback.original(said.get("report") or "")
        if failure is None and not answer.strip():
            failure = "empty report"
        excerpts = self._blocks(self.loopback.original(said.get("context") or ""))
        quotes = [each for each in _QUOTED.findall(answer) if len(each.split()) >= 5]
        row = self._scored(parts, excerpts, answer, addresses_in(answer), quotes)
        return row.model_copy(update={"failure": failure, "calls": self.loopback.counted["calls"]})

    def peer_environment(self) -> dict[str, str]:
        model = f"openai:{self.given.model}"
        return {
            "OPENAI_BASE_URL": f"{self.loopback.base}/v1",
            "OPENAI_API_KEY": "none",
            "RETRIEVER": "custom",
            "RETRIEVER_ENDPOINT": f"{self.loopback.base}/search",
            "EMBEDDING": "custom:words",
            # Vectors of words are less alike than those that its default of .35 is meant for; it takes the best 10.
            "SIMILARITY_THRESHOLD": "0.02",
            **dict.fromkeys(("FAST_LLM", "SMART_LLM", "STRATEGIC_LLM"), model),
            **dict.fromkeys(("FAST_TOKEN_LIMIT", "SMART_TOKEN_LIMIT", "STRATEGIC_TOKEN_LIMIT"), str(ANSWER_TOKENS)),
            "TOTAL_WORDS": "300",
            "MAX_ITERATIONS": "2",
            "DEEP_RESEARCH_BREADTH": "2",
            "DEEP_RESEARCH_DEPTH": "1",
            "LANGSMITH_TRACING": "false",
            # It counts costs with encodings that it would download; a folder that holds them is named here.
            **({"TIKTOKEN_CACHE_DIR": str(self.given.encodings)} if self.given.encodings else {}),
        }

    def _blocks(self, context: str) -> list[tuple[str, str]]:
        """Return the passages of the peer's context with their pages; it names no page where all pages are short."""
        blocks = []
        for block in re.split(r"(?:^|(?<=\s))Source: (?=http|None)", context)[1:]:
            url, _, text = block.partition("\n")
            text = text.partition("Content: ")[2]
            if not url.startswith("http"):
                some = letters(text[:200])
                url = next((each for each in self.loopback.read if some and some in self.letters[each]), "")
            blocks.append((url, text))
        return blocks

    def _scored(
        self,
        parts: tuple[Part, Part],
        excerpts: list[tuple[str, str]],
        answer: str,
        named: set[str],
        quotes: list[str],
    ) -> PeerScore:
        known = {address(url) for url in self.texts}
        return PeerScore(
            question=0,
            who="",
            sources=[part.source for part in parts],
            found=[any(part.is_evidence(url, text) for url, text in excerpts) for part in parts],
            said=[says_one_of(answer, part.answers + part.quotes) if part.answers else None for part in parts],
            cited=[any(part.is_place(url) for url in named) for part in parts],
            read=[any(part.is_evidence(url, self.texts[url]) for url in self.loopback.read) for part in parts],
            excerpt_chars=sum(len(text) for _, text in excerpts),
            quotes=len(quotes),
            verbatim=sum(self._stands(each) for each in quotes),
            named=len(named),
            invented=sum(address(url) not in known for url in named),
            seconds=0,
            tokens=0,
        )

    def _stands(self, quote: str) -> bool:
        wanted = letters(quote.replace("[…]", ""))
        return any(wanted in text for text in self.letters.values())


def text_of(body: bytes) -> str:
    """Return the text of a page as it stands in its elements, without scripts and styles."""
    tree = lxml_html.fromstring(
        body.decode("utf-8", "replace").encode(), parser=lxml_html.HTMLParser(encoding="utf-8")
    )
    for each in tree.xpath("//script|//style|//noscript"):
        each.drop_tree()
    return re.sub(r"\s+", " ", " ".join(tree.itertext()))


def summary(rows: list[PeerScore], tokens: int) -> dict[str, Any]:
    by: dict[str, Any] = {}
    for who in dict.fromkeys(row.who for row in rows):
        own = [row for row in rows if row.who == who]
        by[who] = {
            "questions": len(own),
            "said": f"{sum(x is True for row in own for x in row.said)} of "
            f"{sum(x is not None for row in own for x in row.said)}",
            "cited": f"{sum(map(sum, (row.cited for row in own)))} of {2 * len(own)}",
            "read": f"{sum(map(sum, (row.read for row in own)))} of {2 * len(own)}",
            "quotes verbatim": f"{sum(row.verbatim for row in own)} of {sum(row.quotes for row in own)}",
            "addresses of no page": f"{sum(row.invented for row in own)} of {sum(row.named for row in own)}",
            "characters of excerpts": sum(row.excerpt_chars for row in own) // len(own),
            "failures": [row.failure for row in own if row.failure],
            "tokens": sorted(row.tokens for row in own),
            "model calls": [row.counted.get("calls", 0) for row in own],
            "prompts cut": sum(row.counted.get("cut", 0) for row in own),
        }
    return {"by": by, **report(rows, MEMBERS, tokens)}


async def main(given: argparse.Namespace) -> None:
    given.data = given.data.resolve()
    if given.said:
        given.said = given.said.resolve()
        given.said.mkdir(parents=True, exist_ok=True)
    rows: list[PeerScore] = []
    with tempfile.TemporaryDirectory() as made:
        asked = composed(given.data, Path(made), given.split)
        folder = (given.kept or Path(made)).resolve()
        os.environ["HOME"] = str(folder)
        if not (folder / "web" / "manifest.jsonl").exists():
            make_web(given.data, Path(made), folder / "web")
        questions = [each for each in asked if all(part.source != RECORDS for part in each[1])]
        if given.most:
            questions = questions[:: max(1, len(questions) // given.most)][: given.most]
        comparison = Comparison(given, folder)
        comparison.prepare()
        with served(comparison.loopback):
            for who in given.who.split(","):
                for number, (question, parts) in enumerate(questions):
                    row = await comparison.ask(number, who, question, parts)
                    rows.append(row)
                    print(row.model_dump_json(), file=sys.stderr, flush=True)
                    if given.scores:
                        with given.scores.open("a", encoding="utf-8") as lines:
                            lines.write(row.model_dump_json() + "\n")
    print(json.dumps({"split": given.split, **summary(rows, given.tokens)}, indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--model-base", required=True, help="address of the model's server, with its /v1")
    parser.add_argument("--peer", default=sys.executable, help="interpreter that has gpt-researcher")
    parser.add_argument("--encodings", type=Path, help="folder with tiktoken's encodings, for a peer without network")
    parser.add_argument("--split", choices=SPLITS, default="train")
    parser.add_argument("--who", default=",".join(EVERYBODY), help="those compared, with commas between")
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--tokens", type=int, default=20_000, help="budget of an investigation")
    parser.add_argument("--seconds", type=float, default=300, help="of one question, whoever answers it")
    parser.add_argument("--kept", type=Path, help="folder whose pages and indexes are kept for the next run")
    parser.add_argument("--scores", type=Path, help="JSON Lines that each answer's score is added to")
    parser.add_argument("--said", type=Path, help="folder for answers, the peer's context and its log")
    anyio.run(main, parser.parse_args())
