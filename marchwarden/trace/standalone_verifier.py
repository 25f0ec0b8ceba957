"""Check of a Marchwarden trace or bundle, offline, with Python's standard library alone (3.10 or newer).

    python3 -I -S verify.py [BUNDLE.zip | FOLDER] [--signer KEY.pub] [--json]

Without a path it checks the folder that it is in. Exit codes: 0 verified, 1 damaged, 2 wrong usage, 3 unchecked,
4 missing, 5 made by a newer version. What is checked:

- chain: each line of the trace holds, in `before`, the SHA-256 of every byte of the file before the line;
- seal: the line that ends the call holds, as its last member, the SHA-256 of every byte of the file before it;
- objects: every stored page and text that the sealed line names is there and has the hash that it is named by;
- signature: OpenSSH's, of the whole trace (`trace.jsonl.sig`), by the key that --signer names;
- result, citations, answer, findings, cost: they are what the recorded steps say, field by field;
- researchers of an investigation: each came back as it was sent, with the trace and the result that are named;
- files of a bundle: each has its sum in SHA256SUMS, result.json is the trace's, annotations.jsonld quotes the texts.

Whoever rewrites everything consistently is not noticed without a signature. What only Marchwarden itself checks
(`marchwarden verify`, which does it again and compares): that texts, titles, days and addresses are those of the
pages; that claims are supported by their quotes; gaps and confidence; the program and its parameters; and the files
made from the trace (result.md, evidence.html, README.md, ro-crate-metadata.json), which are compared with their sums
alone here: whoever changes them can write the sums anew.

This module imports nothing of ours: every bundle has a copy of it, named verify.py.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

# Version of the form of a trace. A trace without one is older than the chain.
FORMAT = 2
# Actions that end a call. Their line is sealed.
ENDINGS = ("result", "cancelled", "failed")
SEAL = b', "seal": '
NAMESPACE = "marchwarden"

VERIFIED, DAMAGED, MISSING, NEWER, UNCHECKED = "verified", "damaged", "missing", "newer", "unchecked"
EXIT_CODES = {VERIFIED: 0, DAMAGED: 1, UNCHECKED: 3, MISSING: 4, NEWER: 5}

# The rules of the contract that a result is checked by; a test compares them with the contract's own.
EXCERPT_LIMIT, EXCERPT_CUT, NON_TEXT_SOURCE = 500, "[...]", "[non-text source]"
DISAGREEMENT = "Sources disagree, and nothing read settles it"
# Beginnings of answers without a claim that quote a recorded failure.
FAILED = ("Nothing could be looked up: ", "The page that was found could not be read: ", "None of the ")
NOTHING = ("No source that could be read answers this question", "before anything could be read.")

# Category of gaps between sources; those of an investigation are found in all that it has.
_CONTRADICTION = "contradictory_sources"

# Names of files in a bundle, and of the others that one has, besides stored texts and pages.
TRACE, RESULT, SUMS, ANNOTATIONS = "trace.jsonl", "result.json", "SHA256SUMS", "annotations.jsonld"
OTHERS = (f"{TRACE}.sig", "result.md", "README.md", "verify.py", "evidence.html", "ro-crate-metadata.json")
# Bytes that a bundle may unpack to. A guess: the largest of 248 questions had 2 MB.
MOST_BYTES = 2_000_000_000
# Levels of lists and objects inside each other. The deepest line of a call has 6; readers recurse, and Python ends
# them at about 1,000 calls. A guess.
_MOST_LEVELS = 64
# Seconds by which a call's time may be longer than from its first line to its last. A guess.
_CLOCK_S = 1.0

# Stored texts and pages in a bundle.
_STORED = re.compile(r"(?:texts(?=/\w+\.txt)|objects(?=/\w+$))/([0-9a-f]{64})(?:\.txt)?")
_MARKER = re.compile(r"\[(\d{1,3})\]")
_PLACE = re.compile(r"#(?:page=\d+|slide=\d+|L\d+|epubcfi\([^()]*\))$")
# What the rendering of a claim adds or takes: markers, the stops of sentences, blanks. A full stop within a number or
# an address is none. A blank may be put behind a stop ("more!For"). In code, `[1]` of a page is written `[ 1]`.
_RENDERING = (re.compile(r"\[\s*\d{1,3}\]"), re.compile(r"\s*(?:[!?]|\.(?![0-9a-z]))+|[。！？]"), re.compile(r"\s"))


@dataclass(frozen=True)
class Finding:
    check: str
    state: str
    """One of VERIFIED, DAMAGED, MISSING, NEWER, UNCHECKED."""
    detail: str
    needed: bool = True
    """False for a check that the whole can be called verified without."""


@dataclass(frozen=True)
class Evidence:
    """A trace and all that belongs to it, wherever it lies."""

    trace: bytes
    get: Callable[[str], bytes | None]
    """Returns the bytes that lie under a hash, unchecked; None where there are none."""
    trace_id: str | None = None
    """Name of the trace's file; None where the file has another name."""
    signature: bytes | None = None
    files: dict[str, bytes] = field(default_factory=dict)
    """Files of a bundle by name; none for a trace."""


def verdict_of(findings: Iterable[Finding]) -> str:
    """Return the state of the whole: verified only where every check that is needed was made and passed."""
    states = {finding.state for finding in findings if finding.needed or finding.state != UNCHECKED}
    return next((state for state in (DAMAGED, NEWER, MISSING, UNCHECKED) if state in states), VERIFIED)


def signature_of(trace: Path) -> Path:
    """Return the file of a trace's signature."""
    return trace.with_name(f"{trace.name}.sig")


def digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


# All checks


def check(evidence: Evidence, signer: str | None = None) -> list[Finding]:
    """Return what was found. `signer` is an OpenSSH public key (`ssh-ed25519 AAAA…`) that must have signed."""
    lines, chain = _chain(evidence.trace)
    findings = [chain]
    if chain.state != NEWER:
        findings += [_seal(evidence.trace, lines), _objects(evidence, lines)]
    findings.append(_signature(evidence, signer))
    if chain.state != NEWER:
        findings += _meaning(evidence, lines)
    if evidence.files:
        findings += _files(evidence, lines)
    return findings


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(pairs) != len({name for name, _ in pairs}):
        raise ValueError("a name stands twice")
    return dict(pairs)


def parse(text: str | bytes) -> dict[str, Any] | None:
    """Return a JSON object; None for anything else, and where a name stands twice: readers would take either."""
    try:
        found = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and not is_too_deep(found) else None


def is_too_deep(value: Any) -> bool:
    """True of lists and objects inside each other in more levels than any line of a trace has."""
    level = [value]
    for _ in range(_MOST_LEVELS):
        level = [
            inner
            for each in level
            if isinstance(each, (dict, list))
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
    return bool(level)


def _chain(data: bytes) -> tuple[list[dict[str, Any]], Finding]:
    """Return the trace's whole lines, and whether each follows from all before it."""
    written = data.split(b"\n")
    lines: list[dict[str, Any]] = []
    faults: list[str] = []
    # Numbers of lines that a full disk, or the end of the process, has cut, and that no later line vouches for.
    cut: list[int] = []
    before = hashlib.sha256()
    chained = 0
    for number, each in enumerate(written, start=1):
        last = number == len(written)
        line = parse(each)
        if line is None:
            if each or not last:
                cut.append(number)
        else:
            if line.get("before") == f"sha256:{before.hexdigest()}":
                chained += 1
                cut.clear()
            elif "before" in line or (lines and "format" in lines[0]):
                faults.append(f"line {number} does not follow from the lines before it")
            if line.get("step") != len(lines) + 1:
                faults.append(f"line {number} is step {line.get('step')!r}, and not {len(lines) + 1}")
            lines.append(line)
        before.update(each + (b"" if last else b"\n"))
    if not lines:
        return [], Finding("chain", DAMAGED, "the file holds no trace")
    version = lines[0].get("format")
    if isinstance(version, int) and version > FORMAT:
        return lines, Finding("chain", NEWER, f"made by a newer version (format {version}; this one knows {FORMAT})")
    if faults:
        return lines, Finding("chain", DAMAGED, faults[0])
    if cut and cut != [len(written)]:
        return lines, Finding("chain", DAMAGED, f"line {cut[0]} is no JSON object")
    if "format" not in lines[0]:
        return lines, Finding("chain", UNCHECKED, "made by an older version: its lines are not chained")
    if cut:
        return lines, Finding("chain", UNCHECKED, "the last line is cut off")
    return lines, Finding("chain", VERIFIED, f"{chained} lines, each chained to all before it")


def _seal(data: bytes, lines: list[dict[str, Any]]) -> Finding:
    if not lines or "format" not in lines[0]:
        return Finding("seal", UNCHECKED, "made by an older version: it is not sealed")
    if lines[-1].get("action") not in ENDINGS:
        return Finding(
            "seal", MISSING, "the last line ends no call: it is running, was killed, or its end was cut off"
        )
    actions = [line.get("action") for line in lines]
    for step, (action, after) in enumerate(pairwise(actions), start=1):
        if action in ENDINGS and after != "resume":
            return Finding("seal", DAMAGED, f"step {step} ends the call, and others follow")
    if actions[-1] == "result" and "killed" in actions and "conclude" not in actions[actions.index("killed") :]:
        return Finding("seal", DAMAGED, "the call was killed after its answer was made")
    begin = data.rstrip(b"\n").rfind(b"\n") + 1
    place = data.rfind(SEAL, begin)
    whole = place >= 0 and data[place:] == SEAL + f'"{digest(data[:place])}"'.encode() + b"}\n"
    if not whole or lines[-1].get("seal") != digest(data[:place]):
        return Finding("seal", DAMAGED, "the last line is not what was sealed")
    return Finding("seal", VERIFIED, f"the trace is as it was sealed: {lines[-1]['seal']}")


def _objects(evidence: Evidence, lines: list[dict[str, Any]]) -> Finding:
    names = lines[-1].get("objects") if lines else None
    if not isinstance(names, list):
        return Finding("objects", UNCHECKED, "the trace has no sealed list of stored pages and texts")
    fields = ["program_hash", "result_hash", "trace_hash"]
    named = {str(line[field]) for line in lines for field in fields if line.get(field) is not None}
    # The body of a page that could not be read need not be kept.
    of_page = ("content_hash", "text_hash")
    named |= {str(line[field]) for line in lines if line.get("text_hash") for field in of_page if line.get(field)}
    if unsealed := named - set(map(str, names)):
        return Finding("objects", DAMAGED, f"a step names {min(unsealed)}, which is not sealed")
    states = {str(name): _state(evidence, str(name)) for name in names}
    for state in (DAMAGED, MISSING):
        bad = sorted(name for name, found in states.items() if found == state)
        if bad:
            return Finding("objects", state, f"{state}: {', '.join(bad[:3])}{' …' if len(bad) > 3 else ''}")
    return Finding("objects", VERIFIED, f"each of {len(names)} stored pages, texts and other objects has its hash")


def _state(evidence: Evidence, name: str) -> str:
    body = evidence.get(name)
    if body is None:
        return MISSING
    return VERIFIED if digest(body) == name else DAMAGED


def _signature(evidence: Evidence, signer: str | None) -> Finding:
    if evidence.signature is None:
        if signer is not None:
            return Finding("signature", MISSING, "the trace is not signed")
        return Finding("signature", UNCHECKED, "the trace is not signed", needed=False)
    # Imported here, as others below: `marchwarden replay` must start quickly, and most traces are not signed.
    import shutil
    import subprocess
    import tempfile

    program = shutil.which("ssh-keygen")
    if program is None:
        return Finding("signature", UNCHECKED, "ssh-keygen is not installed", needed=signer is not None)
    with tempfile.TemporaryDirectory() as folder:
        signature, allowed = Path(folder, "signature"), Path(folder, "allowed")
        signature.write_bytes(evidence.signature)
        command = [program, "-Y", "check-novalidate"]
        if signer is not None:
            allowed.write_text(f'{NAMESPACE} namespaces="{NAMESPACE}" {" ".join(signer.split()[:2])}\n', "utf-8")
            command = [program, "-Y", "verify", "-f", str(allowed), "-I", NAMESPACE]
        command += ["-n", NAMESPACE, "-s", str(signature)]
        try:
            ran = subprocess.run(command, input=evidence.trace, capture_output=True, timeout=60, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            return Finding("signature", UNCHECKED, str(error), needed=signer is not None)
    said = " ".join(ran.stdout.decode("utf-8", "replace").split())
    if ran.returncode:
        reason = "the signature is not by that key, or not of this trace" if signer else "it is not of this trace"
        return Finding("signature", DAMAGED, reason)
    if signer is None:
        return Finding("signature", UNCHECKED, f"{said}; whose key that is, --signer checks", needed=False)
    return Finding("signature", VERIFIED, said)


# The result against the steps


def _meaning(evidence: Evidence, lines: list[dict[str, Any]]) -> list[Finding]:
    """Return the checks of the result. A line that is not built as it should be makes it damaged, never an error."""
    ended = [line for line in lines if line.get("action") == "result"]
    if not ended:
        return [Finding("result", UNCHECKED, "there is no result")]
    try:
        return list(_of_result(evidence, lines, ended[-1]["result"]))
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return [Finding("result", DAMAGED, f"the result can't be read: {type(error).__name__}: {error}")]


def _of_result(evidence: Evidence, lines: list[dict[str, Any]], result: dict[str, Any]) -> Iterator[Finding]:
    first = lines[0]
    names = {result["trace_id"], first.get("trace_id", result["trace_id"]), evidence.trace_id or result["trace_id"]}
    if len(names) > 1:
        yield Finding("result", DAMAGED, f"it names the call {result['trace_id']}, the trace is another's")
    else:
        yield Finding("result", VERIFIED, f"it is the result of the call {result['trace_id']}")
    concluded = next((line for line in reversed(lines) if line.get("action") == "conclude"), None)
    for number, citation in enumerate(result["citations"], start=1):
        fault = _citation_fault(evidence, lines, citation, concluded)
        title = f"citation {number}"
        quoted = "locator, hash, title, date and excerpt are those of a page that was read"
        yield Finding(title, *fault) if fault else Finding(title, VERIFIED, quoted)
    older = "made by an older version: what it was made from is not recorded"
    if concluded is None:
        yield Finding("evidence", UNCHECKED, older)
        yield Finding("answer", UNCHECKED, older)
    else:
        yield _said(
            "evidence", _evidence_fault(evidence, lines, concluded), "the recorded evidence is that of the steps"
        )
        yield _said("answer", _answer_fault(result, concluded), "it says what the recorded claims say, and no more")
        if isinstance(first.get("team"), list):
            fault_of_team = _researchers_fault(evidence, lines, result, concluded)
            yield _said("researchers", fault_of_team, "each came back as it was sent, with its own trace and result")
    yield _findings(lines, result, concluded)
    yield _said(
        "cost", _cost_fault(lines, result, concluded), "tokens, iterations, time and model are those of the steps"
    )


def _said(title: str, fault: str | None, good: str) -> Finding:
    return Finding(title, DAMAGED, fault) if fault else Finding(title, VERIFIED, good)


def cut_excerpt(text: str) -> str:
    return text if len(text) <= EXCERPT_LIMIT else text[: EXCERPT_LIMIT - len(EXCERPT_CUT)] + EXCERPT_CUT


def pages_of(lines: list[dict[str, Any]], citation: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of the fetches that a citation can be of."""
    locator = citation["locator"]
    # The address under which a page is read never has a fragment, so that any is a place.
    on_web = locator.startswith(("http://", "https://"))
    where = {locator, locator.partition("#")[0] if on_web else _PLACE.sub("", locator)}
    return [
        line
        for line in lines
        if line.get("action") == "fetch_url"
        and where & {line["final_url"], line["url"]}
        and (line["failure"] is None or line["failure"]["kind"] == "no_text")
    ]


def picks_of(lines: list[dict[str, Any]], page: dict[str, Any], excerpt: str) -> list[dict[str, Any]]:
    """Return the recorded picks of a page that are this excerpt."""
    return [
        pick
        for line in lines
        if line.get("action") == "extract" and line["url"] in (page["final_url"], page["url"])
        for pick in line["picks"]
        if cut_excerpt(pick["excerpt"]) == excerpt
    ]


def _citation_fault(
    evidence: Evidence, lines: list[dict[str, Any]], citation: dict[str, Any], concluded: dict[str, Any] | None
) -> tuple[str, str] | None:
    """Return the state and the reason of a citation that does not hold; None where it does."""
    pages = pages_of(lines, citation)
    if not pages:
        return DAMAGED, f"{citation['locator']} was not fetched in this call"
    # An address may have been read several times: one page that carries the citation is enough.
    faults = [_page_fault(evidence, lines, citation, page) for page in pages]
    fault = None if None in faults else faults[0]
    if fault or concluded is None:
        return fault
    ledger = concluded["state"]["ledger"]
    sources = {source["locator"]: source for source in ledger["sources"]}
    for excerpt in ledger["excerpts"]:
        source, place = sources[excerpt["locator"]], excerpt["place"]
        locator = f"{source['locator']}#{place}" if place else source["locator"]
        says = excerpt["says"] or ""
        if (
            cut_excerpt(excerpt["text"]) == citation["raw_excerpt"]
            and (locator, source["title"], source["published"], source["content_hash"])
            == (citation["locator"], citation["title"], citation["published"], citation["content_hash"])
            # A citation names the recorded kind of its source, else one of the kinds of the call's sources.
            and citation["source"]
            in (
                {source["source"]} if source.get("source") else {"file", concluded["state"]["kind"].partition(",")[0]}
            )
            and (says if 50 <= len(says) <= 200 else None) == citation["snippet"]
            and all(source.get(name) == citation.get(name) for name in ("researcher", "trace_id"))
        ):
            return None
    return DAMAGED, "it is none of the excerpts that the result was made from"


def _page_fault(
    evidence: Evidence, lines: list[dict[str, Any]], citation: dict[str, Any], page: dict[str, Any]
) -> tuple[str, str] | None:
    for name in ("content_hash", "title", "published"):
        if citation.get(name) != page.get(name):
            return DAMAGED, f"its {name} is {citation.get(name)!r}, and the page's {page.get(name)!r}"
    excerpt = citation["raw_excerpt"]
    if page["text_hash"] is None or excerpt == NON_TEXT_SOURCE:
        honest = page["text_hash"] is None and excerpt == NON_TEXT_SOURCE
        return None if honest else (DAMAGED, "the page had no text, or its text was not quoted")
    for name in ("content_hash", "text_hash"):
        state = _state(evidence, page[name])
        if state != VERIFIED:
            return state, f"{page[name]}, the {'text' if name == 'text_hash' else 'page'} that it quotes, is {state}"
    text = (evidence.get(page["text_hash"]) or b"").decode("utf-8")
    picks = picks_of(lines, page, excerpt)
    if not picks:
        inside = "" if excerpt.removesuffix(EXCERPT_CUT) in text else ", and it is not in the text of the page"
        return DAMAGED, f"its raw_excerpt is no passage that was picked from the page{inside}"
    if not any(text[pick["start"] : pick["end"]] == pick["excerpt"] for pick in picks):
        return DAMAGED, "its raw_excerpt is not in the text of the page where it was picked"
    return None


def _constraints_of(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the limits of a call: an investigation that was resumed may have been given more tokens."""
    given = [line["token_budget"] for line in lines if line.get("action") == "resume" and line.get("token_budget")]
    return {**lines[0]["constraints"], **({"token_budget": given[-1]} if given else {})}


def _evidence_fault(evidence: Evidence, lines: list[dict[str, Any]], concluded: dict[str, Any]) -> str | None:
    """Return the first part of the recorded evidence that no step of the call accounts for."""
    ledger, request = concluded["state"]["ledger"], concluded["state"]["request"]
    by_action: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by_action.setdefault(str(line.get("action")), []).append(line)
    start = {**lines[0], "constraints": _constraints_of(lines)}
    for name in ("question", "context", "depth", "constraints"):
        if request[name] != start[name]:
            return f"{name} is not what was asked"
    if ledger["question"] != start["question"]:
        return "question is not what was asked"
    kind = concluded["state"]["kind"]
    if (start.get("kind") or kind) != kind:
        return "kind of source is not that of the call"
    if fault := _day_fault(lines, concluded) or _plan_fault(lines, concluded):
        return fault
    fetched = by_action.get("fetch_url", [])
    of_page = ("content_hash", "text_hash", "title", "published")
    for source in ledger["sources"]:
        told = [source[name] for name in of_page]
        if not any(line["final_url"] == source["locator"] and told == [line[n] for n in of_page] for line in fetched):
            return f"{source['locator']} is not as it was read"
    if fault := _pages_fault(evidence, fetched, ledger, is_whole="killed" not in by_action):
        return fault
    if ledger.get("researchers_failed") and not isinstance(start.get("team"), list):
        return "it had no researchers that could fail"
    picked = {
        (line["url"], pick["start"], pick["end"], pick["excerpt"], pick["stance"])
        for line in by_action.get("extract", [])
        for pick in line["picks"]
    }
    for each in ledger["excerpts"]:
        if (each["locator"], each["start"], each["end"], each["text"], each["stance"]) not in picked:
            return f"excerpt {each['number']} was not picked"
    searches = by_action.get("search", [])
    failed = {(line["query"], line["failure"]["kind"]) for line in searches if line["failure"]}
    failed |= {(line["url"], line["failure"]["kind"]) for line in fetched if line["failure"]}
    counted: dict[str, tuple[set[Any], set[Any]]] = {
        "queries": (set(ledger["queries"]), {line["query"] for line in searches}),
        "hits": (
            {each["url"] for each in ledger["leads"]},
            {hit["url"] for line in searches for hit in line["hits"]},
        ),
        "failures": ({(each["target"], each["kind"]) for each in ledger["failures"]}, failed),
        "incomplete searches": (
            {(each["query"], each["detail"]) for each in ledger.get("incomplete") or []},
            {(line["query"], told) for line in searches for told in line.get("incomplete") or []},
        ),
    }
    for name, (recorded, steps) in counted.items():
        # Of a call that was killed, the steps may tell more than the last state that was kept.
        if not recorded <= steps or (recorded != steps and "killed" not in by_action):
            return f"its {name} are not those of the steps"
    return None


def _pages_fault(
    evidence: Evidence, fetched: list[dict[str, Any]], ledger: dict[str, Any], *, is_whole: bool
) -> str | None:
    """Return the first fetch that is not of its stored page, or that nothing found and nothing was made of."""
    leads = {lead["url"] for lead in ledger["leads"]}
    read = {source["locator"] for source in ledger["sources"]}
    texts = {source["text_hash"] for source in ledger["sources"]}
    for line in fetched:
        body = evidence.get(line["content_hash"]) if line["text_hash"] and line["content_hash"] else None
        if body and line.get("content_length") not in (None, len(body)):
            return f"{line['final_url']} has {len(body)} bytes, and not {line['content_length']}"
        # What was read under two addresses, or says the same, is one source.
        if is_whole and line["failure"] is None and line["final_url"] not in read and line["text_hash"] not in texts:
            return f"{line['final_url']} was read, and is no source"
        if is_whole and leads and line["url"] not in leads:
            return f"{line['url']} was read, and nothing had found it"
    return None


def _day_fault(lines: list[dict[str, Any]], concluded: dict[str, Any]) -> str | None:
    """Return the fault of the day that the age of sources was counted to; None where it is that of the call."""
    start = lines[0]
    if start.get("today") not in (None, concluded["day"]):
        return "the day is not that of the call"
    apart = datetime.fromisoformat(concluded["day"]).date() - datetime.fromisoformat(start["timestamp"][:10]).date()
    # A day begins elsewhere before it does in UTC. A re-run counts to the day of the call that it repeats.
    return None if abs(apart.days) <= 1 or start.get("rerun_of") else "the day is not that of the first step"


def _plan_fault(lines: list[dict[str, Any]], concluded: dict[str, Any]) -> str | None:
    """Return the first sub-question, title of a hit, or part of a model, that no step accounts for."""
    ledger = concluded["state"]["ledger"]
    aspects: list[str] = []
    # Snippets and days of hits, by their address.
    told_of: dict[str, list[tuple[Any, Any]]] = {}
    # Sub-questions of all plans, as they were spelt, and questions to researchers.
    sought = {line["question"] for line in lines if line.get("action") in ("start", "dispatch")}
    titles: dict[str, set[str]] = {}
    answered = {line["stage"] for line in lines if line.get("action") == "model_call" and line["error"] is None}
    for line in lines:
        if line.get("action") == "plan":
            aspects = list(line["aspects"])
        elif line.get("action") == "search":
            for word, close in (line.get("meant") or {}).items():
                aspects = [re.sub(rf"\b{re.escape(word)}\b", close, each) for each in aspects]
            for hit in line["hits"]:
                titles.setdefault(hit["url"], set()).add(hit["title"])
                told_of.setdefault(hit["url"], []).append((hit.get("snippet"), hit.get("published")))
        sought.update(aspects)
        # Pages that an investigation takes over were read by its researchers' models.
        own = line.get("action") in ("plan", "synthesize") or not isinstance(lines[0].get("team"), list)
        if own and line.get("stage_form") == "model" and line["action"] not in answered:
            return f"no model answered for step {line['step']}"
    worded = next((line for line in reversed(lines) if line.get("action") == "synthesize"), None)
    killed = any(line.get("action") == "killed" for line in lines)
    if worded and not killed and worded["claims"] != len(concluded["claims"]):
        return f"step {worded['step']} tells of {worded['claims']} claims"
    if aspects and not killed and [each["text"] for each in ledger["aspects"]] != aspects:
        return "its sub-questions are not those of the plan"
    picked = {pick["aspect"] for line in lines if line.get("action") == "extract" for pick in line["picks"]}
    if not picked <= sought:
        return "an excerpt was picked for a sub-question that no plan has"
    for lead in ledger["leads"]:
        if lead.get("reason") is None and lead["title"] not in titles.get(lead["url"], {lead["title"]}):
            return f"{lead['url']} has another title than the search gave"
        told = told_of.get(lead["url"], [])
        # Older versions did not record them.
        are_known = bool(told) and all(snippet is not None for snippet, _ in told)
        if lead.get("reason") is None and are_known and (lead["snippet"], lead["published"]) not in told:
            return f"{lead['url']} has another snippet or day than the search gave"
    return None


def _researchers_fault(
    evidence: Evidence, lines: list[dict[str, Any]], result: dict[str, Any], concluded: dict[str, Any]
) -> str | None:
    """Return the first thing about the researchers of an investigation that its steps do not account for."""
    sent: dict[int, dict[str, Any]] = {}
    ended: dict[int, dict[str, Any]] = {}
    kept: set[tuple[str, str]] = set()
    for line in lines:
        action, number = line.get("action"), line.get("rihla", 0)
        if action == "dispatch":
            sent[number] = line
            ended.pop(number, None)
        elif action in ("return", "lost"):
            asked = sent.get(number, {})
            if (line["call_id"], line["researcher"]) != (asked.get("call_id"), asked.get("researcher")):
                return f"rihla {number} ended, and was not sent so"
            if line["charged_tokens"] > asked["tokens"]:
                return f"rihla {number} was charged more tokens than it had"
            ended[number] = line
            if action == "return" and (fault := _return_fault(evidence, line)):
                return fault
        elif action == "keep_trace":
            back = ended.get(number, {})
            if (line["trace_id"], line["researcher"]) != (back.get("trace_id"), back.get("researcher")):
                return f"the trace {line['trace_id']} is not of the rihla that it is named for"
            if fault := _trace_fault(evidence, line, back, sent[number]):
                return f"the trace of {line['researcher']}: {fault}"
            kept.add((line["trace_id"], line["researcher"]))
    if strange := {line["researcher"] for line in sent.values()} - set(lines[0]["team"]):
        return f"{min(strange)} is not of the team"
    for source in concluded["state"]["ledger"]["sources"]:
        by = (source.get("trace_id"), source.get("researcher"))
        if by not in kept:
            return f"{source['locator']} is of a researcher whose trace was not kept"
    if fault := _reported_fault(evidence, lines, concluded):
        return fault
    return _lineage_fault(result, concluded, sent, ended, resumed=any(line["action"] == "resume" for line in lines))


def _reported_fault(evidence: Evidence, lines: list[dict[str, Any]], concluded: dict[str, Any]) -> str | None:
    """Return the first gap that a researcher is said to have reported, and that its result does not have."""
    told: dict[str, list[dict[str, Any]]] = {}
    # Topics and categories of gaps in what was asked; what a follow-up lacks is no gap of that.
    missing: set[tuple[str, str]] = set()
    sent = {line["rihla"]: line for line in lines if line.get("action") == "dispatch"}
    for line in lines:
        if line.get("action") != "return":
            continue
        result = parse(evidence.get(line["result_hash"]) or b"")
        if result is None:
            return None  # the check of objects tells of it
        told.setdefault(line["researcher"], []).extend(result["gaps"])
        if sent[line["rihla"]]["origin"] not in ("open_question", "tie_break", "discovery"):
            missing |= {(gap["topic"], gap["category"]) for gap in result["gaps"]}
    skips = [line for line in lines if line.get("action") == "skip"]
    # What nobody of the team can be asked is a gap of the investigation's own, or told with a sentence more.
    own = {line["question"] for line in skips if line["origin"] == "discovery"}
    unserved = {line["question"] for line in skips}
    reported = concluded["state"]["ledger"]["reported"]
    for each in reported:
        gap, by = each["gap"], each["researcher"]
        missing.discard((gap["topic"], gap["category"]))
        if gap["topic"] in (f"the researcher {by}", *own) or gap["category"] == _CONTRADICTION:
            continue
        if not any(_is_same_gap(gap, known, is_unserved=gap["topic"] in unserved) for known in told.get(by, [])):
            return f"{by} did not report that gap: {gap['topic'][:80]}"
    if left_out := sorted(topic for topic, category in missing if category != _CONTRADICTION):
        return f"a gap that was reported is left out: {left_out[0][:80]}"
    failed = concluded["state"]["ledger"].get("researchers_failed")
    outcomes = {each["outcome"] for each in concluded["state"].get("lineage") or []}
    if failed and "answered" in outcomes:
        return "it is said that all of them failed, and one answered"
    return None


def _is_same_gap(gap: dict[str, Any], known: dict[str, Any], *, is_unserved: bool) -> bool:
    beginning = re.escape(f"{known['detail'].rstrip('.')}. No researcher of the team ")
    of_nobody = beginning + r"(?:is for '\w+'|has open copies)\."
    return all(
        known.get(name) == value or (name == "detail" and is_unserved and re.fullmatch(of_nobody, value))
        for name, value in gap.items()
    )


def _return_fault(evidence: Evidence, line: dict[str, Any]) -> str | None:
    told = parse(evidence.get(line["result_hash"]) or b"")
    if told is None:
        return None  # the check of objects tells of it
    named = {
        "trace_id": told["trace_id"],
        "citations": len(told["citations"]),
        "gaps": len(told["gaps"]),
        "confidence": told["confidence"],
        "reported_tokens": told["cost_metadata"]["tokens_used"],
    }
    other = next((name for name, value in named.items() if line[name] != value), None)
    return f"the {other} of rihla {line['rihla']} is not that of its result" if other else None


def _trace_fault(evidence: Evidence, line: dict[str, Any], back: dict[str, Any], asked: dict[str, Any]) -> str | None:
    """Return the fault of a researcher's trace; None where it holds, or is not of this kind."""
    body, told = evidence.get(line["trace_hash"]), parse(evidence.get(back["result_hash"]) or b"")
    own, chain = _chain(body or b"")
    if body is None or not own or "format" not in own[0]:
        return None
    if chain.state == DAMAGED:
        return chain.detail
    if own[0].get("trace_id", line["trace_id"]) != line["trace_id"]:
        return "it is of another call"
    if own[0].get("action") == "start":
        if own[0]["question"] != asked["question"]:
            return "it is of another question"
        if own[0]["constraints"]["token_budget"] > asked["tokens"]:
            return "it had more tokens than the investigation gave"
    written = own[-1].get("result") if own[-1].get("action") == "result" else None
    if written is None or told is None:
        return None
    seal = _seal(body, own)
    if seal.state == DAMAGED:
        return seal.detail
    same = all(written[name] == told[name] for name in ("trace_id", "answer", "confidence"))
    quoted, taken = (
        [(each["locator"], each["raw_excerpt"]) for each in found["citations"]] for found in (written, told)
    )
    return None if same and quoted == taken else "its result is not the one that came back"


def _lineage_fault(
    result: dict[str, Any],
    concluded: dict[str, Any],
    sent: dict[int, dict[str, Any]],
    ended: dict[int, dict[str, Any]],
    *,
    resumed: bool,
) -> str | None:
    lineage = concluded["state"].get("lineage") or []
    if (result.get("lineage") or []) != lineage:
        return "the lineage is not that of the recorded evidence"
    told = {each["trace_id"]: each for each in lineage}
    ids = {number: ended.get(number, {}).get("trace_id") or line["call_id"] for number, line in sent.items()}
    for number, line in sent.items():
        entry, end = told.pop(ids[number], None), ended.get(number)
        if entry is None:
            return f"rihla {number} is not in the lineage"
        expected = {name: line[name] for name in ("researcher", "question", "origin")}
        expected["parent"] = ids.get(line["parent"])
        if end is not None:
            expected["tokens_used"] = end["charged_tokens"]
        is_lost = end is None or end["action"] == "lost"
        if any(entry[name] != value for name, value in expected.items()):
            return f"the lineage tells otherwise of rihla {number}"
        # A result that was gone when the investigation was resumed is lost, too.
        if is_lost != (entry["outcome"] == "lost") and not (resumed and not is_lost):
            return f"the lineage tells another outcome of rihla {number}"
    # Those that had no turn before the end were never sent.
    if any(each["outcome"] != "lost" for each in told.values()):
        return "the lineage has a researcher that was never sent"
    return None


def _bare(text: str) -> str:
    markers, stops, blanks = _RENDERING
    bare = markers.sub("", text)
    while bare != text:  # taking one out of `[[1]2]` makes another
        text, bare = bare, markers.sub("", bare)
    return blanks.sub("", stops.sub("", text))


# Words of other clauses that a sub-question was lent stand at its end. Above its answer they need not be told.
_LENT = re.compile(r" \([^()]*\)$")


def _answer_fault(result: dict[str, Any], concluded: dict[str, Any]) -> str | None:
    """Return the first thing in an answer that no recorded claim says, or says of other excerpts."""
    answer, ledger = result["answer"], concluded["state"]["ledger"]
    places = [(each["locator"], each["start"]) for each in ledger["excerpts"]]
    # Excerpts that begin at the same place are one citation, so that a claim may be marked with the longer of two.
    quoted: dict[str, set[tuple[str, int]]] = {}
    for each, place in zip(ledger["excerpts"], places, strict=True):
        quoted.setdefault(cut_excerpt(each["text"]), set()).add(place)
    claims: dict[str, set[tuple[str, int]]] = {}
    for claim in concluded["claims"]:
        claims.setdefault(_bare(claim["text"]), set()).update(places[number - 1] for number in claim["excerpts"])
    asked = {part for each in ledger["aspects"] for part in (each["text"], _LENT.sub("", each["text"]))}
    headings = {_bare(each) + ":" for text in asked for each in (text, text[:1].upper() + text[1:])}
    said = set()
    # A line with an indent belongs to the one before it.
    for line in answer.replace("\n  ", " ").split("\n"):
        bare = _bare(line.removeprefix("- ") if len(concluded["claims"]) > 1 else line)
        if bare in claims:
            said.add(bare)
            numbers = [int(number) for number in _MARKER.findall(line)]
            marked = [result["citations"][number - 1]["raw_excerpt"] for number in numbers]
            if not marked or 0 in numbers or not all(quoted.get(excerpt, set()) & claims[bare] for excerpt in marked):
                return f"“{line[:80]}” is marked with other excerpts than its claim has"
            continue
        if claims:
            honest = bare in headings or _is_disagreement(line, result, ledger)
        else:
            details = [each["detail"].rstrip(".") for each in ledger["failures"]]
            honest = line.startswith(NOTHING[0]) or line.endswith(NOTHING[1])
            honest = honest or (line.startswith(FAILED) and any(detail in line for detail in details))
        if not honest:
            return f"“{line[:80]}” is no recorded claim"
    if said != set(claims):
        return "a recorded claim is not in the answer"
    return None


def _is_disagreement(line: str, result: dict[str, Any], ledger: dict[str, Any]) -> bool:
    """Return whether a line of an answer names a recorded disagreement that is open, and cites both its sides."""
    for conflict in ledger["conflicts"]:
        sides = [cut_excerpt(ledger["excerpts"][number - 1]["text"]) for number in conflict["sides"]]
        numbers = [int(number) for number in _MARKER.findall(line)[-2:]]
        cited = [result["citations"][number - 1]["raw_excerpt"] for number in numbers if number]
        told = f"{DISAGREEMENT}: {conflict['about']} {''.join(f'[{number}]' for number in numbers)}."
        if conflict["resolved"] or line != told or len(cited) != 2:
            continue
        # Each citation begins where the excerpt beside it does: of two, one may be the longer.
        places: dict[str, set[tuple[str, int]]] = {}
        for each in ledger["excerpts"]:
            places.setdefault(cut_excerpt(each["text"]), set()).add((each["locator"], each["start"]))
        if all(places.get(one, set()) & places.get(other, set()) for one, other in zip(cited, sides, strict=True)):
            return True
    return False


def _findings(lines: list[dict[str, Any]], result: dict[str, Any], concluded: dict[str, Any] | None) -> Finding:
    assessed = next((line for line in reversed(lines) if line.get("action") == "assess"), None)
    if assessed is None:
        return Finding("findings", UNCHECKED, "no step says what the gaps and the confidence are")
    told = {name: result[name] for name in ("gaps", "discovery_events", "open_questions", "confidence")}
    told["uncalibrated"] = result["confidence_factors"].get("uncalibrated")
    for name, value in told.items():
        if assessed.get(name) != value:
            return Finding("findings", DAMAGED, f"{name} is not what was assessed")
    if concluded:
        ledger = concluded["state"]["ledger"]
        if result["confidence_factors"]["contradiction_detected"] != bool(ledger["conflicts"]):
            return Finding("findings", DAMAGED, "contradiction_detected is not what the recorded evidence says")
        aspects = [aspect["text"] for aspect in ledger["aspects"]]
        told_aspects = result.get("sub_questions")
        if told_aspects is not None and [each["text"] for each in told_aspects] != aspects:
            return Finding("findings", DAMAGED, "sub_questions are not those of the recorded evidence")
        if result.get("worded_by") and (result["worded_by"] == "none") != (not concluded["claims"]):
            return Finding("findings", DAMAGED, "worded_by is not what the recorded claims say")
    return Finding("findings", VERIFIED, "gaps, discoveries, open questions and confidence are as they were assessed")


def _cost_fault(lines: list[dict[str, Any]], result: dict[str, Any], concluded: dict[str, Any] | None) -> str | None:
    cost, first = result["cost_metadata"], lines[0]
    # An investigation pays for its rihlas beside its own model calls.
    calls = [line for line in lines if line.get("action") in ("model_call", "return", "lost")]
    stops = [line["iterations_run"] for line in lines if line.get("action") == "stop"]
    plans = sum(line.get("action") == "plan" for line in lines)
    killed = any(line.get("action") == "killed" for line in lines)
    budget = _constraints_of(lines)["token_budget"]
    counted = min(max((line["tokens_used"] for line in calls), default=0), budget)
    if (
        cost["tokens_used"] > budget
        or cost["tokens_used"] < counted
        or (not killed and cost["tokens_used"] != counted)
    ):
        return f"tokens_used is {cost['tokens_used']}, and the steps used {counted}"
    charged = sum(line["charged_tokens"] for line in calls)
    if charged > max((line["tokens_used"] for line in calls), default=0):
        return f"the steps were charged {charged} tokens, and tell of fewer"
    other = {line["model_id"] for line in calls if line["action"] == "model_call"} - {first["model_id"]}
    if other:
        return f"a step asked {min(other)}, and the model of the call was {first['model_id']}"
    # The last state that was kept of a call that was killed may be some turns old.
    turns = range(plans + 2) if killed else stops[-1:] or (plans, plans + 1)
    if cost["iterations_run"] not in turns:
        return f"iterations_run is {cost['iterations_run']}, and the steps ran {(stops or [plans])[-1]}"
    if cost["model_id"] != first["model_id"]:
        return f"model_id is {cost['model_id']}, and the model asked for was {first['model_id']}"
    if cost["budget_exhausted"] != result["confidence_factors"]["budget_exhausted"]:
        return "budget_exhausted is one thing in the cost and another in the confidence"
    if concluded and cost["budget_exhausted"] != bool(concluded["state"]["exhausted"]):
        return "budget_exhausted is not what the recorded state says"
    ended, began = (datetime.fromisoformat(line["timestamp"].replace("Z", "+00:00")) for line in (lines[-1], first))
    span = (ended - began).total_seconds()
    for line in lines:
        at = datetime.fromisoformat(line["timestamp"].replace("Z", "+00:00"))
        if not -_CLOCK_S <= (at - began).total_seconds() <= span + _CLOCK_S:
            return f"step {line['step']} is of a time at which the call did not run"
    longest = max((line["duration_sec"] for line in lines if "duration_sec" in line), default=0.0)
    if not longest - _CLOCK_S <= cost["wall_time_sec"] <= span + _CLOCK_S:
        return f"wall_time_sec is {cost['wall_time_sec']}, and the steps took {span:.1f} seconds"
    return None


# A bundle


def _files(evidence: Evidence, lines: list[dict[str, Any]]) -> Iterator[Finding]:
    """Check the files that a bundle has beside the trace and its objects."""
    files = evidence.files
    listed = {}
    for line in files.get(SUMS, b"").decode("utf-8", "replace").splitlines():
        checksum, _, name = line.partition("  ")
        listed[name] = checksum
    states = {
        name: MISSING if name not in files else DAMAGED
        for name, checksum in listed.items()
        if name not in files or hashlib.sha256(files[name]).hexdigest() != checksum
    }
    strange = files.keys() - listed.keys() - {SUMS}
    states |= dict.fromkeys(strange, DAMAGED)
    sealed = lines[-1].get("objects") if lines else None
    unknown = [
        name
        for name in listed
        if name not in (TRACE, RESULT, ANNOTATIONS, *OTHERS)
        and not ((stored := _STORED.fullmatch(name)) and (sealed is None or f"sha256:{stored[1]}" in sealed))
    ]
    if unknown:
        yield Finding("files", DAMAGED, f"{min(unknown)} is no file of a bundle")
        return
    if SUMS not in files:
        states[SUMS] = MISSING
    if states:
        worst = DAMAGED if DAMAGED in states.values() else MISSING
        named = ", ".join(
            f"{name} is {f'not listed in {SUMS}' if name in strange else state}"
            for name, state in sorted(states.items())[:3]
        )
        yield Finding("files", worst, named)
    else:
        yield Finding("files", VERIFIED, f"{len(listed)} files have their sums")
    result = next((line.get("result") for line in reversed(lines) if line.get("action") == "result"), None)
    if RESULT not in files:
        yield Finding(RESULT, MISSING, "it is not in the bundle")
    else:
        same = parse(files[RESULT]) == result
        yield Finding(RESULT, VERIFIED if same else DAMAGED, "it is the trace's" if same else "the trace has another")
    try:
        fault = _annotation_fault(evidence, result or {})
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        if MISSING in states.values():
            yield Finding(ANNOTATIONS, MISSING, "a text that it quotes is not in the bundle")
            return
        fault = f"it can't be read: {type(error).__name__}"
    yield _said(ANNOTATIONS, fault, "each quote stands in the stored text, at its place")


def _annotation_fault(evidence: Evidence, result: dict[str, Any]) -> str | None:
    items = (parse(evidence.files[ANNOTATIONS]) or {})["items"]
    if len(items) != len(result["citations"]):
        return f"{len(items)} annotations for {len(result['citations'])} citations"
    for number, (item, citation) in enumerate(zip(items, result["citations"], strict=True), start=1):
        target = item["target"]
        if target["source"] != citation["locator"]:
            return f"annotation {number} is of another page than its citation"
        selectors = {each["type"]: each for each in target.get("selector", [])}
        if not selectors and citation["raw_excerpt"] == NON_TEXT_SOURCE:
            continue
        quote, position = selectors["TextQuoteSelector"], selectors["TextPositionSelector"]
        text = evidence.files[target["state"]["cached"]].decode("utf-8")
        start, end = position["start"], position["end"]
        if text[start:end] != quote["exact"] or cut_excerpt(quote["exact"]) != citation["raw_excerpt"]:
            return f"annotation {number} quotes other words than its citation"
        before, after = quote["prefix"], quote["suffix"]
        if not text[:start].endswith(before) or not text[end:].startswith(after):
            return f"annotation {number} stands between other words"
    return None


def _has_other_name(extra: bytes) -> bool:
    """Return whether the extra fields of a file in a .zip give it another name (Info-ZIP's Unicode path)."""
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if kind == 0x7075:
            return True
        extra = extra[4 + size :]
    return False


def _check_gaps(archive: Any) -> None:
    """Raise ValueError where other programs may read other files in a .zip: it has bytes beside its files, links, or
    files with two names."""
    end = 0
    for entry in sorted(archive.infolist(), key=lambda each: each.header_offset):
        # The type of a file in Unix, above its permissions.
        if (entry.external_attr >> 16) & 0o170000 == 0o120000:
            raise ValueError(f"{entry.filename!r} is a link")
        # Zip programs that don't know a size beforehand write it behind the file, in 12 to 24 bytes.
        if not 0 <= entry.header_offset - end <= 24:
            raise ValueError("it has bytes that belong to no file")
        archive.fp.seek(entry.header_offset + 26)
        sizes = archive.fp.read(4)
        name_size, extra_size = int.from_bytes(sizes[:2], "little"), int.from_bytes(sizes[2:], "little")
        name_and_extra = archive.fp.read(name_size + extra_size)
        if _has_other_name(entry.extra) or _has_other_name(name_and_extra[name_size:]):
            raise ValueError(f"{entry.filename!r} has a second name")
        head = 30 + name_size + extra_size
        end = entry.header_offset + head + entry.compress_size
    if archive.start_dir - end > 24 or archive.comment:
        raise ValueError("it has bytes that belong to no file")


def open_bundle(path: Path) -> Evidence:
    """Return the evidence in a bundle: a .zip file, or a folder that one was unpacked to.

    Raises OSError, and ValueError where it is no bundle.
    """
    import zipfile

    files: dict[str, bytes] = {}
    if path.is_dir():
        # Before anything is read: a folder that is no bundle can be somebody's whole disk.
        if not (path / TRACE).is_file():
            raise ValueError(f"there is no {TRACE} in it")
        found = [each for each in sorted(path.rglob("*")) if each.is_file() and "__pycache__" not in each.parts]
        if sum(each.stat().st_size for each in found) > MOST_BYTES:
            raise ValueError("it has more than a bundle has")
        files = {each.relative_to(path).as_posix(): each.read_bytes() for each in found}
    else:
        try:
            with zipfile.ZipFile(path) as archive:
                entries = archive.infolist()
                if sum(entry.file_size for entry in entries) > MOST_BYTES:
                    raise ValueError("it unpacks to more than a bundle has")
                if len(entries) != len({entry.filename for entry in entries}):
                    raise ValueError("a file is in it twice")
                _check_gaps(archive)
                files = {entry.filename: archive.read(entry) for entry in entries if not entry.is_dir()}
        except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError, EOFError) as error:
            raise ValueError(str(error)) from error
        except Exception as error:  # zlib.error, which this module need not import
            raise ValueError(str(error)) from error
    for name in files:
        # Unpacked, such a file could take the place of another.
        if name.startswith("/") or "\\" in name or {"", ".", ".."} & set(name.split("/")):
            raise ValueError(f"{name!r} is no name of a file in a bundle")
    if TRACE not in files:
        raise ValueError(f"there is no {TRACE} in it")

    def get(name: str) -> bytes | None:
        stem = name.removeprefix("sha256:")
        return files.get(f"texts/{stem}.txt", files.get(f"objects/{stem}"))

    return Evidence(files[TRACE], get, signature=files.get(f"{TRACE}.sig"), files=files)


def main() -> int:
    import argparse

    if sys.version_info < (3, 10):  # noqa: UP036 — it is run by whatever Python there is
        sys.stderr.write("Python 3.10 or newer is needed\n")
        return 2
    summary, _, rest = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="verify.py", description=summary, epilog=rest, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path(__file__).parent, help="default: this folder")
    parser.add_argument("--signer", type=Path, metavar="KEY.pub", help="the key that must have signed the trace")
    parser.add_argument("--json", action="store_true", help="as JSON")
    arguments = parser.parse_args()
    if not arguments.path.exists():
        parser.error(f"there is no {arguments.path}")
    try:
        signer = arguments.signer.read_text("utf-8") if arguments.signer else None
    except (OSError, ValueError) as error:
        parser.error(f"the key {arguments.signer} can't be read: {error}")
    try:
        findings = check(open_bundle(arguments.path), signer)
    except (OSError, ValueError) as error:
        findings = [Finding("bundle", DAMAGED, f"{arguments.path} can't be read: {error}")]
    findings.append(
        Finding(
            "recomputed",
            UNCHECKED,
            "not checked here, but by `marchwarden verify`: that texts, titles, days and addresses are those of the "
            "pages; that claims are supported by their quotes; gaps and confidence; the program; result.md, "
            "evidence.html, README.md and ro-crate-metadata.json but for their sums",
            needed=False,
        )
    )
    verdict = verdict_of(findings)
    if arguments.json:
        told = {"verdict": verdict, "checks": [vars(finding) for finding in findings]}
        sys.stdout.write(json.dumps(told, indent=2) + "\n")
    else:
        for finding in findings:
            # A page's own words may be in a detail: nothing in them reaches the terminal as a command.
            detail = "".join(char if char.isprintable() else " " for char in finding.detail)
            sys.stdout.write(f"{finding.state:<10} {finding.check}: {detail}\n")
        sys.stdout.write(f"\n{verdict}\n")
    return EXIT_CODES[verdict]


if __name__ == "__main__":
    sys.exit(main())
