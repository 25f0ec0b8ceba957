"""A server that runs for long gives memory back that it does not use."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from marchwarden.server.http.free_memory import give_back


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives pages back")
def test_free_pages_between_used_ones_go_back_to_the_system() -> None:
    blocks = [b"x" * (100_000 + number) for number in range(400)]
    kept = blocks[::2]
    del blocks
    before = resident_bytes()
    assert give_back()
    assert before - resident_bytes() > 10_000_000
    assert len(kept) == 200
