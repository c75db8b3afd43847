"""What callers send as JSON: looked at after they were, bounded before it is read, and read beside the loop where it is large."""

from __future__ import annotations

import ast
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import given
from hypothesis import strategies as st

from lakeward_catalog.application import payloads
from lakeward_catalog.application.payloads import MAX_BYTES, Payload, beside
from lakeward_catalog.domain.iceberg import documents
from lakeward_catalog.domain.iceberg.documents import Invalid, read, read_members
from lakeward_protocol.common.v1 import options_pb2
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from lakeward_servicekit.json_bounds import REQUEST_LIMITS
from lakeward_servicekit.rpc import Caller
from tests.support.catalog.expectations import EXPECTED
from tests.support.catalog.expectations.case import Case
from tests.support.catalog.house import ANYTHING, House, a_house, refusal_of
from tests.support.deciding import Rule

ROOT = Path(__file__).parents[3]
# Bytes that users send and that are no documents for the catalog to read, with who reads them.
NOT_OURS = {
    "/lakeward.catalog.v1.ContractService/SetContracts contracts": "up to 256 KiB, read by its type and no deeper",
    "/lakeward.catalog.v1.SigningService/SignS3Request body": "XML, for the store; vending bounds and signs it",
    "/lakeward.catalog.v1.WarehouseService/CreateWarehouse storage_profile": "vending, up to 64 KiB",
    "/lakeward.catalog.v1.WarehouseService/UpdateStorage storage_profile": "vending, up to 64 KiB",
    "/lakeward.catalog.v1.WarehouseService/ValidateWarehouseStorage storage.storage_profile": "vending, up to 64 KiB",
    "/lakeward.catalog.v1.WarehouseService/ValidateWarehouse warehouse.storage_profile": "vending, up to 64 KiB",
}
# Where JSON becomes values without a bound, and whose JSON that is.
OTHER_READERS = {
    "application/garbage.py:read": "bodies that the catalog wrote",
    "application/payloads.py:name": "the name of a document of up to 32 KiB; nothing else in it becomes a value",
    "application/namespaces/properties.py:again": "what the catalog kept",
    "application/namespaces/moving.py:_again": "what the catalog kept",
    "application/placing.py:_layout": "a warehouse's layout, as vending normalised it",
    "adapters/postgres/rows.py:_decode_mapping": "columns that the catalog wrote",
    "adapters/postgres/table_versions.py:_decode_mapping": "columns that the catalog wrote",
    "adapters/postgres/task_records.py:_record": "a task's plan, which the catalog wrote",
    "adapters/postgres/tasks.py:_task": "the same",
    "domain/iceberg/documents.py:_value": "the mechanism: called behind a bound alone",
    "domain/iceberg/documents.py:_decoder": "the mechanism: for bytes that were read before",
    "domain/iceberg/parts.py:same_content": "a part of what was read before",
    "domain/iceberg/parts.py:with_members": "a part of what was read before",
    "domain/iceberg/snapshots.py:_SUMMARIES": "a part of what was read before",
    "domain/iceberg/snapshots.py:check_new_snapshot": "a part of what was read before",
    "adapters/contracts/http.py:_decoder": "a checker's answer, up to 64 KiB, by its type",
    "adapters/formats/delta_actions.py:_action": "lines of a table's log, which are bounded where they are read, by their type",
    "adapters/formats/delta_actions.py:_stats": "the same",
    "adapters/formats/delta.py:_sum": "the same",
    "domain/contracts/contract.py:_decoder": "up to 256 KiB, by its type",
    "domain/contracts/shapes.py:_decode": "documents that were read before",
    "domain/generic/measures.py:_read": "what the catalog kept",
    "domain/view_owners.py:_document": "bodies that the catalog wrote",
    "domain/iceberg/table.py:_head": "a part of what was read before",
}


def _bytes_in(message: Descriptor, path: str = "") -> Iterator[str]:
    for field in message.fields:
        where = f"{path}.{field.name}" if path else field.name
        if field.type == FieldDescriptor.TYPE_BYTES:
            yield where
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            yield from _bytes_in(field.message_type, where)


def _documents() -> Iterator[tuple[str, str]]:
    """(method, field) of all bytes that users send to the catalog."""
    for path in EXPECTED:
        method = _method(path)
        rule = method.GetOptions().Extensions[options_pb2.rule]
        if options_pb2.CALLER_USER in rule.callers or options_pb2.CALLER_GATEWAY in rule.callers:
            for field in _bytes_in(method.input_type):
                yield path, field


def _method(path: str) -> Any:
    _, service, method = path.split("/")
    return descriptor_pool.Default().FindServiceByName(service).methods_by_name[method]


FOUND = sorted(_documents())
READ = [(path, field) for path, field in FOUND if f"{path} {field}" not in NOT_OURS]


def test_the_walk_finds_documents_and_no_exception_is_stale() -> None:
    assert len(READ) == 8
    assert NOT_OURS.keys() <= {f"{path} {field}" for path, field in FOUND}


async def _sent(path: str, field: str, document: bytes, *, key: bool = False) -> tuple[House, Any]:
    case: Case = EXPECTED[path][0]
    house = await a_house()
    if case.prepare is not None:
        await case.prepare(house)
    request = case.request(house)
    setattr(request, field, document)
    if key:
        request.context.idempotency_key = str(uuid4())
    return house, request


def _answer(house: House, path: str, request: Any) -> Any:
    return house.host.channel(caller=Caller.CALLER_GATEWAY).unary_unary(path)(request)


HOSTILE = {
    "empty objects": b'{"updates":[' + b"{}," * REQUEST_LIMITS.containers + b"{}]}",
    "values": b'{"updates":[' + b"1," * REQUEST_LIMITS.values + b"1]}",
    "nested": b'{"updates":' + b"[" * REQUEST_LIMITS.depth + b"]" * REQUEST_LIMITS.depth + b"}",
    "unclosed": b"[" * 10**6,
}


@pytest.mark.parametrize("key", [False, True], ids=["unkeyed", "keyed"])
@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize(("path", "field"), READ)
async def test_a_document_that_holds_too_much_is_refused_before_it_is_parsed(
    path: str, field: str, hostile: str, key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, request = await _sent(path, field, HOSTILE[hostile], key=key)
    monkeypatch.setattr(documents, "_value", _never)
    refusal = await refusal_of(_answer(house, path, request))
    assert refusal.reason == Reason.REASON_MALFORMED_DOCUMENT
    assert re.search("more than [0-9]+ (levels|objects|members)", refusal.message)


@pytest.mark.parametrize(("path", "field"), READ)
async def test_a_document_longer_than_the_gateway_takes_is_too_large_over_grpc_as_well(path: str, field: str) -> None:
    house, request = await _sent(path, field, b" " * (MAX_BYTES + 1))
    assert (await refusal_of(_answer(house, path, request))).reason == Reason.REASON_TOO_LARGE


@pytest.mark.parametrize("key", [False, True], ids=["unkeyed", "keyed"])
@pytest.mark.parametrize(("path", "field"), READ)
async def test_what_a_stranger_sends_is_not_read(
    path: str, field: str, key: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, request = await _sent(path, field, b'{"name": "x"}', key=key)
    house.authorizer.replace(Rule(allows=False, kind=ObjectKind.WAREHOUSE), ANYTHING)
    for reader in ("_check_limits", "_value"):
        monkeypatch.setattr(documents, reader, _never)
    assert (await refusal_of(_answer(house, path, request))).reason == Reason.REASON_NO_SUCH_WAREHOUSE


# A transaction's tables are named in it. A commit to a table that isn't there, or is hidden, may be about to create it, and only
# the document says so: who may use the warehouse has it read.
_READ_BEFORE = ("CommitTransaction", "CommitTable")


@pytest.mark.parametrize(("path", "field"), [each for each in READ if not each[0].endswith(_READ_BEFORE)])
async def test_what_is_sent_for_a_hidden_table_view_or_namespace_is_not_read(
    path: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, request = await _sent(path, field, b'{"name": "x"}')
    case = EXPECTED[path][0]
    (kind, reason) = next((kind, reason) for kind, reason in case.gone.items() if kind is not ObjectKind.WAREHOUSE)
    house.authorizer.replace(Rule(allows=False, kind=kind), ANYTHING)
    for reader in ("_check_limits", "_value"):
        monkeypatch.setattr(documents, reader, _never)
    assert (await refusal_of(_answer(house, path, request))).reason == reason


async def test_the_twin_of_these_sees_that_a_document_is_read_where_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for path, field in READ:
        house, request = await _sent(path, field, b'{"name": "x"}')
        with monkeypatch.context() as patched:
            patched.setattr(documents, "_value", _never)
            assert (await refusal_of(_answer(house, path, request))).reason == Reason.REASON_INTERNAL


def _never(*_: object) -> None:
    raise AssertionError("it was read")


@pytest.mark.parametrize(("size", "apart"), [(10, False), (1024 * 1024, True)])
async def test_a_large_document_is_read_beside_the_event_loop(size: int, apart: bool) -> None:
    payload = Payload(json.dumps({"a": "x" * size}).encode())
    threads = [
        await payload.read(lambda _: threading.get_ident()),
        await beside(len(payload), threading.get_ident),
    ]
    assert [thread != threading.get_ident() for thread in threads] == [apart, apart]
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patched:

        def seeing(raw: bytes) -> object:
            seen.append(threading.get_ident())
            return read(raw)

        patched.setattr(payloads, "read", seeing)
        await payload.digest()
    assert [thread != threading.get_ident() for thread in seen] == [apart]


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (b'{"name": "t", "schema": {"name": "inner"}}', "t"),
        (b'{"name": "first", "name": "last"}', "last"),
        (b'{"schema": {"name": "inner"}}', ""),
        (b'{"name": 7}', ""),
        (b'{"name": "t", "schema": ' + b"[" * 30_000, ""),
        (b'{"name": "t", "schema": [}', ""),
        (b'{"name": "t", "rest": "' + b"x" * 33_000 + b'"}', ""),
        (b"\xff", ""),
        (b'{"name": "\xff"}', ""),
        (b'{"name": "\\ud800"}', ""),
        (b'{"name": "\x00"}', ""),
        (b'{"name": NaN}', ""),
        (b"[]", ""),
        (b"", ""),
    ],
)
def test_the_name_is_looked_up_in_a_small_document_alone(document: bytes, name: str) -> None:
    assert Payload(document).name == name


@given(st.binary(max_size=60) | st.binary(max_size=20).map(lambda text: b'{"name": "' + text + b'"}'))
def test_looking_for_a_name_never_fails(document: bytes) -> None:
    assert isinstance(Payload(document).name, str)


async def test_what_is_never_read_is_its_own_form() -> None:
    for raw in (b"{", b"[" * 1000, b'{"a": 1e999}'):
        assert await Payload(raw).digest() == await Payload(raw).digest()
        assert await Payload(raw).digest() != await Payload(raw + b" ").digest()
    assert await Payload(b'{"a": 1}').digest() == await Payload(b'{ "a":1}').digest()


def test_a_file_may_hold_what_a_request_may_and_is_read_to_the_last_value() -> None:
    deep = b"[" * REQUEST_LIMITS.depth + b"]" * REQUEST_LIMITS.depth
    assert bytes(read_members(b'{"a": ' + deep + b"}")["a"]) == deep
    assert read_members(b'{"a": [ 1, {"b" : 2, "b":3} ], "c": null}') == {
        "a": msgspec.Raw(b'[1,{"b":3}]'),
        "c": msgspec.Raw(b"null"),
    }
    for bad in (b'{"a": [{"b": "\xff"}]}', b'{"a": [1e999]}', b'{"a": [{"b": "\\ud800"}]}', b'{"a": [1', b"[]", b""):
        with pytest.raises(Invalid):
            read_members(bad)


def test_json_becomes_values_behind_a_bound_or_is_our_own() -> None:
    folder = ROOT / "services/catalog/lakeward_catalog"
    found = {
        f"{path.relative_to(folder).as_posix()}:{name}"
        for path in folder.rglob("*.py")
        for name in _readers(ast.parse(path.read_text()))
    }
    assert found == OTHER_READERS.keys()


@pytest.mark.parametrize(
    "source",
    [
        "import json\ndef f(): return json.loads('')",
        "import json as j\nf = j.loads",
        "from json import loads\ndef f(): loads('')",
        "import msgspec\ndef f(): return msgspec.json.decode(b'')",
        "import msgspec\nf = msgspec.json.Decoder(dict).decode",
        "from msgspec import json\ndef f(): return json.decode(b'')",
        "from msgspec.json import decode as d\ndef f(): return d(b'')",
    ],
)
def test_the_walk_finds_a_reader_however_it_is_written(source: str) -> None:
    assert list(_readers(ast.parse(source))) == ["f"]


def _readers(tree: ast.Module) -> Iterator[str]:
    """The names of the functions and variables that make values of JSON."""
    names = set(_names(tree))
    for outer, node in _named(tree):
        references = {ast.unparse(each) for each in ast.walk(node) if isinstance(each, ast.Name | ast.Attribute)}
        if references & names:
            yield outer


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                shown = alias.asname or alias.name
                if alias.name == "json":
                    yield from (f"{shown}.loads", f"{shown}.load", f"{shown}.JSONDecoder")
                if alias.name == "msgspec":
                    yield from (f"{shown}.json.decode", f"{shown}.json.Decoder")
        elif isinstance(node, ast.ImportFrom) and node.module in ("json", "msgspec", "msgspec.json"):
            for alias in node.names:
                shown = alias.asname or alias.name
                if alias.name in ("loads", "load", "JSONDecoder", "decode", "Decoder"):
                    yield shown
                elif alias.name == "json":
                    yield from (f"{shown}.decode", f"{shown}.Decoder")


def _named(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Innermost functions and assignments outside them, each without what is named inside it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = list(_named(child))
            yield from inner
            kept = [each for each in child.body if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
            yield child.name, ast.Module(body=kept, type_ignores=[])
        elif isinstance(child, ast.Assign | ast.AnnAssign) and not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef
        ):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            yield ast.unparse(target), child
        elif isinstance(child, ast.ClassDef):
            yield from _named(child)
