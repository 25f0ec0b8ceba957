"""One verdict over a trace or a bundle: what the stand-alone verifier checks, and what needs Marchwarden to check."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from marchwarden.errors import TraceError
from marchwarden.store.content_store import Store
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.standalone_verifier import DAMAGED, MISSING, NEWER, UNCHECKED, VERIFIED, Evidence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from marchwarden.audit.bundle import Views

_IN_WORDS = {
    VERIFIED: "Verified: everything that could be checked holds.",
    DAMAGED: "Damaged: something was changed, or never fitted together.",
    MISSING: "Missing: a part that is needed is not there.",
    NEWER: "Newer: it needs a later version of Marchwarden.",
    UNCHECKED: "Unchecked: it holds nothing that it could be checked against.",
}


@dataclass(frozen=True)
class Verdict:
    state: str
    """One of `verified`, `damaged`, `missing`, `newer`, `unchecked`."""
    findings: list[Finding]

    @property
    def exit_code(self) -> int:
        return verifier.EXIT_CODES[self.state]

    @property
    def in_words(self) -> str:
        """The verdict in a sentence."""
        return _IN_WORDS[self.state]

    @classmethod
    def of(cls, findings: list[Finding]) -> Verdict:
        return cls(verifier.verdict_of(findings), findings)


def evidence_of_trace(path: Path) -> Evidence:
    """Return the evidence of a trace, with the store beside it. Raises TraceError where the trace can't be read."""
    store = Store(path.parent / "store")

    def get(name: str) -> bytes | None:
        try:
            return store.get(name)
        except TraceError:
            # A damaged object is one whose bytes are others than its name says.
            with suppress(TraceError):
                if store.has(name):
                    return b""
            return None

    try:
        trace = path.read_bytes()
        signature = verifier.signature_of(path)
        signed = signature.read_bytes() if signature.is_file() else None
    except OSError as error:
        raise TraceError(f"{path} can't be read: {error.strerror or error}") from error
    return Evidence(trace, get, trace_id=path.stem, signature=signed)


def quick_verdict(path: Path) -> Verdict:
    """Return the verdict over a trace as far as it needs nothing that is slow to import."""
    left = "`marchwarden verify` recomputes the result and reads the pages again"
    return Verdict.of(
        [*verifier.check(evidence_of_trace(path)), Finding("recomputed", UNCHECKED, left, needed=False)]
    )


def verdict(path: Path, views: Views, signer: str | None = None) -> Verdict:
    """Return the verdict over a trace, or over a bundle (a .zip file, or the folder that one was unpacked to).

    `views` are those that a bundle is exported with; `signer` is the OpenSSH public key that must have signed.
    Raises TraceError where nothing can be read.
    """
    if path.suffix == ".jsonl" and path.is_file():
        evidence = evidence_of_trace(path)
    else:
        try:
            evidence = verifier.open_bundle(path)
        except (OSError, ValueError) as error:
            raise TraceError(f"{path} is no bundle: {error}") from error
    findings = verifier.check(evidence, signer)
    if findings[0].state != NEWER:
        findings += _made_again(evidence, views)
    return Verdict.of(findings)


def _made_again(evidence: Evidence, views: Views) -> Iterator[Finding]:
    from marchwarden.audit.recompute import check_program, check_texts, recompute

    lines = [line for each in evidence.trace.split(b"\n") if (line := verifier.parse(each))]
    if not lines:
        return
    try:
        yield from recompute(lines)
        yield from check_program(lines, evidence.get)
        yield from check_texts(lines, evidence.get)
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        yield Finding("recomputed", DAMAGED, f"a step of the call can't be read: {type(error).__name__}")
    if not evidence.files:
        return
    # Files of a bundle that are made from the trace should be what this version makes from it.
    from marchwarden import __version__
    from marchwarden.audit.bundle import files_of

    try:
        again = files_of(evidence, views)
    except TraceError as error:
        yield Finding("bundle", DAMAGED, f"it can't be exported again: {error}")
        return
    names = again.keys() | evidence.files.keys()
    different = sorted(name for name in names if again.get(name) != evidence.files.get(name))
    if not different:
        yield Finding("bundle", VERIFIED, "exported again from its trace, every file is the same")
    elif lines[0].get("version") != __version__ or evidence.files.get("verify.py") != again["verify.py"]:
        yield Finding("bundle", UNCHECKED, f"another version exported it; {different[0]} is another")
    else:
        yield Finding("bundle", DAMAGED, f"exported again from its trace, {different[0]} is another")
