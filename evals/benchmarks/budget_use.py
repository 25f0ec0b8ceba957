"""Share of a token budget that is used where a tokenizer is unknown: `python -m evals.benchmarks.budget_use`.

Shipped questions are asked over the frozen web. The model is a server on loopback that has no count endpoint, reports
honestly, and answers each stage in the usual length. Its tokens are so many bytes each, in its own books. It prints,
by budget, the share that was used, the model calls, the answers that the model worded, and what was refused. With
--counts the server has a count endpoint, and tells the truth there.

    python -m evals.benchmarks.budget_use --limit 10 --budgets 600,1000,2000,3000
    python -m evals.benchmarks.budget_use --behind http://127.0.0.1:8101   a real model answers, and counts its tokens
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from marchwarden import research
from marchwarden.evaluation.labels.questions import evenly_spaced, load_questions
from marchwarden.settings import load_settings, shipped

# Tokens of a chat template around one message. ChatML takes 5 or so.
TEMPLATE_TOKENS = 6


class Books:
    """A server's own account of what it was asked and what it said."""

    def __init__(self, bytes_per_token: float, behind: str | None, counts: bool = False) -> None:
        self.spent, self.calls, self.cut = 0, 0, 0
        self.bytes_per_token, self.behind, self.counts = bytes_per_token, behind, counts
        self.lock = threading.Lock()

    def answer(self, body: Any) -> bytes:
        if self.behind:
            return self._ask_behind(body)
        text = json.dumps(usual_answer(*(each["content"] for each in (body["messages"][0], body["messages"][-1]))))
        prompt = sum(self._tokens(each["content"]) + TEMPLATE_TOKENS for each in body["messages"])
        output, cap = self._tokens(text), int(body["max_tokens"])
        text, finish = (text, "stop") if output <= cap else (text[: int(cap * self.bytes_per_token)], "length")
        usage = {"prompt_tokens": prompt, "completion_tokens": min(output, cap)}
        self._enter(usage, finish)
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return _as_events(
            {**base, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]},
            {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
            {**base, "choices": [], "usage": usage},
        )

    def _ask_behind(self, body: Any) -> bytes:
        asked = {**body, "stream": True, "stream_options": {"include_usage": True}}
        headers = {"content-type": "application/json"}
        with urlopen(
            Request(f"{self.behind}/v1/chat/completions", json.dumps(asked).encode(), headers), timeout=600
        ) as response:
            told: bytes = response.read()
        lines = [json.loads(line[6:]) for line in told.decode().splitlines() if line.startswith("data: {")]
        finish = next((c["finish_reason"] for e in lines for c in e.get("choices", ()) if c.get("finish_reason")), "")
        self._enter(next(each["usage"] for each in reversed(lines) if each.get("usage")), finish)
        return told

    def count(self, body: Any) -> bytes:
        texts = [each["content"] for each in body["messages"]] + ([body["system"]] if "system" in body else [])
        return json.dumps({"input_tokens": sum(self._tokens(each) + TEMPLATE_TOKENS for each in texts)}).encode()

    def _enter(self, usage: Any, finish: str) -> None:
        with self.lock:
            self.spent += usage["prompt_tokens"] + usage["completion_tokens"]
            self.calls += 1
            self.cut += finish == "length"

    def _tokens(self, text: str) -> int:
        return int(len(text.encode()) / self.bytes_per_token) + 1


def usual_answer(system: str, user: str) -> dict[str, Any]:
    """Return an answer of a usual length to the prompt of the stage that asks for these fields."""
    numbered = re.findall(r"^<(\d+)> ?(?:\([^)]*\) )?(.*)", user, re.MULTILINE)
    if '"picks"' in system:
        says = "It tells when and where this happened, and who was there."
        return {"picks": [{"passages": [int(n)], "aspect": 1, "says": says} for n, _ in numbered[:2]]}
    if '"verdicts"' in system:
        claims = re.findall(r"^(\d+)\. ", user, re.MULTILINE)
        return {"verdicts": [{"claim": int(number), "verdict": "supported"} for number in claims]}
    if '"thought"' in system:
        asked = (re.search(r"question(?: ## \]\])?:?\n(.+)", user) or ["", "this"])[1]
        queries = [" ".join(asked.split()[:6]), " ".join(asked.split()[-5:])]
        thought = "The question asks for one thing, which a page on the subject should tell."
        return {"thought": thought, "aspects": [asked], "queries": queries, "read": [1, 2], "done": False}
    if '"gaps"' in system:
        return {
            "gaps": [{"aspect": 1, "category": "source_not_found", "detail": "The pages that were read are silent."}]
        }
    if '"events"' in system:
        return {"events": [{"pointer": 1, "query": "the study behind it", "reason": "It has the figures."}]}
    if '"questions"' in system:
        first = int(numbered[0][0]) if numbered else 1
        return {"questions": [{"question": "What has changed since this was written?", "excerpt": first}]}
    if '"claim_probabilities"' in system:
        return {"claim_probabilities": [0.8], "probability": 0.8, "would_change": "independent_source"}
    return {"claims": [{"text": text[:200], "excerpts": [int(number)]} for number, text in numbered[:3]]}


def _as_events(*events: Any) -> bytes:
    return b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in events) + b"data: [DONE]\n\n"


@contextmanager
def served(books: Books) -> Iterator[str]:
    """Serve chat completions, and nothing else, at an address on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            is_chat = self.path.endswith("/chat/completions")
            is_count = books.counts and self.path.endswith("/count_tokens")
            answer = books.answer(body) if is_chat else books.count(body) if is_count else b"{}"
            self.send_response(200 if is_chat or is_count else 404)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def measure(budget: int, bytes_per_token: float, limit: int, behind: str | None, counts: bool) -> str:
    """Ask the questions with this budget, and return a line of what was used."""
    asked = evenly_spaced(load_questions(shipped("questions") / "dev.jsonl"), limit)
    shares, calls, cut, stages, worded, over = [], 0, 0, Counter[str](), 0, 0
    refused = Counter[str]()
    with TemporaryDirectory(prefix="marchwarden-") as folder:
        for each in asked:
            books = Books(bytes_per_token, behind, counts)
            with served(books) as address:
                own = load_settings(
                    model="openai/m", api_base=address, source="snapshot", trace_dir=Path(folder), max_seconds=600
                )
                result = asyncio.run(
                    research(each.question, each.context, constraints={"token_budget": budget}, settings=own)
                )
            shares.append(books.spent / budget)
            calls, cut, over = calls + books.calls, cut + books.cut, over + (books.spent > budget)
            worded += result.worded_by == "model"
            for line in (Path(folder) / f"{result.trace_id}.jsonl").read_text().splitlines():
                event = json.loads(line)
                if event["action"] == "model_call":
                    stages[event["stage"]] += 1
                elif event["action"] == "fallback":
                    refused[f"{event['stage']}: {re.sub(r'[0-9]+', 'N', event['reason'])[:60]}"] += 1
    by_stage = ", ".join(f"{name} {count}" for name, count in stages.most_common())
    told = f"{budget:6} at {'its own' if behind else bytes_per_token}: used {fmean(shares):.2f} "
    told += f"({min(shares):.2f}–{max(shares):.2f}), "
    told += (
        f"{calls / len(asked):.1f} calls, worded by the model {worded}/{len(asked)}, cut {cut}, over budget {over}"
    )
    return (
        told
        + f"\n    {by_stage}\n    not: "
        + "; ".join(f"{name} {count}" for name, count in refused.most_common(12))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, default=6, help="Questions for each budget.")
    parser.add_argument("--budgets", default="600,1000,2000,3000")
    parser.add_argument("--bytes", default="3.4,4.0", help="Bytes of a token.")
    parser.add_argument("--counts", action="store_true", help="Let the server count prompts where it is asked to.")
    parser.add_argument("--behind", help="Address of a server that answers in place of the scripted one.")
    given = parser.parse_args()
    for size in [4.0] if given.behind else map(float, given.bytes.split(",")):
        for budget in map(int, given.budgets.split(",")):
            print(measure(budget, size, given.limit, given.behind, given.counts), flush=True)


if __name__ == "__main__":
    sys.exit(main())
