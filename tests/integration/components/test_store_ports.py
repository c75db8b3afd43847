"""Which ports a store is given, where an earlier one left sockets that are called by theirs."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward_components import seaweedfs
from lakeward_components.errors import ComponentFailed
from lakeward_components.ports import GRPC_OFFSET, take

pytestmark = pytest.mark.integration


@pytest.fixture(autouse=True)
def sockets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(seaweedfs, "_SOCKETS", tmp_path)
    return tmp_path


@pytest.fixture
def last() -> int:
    return take(given=None, last=None, twin_offset=GRPC_OFFSET)


def test_what_was_left_by_this_user_is_removed_and_the_port_taken(sockets: Path, last: int) -> None:
    left = [sockets / f"seaweedfs-s3-{last}.sock", sockets / f"seaweedfs-s3-grpc-{last + GRPC_OFFSET}.sock"]
    for each in left:
        each.touch()
    assert seaweedfs._port_of("s3", given=None, last=last, avoid=()) == last
    assert not any(each.exists() for each in left)


@pytest.mark.parametrize("name", ["seaweedfs-s3-{port}.sock", "seaweedfs-s3-grpc-{twin}.sock"])
def test_a_port_of_which_somebody_else_left_one_is_not_taken(sockets: Path, last: int, name: str) -> None:
    # a folder is as little ours to unlink, whoever runs the test
    theirs = sockets / name.format(port=last, twin=last + GRPC_OFFSET)
    theirs.mkdir()
    assert seaweedfs._port_of("s3", given=None, last=last, avoid=()) != last
    with pytest.raises(ComponentFailed, match=f"{theirs} is another user's.*choose another port"):
        seaweedfs._port_of("s3", given=last, last=None, avoid=())
    assert theirs.exists()
