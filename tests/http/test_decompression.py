"""Compressed bodies: what was packed comes out, in whatever pieces it came; bombs and broken ones do no harm."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.http.decompression import MAX_WINDOW_BYTES, Unreadable, unpacking_of

Pack = Callable[[bytes], bytes]


def bare_deflate(body: bytes) -> bytes:
    return zlib.compress(body)[2:-4]


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


PACKED: dict[str, tuple[str, Pack]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip ", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", bare_deflate),
    "brotli": ("br", partial(brotli.compress, quality=4)),
    "zstd": ("zstd", zstd),
}
WORDS = b"".join(b"Peas number %d climb up to the roof. " % number for number in range(2000))


def unpacked(header: str, pieces: Iterable[bytes], limit: int = 1_000_000) -> bytes:
    unpacking = unpacking_of(header, limit)
    assert unpacking
    return b"".join(map(unpacking.feed, pieces))


@pytest.mark.parametrize("name", PACKED)
@given(body=st.binary(max_size=3000), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_what_was_packed_comes_out_in_whatever_pieces_it_came(name: str, body: bytes, sizes: list[int]) -> None:
    header, pack = PACKED[name]
    packed = pack(body)
    pieces, at = [], 0
    while at < len(packed):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(packed[at : at + size])
        at += size
    assert unpacked(header, pieces) == body


@pytest.mark.parametrize("name", PACKED)
def test_the_limit_counts_what_is_unpacked(name: str) -> None:
    header, pack = PACKED[name]
    unpacking = unpacking_of(header, 50_000)
    assert unpacking
    assert unpacking.feed(pack(WORDS)) == WORDS[:50_000]
    assert unpacking.feed(b"more") == b""


@pytest.mark.parametrize("name", ["gzip", "zstd"])
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_streams_that_follow_on_each_other_are_one_body(name: str, size: int) -> None:
    header, pack = PACKED[name]
    packed = pack(b"one, ") + pack(b"") + pack(b"two, ") + pack(b"three") + b"\x1f\x8b and what is none"
    pieces = [packed[at : at + size] for at in range(0, len(packed), size)]
    assert unpacked(header, pieces) == b"one, two, three"


@pytest.mark.parametrize("name", ["gzip", "deflate", "bare deflate", "zstd"])
def test_what_follows_the_end_is_not_read(name: str) -> None:
    header, pack = PACKED[name]
    unpacking = unpacking_of(header, 1_000_000)
    assert unpacking
    assert unpacking.feed(pack(WORDS) + bytes(600)) == WORDS
    unpacking.feed(b"\0")
    assert unpacking.has_ended


def test_what_follows_the_end_of_brotli_makes_it_broken() -> None:
    """Its library does not say where the end is."""
    with pytest.raises(Unreadable):
        unpacked("br", [brotli.compress(bytes(3_000_000), quality=1) + b"what follows"], limit=5_000_000)


def test_a_body_of_very_many_empty_streams_ends() -> None:
    for name in ("gzip", "zstd"):
        header, pack = PACKED[name]
        unpacking = unpacking_of(header, 1_000_000)
        assert unpacking
        unpacking.feed(pack(b"") * 5000)
        assert unpacking.has_ended


@pytest.mark.parametrize("name", PACKED)
def test_of_a_body_that_breaks_off_what_came_is_unpacked(name: str) -> None:
    header, pack = PACKED[name]
    found = unpacked(header, [pack(WORDS)[:-5]])
    assert WORDS.startswith(found)
    assert len(found) > 1000 or name in ("brotli", "zstd"), "these have blocks of up to 16 MB and of 128 kB"


@pytest.mark.parametrize("name", PACKED)
def test_a_broken_body_is_told_apart_from_a_short_one(name: str) -> None:
    header, pack = PACKED[name]
    packed = pack(WORDS)
    with pytest.raises(Unreadable):
        unpacked(header, [packed[:40] + b"\xff" * 40 + packed[80:]])


@pytest.mark.parametrize("name", PACKED)
@given(at=st.integers(0, 400), noise=st.binary(min_size=1, max_size=20))
def test_whatever_is_wrong_with_a_body_it_is_unpacked_or_broken(name: str, at: int, noise: bytes) -> None:
    header, pack = PACKED[name]
    packed = pack(WORDS[:2000])
    with suppress(Unreadable):
        assert len(unpacked(header, [packed[:at], noise, packed[at:], packed], limit=5000)) <= 5000


@pytest.mark.parametrize("header", ["gzip", "br", "zstd"])
@pytest.mark.parametrize("body", [b"<!DOCTYPE html><p>Not compressed", b'{"not": "compressed"}'])
def test_what_is_not_compressed_at_all_is_broken(header: str, body: bytes) -> None:
    with pytest.raises(Unreadable):
        unpacked(header, [body])


@pytest.mark.parametrize("header", ["", "identity", "utf-8", "none", "binary, 8bit", "text/html", "x" * 5000, ",,"])
def test_a_name_that_means_no_compression_is_passed_over(header: str) -> None:
    assert unpacking_of(header, 1) is None


@pytest.mark.parametrize(
    "header", ["compress", "dcz", "EXI", "gzip, gzip", "gzip, br", "br,zstd,gzip", ", ".join(["gzip"] * 9999)]
)
def test_what_was_not_asked_for_and_several_at_once_are_refused(header: str) -> None:
    with pytest.raises(Unreadable) as caught:
        unpacking_of(header, 1)
    assert len(str(caught.value)) < 120


def zstd_of_window(log: int, body: bytes) -> bytes:
    given = zstandard.ZstdCompressionParameters.from_level(3, window_log=log)
    stream = zstandard.ZstdCompressor(compression_params=given).compressobj()
    return stream.compress(body) + stream.flush()


def test_zstd_refers_back_as_far_as_the_web_allows() -> None:
    assert MAX_WINDOW_BYTES == 2**23
    assert unpacked("zstd", [zstd_of_window(23, WORDS)]) == WORDS
    with pytest.raises(Unreadable):
        unpacked("zstd", [zstd_of_window(24, WORDS)])


# Memory

BOMBS = """
import json, resource, sys, zlib
import brotli, zstandard
from marchwarden.http.decompression import unpacking_of

zeros = bytes(1_000_000)
stream = zlib.compressobj(9, wbits=-15)
stream.compress(zeros)
deflate = stream.flush(zlib.Z_FULL_FLUSH) * 1000
gzipped = bytes([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3]) + deflate
stream = brotli.Compressor(quality=1)
br = b"".join(stream.process(zeros) for _ in range(200)) + stream.finish()
block = (128 * 1024 << 3 | 1 << 1).to_bytes(3, "little") + b"a"  # 4 bytes that are 128 KiB
zstd = zstandard.FRAME_HEADER + bytes([0x00, 0x58]) + block * 16_000
bombs = {"gzip": gzipped, "deflate": deflate, "br": br, "zstd": zstd}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "linux" else 1024**2)

before = peak()
grown = {}
for encoding, packed in bombs.items():
    assert len(packed) < 1_100_000, (encoding, len(packed))
    unpacking = unpacking_of(encoding, 5_000_000)
    found = sum(len(unpacking.feed(packed[at : at + 65_536])) for at in range(0, len(packed), 65_536))
    assert found == 5_000_000
    grown[encoding] = peak() - before
print(json.dumps(grown))
"""


def test_a_bomb_of_any_kind_takes_little_memory() -> None:
    ran = subprocess.run([sys.executable, "-c", BOMBS], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    grown = json.loads(ran.stdout)
    assert max(grown.values()) < 50, f"megabytes, for 5 of text out of 200 to 2,000: {grown}"
