"""Writers of one Lance table on a store that knows no conditional writes: nothing that was committed is overwritten."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import lance
import pyarrow as pa
import pytest

from lakeward import Access, Client, Credentials, GenericTable
from lakeward.coordination import CoordinatedTable, lance_arguments
from lakeward.credentials import S3Keys
from lakeward.errors import NotFoundError
from tests.support.installations import Composition
from tests.support.lakeward import Lakeward
from tests.support.unconditional import Unconditional, unconditional

pytestmark = pytest.mark.parametrize("lakeward", [Composition.ONE_PROCESS], indirect=True, ids=str, scope="session")

WRITERS, EACH = 3, 2


def rows(writer: int, number: int = 0) -> pa.Table:
    return pa.table({"writer": [writer], "number": [number]})


@pytest.fixture(scope="module")
def door(lakeward: Lakeward) -> Iterator[Unconditional]:
    with unconditional(lakeward.store.endpoint) as told:
        yield told


@pytest.fixture
def table(lakeward: Lakeward, monkeypatch: pytest.MonkeyPatch, door: Unconditional) -> Iterator[GenericTable]:
    """One whose files lie behind the door."""
    asked = Access.get

    def behind(access: Access) -> Credentials:
        found = asked(access)
        assert isinstance(found.store, S3Keys)
        return replace(found, store=replace(found.store, endpoint=door.endpoint))

    monkeypatch.setattr(Access, "get", behind)
    with Client(lakeward.url) as lake:
        warehouse = lake.warehouse(lakeward.warehouse)
        name = f"ns_{secrets.token_hex(4)}"
        warehouse.create_namespace(name)
        yield warehouse.generic.create(name, "shared", format="lance")


def append(table: GenericTable, writer: int) -> None:
    for number in range(EACH):
        lance.write_dataset(rows(writer, number), mode="append", **lance_arguments(table))


def test_without_claims_such_a_store_is_of_no_use_to_lance(table: GenericTable, door: Unconditional) -> None:
    before = door.refused
    with pytest.raises(OSError, match="NotImplemented"):
        lance.write_dataset(rows(0), mode="create", **table.access().lance())
    assert door.refused > before


def test_what_writers_race_for_is_all_there_in_the_end(table: GenericTable, door: Unconditional) -> None:
    before = door.refused
    lance.write_dataset(rows(9), mode="create", **lance_arguments(table))
    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(lambda writer: append(table, writer), range(WRITERS)))
    found = lance.dataset(**lance_arguments(table))
    written = sorted((row["writer"], row["number"]) for row in found.to_table().to_pylist())
    assert written == sorted([(9, 0), *((writer, number) for writer in range(WRITERS) for number in range(EACH))])
    assert found.version == 1 + WRITERS * EACH
    assert [each.version for each in table.versions().list()] == list(range(found.version, 0, -1))
    assert door.refused == before
    # whoever knows nothing of claims reads the same, and every version
    assert lance.dataset(**table.access().lance()).to_table().num_rows == len(written)
    assert lance.dataset(version=3, **lance_arguments(table)).to_table().num_rows == 3
    staged = [
        each["path"] for each in table.access().obstore().list("_versions").collect() if "manifest-" in each["path"]
    ]
    assert staged == []


def test_a_version_whose_writer_ended_behind_its_claim_is_made_by_the_next_reader(
    table: GenericTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    lance.write_dataset(rows(1), mode="create", **lance_arguments(table))

    copied = CoordinatedTable._final

    def dies(self: CoordinatedTable, staged: str, final: str) -> str:
        if final == f"_versions/{2**64 - 1 - 2}.manifest":
            raise RuntimeError(f"the writer of {final} ends here")
        return copied(self, staged, final)

    with monkeypatch.context() as patched:
        patched.setattr(CoordinatedTable, "_final", dies)
        with pytest.raises(OSError, match="unknown"):
            lance.write_dataset(rows(2), mode="append", **lance_arguments(table))
    assert table.versions().get().version == 2
    found = lance.dataset(**lance_arguments(table))
    assert (found.version, found.count_rows()) == (2, 2)
    lance.write_dataset(rows(3), mode="append", **lance_arguments(table))
    assert lance.dataset(**lance_arguments(table)).count_rows() == 3


def test_a_table_from_before_goes_on_where_it_was(lakeward: Lakeward) -> None:
    with Client(lakeward.url) as lake:
        warehouse = lake.warehouse(lakeward.warehouse)
        name = f"ns_{secrets.token_hex(4)}"
        warehouse.create_namespace(name)
        table = warehouse.generic.create(name, "older", format="lance")
        for number in range(2):
            lance.write_dataset(rows(0, number), mode="append" if number else "create", **table.access().lance())
        lance.write_dataset(rows(1), mode="append", **lance_arguments(table))
        assert table.versions().get().version == 3
        assert lance.dataset(version=1, **lance_arguments(table)).count_rows() == 1
        with pytest.raises(NotFoundError):
            table.versions().get(1)
