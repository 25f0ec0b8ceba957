from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marchwarden.errors import StorageError, TraceError
from marchwarden.observations import content_hash
from marchwarden.store.content_store import Store


@given(body=st.binary(max_size=2000))
def test_what_is_put_comes_back_under_its_hash(tmp_path_factory: pytest.TempPathFactory, body: bytes) -> None:
    store = Store(tmp_path_factory.getbasetemp() / "store")
    key = store.put(body)
    assert key == content_hash(body)
    assert store.has(key)
    assert store.get(key) == body


def test_pages_are_compressed_and_kept_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    body = b"the same words again and again " * 1000
    store.put(body)
    store.put(body)
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert file.stat().st_size < len(body) / 50


def test_what_is_missing_or_damaged_is_a_trace_error(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store.put(b"page")
    with pytest.raises(TraceError, match="missing"):
        store.get(content_hash(b"another"))
    (file,) = tmp_path.rglob("*.zst")
    claims_a_petabyte = b"\x28\xb5\x2f\xfd\xe0" + (1 << 50).to_bytes(8, "little") + b"\x01\x00\x00"
    for damage in (
        b"",
        claims_a_petabyte,
        file.read_bytes()[:-2],
        Path(_stored(tmp_path / "other", b"swapped")).read_bytes(),
    ):
        file.write_bytes(damage)
        with pytest.raises(TraceError, match="damaged"):
            store.get(key)


def _stored(folder: Path, body: bytes) -> Path:
    Store(folder).put(body)
    return next(folder.rglob("*.zst"))


def test_compressed_pages_travel_between_stores_and_nothing_else_does(tmp_path: Path) -> None:
    one, other = Store(tmp_path / "one"), Store(tmp_path / "other")
    key, another = one.put(b"page"), one.put(b"another page")
    packed = one.get_packed(key)
    assert packed is not None
    assert other.put_packed(key, packed) is True
    assert other.get(key) == b"page"
    assert other.put_packed(another, packed) is False
    assert not other.has(another)
    assert other.get_packed(another) is None
    [file] = other.files()
    assert other.key_of(file) == key
    file.write_bytes(b"damaged")
    assert other.get_packed(key) is None


@pytest.mark.usefixtures("open_umask")
def test_only_the_user_may_read_what_is_stored(tmp_path: Path) -> None:
    file = _stored(tmp_path / "store", b"page")
    assert [path.stat().st_mode & 0o077 for path in (file, file.parent)] == [0, 0]


def test_putting_it_again_mends_a_damaged_file(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = store.put(b"page")
    next(tmp_path.rglob("*.zst")).write_bytes(b"")
    store.put(b"page")
    assert store.get(key) == b"page"


@pytest.mark.parametrize("key", ["sha256:../../etc/passwd", "", "md5:00", "sha256:" + "A" * 64, "sha256:" + "a" * 63])
def test_a_key_that_is_no_hash_never_becomes_a_path(tmp_path: Path, key: str) -> None:
    with pytest.raises(TraceError, match="not a content hash"):
        Store(tmp_path).get(key)


def test_a_folder_that_cannot_be_written_is_a_storage_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StorageError) as caught:
        Store(tmp_path / "store").put(b"page")
    assert caught.value.hint


def test_a_write_that_fails_leaves_no_draft_behind(tmp_path: Path) -> None:
    """The name that the file would get is taken by a folder, so the last move fails."""
    digest = content_hash(b"page").removeprefix("sha256:")
    (tmp_path / digest[:2] / f"{digest[2:]}.zst").mkdir(parents=True)
    with pytest.raises(StorageError):
        Store(tmp_path).put(b"page")
    assert not list(tmp_path.rglob(".draft-*"))
