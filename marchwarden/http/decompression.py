"""Bodies that came compressed (Content-Encoding: gzip, deflate, br, zstd), unpacked piece by piece.

Neither a small body nor a wide window can fill memory: no more comes out of a piece than is still wanted.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from functools import partial
from typing import Protocol

import brotli
import zstandard

ENCODINGS = "gzip, deflate, br, zstd"
"""What is asked for."""

MOST_WINDOW = 8 * 1024 * 1024
"""Bytes over which a zstd body may refer back: as many as RFC 9659 allows. Brotli's window is 16 MiB at most."""

_STEP = 1024 * 1024
"""Bytes that brotli unpacks at a time, about: its buffer grows to twice as much."""

_SLICE = 128
"""Bytes of zstd that are unpacked at a time: 32 blocks of 128 KiB at most."""

_MOST_STREAMS = 1000
"""That follow on each other in one body: a million empty ones would fill time."""

_OTHERS = frozenset({"compress", "x-compress", "aes128gcm", "bzip2", "dcb", "dcz", "exi", "pack200-gzip", "xz"})


class Unreadable(Exception):
    """The body came in an encoding that we didn't ask for, or is broken."""


class _Stream(Protocol):
    """One compressed stream, in the words of zlib."""

    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, packed: bytes, most: int, /) -> bytes: ...


class Unpacking:
    """Of one body. Streams of gzip or zstd that follow on each other are its parts; what else follows is not read."""

    def __init__(self, encoding: str, limit: int) -> None:
        """`limit`: bytes after which no more is unpacked."""
        self._open, self._first_bytes = _STREAMS[encoding]
        self._stream = self._open()
        self._left = limit
        self._between = b""
        self._streams = 1
        self.has_begun = False
        """Whether anything was unpacked, if only an end."""
        self.has_ended = False
        """Whether the body is over, whatever else is sent after it."""

    def feed(self, piece: bytes) -> bytes:
        """What `piece` holds, up to the limit. Raises Unreadable where it is broken."""
        found = bytearray()
        while piece and not self.has_ended and len(found) < self._left:
            if self._stream.eof:
                piece = self._next_stream(self._between + piece)
                continue
            try:
                found += self._stream.decompress(piece, self._left - len(found))
            except (zlib.error, brotli.error, zstandard.ZstdError):
                raise Unreadable("the page is compressed, and broken") from None
            piece = self._stream.unused_data if self._stream.eof else b""
        del found[self._left :]
        self._left -= len(found)
        self.has_begun = self.has_begun or bool(found) or self._stream.eof
        return bytes(found)

    def _next_stream(self, piece: bytes) -> bytes:
        """Opens the stream that `piece` begins, and returns what is to be fed to it."""
        first = self._first_bytes
        self._between = piece if len(piece) < len(first) and first.startswith(piece) else b""
        if self._between:
            return b""
        if not first or not piece.startswith(first) or self._streams == _MOST_STREAMS:
            self.has_ended = True
            return b""
        self._stream = self._open()
        self._streams += 1
        return piece


class _Deflate:
    """With the head that the standard wants, or without, as some servers send it."""

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
        found = bytearray(self._stream.process(packed, output_buffer_limit=_STEP))
        while len(found) < most and not self._stream.can_accept_more_data():
            found += self._stream.process(b"", output_buffer_limit=_STEP)
        return bytes(found)


class _Zstd:
    """The library unpacks whole whatever it is given: it is given slices."""

    def __init__(self) -> None:
        self._stream = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW).decompressobj()
        self.unused_data = b""

    @property
    def eof(self) -> bool:
        return self._stream.eof

    def decompress(self, packed: bytes, most: int, /) -> bytes:
        found = bytearray()
        for start in range(0, len(packed), _SLICE):
            end = start + _SLICE
            found += self._stream.decompress(packed[start:end])
            if self._stream.eof:
                self.unused_data = self._stream.unused_data + packed[end:]
            if self._stream.eof or len(found) >= most:
                break
        return bytes(found)


_GZIP: tuple[Callable[[], _Stream], bytes] = (partial(zlib.decompressobj, wbits=47), b"\x1f\x8b\x08")
_STREAMS: dict[str, tuple[Callable[[], _Stream], bytes]] = {
    "gzip": _GZIP,
    "x-gzip": _GZIP,
    "deflate": (_Deflate, b""),
    "br": (_Brotli, b""),
    "zstd": (_Zstd, zstandard.FRAME_HEADER),
}
"""How a stream of each is opened, and the bytes that a further one begins with, where there can be one."""


def unpacking_of(content_encoding: str, limit: int) -> Unpacking | None:
    """How the body of this header is unpacked; None where it is as it is.

    It also is where the header names no compression (utf-8, none, binary): browsers pass such names over too. Raises
    Unreadable for what was not asked for, several at once among it.
    """
    names = [
        name for name in map(str.strip, content_encoding.lower().split(",")) if name in _STREAMS or name in _OTHERS
    ]
    if not names:
        return None
    if len(names) > 1 or names[0] in _OTHERS:
        raise Unreadable(f"the page is compressed as {', '.join(names)[:40]}, which was not asked for")
    return Unpacking(names[0], limit)
