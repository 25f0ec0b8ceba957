"""A bundle is the same at every export, is checked by its own script, and shows every change of its files."""

from __future__ import annotations

import hashlib
import io
import json
import random
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from marchwarden import contract
from marchwarden.audit.bundle import Views, files_of, packed
from marchwarden.audit.verdict import evidence_of_trace, verdict
from marchwarden.errors import TraceError
from marchwarden.stages.synthesize import NOTHING_FOUND, NOTHING_NEW
from marchwarden.trace import standalone_verifier as verifier
from marchwarden.trace.reader import find_trace
from tests.audit.calls import QUESTION, VIEWS, lines_of, make_call

Files = dict[str, bytes]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory, cache_dir: Path) -> Path:
    folder = tmp_path_factory.mktemp("bundled")
    make_call(folder, cache_dir)
    return find_trace(folder / "traces")


@pytest.fixture(scope="module")
def files(trace: Path) -> Files:
    return files_of(evidence_of_trace(trace), VIEWS)


def verdict_of(files: Files, folder: Path) -> str:
    path = folder / "bundle.zip"
    path.write_bytes(packed(files))
    return verdict(path, VIEWS).state


def checked_by_script(path: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-I", "-S", "verify.py", *arguments]
    return subprocess.run(command, cwd=path, capture_output=True, timeout=60)


def test_two_exports_are_the_same_byte_for_byte(trace: Path, files: Files) -> None:
    assert packed(files) == packed(files_of(evidence_of_trace(trace), VIEWS))


def test_a_bundle_is_verified(files: Files, tmp_path: Path) -> None:
    assert verdict_of(files, tmp_path) == "verified"


def test_the_script_needs_nothing_but_python(files: Files, tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(packed(files))).extractall(tmp_path / "unpacked")
    ran = checked_by_script(tmp_path / "unpacked")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert ran.stdout.decode().endswith("\nverified\n")
    (tmp_path / "answer.zip").write_bytes(packed(files))
    told = json.loads(checked_by_script(tmp_path / "unpacked", str(tmp_path / "answer.zip"), "--json").stdout)
    assert told["verdict"] == "verified"
    result = tmp_path / "unpacked" / "result.json"
    result.write_text(result.read_text("utf-8").replace("342", "999"), "utf-8")
    assert checked_by_script(tmp_path / "unpacked").returncode == 1
    (tmp_path / "unpacked" / "trace.jsonl").unlink()
    ran = checked_by_script(tmp_path / "unpacked")
    assert ran.returncode == 1
    assert b"can't be read" in ran.stdout


def test_a_folder_that_is_no_bundle_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "disk.img").open("wb") as large:
        large.truncate(1 << 40)  # a file with a hole: reading it would take all memory
    with pytest.raises(ValueError, match=r"there is no trace\.jsonl in it"):
        verifier.open_bundle(tmp_path)
    (tmp_path / "trace.jsonl").touch()
    with pytest.raises(ValueError, match="more than a bundle has"):
        verifier.open_bundle(tmp_path)


def test_a_file_that_is_not_of_the_bundle_is_named_as_such(files: Files, tmp_path: Path) -> None:
    zipfile.ZipFile(io.BytesIO(packed(files | {"research.pub": b"ssh-ed25519 AAAA"}))).extractall(tmp_path)
    ran = checked_by_script(tmp_path)
    assert ran.returncode == 1
    assert "research.pub is not listed in SHA256SUMS" in ran.stdout.decode()


@pytest.mark.parametrize(
    "name", ["result.json", "result.md", "annotations.jsonld", "ro-crate-metadata.json", "README.md"]
)
def test_a_file_that_was_changed_with_its_sum_is_noticed(files: Files, tmp_path: Path, name: str) -> None:
    """Exported again, the bundle is another."""
    forged = files | {
        name: files[name].replace(b"342", b"999").replace(b"Boston", b"London").replace(b"verify", b"accept")
    }
    assert forged != files
    sums = [
        f"{hashlib.sha256(forged[each]).hexdigest()}  {each}\n" for each in sorted(forged.keys() - {"SHA256SUMS"})
    ]
    assert verdict_of(forged | {"SHA256SUMS": "".join(sums).encode()}, tmp_path) == "damaged"


def test_a_file_that_is_removed_added_or_renamed_is_noticed(files: Files, tmp_path: Path) -> None:
    for name in files:
        if name != "trace.jsonl":
            rest = {each: body for each, body in files.items() if each != name}
            state = verdict_of(rest, tmp_path)
            assert state in ("damaged", "missing"), name
    assert verdict_of(files | {"more.txt": b"more"}, tmp_path) == "damaged"
    with pytest.raises(TraceError, match=r"no trace\.jsonl"):
        verdict_of({"result.json": files["result.json"]}, tmp_path)


def test_one_byte_anywhere_is_noticed(files: Files, tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(60):
        name = chance.choice(sorted(files))
        body = bytearray(files[name])
        place = chance.randrange(len(body))
        body[place] ^= 1 << chance.randrange(8)
        path = tmp_path / "bundle.zip"
        path.write_bytes(packed(files | {name: bytes(body)}))
        found = verifier.verdict_of(verifier.check(verifier.open_bundle(path)))
        assert found != "verified", (name, place)


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04", b"no archive"])
def test_what_is_no_bundle_is_an_error_of_ours(tmp_path: Path, body: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(body)
    with pytest.raises(TraceError, match="is no bundle"):
        verdict(tmp_path / "x.zip", VIEWS)


def test_a_file_that_is_in_a_bundle_twice_is_refused(files: Files, tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("result.json", b"{}")
    with pytest.raises(TraceError, match="twice"):
        verdict(path, VIEWS)


@pytest.mark.parametrize(("fault", "told"), [("link", "is a link"), ("name", "has a second name")])
def test_a_file_that_other_programs_would_unpack_as_another_is_refused(
    files: Files, tmp_path: Path, fault: str, told: str
) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, body in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o100644 << 16
            # The time of the change, as zip programs add it.
            entry.extra = b"UT\x05\x00\x01\x00\x00\x00\x00"
            if name == "result.md" and fault == "link":
                entry.external_attr = 0o120777 << 16
            elif name == "result.md":
                other = b"\x01" + zlib.crc32(name.encode()).to_bytes(4, "little") + b"evidence.html"
                entry.extra += b"up" + len(other).to_bytes(2, "little") + other
            archive.writestr(entry, body)
    with pytest.raises(TraceError, match=told):
        verdict(path, VIEWS)


@pytest.mark.parametrize("name", ["../evil", "./result.md", "/etc/passwd", "texts/../result.md", "a\\b"])
def test_a_file_that_would_be_unpacked_elsewhere_is_refused(files: Files, tmp_path: Path, name: str) -> None:
    with pytest.raises(TraceError, match="no name of a file in a bundle"):
        verdict_of(files | {name: b"x"}, tmp_path)


def test_another_script_in_a_bundle_excuses_no_other_file(files: Files, tmp_path: Path) -> None:
    forged = files | {"verify.py": files["verify.py"] + b"\n", "result.md": files["result.md"] + b"Nine million."}
    forged["SHA256SUMS"] = b"".join(
        f"{hashlib.sha256(body).hexdigest()}  {name}\n".encode()
        for name, body in sorted(forged.items())
        if name != "SHA256SUMS"
    )
    assert verdict_of(forged, tmp_path) == "unchecked"


def test_annotations_find_each_quote_by_its_words_and_by_its_place(trace: Path, files: Files) -> None:
    result = json.loads(files["result.json"])
    items: list[dict[str, Any]] = json.loads(files["annotations.jsonld"])["items"]
    assert [item["target"]["source"] for item in items] == [each["locator"] for each in result["citations"]]
    for item in items:
        text = files[item["target"]["state"]["cached"]].decode()
        quote, position = item["target"]["selector"]
        assert text[position["start"] : position["end"]] == quote["exact"]
        assert quote["prefix"] + quote["exact"] + quote["suffix"] in text


def test_the_crate_describes_every_file(files: Files) -> None:
    graph = {entity["@id"]: entity for entity in json.loads(files["ro-crate-metadata.json"])["@graph"]}
    assert {each["@id"] for each in graph["./"]["hasPart"]} == files.keys() - {"SHA256SUMS", "ro-crate-metadata.json"}
    assert graph["trace.jsonl"]["contentSize"] == str(len(files["trace.jsonl"]))
    assert graph["./"]["name"] == QUESTION


def test_an_evidence_page_is_a_file_like_the_others(trace: Path, tmp_path: Path) -> None:
    views = Views(report=VIEWS.report, evidence_page=lambda evidence: b"<!doctype html>")
    path = tmp_path / "bundle.zip"
    path.write_bytes(packed(files_of(evidence_of_trace(trace), views)))
    assert verdict(path, views).state == "verified"


def test_a_call_without_a_result_cannot_be_exported(trace: Path, tmp_path: Path) -> None:
    cut = tmp_path / trace.name
    cut.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(TraceError, match="no result"):
        files_of(evidence_of_trace(cut), VIEWS)


def test_a_page_that_is_no_longer_stored_cannot_be_exported(trace: Path, tmp_path: Path) -> None:
    alone = tmp_path / trace.name
    alone.write_bytes(trace.read_bytes())
    with pytest.raises(TraceError, match="missing or damaged in the store"):
        files_of(evidence_of_trace(alone), VIEWS)


def test_the_script_has_the_rules_of_the_contract() -> None:
    assert verifier.EXCERPT_LIMIT == contract.EXCERPT_LIMIT
    assert verifier.EXCERPT_CUT == contract.EXCERPT_CUT
    assert verifier.NON_TEXT_SOURCE == contract.NON_TEXT_SOURCE
    assert verifier.DISAGREEMENT == contract.DISAGREEMENT
    assert all(each.startswith(verifier.NOTHING[0]) for each in (NOTHING_FOUND, NOTHING_NEW))
    for length in (1, 499, 500, 501, 2000):
        assert verifier.cut_excerpt("x" * length) == contract.cut_excerpt("x" * length)


def test_a_line_that_a_full_disk_cut_is_vouched_for_by_the_next(trace: Path) -> None:
    lines = lines_of(trace.read_bytes())
    torn = b"".join(trace.read_bytes().splitlines(keepends=True)[:2]) + b'{"step": 3, "act\n'
    rest = {**lines[2], "before": verifier.digest(torn)}
    body = torn + json.dumps(rest).encode() + b"\n"
    findings = verifier.check(verifier.Evidence(body, lambda name: None))
    assert findings[0].state == "verified"
