"""Directories to and from a store, which is one in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import MemoryStore

from lakeward import transfers
from lakeward.errors import ConfigurationError


@pytest.fixture
def store() -> Any:
    return MemoryStore()


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    (folder / "cats").mkdir(parents=True)
    (folder / "cats" / "1.png").write_bytes(b"a cat")
    (folder / "dog é.jpg").write_bytes(b"a dog")
    (folder / "empty").write_bytes(b"")
    return folder


def keys(store: Any) -> dict[str, bytes]:
    return {
        each["path"]: bytes(obstore.get(store, each["path"]).bytes()) for page in obstore.list(store) for each in page
    }


def uploaded(store: Any, source: Path, to: str = "", **options: Any) -> list[str]:
    what = transfers.uploads(source, store, to, **options)
    transfers.upload(what, store)
    return [each.key for each in what]


def test_a_directory_goes_up_and_comes_down_as_it_was(store: Any, images: Path, tmp_path: Path) -> None:
    passed: list[int] = []
    transfers.upload(transfers.uploads(images, store), store, passed.append)
    assert keys(store) == {"cats/1.png": b"a cat", "dog é.jpg": b"a dog", "empty": b""}
    assert sum(passed) == 10
    what = transfers.downloads(store, "", tmp_path / "back")
    transfers.download(what, store)
    found = {
        path.relative_to(tmp_path / "back").as_posix(): path.read_bytes() for path in (tmp_path / "back").rglob("*.*")
    }
    assert found == {"cats/1.png": b"a cat", "dog é.jpg": b"a dog"}
    assert (tmp_path / "back" / "empty").read_bytes() == b""


def test_files_larger_than_a_part_arrive_whole(store: Any, tmp_path: Path) -> None:
    large = os.urandom(20 << 20)
    (tmp_path / "large").write_bytes(large)
    uploaded(store, tmp_path / "large", "below/")
    assert keys(store) == {"below/large": large}
    transfers.download(transfers.downloads(store, "below/large", tmp_path / "again"), store)
    assert (tmp_path / "again").read_bytes() == large


def test_what_is_there_in_the_same_size_and_no_older_is_left_out_where_that_is_wanted(store: Any, images: Path) -> None:
    assert uploaded(store, images) == ["dog é.jpg", "empty", "cats/1.png"]
    (images / "cats" / "1.png").write_bytes(b"two cats")
    newer = images / "dog é.jpg"
    os.utime(newer, (newer.stat().st_mtime + 3600,) * 2)
    assert uploaded(store, images, resume=True) == ["dog é.jpg", "cats/1.png"]
    assert len(uploaded(store, images)) == 3


def test_what_an_earlier_download_brought_is_left_out_and_what_was_changed_is_not(
    store: Any, images: Path, tmp_path: Path
) -> None:
    uploaded(store, images)
    target = tmp_path / "back"
    transfers.download(transfers.downloads(store, "", target), store)
    assert transfers.downloads(store, "", target, resume=True) == []
    (target / "empty").write_bytes(b"mine")
    (target / "cats" / "1.png").unlink()
    assert {each.key for each in transfers.downloads(store, "", target, resume=True)} == {"empty", "cats/1.png"}


def test_a_directory_of_the_place_is_meant_with_its_slash_or_without(store: Any, images: Path, tmp_path: Path) -> None:
    uploaded(store, images, "pets")
    obstore.put(store, "pets-other/x", b"no pet")
    for of in ("pets", "pets/"):
        found = transfers.downloads(store, of, tmp_path)
        assert {each.file.relative_to(tmp_path).as_posix() for each in found} == {"cats/1.png", "dog é.jpg", "empty"}


def test_a_key_that_would_lie_outside_of_the_target_brings_nothing(tmp_path: Path) -> None:
    for key in ("../x", "a/../../x", "/etc/x", "a\\..\\x", "a\x00b"):
        with pytest.raises(ConfigurationError, match="nothing was downloaded"):
            transfers._within(tmp_path, key)


def test_a_download_that_fails_leaves_neither_a_file_nor_a_part_of_one(
    store: Any, images: Path, tmp_path: Path
) -> None:
    uploaded(store, images)
    what = transfers.downloads(store, "", tmp_path / "back")
    obstore.delete(store, "cats/1.png")
    with pytest.raises(transfers.TransferError, match=r"cats/1\.png could not be downloaded"):
        transfers.download(what, store)
    assert list((tmp_path / "back" / "cats").iterdir()) == []


def test_nothing_there_is_said(store: Any, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is nothing at"):
        transfers.downloads(store, "", tmp_path)
    with pytest.raises(ConfigurationError, match="there is no "):
        transfers.uploads(tmp_path / "absent", store)
