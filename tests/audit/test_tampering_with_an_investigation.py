"""The tamper table of an investigation: what was changed in its trace or its store, and sealed anew, is noticed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from marchwarden.audit.bundle import files_of, packed
from marchwarden.audit.verdict import evidence_of_trace, verdict
from marchwarden.errors import TraceError
from marchwarden.store.content_store import Store
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.reader import Trace
from tests.audit.calls import VIEWS, lines_of, sealed_again
from tests.audit.test_tampering import Forgery
from tests.orchestrator.fakes import TRACE_ID
from tests.orchestrator.test_rerun_investigation import asked


def all_of(forged: Forgery, action: str) -> list[dict[str, Any]]:
    return [line for line in forged.lines if line["action"] == action]


def stored(forged: Forgery, body: bytes) -> str:
    key = forged.store.put(body)
    forged.seal(key)
    return key


def lineage(changes: dict[str, Any]) -> Callable[[Forgery], None]:
    def change(forged: Forgery) -> None:
        for told in (forged.result, forged.line("conclude")["state"]):
            told["lineage"][0].update(changes)

    return change


def lineage_forgotten(forged: Forgery) -> None:
    for told in (forged.result, forged.line("conclude")["state"]):
        del told["lineage"][-1]


def another_researcher_quoted(forged: Forgery) -> None:
    for each in (*forged.result["citations"], *forged.line("conclude")["state"]["ledger"]["sources"]):
        each["researcher"] = "cern"


def another_trace_quoted(forged: Forgery) -> None:
    forged.cited["trace_id"] = forged.source["trace_id"] = "00000000-0000-4000-8000-000000000000"


def byte_of_a_trace(forged: Forgery) -> None:
    kept = forged.line("keep_trace")
    kept["trace_hash"] = stored(forged, forged.store.get(kept["trace_hash"]).replace(b"Halden", b"Haldem", 1))


def sealed_trace(change: Callable[[list[dict[str, Any]]], object]) -> Callable[[Forgery], None]:
    """Change a researcher's trace, and seal that anew, too."""

    def changed(forged: Forgery) -> None:
        kept = forged.line("keep_trace")
        lines = lines_of(forged.store.get(kept["trace_hash"]))
        change(lines)
        kept["trace_hash"] = stored(forged, sealed_again(lines))

    return changed


def traces_exchanged(forged: Forgery) -> None:
    one, other = all_of(forged, "keep_trace")[:2]
    one["trace_hash"], other["trace_hash"] = other["trace_hash"], one["trace_hash"]


def result_that_came_back(forged: Forgery) -> None:
    back = forged.line("return")
    told = {**json.loads(forged.store.get(back["result_hash"])), "answer": "It was built in 1066 [1]."}
    back["result_hash"] = stored(forged, json.dumps(told).encode())


def dropped(action: str) -> Callable[[Forgery], None]:
    return lambda forged: forged.lines.remove(forged.line(action))


def put(action: str, **changes: Any) -> Callable[[Forgery], None]:
    return lambda forged: forged.line(action).update(changes)


def everywhere(forged: Forgery) -> None:
    for line in forged.lines:
        if line.get("researcher") == "web":
            line["researcher"] = "cern"


def of_the_team(forged: Forgery) -> None:
    forged.lines[0]["team"] = ["web", "cern"]


def lost_that_never_was(forged: Forgery) -> None:
    last = forged.lines[-1]
    lost = {
        "action": "lost", "rihla": 9, "call_id": TRACE_ID, "researcher": "web", "sent": True, "final": False,
        "charged_tokens": 0, "tokens_used": 0, "duration_sec": 0.0, "decision": "gone", "timestamp": last["timestamp"],
    }  # fmt: skip
    forged.lines.insert(-1, lost)


def less_charged(forged: Forgery) -> None:
    for line in all_of(forged, "return"):
        line["charged_tokens"] = 7


def reported(forged: Forgery) -> list[dict[str, Any]]:
    gaps: list[dict[str, Any]] = forged.line("conclude")["state"]["ledger"]["reported"]
    return gaps


def gap_that_was_reported(forged: Forgery) -> None:
    reported(forged)[0]["gap"]["detail"] = "Nobody knows."


def who_reported(forged: Forgery) -> None:
    reported(forged)[0]["researcher"] = "cern"


def gaps_left_out(forged: Forgery) -> None:
    reported(forged).clear()


def all_failed(forged: Forgery) -> None:
    forged.line("conclude")["state"]["ledger"]["researchers_failed"] = True


def page_unsealed(forged: Forgery) -> None:
    forged.lines[-1]["objects"].remove(forged.line("fetch_url")["text_hash"])


TABLE: dict[str, Callable[[Forgery], None]] = {
    "the gap that a researcher reported": gap_that_was_reported,
    "the researcher that reported a gap": who_reported,
    "the gaps that were reported, left out": gaps_left_out,
    "all researchers failed": all_failed,
    "a page left out of the sealed list": page_unsealed,
    "the researcher in the lineage": lineage({"researcher": "cern"}),
    "the tokens in the lineage": lineage({"tokens_used": 7}),
    "the outcome in the lineage": lineage({"outcome": "lost"}),
    "a researcher left out of the lineage": lineage_forgotten,
    "the researcher of each quote": another_researcher_quoted,
    "the trace of a quote": another_trace_quoted,
    "a byte of a researcher's trace": byte_of_a_trace,
    "the question in a researcher's trace": sealed_trace(lambda lines: lines[0].update(question="Who built it?")),
    "the answer in a researcher's trace": sealed_trace(lambda lines: lines[-1]["result"].update(answer="In 1066.")),
    "the tokens in a researcher's trace": sealed_trace(
        lambda lines: lines[0]["constraints"].update(token_budget=999_999)
    ),
    "the traces of two researchers exchanged": traces_exchanged,
    "the confidence that came back": put("return", confidence=0.99),
    "the tokens that were reported": put("return", reported_tokens=7),
    "the result that came back": result_that_came_back,
    "a return removed": dropped("return"),
    "a trace removed": dropped("keep_trace"),
    "the question that was sent": put("dispatch", question="Who built the tower?"),
    "the tokens that were sent": put("dispatch", tokens=1),
    "a researcher of the team": of_the_team,
    "a researcher, everywhere but in the result": everywhere,
    "a loss that never was": lost_that_never_was,
    "the tokens that were charged": less_charged,
}


@pytest.fixture(scope="module")
def investigated(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    return anyio.run(asked, tmp_path_factory.mktemp("investigation"))


def states(path: Path) -> tuple[str, str]:
    """The verdicts of Marchwarden, and of the script that a bundle has."""
    return verdict(path, VIEWS).state, verifier.verdict_of(verifier.check(evidence_of_trace(path)))


def test_what_nobody_touched_is_verified(investigated: Trace) -> None:
    assert states(investigated.path) == ("verified", "verified")
    assert sealed_again(lines_of(investigated.path.read_bytes())) == investigated.path.read_bytes()


@pytest.mark.parametrize("name", TABLE)
def test_a_change_is_noticed(investigated: Trace, tmp_path: Path, name: str) -> None:
    shutil.copytree(investigated.path.parent, tmp_path / "traces")
    path = tmp_path / "traces" / investigated.path.name
    forged = Forgery(lines_of(path.read_bytes()), Store(path.parent / "store"))
    TABLE[name](forged)
    path.write_bytes(sealed_again(forged.lines))
    assert states(path) == ("damaged", "damaged")


@pytest.fixture(scope="module")
def bundled(investigated: Trace) -> dict[str, bytes]:
    return files_of(evidence_of_trace(investigated.path), VIEWS)


def with_sums(files: dict[str, bytes]) -> bytes:
    """A bundle whose sums are written anew."""
    rest = {name: body for name, body in files.items() if name != verifier.SUMS}
    sums = "".join(f"{verifier.digest(rest[name]).removeprefix('sha256:')}  {name}\n" for name in sorted(rest))
    return packed({**rest, verifier.SUMS: sums.encode()})


def of_bundle(path: Path) -> tuple[str, str]:
    try:
        alone = verifier.verdict_of(verifier.check(verifier.open_bundle(path)))
    except ValueError:
        alone = "damaged"
    try:
        return verdict(path, VIEWS).state, alone
    except TraceError:
        return "damaged", alone


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        ("nothing", "verified"),
        ("a page more", "damaged"),
        ("a stored page more", "damaged"),
        ("bytes before the first file", "damaged"),
        ("bytes behind the last file", "damaged"),
        ("a comment", "damaged"),
        ("a file removed", "missing"),
        ("a researcher's trace removed", "missing"),
        # What is made from the trace is made again by Marchwarden alone.
        ("the description for archives", "verified"),
        ("the report", "verified"),
    ],
)
def test_a_change_of_a_bundle_whose_sums_are_written_anew_is_noticed(
    bundled: dict[str, bytes], tmp_path: Path, name: str, alone: str
) -> None:
    files = dict(bundled)
    kept = next(
        json.loads(line)["trace_hash"] for line in files[verifier.TRACE].splitlines() if b'"keep_trace"' in line
    )
    match name:
        case "a page more":
            files["notes.html"] = b"<p>Trust me.</p>"
        case "a stored page more":
            files[f"objects/{verifier.digest(b'more').removeprefix('sha256:')}"] = b"more"
        case "a file removed":
            del files[verifier.RESULT]
        case "a researcher's trace removed":
            del files[f"objects/{kept.removeprefix('sha256:')}"]
        case "the description for archives":
            files["ro-crate-metadata.json"] = files["ro-crate-metadata.json"].replace(b"Dataset", b"Dataseb")
        case "the report":
            files["result.md"] += b"\nMore.\n"
    body = with_sums(files)
    match name:
        case "bytes before the first file":
            body = b"#!/bin/sh\necho verified\nexit\n" + body
        case "bytes behind the last file":
            place = body.index(b"PK\x01\x02")
            body = body[:place] + b"PK\x03\x04" + b"\0" * 60 + body[place:]
            at = body.rindex(b"PK\x05\x06") + 16
            body = body[:at] + (place + 64).to_bytes(4, "little") + body[at + 4 :]
        case "a comment":
            body = body[:-2] + (4).to_bytes(2, "little") + b"Hi.\n"
    path = tmp_path / "bundle.zip"
    path.write_bytes(body)
    whole, by_script = of_bundle(path)
    assert by_script == alone
    assert (whole == "verified") == (name == "nothing")
