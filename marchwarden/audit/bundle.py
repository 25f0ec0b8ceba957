"""A call as one file to hand on: trace, pages, result, annotations, metadata, and the script that checks them.

Two exports of one trace are the same, byte for byte: nothing in a bundle comes from the clock or the machine.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from marchwarden.contract import NON_TEXT_SOURCE, ResearchResult
from marchwarden.errors import TraceError
from marchwarden.text.escaping import json_text, markdown_line
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.standalone_verifier import ANNOTATIONS, RESULT, SUMS, TRACE, Evidence, pages_of, picks_of

VERIFIER, REPORT, CRATE, README = "verify.py", "result.md", "ro-crate-metadata.json", "README.md"
EVIDENCE_PAGE = "evidence.html"
# Characters around a quote in an annotation, by which it is found in a page that has changed. A guess, as the web
# annotation tools have it.
_CONTEXT_CHARS = 32
# The earliest time that a .zip file can hold: a bundle has no time of its own.
_NO_TIME = (1980, 1, 1, 0, 0, 0)

_README = """# {question}

This bundle holds the answer to the question above, and everything that it was made from.

| file | |
|---|---|
| `result.md` `result.json` | the answer with its citations, gaps and confidence, for people and for programs |
| `evidence.html` | the answer for a browser, each quote marked in the text of its page; it requests nothing |
| `trace.jsonl` | every step of the research, each line chained to all before it, the last one sealed |
| `trace.jsonl.sig` | OpenSSH's signature of the trace, where it was signed |
| `texts/` | the texts that were read and quoted, each named by its SHA-256 |
| `objects/` | the pages as they were fetched, and the traces of several researchers, each named by its SHA-256 |
| `annotations.jsonld` | each quote as a W3C Web Annotation |
| `ro-crate-metadata.json` | what is in here, for archives (RO-Crate 1.1) |
| `SHA256SUMS` | the sum of every file: `sha256sum -c SHA256SUMS` |
| `verify.py` | the check of all this, with Python 3.10 or newer and nothing else |

    python3 -I -S verify.py

Whoever made a bundle could have changed the script in it. Take the script from Marchwarden's source where that
matters: it is `marchwarden/trace/standalone_verifier.py`. Pages in `objects/` come from the web as they are, so they
have no ending that a browser would open.
"""


@dataclass(frozen=True)
class Views:
    """The files of a bundle that show it to people. They must follow from their arguments alone."""

    report: Callable[[ResearchResult, str], str]
    """Returns a result, and the question, as Markdown."""
    evidence_page: Callable[[Evidence], bytes] | None = None
    """Returns a page for the browser, `evidence.html`; None where a bundle has none."""


def packed(files: Mapping[str, bytes]) -> bytes:
    """Return files as a .zip file that depends on nothing but them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()


def files_of(evidence: Evidence, views: Views) -> dict[str, bytes]:
    """Return the files of a bundle by name.

    Raises TraceError where the trace has no result, is damaged, or names objects that are not there.
    """
    lines = [line for each in evidence.trace.split(b"\n") if (line := verifier.parse(each))]
    told = next((line.get("result") for line in reversed(lines) if line.get("action") == "result"), None)
    if told is None:
        raise TraceError("the trace has no result to export", hint="`marchwarden replay` shows how the call ended.")
    try:
        return _made(evidence, lines, told, views)
    except (ArithmeticError, AttributeError, LookupError, StopIteration, TypeError, ValueError) as error:
        raise TraceError(
            f"the trace is damaged: {type(error).__name__}", hint="`marchwarden verify` says where."
        ) from error


def _made(evidence: Evidence, lines: list[dict[str, Any]], told: dict[str, Any], views: Views) -> dict[str, bytes]:
    """Return the files of a bundle. Raises TraceError, and any error of data that is not what it should be."""
    result = ResearchResult.model_validate(told)
    stored = _stored(evidence, lines)
    annotations = _annotations(evidence, lines, told)
    question = str(lines[0].get("question"))
    files = {
        TRACE: evidence.trace,
        RESULT: _json(told),
        REPORT: views.report(result, question).encode("utf-8", "replace"),
        README: _README.format(question=markdown_line(question)).encode("utf-8", "replace"),
        VERIFIER: Path(verifier.__file__).read_bytes(),
        ANNOTATIONS: _json(annotations),
        **stored,
    }
    if evidence.signature is not None:
        files[f"{TRACE}.sig"] = evidence.signature
    if views.evidence_page is not None:
        files[EVIDENCE_PAGE] = views.evidence_page(evidence)
    files[CRATE] = _json(_crate(files, lines, told))
    sums = [f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files)]
    return {**files, SUMS: "".join(sums).encode()}


def _json(value: Any) -> bytes:
    return json_text(json.dumps(value, ensure_ascii=False, indent=2)).encode("utf-8") + b"\n"


def _fetches(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("action") == "fetch_url"]


def _stored(evidence: Evidence, lines: list[dict[str, Any]]) -> dict[str, bytes]:
    """Return the objects that the trace seals, or, of an older trace, those that its fetches name."""
    texts = {line["text_hash"] for line in _fetches(lines)} - {None}
    names = lines[-1].get("objects")
    if names is None:
        names = [name for name in texts | {line["content_hash"] for line in _fetches(lines)} if name]
    stored, missing = {}, []
    for name in sorted(names):
        body = evidence.get(name)
        if body is None or verifier.digest(body) != name:
            missing.append(name)
        else:
            stored[_file_of(name, is_text=name in texts)] = body
    # An older trace may name pages that were never stored.
    if missing and "objects" in lines[-1]:
        raise TraceError(
            f"{missing[0]} is missing or damaged in the store",
            hint="`marchwarden verify` names what can't be checked.",
        )
    return stored


def _file_of(name: str, *, is_text: bool) -> str:
    stem = name.removeprefix("sha256:")
    return f"texts/{stem}.txt" if is_text else f"objects/{stem}"


def _annotations(evidence: Evidence, lines: list[dict[str, Any]], result: dict[str, Any]) -> dict[str, Any]:
    """Return the citations as W3C Web Annotations: what was quoted, between which words, and where in the text."""
    items = []
    for number, citation in enumerate(result["citations"], start=1):
        page = pages_of(lines, citation)[0]
        target: dict[str, Any] = {"source": citation["locator"]}
        if citation["raw_excerpt"] != NON_TEXT_SOURCE:
            page, pick = next(
                (page, pick)
                for page in pages_of(lines, citation)
                for pick in picks_of(lines, page, citation["raw_excerpt"])
            )
            text = (evidence.get(page["text_hash"]) or b"").decode("utf-8")
            start, end = pick["start"], pick["end"]
            target["selector"] = [
                {
                    "type": "TextQuoteSelector",
                    "exact": text[start:end],
                    "prefix": text[max(0, start - _CONTEXT_CHARS) : start],
                    "suffix": text[end : end + _CONTEXT_CHARS],
                },
                {"type": "TextPositionSelector", "start": start, "end": end},
            ]
            cached = _file_of(page["text_hash"], is_text=True)
            target["state"] = {"type": "TimeState", "sourceDate": page["timestamp"], "cached": cached}
        items.append(
            {
                "id": f"urn:uuid:{result['trace_id']}#{number}",
                "type": "Annotation",
                "motivation": "describing",
                "body": {"type": "TextualBody", "value": f"[{number}]", "format": "text/plain"},
                "target": target,
            }
        )
    return {
        "@context": "http://www.w3.org/ns/anno.jsonld",
        "id": f"urn:uuid:{result['trace_id']}#annotations",
        "type": "AnnotationPage",
        "items": items,
    }


def _crate(files: Mapping[str, bytes], lines: list[dict[str, Any]], result: dict[str, Any]) -> dict[str, Any]:
    """Return the bundle's description as an RO-Crate 1.1."""
    kinds = {
        TRACE: ("Trace of the research", "application/jsonl"),
        f"{TRACE}.sig": ("Signature of the trace", "text/plain"),
        RESULT: ("Result", "application/json"),
        REPORT: ("Result for people", "text/markdown"),
        README: ("Description of the bundle", "text/markdown"),
        VERIFIER: ("Script that checks the bundle", "text/x-python"),
        ANNOTATIONS: ("Quotes as Web Annotations", "application/ld+json"),
        EVIDENCE_PAGE: ("Answer and quotes for the browser", "text/html"),
    }
    for line in _fetches(lines):
        title, url = line.get("title") or line["final_url"], line["final_url"]
        if line.get("content_hash"):
            kind = (line.get("content_type") or "application/octet-stream").partition(";")[0].strip()
            kinds[_file_of(line["content_hash"], is_text=False)] = (f"Page: {title} ({url})", kind)
        if line.get("text_hash"):
            kinds[_file_of(line["text_hash"], is_text=True)] = (f"Text of: {title} ({url})", "text/plain")
    for line in lines:
        if line.get("action") == "keep_trace":
            told = (f"Trace of the researcher {line['researcher']} ({line['trace_id']})", "application/jsonl")
            kinds[_file_of(line["trace_hash"], is_text=False)] = told
    entities = []
    for name in sorted(files):
        described, kind = kinds.get(name, ("Stored object", "application/octet-stream"))
        size, digits = str(len(files[name])), hashlib.sha256(files[name]).hexdigest()
        entities.append(
            {
                "@id": name,
                "@type": "File",
                "name": described,
                "encodingFormat": kind,
                "contentSize": size,
                "sha256": digits,
            }
        )
    first, last = lines[0], lines[-1]
    sources = list(dict.fromkeys(citation["locator"] for citation in result["citations"]))
    action = f"urn:uuid:{result['trace_id']}"
    return {
        "@context": "https://w3id.org/ro/crate/1.1/context",
        "@graph": [
            {
                "@id": CRATE,
                "@type": "CreativeWork",
                "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
                "about": {"@id": "./"},
            },
            {
                "@id": "./",
                "@type": "Dataset",
                "name": first.get("question"),
                "description": result["answer"],
                "datePublished": last["timestamp"],
                "identifier": action,
                "license": "Texts and pages are their publishers'; they are included as evidence of what was quoted.",
                "hasPart": [{"@id": name} for name in sorted(files)],
                "citation": [{"@id": source} for source in sources],
                "mentions": {"@id": action},
            },
            {
                "@id": action,
                "@type": "CreateAction",
                "name": "Research",
                "startTime": first["timestamp"],
                "endTime": last["timestamp"],
                "instrument": {"@id": "#marchwarden"},
                "object": [{"@id": source} for source in sources],
                "result": {"@id": RESULT},
            },
            {
                "@id": "#marchwarden",
                "@type": "SoftwareApplication",
                "name": "Marchwarden",
                "softwareVersion": first.get("version"),
            },
            *[{"@id": source, "@type": "CreativeWork"} for source in sources],
            *entities,
        ],
    }
