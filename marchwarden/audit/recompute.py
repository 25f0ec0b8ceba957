"""The result of a call made again from what its trace recorded, and its texts from the stored pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import date
from typing import Any

from pydantic import ValidationError

from marchwarden import __version__
from marchwarden.agent.conclusion import Checkpoint, conclude
from marchwarden.audit.recorded_stages import RecordedStages
from marchwarden.errors import TraceError
from marchwarden.evidence.confidence import authority_of
from marchwarden.http.addresses import publisher_of
from marchwarden.injection.detector import clean_metadata
from marchwarden.observations import Page, is_file
from marchwarden.programs.keeping import parse_kept_program
from marchwarden.server.result_words import counted
from marchwarden.sources.recorded_tools import read_again
from marchwarden.stages.discoveries import find_pointers, find_reference_pointers
from marchwarden.stages.synthesize import Claim, check_grounding
from marchwarden.trace.events import Fetched
from marchwarden.trace.standalone_verifier import DAMAGED, UNCHECKED, VERIFIED, Finding

Lines = list[dict[str, Any]]

_LATER = ("sub_questions", "lineage")


def recompute(lines: Lines) -> list[Finding]:
    """Return whether the result follows, field by field, from the recorded state and claims."""
    told = next((line for line in reversed(lines) if line.get("action") == "result"), None)
    recorded = next((line for line in reversed(lines) if line.get("action") == "conclude"), None)
    if told is None:
        return []
    if recorded is None:
        return [
            Finding("recomputed", UNCHECKED, "made by an older version: what the result was made from is missing")
        ]
    version = lines[0].get("version")
    detail = f"version {version} made it, and this one ({__version__}) makes another"
    by_other_version = Finding("recomputed", UNCHECKED, detail)
    try:
        again, dropped = _again(lines, recorded, told["result"])
    except Exception as error:  # a forged state may break any rule: that is what is looked for
        if version != __version__:
            return [by_other_version]
        return [Finding("recomputed", DAMAGED, f"the result can't be made again: {type(error).__name__}")]
    # A field that the result does not have, and that the contract got later, is no difference.
    different = [
        name
        for name in again
        if _as_told(again[name], told["result"].get(name)) != told["result"].get(name)
        and not (name in _LATER and name not in told["result"])
    ]
    different += [f"{name} (which nothing makes)" for name in told["result"].keys() - again.keys()]
    if different and version != __version__:
        return [by_other_version]
    if different:
        return [Finding("recomputed", DAMAGED, f"made again, it has another {', another '.join(sorted(different))}")]
    if dropped:
        return [Finding("recomputed", DAMAGED, f"a claim is not supported by its excerpts: “{dropped[0][:80]}”")]
    return [Finding("recomputed", VERIFIED, "made again from the recorded evidence, the result is the same")]


def _as_told(again: Any, told: Any) -> Any:
    """Return a value without the nulls of optional fields that `told`, of an earlier contract, does not have."""
    if isinstance(again, list) and isinstance(told, list) and len(again) == len(told):
        return [_as_told(*each) for each in zip(again, told, strict=True)]
    if isinstance(again, dict) and isinstance(told, dict):
        return {
            name: _as_told(value, told.get(name))
            for name, value in again.items()
            if value is not None or name in told
        }
    return again


def _again(lines: Lines, recorded: dict[str, Any], told: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the result that the recorded state and claims make, and the claims that their excerpts don't support."""
    state = Checkpoint.model_validate(recorded["state"])
    day = date.fromisoformat(recorded["day"])
    claims = [Claim.model_validate(claim) for claim in recorded["claims"]]
    dropped = [each.text for each in check_grounding(state.ledger, claims)[1] if each.what == "claim"]
    said = None if recorded["model_free"] else RecordedStages(lines, state, recorded)
    ended = conclude(state.request, state.ledger, said or state.without_model(), day, state.parameters)
    # In a thread of its own, since the caller may have an event loop that runs.
    with ThreadPoolExecutor(1) as thread:
        conclusion = thread.submit(asyncio.run, ended).result()
    if [claim.model_dump() for claim in conclusion.claims] != recorded["claims"]:
        dropped += [claim.text for claim in claims if claim not in conclusion.claims] or ["another claim is missing"]
    if said and not said.are_gaps_certain:
        conclusion = replace(conclusion, gaps=said.gaps, open_questions=said.questions)
    # The seconds are the call's own: only the steps' times say something about them.
    result = conclusion.result(
        state, seconds=told["cost_metadata"]["wall_time_sec"], trace_id=told["trace_id"], today=day
    )
    return result.model_dump(mode="json"), dropped


def check_program(lines: Lines, get: Callable[[str], bytes | None]) -> Iterator[Finding]:
    """Yield whether the recorded state has the parameters and the calibration of the program that the call kept."""
    start = lines[0]
    recorded = next((line for line in reversed(lines) if line.get("action") == "conclude"), None)
    body = get(start["program_hash"]) if start.get("program_hash") else None
    # A call that was killed before its first state has none of its own.
    if recorded is None or body is None or any(line.get("action") == "killed" for line in lines):
        return
    try:
        program, parameters = parse_kept_program(body)
        state = Checkpoint.model_validate(recorded["state"])
    except (TraceError, ValidationError) as error:
        yield Finding(
            "program",
            UNCHECKED if start.get("version") != __version__ else DAMAGED,
            f"it can't be read: {type(error).__name__}",
        )
        return
    if start.get("team"):
        parameters = parameters.of_an_investigation()
    calibration = program.calibration if program else None
    # Traces of earlier versions do not say of which kind their sources were, and in which web.
    if start.get("kind") and calibration and not calibration.fits(start["kind"], start.get("web")):
        calibration = None
    expected = (calibration,) if start.get("kind") and not start.get("team") else (None, calibration)
    faults = {
        "parameters": parameters == state.parameters,
        "calibration": state.calibration in expected,
        "name": start.get("program") == (program.fingerprint if program else None),
    }
    fault = next((name for name, holds in faults.items() if not holds), None)
    detail = (
        f"its {fault} is not that of the call"
        if fault
        else "its parameters and its calibration are those of the call"
    )
    yield Finding("program", DAMAGED if fault else VERIFIED, detail)


def check_texts(lines: Lines, get: Callable[[str], bytes | None]) -> Iterator[Finding]:
    """Yield one finding: whether each stored page, read again, has the same text, title, authors and day.

    What the call noted of each page by rule (authority, publisher, pointers) is compared as well.
    """
    fetches = [line for line in lines if line.get("action") == "fetch_url" and line.get("text_hash")]
    version = lines[0].get("version")
    recorded = next((line for line in reversed(lines) if line.get("action") == "conclude"), None)
    ledger: dict[str, Any] = recorded["state"]["ledger"] if recorded else {"sources": [], "pointers": []}
    sources = {source["locator"]: source for source in ledger["sources"]}
    pages: dict[str, Page | None] = {}
    for line in fetches:
        body = get(line["content_hash"]) if line.get("content_hash") else None
        if body is None:
            continue  # the check of objects tells of it
        try:
            found = read_again(Fetched.model_validate(line), body)
        except ValidationError:  # a forged line
            found = None
        page = clean_metadata(found) if isinstance(found, Page) else None
        pages[line["final_url"]] = page
        if fault := _difference(line, page, sources.get(line["final_url"])):
            yield _read_otherwise(version, f"{line['final_url']}: read again, its page has another {fault}")
            return
    pointed = [
        pointer
        for page in pages.values()
        if page
        for pointer in (*find_pointers(page, ledger.get("question", "")), *find_reference_pointers(page))
    ]
    known = {(pointer.locator, pointer.kind, pointer.value, pointer.sentence) for pointer in pointed}
    for each in ledger["pointers"]:
        if (each["locator"], each["kind"], each["value"], each["sentence"]) not in known and each["locator"] in pages:
            yield _read_otherwise(version, f"{each['locator']}: read again, it does not name {each['value']}")
            return
    if pages:
        read = counted(len(pages), "stored page")
        yield Finding("texts", VERIFIED, f"read again from {read}, text, title, authors and day are the same")
    else:
        yield Finding("texts", UNCHECKED, "no page was read in this call", needed=False)


def _read_otherwise(version: object, fault: str) -> Finding:
    if version != __version__:
        return Finding("texts", UNCHECKED, f"{fault}; version {version} had read it, and this is {__version__}")
    return Finding("texts", DAMAGED, fault)


def _difference(line: dict[str, Any], page: Page | None, source: dict[str, Any] | None) -> str | None:
    """Return the name of the first thing that a page, read again, has otherwise than recorded."""
    if page is None:
        return "text"
    published = page.published.isoformat() if page.published else None
    modified = page.modified.isoformat() if page.modified else None
    told: dict[str, tuple[Any, Any]] = {
        "text": (line["text_hash"], page.text_hash),
        "title": (line["title"], page.title),
    }
    if source is not None:
        told["authors"] = (source.get("authors", list(page.authors)), list(page.authors))
    if not is_file(line["final_url"]):
        told["day"] = (line["published"], published)
        if source is not None:
            told["day of change"] = (source["modified"], modified)
            told["standing"] = (source["standing"], page.standing)
            told["authority"] = (source["authority"], authority_of(line["final_url"], page.work, page.standing).value)
            told["work"] = (source.get("work"), page.work and json.loads(json.dumps(asdict(page.work))))
            notices = [*map(asdict, page.notices), *line.get("notices", ())]
            known = [each for at, each in enumerate(notices) if each not in notices[:at]]
            told["notices"] = (source.get("notices", known), known)
            told["publisher"] = (source["organisation"], publisher_of(line["final_url"]))
    return next((name for name, (recorded, again) in told.items() if recorded != again), None)
