"""Manipulations of a trace and its store: each is noticed, and by which means.

Three forgers try each. The first changes the file and nothing else. The second chains and seals it anew, with the rules
that the documentation publishes. The third does so where the operator signs. What the second achieves unnoticed is what
no offline check can notice without a signature; the table names it, and so does the documentation.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from marchwarden.audit.recompute import check_program
from marchwarden.audit.verdict import evidence_of_trace, verdict
from marchwarden.contract import DISAGREEMENT
from marchwarden.programs import Program
from marchwarden.programs.calibration import Calibration
from marchwarden.programs.keeping import kept_program, parse_kept_program
from marchwarden.store.content_store import Store
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.reader import find_trace
from tests.audit.calls import VIEWS, lines_of, make_call, sealed_again, written

Lines = list[dict[str, Any]]


@dataclass
class Forgery:
    """A trace's lines and its store, to be changed."""

    lines: Lines
    store: Store

    @property
    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = self.lines[-1]["result"]
        return result

    @property
    def cited(self) -> dict[str, Any]:
        citation: dict[str, Any] = self.result["citations"][0]
        return citation

    def line(self, action: str) -> dict[str, Any]:
        return next(line for line in self.lines if line["action"] == action)

    @property
    def page(self) -> dict[str, Any]:
        """The fetch of the page that is cited first."""
        return next(line for line in self.lines if line.get("final_url") == self.cited["locator"])

    @property
    def source(self) -> dict[str, Any]:
        sources = self.line("conclude")["state"]["ledger"]["sources"]
        return next(source for source in sources if source["locator"] == self.cited["locator"])

    @property
    def excerpt(self) -> dict[str, Any]:
        excerpts = self.line("conclude")["state"]["ledger"]["excerpts"]
        return next(each for each in excerpts if each["text"] == self.cited["raw_excerpt"])

    @property
    def pick(self) -> dict[str, Any]:
        return next(
            pick
            for line in self.lines
            if line["action"] == "extract"
            for pick in line["picks"]
            if pick["excerpt"] == self.cited["raw_excerpt"]
        )

    def seal(self, name: str) -> None:
        """Name an object in the sealed list."""
        self.lines[-1]["objects"] = sorted({*self.lines[-1]["objects"], name})

    def path_of(self, name: str) -> Path:
        digits = name.removeprefix("sha256:")
        return self.store.folder / digits[:2] / f"{digits[2:]}.zst"


def put(changes: dict[str, Any], at: Callable[[Forgery], dict[str, Any]]) -> Callable[[Forgery], None]:
    return lambda forged: at(forged).update(changes)


def replace(old: str, new: str) -> Callable[[Forgery], None]:
    def change(forged: Forgery) -> None:
        forged.result["answer"] = forged.result["answer"].replace(old, new)

    return change


def drop(action: str) -> Callable[[Forgery], None]:
    def change(forged: Forgery) -> None:
        forged.lines.remove(forged.line(action))

    return change


def other_text(forged: Forgery) -> None:
    """Quote a text that was never on the page, consistently in every place but the page itself."""
    text = forged.store.get(forged.page["text_hash"]).decode()
    lie = text.replace("342", "999")
    name = forged.store.put(lie.encode())
    old, excerpt = forged.page["text_hash"], forged.cited["raw_excerpt"]
    forged.lines[:] = lines_of(written(forged.lines).replace(old.encode(), name.encode()))
    for place, key in ((forged.pick, "excerpt"), (forged.excerpt, "text"), (forged.cited, "raw_excerpt")):
        place[key] = excerpt.replace("342", "999")


def lie_about_number(forged: Forgery) -> None:
    """Say 999 wherever the call says 342, but for the pages and their texts."""
    # Not in an id, a hash, a time or a duration, where the digits may stand by chance.
    forged.lines[:] = lines_of(re.sub(rb"(?<![0-9a-f.-])342(?![0-9a-f-])", b"999", written(forged.lines)))


def wholly_invented(forged: Forgery) -> None:
    """Invent a page with its text, and a call that quotes it, with every hash right."""
    lie_about_number(forged)
    for line in [each for each in forged.lines if each["action"] == "fetch_url" and each["text_hash"]]:
        for name in ("content_hash", "text_hash"):
            told = forged.store.put(forged.store.get(line[name]).replace(b"342", b"999"))
            whole = written(forged.lines).replace(line[name].encode(), told.encode())
            forged.lines[:] = lines_of(whole)
    forged.lines[-1]["objects"].sort()


def cut_to_the(forged: Forgery) -> None:
    forged.cited["raw_excerpt"] = "the"


def cut_to_the_everywhere(forged: Forgery) -> None:
    text = forged.store.get(forged.page["text_hash"]).decode()
    start = text.index("the")
    pick, excerpt = forged.pick, forged.excerpt
    forged.cited["raw_excerpt"] = "the"
    pick.update(start=start, end=start + 3, excerpt="the")
    excerpt.update(start=start, end=start + 3, text="the")


def repointed(forged: Forgery) -> None:
    forged.page["text_hash"] = forged.store.put(forged.cited["raw_excerpt"].encode())


def repointed_everywhere(forged: Forgery) -> None:
    name = forged.store.put(forged.cited["raw_excerpt"].encode())
    whole = written(forged.lines).replace(forged.page["text_hash"].encode(), name.encode())
    forged.lines[:] = lines_of(whole)
    length = len(forged.cited["raw_excerpt"])
    pick, excerpt = forged.pick, forged.excerpt
    pick.update(start=0, end=length)
    excerpt.update(start=0, end=length)


def removed_object(name: str) -> Callable[[Forgery], None]:
    return lambda forged: forged.path_of(forged.page[name]).unlink()


def damaged_object(name: str) -> Callable[[Forgery], None]:
    return lambda forged: forged.path_of(forged.page[name]).write_bytes(b"other bytes")


def exchanged_object(forged: Forgery) -> None:
    """Put one page's file in another's place: it unpacks, but to other bytes."""
    others = [line for line in forged.lines if line["action"] == "fetch_url" and line is not forged.page]
    shutil.copy(forged.path_of(others[0]["text_hash"]), forged.path_of(forged.page["text_hash"]))


def date_everywhere(forged: Forgery) -> None:
    for place in (forged.cited, forged.page, forged.source):
        place["published"] = "2026-01-01"


def author_everywhere(forged: Forgery) -> None:
    for place in (forged.cited, forged.source):
        place["authors"] = ["Ada Nobel"]


def title_everywhere(forged: Forgery) -> None:
    for place in (forged.cited, forged.page, forged.source):
        place["title"] = "Official statistics"


def locator_everywhere(forged: Forgery) -> None:
    old = forged.cited["locator"].encode()
    forged.lines[:] = lines_of(written(forged.lines).replace(old, b"https://www.whitehouse.gov/tea"))


def a_gap(forged: Forgery) -> None:
    gap = {"topic": "tea", "category": "access_denied", "detail": "closed"}
    forged.result["gaps"] = [gap]
    forged.line("assess")["gaps"] = [gap]


def confidence(forged: Forgery) -> None:
    forged.result["confidence"] = 0.97


def confidence_everywhere(forged: Forgery) -> None:
    forged.result["confidence"] = forged.line("assess")["confidence"] = 0.97


def factors_everywhere(forged: Forgery) -> None:
    forged.result["confidence_factors"]["num_corroborating_sources"] = 4
    forged.result["confidence_factors"]["source_authority"] = "high"


def claim_everywhere(forged: Forgery) -> None:
    """Let the recorded claim and the answer say what no excerpt says."""
    claims, text = forged.line("conclude")["claims"], "The British navy was to blame for all of it"
    old = claims[0]["text"]
    claims[0]["text"] = text
    lines = forged.result["answer"].split("\n")
    place = next(number for number, line in enumerate(lines) if old[:30] in line)
    lines[place] = f"{'- ' if len(claims) > 1 else ''}{text} [1]."
    forged.result["answer"] = "\n".join(lines)


def swapped_markers(forged: Forgery) -> None:
    answer = forged.result["answer"]
    forged.result["answer"] = answer.replace("[1]", "[0]").replace("[2]", "[1]").replace("[0]", "[2]")


def swapped_citations(forged: Forgery) -> None:
    forged.result["citations"].reverse()


def removed_citation(forged: Forgery) -> None:
    forged.result["citations"].pop()


def another_call(forged: Forgery) -> None:
    forged.result["trace_id"] = "00000000-0000-4000-8000-000000000000"


def forgotten_failure(forged: Forgery) -> None:
    """Record a failed fetch in the ledger that no step had."""
    forged.line("conclude")["state"]["ledger"]["failures"].append(
        {
            "service": "fetch",
            "target": "https://museum.example/closed",
            "title": None,
            "kind": "paywall",
            "detail": "closed",
            "aspect": 1,
            "relevance": 1.0,
        }
    )


def repeated_line(forged: Forgery) -> None:
    forged.lines.insert(3, dict(forged.lines[2]))


def exchanged_lines(forged: Forgery) -> None:
    forged.lines[1], forged.lines[2] = forged.lines[2], forged.lines[1]


def other_question(forged: Forgery) -> None:
    forged.lines[0]["question"] = "How many chests of tea came from China?"


def other_moment(forged: Forgery) -> None:
    for line in forged.lines:
        line["timestamp"] = line["timestamp"].replace("20", "19", 1)


def relevance(forged: Forgery) -> None:
    forged.excerpt["relevance"] = 0.01


def added_object(forged: Forgery) -> None:
    forged.seal("sha256:" + "0" * 64)


def disagreement_added(forged: Forgery) -> None:
    forged.result["answer"] += f"\n- {DISAGREEMENT}: 342 chests against 999 [1][2]."


def reworded(forged: Forgery) -> None:
    forged.result["worded_by"] = "none"


def sub_question_added(forged: Forgery) -> None:
    forged.result["sub_questions"].append({"text": "Was it tea at all?", "answered": True})


def contradiction(forged: Forgery) -> None:
    forged.result["confidence_factors"]["contradiction_detected"] ^= True


def title_of_a_hit(forged: Forgery) -> None:
    forged.line("search")["hits"][0]["title"] = "Official statistics"


def title_of_a_lead(forged: Forgery) -> None:
    forged.line("conclude")["state"]["ledger"]["leads"][0]["title"] = "Official statistics"


def other_day(forged: Forgery) -> None:
    forged.lines[0]["today"] = forged.line("conclude")["day"] = "2019-01-01"


def calibration(forged: Forgery) -> None:
    forged.line("conclude")["state"]["calibration"] = FITTED


FITTED = {
    "model_id": "extractive", "slope": 1.0, "intercept": 3.0, "questions": 100, "fitted_on": "shipped dev",
    "labels": "0", "date": "2026-01-01",
}  # fmt: skip


def parameter(forged: Forgery) -> None:
    forged.line("conclude")["state"]["parameters"]["extract"]["together"] = 0.9999


def sub_question_of_the_plan(forged: Forgery) -> None:
    forged.line("plan")["aspects"] = ["How many ships were there?"]


def sub_question_of_a_pick(forged: Forgery) -> None:
    forged.pick["aspect"] = "How many ships were there?"


def line_before_the_end(**fields: Any) -> Callable[[Forgery], None]:
    def change(forged: Forgery) -> None:
        last = forged.lines[-1]
        forged.lines.insert(-1, {"timestamp": last["timestamp"], "decision": "it ended", **fields})

    return change


def second_result(forged: Forgery) -> None:
    again = {name: value for name, value in forged.lines[-1].items() if name not in ("objects", "seal")}
    forged.lines.insert(-1, {**again, "result": {**again["result"], "answer": "Nothing."}})


def moment_of_a_step(forged: Forgery) -> None:
    forged.lines[3]["timestamp"] = "2031-01-01T00:00:00.000Z"


def gap_of_a_model(forged: Forgery) -> None:
    """Add a gap, and say that a model had a part in the end, whose words would stand."""
    a_gap(forged)
    forged.line("conclude")["model_free"] = False


def uncited(forged: Forgery) -> dict[str, Any]:
    """The fetch of a page that no citation is of."""
    cited = {each["locator"] for each in forged.result["citations"]}
    return next(line for line in forged.lines if line["action"] == "fetch_url" and line["final_url"] not in cited)


def unsealed_page(forged: Forgery) -> None:
    forged.lines[-1]["objects"].remove(uncited(forged)["text_hash"])


def forgotten_source(forged: Forgery) -> None:
    ledger = forged.line("conclude")["state"]["ledger"]
    ledger["sources"] = [each for each in ledger["sources"] if each["locator"] != uncited(forged)["final_url"]]


def in_the_evidence(changes: dict[str, Any]) -> Callable[[Forgery], None]:
    return put(changes, lambda forged: forged.line("conclude")["state"]["ledger"])


Change = Callable[[Forgery], None]

# Each change, and whether the second forger, who seals anew, is noticed.
TABLE: dict[str, tuple[Change, bool]] = {
    # The result
    "the answer's text": (replace("342", "999"), True),
    "a word more in the answer": (replace("chests", "large chests"), True),
    "a claim, also where it is recorded": (claim_everywhere, True),
    "markers exchanged": (swapped_markers, True),
    "a forged title": (put({"title": "Official statistics"}, lambda f: f.cited), True),
    "a forged date": (put({"published": "2026-01-01"}, lambda f: f.cited), True),
    "a date removed": (put({"published": None}, lambda f: f.cited), True),
    "another address cited": (put({"locator": "https://www.whitehouse.gov/tea"}, lambda f: f.cited), True),
    "another hash cited": (put({"content_hash": "sha256:" + "a" * 64}, lambda f: f.cited), True),
    "a hash removed": (put({"content_hash": None}, lambda f: f.cited), True),
    "another kind of source": (put({"source": "arxiv"}, lambda f: f.cited), True),
    "a summary added": (
        put({"snippet": "A summary that nobody wrote about tea and its many chests."}, lambda f: f.cited),
        True,
    ),
    "an excerpt cut to a word": (cut_to_the, True),
    "an excerpt with another number": (
        put({"raw_excerpt": "In the Boston Tea Party 999 chests"}, lambda f: f.cited),
        True,
    ),
    "the confidence in a source": (put({"confidence": 0.99}, lambda f: f.cited), True),
    "the order of the citations": (swapped_citations, True),
    "a citation removed": (removed_citation, True),
    "a gap added": (a_gap, True),
    "the confidence": (confidence, True),
    "the confidence, also where it was assessed": (confidence_everywhere, True),
    "the factors of the confidence": (factors_everywhere, True),
    "a discovery added": (put({"discovery_events": [{"type": "new_source"}]}, lambda f: f.result), True),
    "a disagreement added": (disagreement_added, True),
    "who worded the answer": (reworded, True),
    "a sub-question added": (sub_question_added, True),
    "a contradiction": (contradiction, True),
    "an open question added": (put({"open_questions": [{"question": "Why?"}]}, lambda f: f.result), True),
    "the tokens": (put({"tokens_used": 7}, lambda f: f.result["cost_metadata"]), True),
    "the iterations": (put({"iterations_run": 9}, lambda f: f.result["cost_metadata"]), True),
    "the time": (put({"wall_time_sec": 900.0}, lambda f: f.result["cost_metadata"]), True),
    "the model": (put({"model_id": "anthropic/claude"}, lambda f: f.result["cost_metadata"]), True),
    "an exhausted budget": (put({"budget_exhausted": True}, lambda f: f.result["cost_metadata"]), True),
    "the id of another call": (another_call, True),
    # The steps
    "a search removed": (drop("search"), True),
    "a fetch removed": (drop("fetch_url"), True),
    "the picks removed": (drop("extract"), True),
    "the assessment removed": (drop("assess"), True),
    "the record of the evidence removed": (drop("conclude"), True),
    "a step repeated": (repeated_line, False),
    "steps exchanged": (exchanged_lines, False),
    "another question asked": (other_question, True),
    "the reason of a step": (put({"decision": "because"}, lambda f: f.line("plan")), False),
    "the time of the call": (other_moment, True),
    "a title, everywhere": (title_everywhere, True),
    "an author, everywhere": (author_everywhere, True),
    "a date, everywhere": (date_everywhere, True),
    "an address, everywhere": (locator_everywhere, True),
    "the relevance of an excerpt": (relevance, True),
    "a failure that never was": (forgotten_failure, True),
    "the title of a hit": (title_of_a_hit, True),
    "the title of a hit in the evidence": (title_of_a_lead, True),
    "the day that ages are counted to": (other_day, True),
    "a calibration added": (calibration, True),
    "a parameter": (parameter, True),
    "the name of the program": (put({"program": "other@0123456789ab"}, lambda f: f.lines[0]), True),
    "the program repointed": (put({"program_hash": "sha256:" + "0" * 64}, lambda f: f.lines[0]), True),
    "the sub-questions of the plan": (sub_question_of_the_plan, True),
    "the sub-question of a pick": (sub_question_of_a_pick, True),
    "a gap, told as a model's": (gap_of_a_model, True),
    "the picks told as a model's": (put({"stage_form": "model"}, lambda f: f.line("extract")), True),
    "the snippet of a hit": (put({"snippet": "It was coffee."}, lambda f: f.line("search")["hits"][0]), True),
    "the day of a hit": (put({"published": "2026-01-01"}, lambda f: f.line("search")["hits"][0]), True),
    "the length of a page": (put({"content_length": 7}, lambda f: f.page), True),
    "the address that was asked for": (put({"url": "https://elsewhere.example/tea"}, lambda f: f.page), True),
    "a page without a quote, left out of the sealed list": (unsealed_page, True),
    "a page without a quote, left out of the evidence": (forgotten_source, True),
    "researchers that failed": (in_the_evidence({"researchers_failed": True}), True),
    "a search that was incomplete": (
        in_the_evidence({"incomplete": [{"query": "tea", "aspect": 1, "detail": "An engine failed."}]}),
        True,
    ),
    "the number of claims": (put({"claims": 9}, lambda f: f.line("synthesize")), True),
    "a claim told as a model's": (put({"stage_form": "model"}, lambda f: f.line("synthesize")), True),
    "the moment of a step": (moment_of_a_step, True),
    "a kill that never was": (line_before_the_end(action="killed", reason="seconds"), True),
    "an end before the end": (line_before_the_end(action="cancelled", by="caller"), True),
    "a second result": (second_result, True),
    "the status of a page": (put({"status": 402}, lambda f: f.page), True),
    "the source that was searched": (put({"source": "web"}, lambda f: f.lines[0]), False),
    "the time limit": (put({"max_seconds": 1.0}, lambda f: f.lines[0]), False),
    "the reason of the end": (put({"reason": "no_new_leads"}, lambda f: f.line("stop")), False),
    "the call that it follows up": (
        put({"continues": "00000000-0000-4000-8000-000000000000"}, lambda f: f.lines[0]),
        False,
    ),
    # The store
    "a text hash repointed": (repointed, True),
    "a text hash repointed, everywhere": (repointed_everywhere, True),
    "a page removed": (removed_object("content_hash"), True),
    "a text removed": (removed_object("text_hash"), True),
    "a page damaged": (damaged_object("content_hash"), True),
    "a text damaged": (damaged_object("text_hash"), True),
    "a text exchanged with another's": (exchanged_object, True),
    "an object named that never was": (added_object, True),
    # Everything
    "a number, everywhere but in the pages": (lie_about_number, True),
    "a text that the page never had": (other_text, True),
    "an excerpt cut to a word, everywhere": (cut_to_the_everywhere, True),
    "a wholly invented call": (wholly_invented, False),
}


# Changes that are noticed once they are sealed anew, and not by the script that a bundle has.
BY_MARCHWARDEN_ALONE = {
    "a gap, told as a model's",
    "a claim, also where it is recorded",
    "a gap added",
    "the confidence in a source",
    "the confidence, also where it was assessed",
    "the factors of the confidence",
    "a title, everywhere",
    "a date, everywhere",
    "an author, everywhere",
    "an address, everywhere",
    "the relevance of an excerpt",
    "a text hash repointed, everywhere",
    "a text that the page never had",
    "an excerpt cut to a word, everywhere",
    "a calibration added",
    "a parameter",
    "the name of the program",
    "the status of a page",
}


@pytest.fixture(scope="module")
def a_call(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Path:
    """The folder of a signed call's trace, with its store and the key."""
    folder = tmp_path_factory.mktemp("call")
    key = folder / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    result = make_call(folder, cache_dir, signing_key=key)
    assert len(result.citations) >= 2
    return folder


def forged_copy(a_call: Path, folder: Path) -> tuple[Path, Forgery]:
    shutil.copytree(a_call / "traces", folder)
    path = find_trace(folder)
    return path, Forgery(lines_of(path.read_bytes()), Store(folder / "store"))


def state_of(path: Path, signer: str | None = None) -> str:
    return verdict(path, VIEWS, signer).state


def test_what_nobody_touched_is_verified(a_call: Path) -> None:
    path = find_trace(a_call / "traces")
    found = verdict(path, VIEWS, (a_call / "key.pub").read_text())
    assert {finding.state for finding in found.findings} == {"verified"}
    (said,) = (finding.detail for finding in found.findings if finding.check == "texts")
    read = sum(line.get("text_hash") is not None for line in lines_of(path.read_bytes()))
    assert said.startswith(f"read again from {read} stored page{'s' if read > 1 else ''}, text")
    lines = lines_of(path.read_bytes())
    assert sealed_again(lines) == path.read_bytes()


@pytest.mark.parametrize("name", TABLE)
def test_a_change_is_noticed(a_call: Path, tmp_path: Path, name: str) -> None:
    path, forged = forged_copy(a_call, tmp_path / "traces")
    change, also_sealed = TABLE[name]
    before, signature = path.read_bytes(), verifier.signature_of(path)
    signed = signature.read_bytes()
    signature.unlink()
    change(forged)
    path.write_bytes(written(forged.lines))
    in_store = written(lines_of(before)) == path.read_bytes()
    if not in_store:
        assert state_of(path) == "damaged"
    path.write_bytes(sealed_again(forged.lines))
    assert (state_of(path) != "verified") == also_sealed
    alone = verifier.verdict_of(verifier.check(evidence_of_trace(path)))
    assert (alone != "verified") == (also_sealed and name not in BY_MARCHWARDEN_ALONE)
    signature.write_bytes(signed)
    assert state_of(path, (a_call / "key.pub").read_text()) not in ("verified", "unchecked")


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("the last line cut off", "missing"),
        ("the last line torn", "missing"),
        ("one byte of the middle", "damaged"),
        ("a line that is no JSON", "damaged"),
        ("a name twice", "damaged"),
        ("a line after the end", "damaged"),
        ("a blank after the end", "damaged"),
        ("the trace of another call", "damaged"),
        ("the chain left out", "damaged"),
        ("chain and form left out", "unchecked"),
        ("a newer form", "newer"),
        ("nothing at all", "damaged"),
    ],
)
def test_a_change_of_the_file_is_noticed(a_call: Path, tmp_path: Path, name: str, state: str) -> None:
    path, forged = forged_copy(a_call, tmp_path / "traces")
    verifier.signature_of(path).unlink()
    body = path.read_bytes()
    lines = body.splitlines(keepends=True)
    bare = [
        {key: value for key, value in line.items() if key not in ("before", "objects", "seal")}
        for line in forged.lines
    ]
    without_form = [{key: value for key, value in line.items() if key not in ("format", "trace_id")} for line in bare]
    other = path.with_name("00000000-0000-4000-8000-000000000000.jsonl")
    changed = {
        "the last line cut off": b"".join(lines[:-1]),
        "the last line torn": body[:-20],
        "one byte of the middle": body.replace(b"harbour", b"harbouR", 1),
        "a line that is no JSON": b"".join([*lines[:4], b"torn\n", *lines[4:]]),
        "a name twice": body.replace(b'"decision"', b'"decision": "x", "decision"', 1),
        "a line after the end": body + b'{"step": 99, "action": "note"}\n',
        "a blank after the end": body + b"\n",
        "the trace of another call": body,
        "the chain left out": written(bare),
        "chain and form left out": written(without_form),
        "a newer form": body.replace(b'"format": 2', b'"format": 99'),
        "nothing at all": b"",
    }[name]
    if name == "the trace of another call":
        path = path.rename(other)
    path.write_bytes(changed)
    assert state_of(path) == state


@pytest.mark.parametrize(("change", "told"), [(calibration, "calibration"), (parameter, "parameters")])
def test_a_state_with_another_program_than_the_call_had_is_noticed(
    a_call: Path, tmp_path: Path, change: Change, told: str
) -> None:
    path, forged = forged_copy(a_call, tmp_path / "traces")
    evidence = evidence_of_trace(path)
    assert [each.state for each in check_program(forged.lines, evidence.get)] == ["verified"]
    change(forged)
    (found,) = check_program(forged.lines, evidence.get)
    assert (found.state, found.detail) == ("damaged", f"its {told} is not that of the call")


@pytest.mark.parametrize(("web", "state"), [(None, "damaged"), ("another", "verified")])
def test_a_calibration_that_is_left_out_is_noticed(a_call: Path, tmp_path: Path, web: str | None, state: str) -> None:
    """It counts for answers from the frozen web that it was fitted to, and for no others."""
    path, forged = forged_copy(a_call, tmp_path / "traces")
    _, parameters = parse_kept_program(forged.store.get(forged.lines[0]["program_hash"]))
    fitted = Program(tmp_path, calibration=Calibration(**FITTED, web=web or forged.lines[0]["web"]))
    forged.lines[0]["program"] = fitted.fingerprint
    forged.lines[0]["program_hash"] = forged.store.put(kept_program(fitted, parameters))
    (found,) = check_program(forged.lines, evidence_of_trace(path).get)
    assert found.state == state


def test_a_signature_that_is_not_there_or_not_by_that_key_is_noticed(a_call: Path, tmp_path: Path) -> None:
    path, _ = forged_copy(a_call, tmp_path / "traces")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other")], check=True)
    assert state_of(path, (tmp_path / "other.pub").read_text()) == "damaged"
    verifier.signature_of(path).unlink()
    assert state_of(path) == "verified"
    assert state_of(path, (a_call / "key.pub").read_text()) == "missing"


def test_a_trace_of_an_older_version_is_unchecked_and_a_lie_in_it_is_damaged(a_call: Path, tmp_path: Path) -> None:
    path, forged = forged_copy(a_call, tmp_path / "traces")
    verifier.signature_of(path).unlink()
    older = [line for line in forged.lines if line["action"] != "conclude"]
    for number, line in enumerate(older, start=1):
        for name in ("before", "objects", "seal", "format"):
            line.pop(name, None)
        line["step"] = number
    path.write_bytes(written(older))
    assert state_of(path) == "unchecked"
    cut_to_the(forged)
    path.write_bytes(written(older))
    assert state_of(path) == "damaged"
