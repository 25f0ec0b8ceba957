"""Decompression of bodies (Content-Encoding: gzip, deflate, br, zstd), piece by piece.

Neither a small body nor a wide window can fill memory: no more is unpacked of a piece than is still wanted.

Own code beside httpx's decoders: those unpack each piece whole, so a small body may fill memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

import brotli
import zstandard

# Value of the Accept-Encoding header.
ENCODINGS = "gzip, deflate, br, zstd"

# Bytes over which a zstd body may refer back: as many as RFC 9659 allows. Brotli's window is 16 MiB at most.
MAX_WINDOW_BYTES = 8 * 1024 * 1024

# Bytes that brotli unpacks at a time, about: its buffer grows to twice as much.
_BROTLI_STEP_BYTES = 1024 * 1024

# Bytes of zstd that are unpacked at a time: 32 blocks of 128 KiB at most.
_ZSTD_SLICE_BYTES = 128

# Streams that follow on each other in one body, at most: a million empty ones would take minutes. A guess.
_MAX_STREAMS = 1000

# Other names that stand for a compression (IANA's registry of content codings, and two in use beside it).
_OTHERS = frozenset({"compress", "x-compress", "aes128gcm", "bzip2", "dcb", "dcz", "exi", "pack200-gzip", "xz"})


class Unreadable(Exception):
    """The body came in an encoding that we didn't ask for, or is broken."""


class _Stream(Protocol):
    """One compressed stream, with the methods of zlib's objects."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, packed: bytes, most: int, /) -> bytes: ...


class Unpacking:
    """Decompression of one body.

    A body may hold several streams of gzip or zstd, one after the other. Other bytes after a stream are not read.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        """`limit`: unpacked bytes after which the rest is left out."""
        self._open, self._first_bytes = _STREAMS[encoding]
        self._stream = self._open()
        self._left = limit
        self._between = b""
        self._streams = 1
        self.has_begun = False
        """True as soon as any bytes, or the end of a stream, were unpacked."""
        self.has_ended = False
        """True when the body is over; later bytes are ignored."""

    def feed(self, piece: bytes) -> bytes:
        """Unpack `piece`, up to the limit. Raises Unreadable where it is broken."""
        found = bytearray()
        while piece and not self.has_ended and len(found) < self._left:
            if self._stream.eof:
                piece = self._next_stream(self._between + piece)
                continue
            try:
                found += self._stream.decompress(piece, self._left - len(found))
            except (zlib.error, brotli.error, zstandard.ZstdError):
                raise Unreadable("the compressed page is damaged") from None
            piece = self._stream.unused_data if self._stream.eof else b""
        del found[self._left :]
        self._left -= len(found)
        self.has_begun = self.has_begun or bool(found) or self._stream.eof
        return bytes(found)

    def _next_stream(self, piece: bytes) -> bytes:
        """Open the stream that `piece` begins, and return the bytes to feed to it."""
        first = self._first_bytes
        # A piece may end within the first bytes of a stream: they wait for the next piece.
        self._between = piece if len(piece) < len(first) and first.startswith(piece) else b""
        if self._between:
            return b""
        if not first or not piece.startswith(first) or self._streams == _MAX_STREAMS:
            self.has_ended = True
            return b""
        self._stream = self._open()
        self._streams += 1
        return piece


class _Deflate:
    """Stream of deflate with the zlib header that the standard wants, or without, as some servers send it."""

    def __init__(self) -> None:
        self._stream: _Stream | None = None
        self._head = b""

    @property
    def eof(self) -> bool:
        return self._stream is not None and self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data if self._stream else b""

    def decompress(self, packed: bytes, most: int, /) -> bytes:
        if self._stream is None:
            packed = self._head = self._head + packed
            if len(packed) < 2:
                return b""
            # RFC 1950 section 2.2: method 8, and a check that makes the two bytes a multiple of 31.
            has_head = packed[0] & 15 == 8 and int.from_bytes(packed[:2], "big") % 31 == 0
            self._stream = zlib.decompressobj(wbits=15 if has_head else -15)
        return self._stream.decompress(packed, most)


class _Brotli:
    unused_data = b""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._stream.is_finished())

    def decompress(self, packed: bytes, most: int, /) -> bytes:
        found = bytearray(self._stream.process(packed, output_buffer_limit=_BROTLI_STEP_BYTES))
        while len(found) < most and not self._stream.can_accept_more_data():
            found += self._stream.process(b"", output_buffer_limit=_BROTLI_STEP_BYTES)
        return bytes(found)


class _Zstd:
    """Stream of zstd. The library unpacks all that it is given, so it is given slices."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW_BYTES).decompressobj()
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return self._stream.eof

    def decompress(self, packed: bytes, most: int, /) -> bytes:
        found = bytearray()
        for start in range(0, len(packed), _ZSTD_SLICE_BYTES):
            end = start + _ZSTD_SLICE_BYTES
            found += self._stream.decompress(packed[start:end])
            if self._stream.eof:
                self.unused_data = self._stream.unused_data + packed[end:]
            if self._stream.eof or len(found) >= most:
                break
        return bytes(found)


_GZIP: tuple[Callable[[], _Stream], bytes] = (partial(zlib.decompressobj, wbits=47), b"\x1f\x8b\x08")
# For each coding, the function that opens a stream, and the first bytes of a further stream ("" where none can
# follow).
_STREAMS: dict[str, tuple[Callable[[], _Stream], bytes]] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": (_Deflate, b""),
    "br": (_Brotli, b""),
    "zstd": (_Zstd, zstandard.FRAME_HEADER),
}


def unpacking_of(content_encoding: str, limit: int) -> Unpacking | None:
    """Return the decompression for a Content-Encoding header; None where the body is not compressed.

    Names that are no compression (utf-8, none, binary) are ignored, as browsers do. Raises Unreadable for a coding
    that was not asked for, and for several at once.
    """
    names = [
        name for name in map(str.strip, content_encoding.lower().split(",")) if name in _STREAMS or name in _OTHERS
    ]
    if not names:
        return None
    if len(names) > 1 or names[0] in _OTHERS:
        raise Unreadable(f"the server compressed the page as {', '.join(names)[:40]}, which we did not ask for")
    return Unpacking(names[0], limit)
