"""What bytes are, and their characters."""

from __future__ import annotations

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.tools.decoding import decode, media_type
from tests.shared_data import SHARED_DATA

GERMAN = "Die Gärten in Köln blühen früh, und die Straßen sind naß – „schön“, sagte er; das kostet 5 €. " * 4
RUSSIAN = "В мае огурцы высаживают в открытый грунт, когда почва прогреется до пятнадцати градусов. " * 4
JAPANESE = "トマトは五月に植えます。夏の終わりまで収穫できます。" * 6


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x1b"), max_size=300))
def test_utf8_is_read_whatever_is_declared(text: str) -> None:
    assert decode(text.encode("utf-8"), "text/html; charset=utf-8").lstrip("\ufeff") == text.lstrip("\ufeff")


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (GERMAN.encode("cp1252"), "text/html; charset=windows-1252", GERMAN),
        (GERMAN.encode("cp1252"), "text/html; charset=iso-8859-1", GERMAN),
        (
            b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251"),
            None,
            '<meta charset="windows-1251">' + RUSSIAN,
        ),
        (JAPANESE.encode("shift_jis"), "text/html; charset=Shift_JIS", JAPANESE),
        (JAPANESE.encode("euc_jp"), 'text/html; charset="EUC-JP"', JAPANESE),
        (b"\xef\xbb\xbf" + GERMAN.encode(), "text/html; charset=iso-8859-1", GERMAN),
        (GERMAN.encode("utf-16"), None, GERMAN),
        (GERMAN.encode("utf-16-le"), None, GERMAN),
        (GERMAN.encode("utf-16-be"), "text/plain; charset=utf-16be", GERMAN),
    ],
)
def test_declared_encodings_are_followed(body: bytes, content_type: str | None, text: str) -> None:
    assert decode(body, content_type) == text


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (GERMAN.encode("utf-8"), "text/html; charset=iso-8859-1", GERMAN),
        (GERMAN.encode("cp1252"), "text/html; charset=utf-8", GERMAN),
        (RUSSIAN.encode("cp1251"), "text/html; charset=utf-8", RUSSIAN),
        (RUSSIAN.encode("koi8-r"), None, RUSSIAN),
        (RUSSIAN.encode("cp1251"), None, RUSSIAN),
        (JAPANESE.encode("shift_jis"), None, JAPANESE),
        (RUSSIAN.encode("utf-8"), "text/html; charset=nonsense", RUSSIAN),
        (RUSSIAN.encode("utf-8"), "text/html; charset=base64", RUSSIAN),
    ],
)
def test_a_wrong_or_missing_declaration_is_recognised(body: bytes, content_type: str | None, text: str) -> None:
    assert decode(body, content_type) == text


def test_a_character_cut_at_the_end_or_a_few_broken_ones_do_not_change_the_encoding() -> None:
    body = (RUSSIAN * 20).encode()
    assert decode(body[:-3], "text/html; charset=utf-8").startswith(RUSSIAN)
    assert decode(body + b"\xff" + body, None) == RUSSIAN * 20 + "\ufffd" + RUSSIAN * 20


@pytest.mark.parametrize(
    ("body", "declared", "url", "kind"),
    [
        (b"  <!DOCTYPE html><p>", None, "", "text/html"),
        (b"<!-- a --> <html>", "application/octet-stream", "", "text/html"),
        (b"<?xml version='1.0'?><html>", "application/xml", "", "text/html"),
        (b"<feed>", "application/atom+xml", "", "application/atom+xml"),
        (b"just words", "text/html", "", "text/html"),
        (b"junk %PDF-1.7", "text/html", "", "application/pdf"),
        (b"a,b\n1,2", "text/csv", "", "text/plain"),
        (b"# Title", None, "https://a.org/README.md?raw=1", "text/markdown"),
        (b"# Title", "text/markdown", "", "text/markdown"),
        (b"{}", "application/ld+json", "", "application/json"),
        (b"[1]", "text/plain", "", "application/json"),
        (b"[see below]", "text/plain", "", "text/plain"),
        (b"words", "application/x-latex", "", "application/x-latex"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "text/html", "", "image/webp"),
        ("Wörter".encode("utf-16"), "text/plain", "", "text/plain"),
        ("Words and more words".encode("utf-16-le"), "text/plain", "", "text/plain"),
        (b"\0\0\0\0\0\0\0\0junk", "text/plain", "", "application/octet-stream"),
    ],
)
def test_the_first_bytes_say_more_than_the_header(body: bytes, declared: str | None, url: str, kind: str) -> None:
    assert media_type(body, declared, url) == kind


ENCODINGS = SHARED_DATA / "encodings-chardet/encodings.tar.xz"


@pytest.mark.skipif(not ENCODINGS.is_file(), reason=f"the public set of encodings is not at {ENCODINGS}")
@pytest.mark.parametrize(
    ("folder", "share"),
    [("UTF-8", 1.0), ("windows-1251-russian", 0.8), ("EUC-JP", 0.9), ("Big5", 0.9), ("EUC-KR", 0.9)],
)
def test_encodings_of_a_public_set_are_found(folder: str, share: float) -> None:
    encoding = folder.removesuffix("-russian")
    with tarfile.open(ENCODINGS) as archive:
        files = [
            member for member in archive if member.isfile() and member.name.split("/")[-2].lower() == folder.lower()
        ]
        bodies = [io.BytesIO(archive.extractfile(member).read()).getvalue() for member in files]  # type: ignore[union-attr]
    assert bodies
    wanted = [body.decode(encoding, "replace") for body in bodies]
    right = sum(decode(body, None) == text for body, text in zip(bodies, wanted, strict=True))
    assert right >= share * len(bodies)
