"""A session with every secret in play, after which none of them is in a log, an event, a row or an answer to a failure."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import httpx
import pytest

from lakeward_components.sigv4 import Key
from tests.integration.security.conftest import Place
from tests.support.warehouses import make_warehouse, tables_of, told, warehouse_document

pytestmark = pytest.mark.integration

_VENDED = {"x-iceberg-access-delegation": "vended-credentials"}
_SIGNED = {"x-iceberg-access-delegation": "remote-signing"}


@dataclass(slots=True)
class Session:
    """What was said.

    Attributes:
        secrets: by what they are.
        failures: bodies and headers of every answer that is no success.
        marker: a name that is no secret, and is said in the same places.
    """

    secrets: dict[str, str]
    failures: list[str] = field(default_factory=list)
    marker: str = ""

    def heard(self, reply: httpx.Response) -> httpx.Response:
        if not reply.is_success:
            self.failures.append(f"{reply.status_code} {dict(reply.headers)} {reply.text}")
        return reply


async def test_no_secret_is_in_a_log_an_event_a_row_or_an_answer_to_a_failure(
    place: Place, http: httpx.AsyncClient
) -> None:
    session = Session(_secrets_of(place), marker=f"marker{secrets.token_hex(6)}")
    await _work(session, place, http)
    await _fail(session, place, http)
    haystacks = {
        **{f"the log of {name}": log for name, log in place.installation.logs().items()},
        **await _rows(place.database),
        "answers to failures": "\n".join(session.failures),
    }
    found = [
        f"{what} ({form}) in {where}"
        for where, text in haystacks.items()
        for what, secret in session.secrets.items()
        for form, needle in _forms(secret)
        if needle in text
    ]
    assert not found
    _assert_that_the_search_sees(session, haystacks)


def _assert_that_the_search_sees(session: Session, haystacks: Mapping[str, str]) -> None:
    """The twin: what is no secret, and went the same ways, is found in each kind of place."""
    logs = "".join(text for where, text in haystacks.items() if where.startswith("the log"))
    assert '"statement"' in logs, "statements were to be logged"
    assert session.marker in logs, "requests were to be logged by their ids"
    assert session.marker in haystacks["answers to failures"]
    assert session.marker in haystacks["lakeward_catalog.namespace"]
    assert session.marker in haystacks["lakeward_catalog.outbox"] + haystacks["lakeward_catalog.event_log"]
    assert len(session.failures) > 15, session.failures


def _secrets_of(place: Place) -> dict[str, str]:
    settings, store = place.settings, place.store
    found = {
        "the store's key": store.admin.secret_key,
        "the vending key": store.sts_only.secret_key,
        "the encryption passphrase": settings["LAKEKEEPER__PG_ENCRYPTION_KEY"],
        "a user's token": place.token,
        "a user's token's signature": place.token.rpartition(".")[2],
    }
    if password := urlsplit(place.database).password:
        found["the database's password"] = password
    if password := settings.get("LAKEKEEPER__NATS_PASSWORD"):
        found["NATS's password"] = password
    for service, key in place.installation.keys.items():
        found[f"the key of {service}"] = base64.b64encode(key.private_bytes_raw()).decode()
    return found


def _forms(secret: str) -> Iterable[tuple[str, str]]:
    """How a secret may be written."""
    assert len(secret) >= 8, "too short to be looked for"
    raw = secret.encode()
    yield "plain", secret
    yield "escaped", json.dumps(secret)[1:-1]
    yield "base64", base64.b64encode(raw).decode().rstrip("=")[:-1]
    yield "hex", raw.hex()


async def _work(session: Session, place: Place, http: httpx.AsyncClient) -> None:
    """Everything that touches a secret, as it should."""
    warehouse = await make_warehouse(http, place.store)
    told(
        await http.post(
            f"{place.path}/namespaces", json={"namespace": [session.marker]}, headers={"x-request-id": session.marker}
        )
    )
    path = tables_of(place.warehouse, "sales")
    for headers in (_VENDED, _SIGNED):
        answer = told(await http.get(f"{path}/orders", headers=headers)).json()
        _remember_vended(session, answer)
    credentials = told(await http.get(f"{path}/orders/credentials", headers=_VENDED)).json()
    _remember_vended(session, credentials)
    body = {
        "method": "GET",
        "region": place.store.region,
        "uri": f"{place.store.endpoint}/{place.location.removeprefix('s3://')}/data/f",
        "headers": {},
    }
    signed = told(await http.post(f"/catalog/{place.warehouse.id}/v1/aws/s3/sign", json=body)).json()
    (authorization,) = next(values for name, values in signed["headers"].items() if name.lower() == "authorization")
    session.secrets["a signature"] = authorization.rpartition("Signature=")[2]
    for key in (place.store.sts_only, place.store.admin):
        credential = warehouse_document(place.store, name="x", key_prefix="x", key=key)["storage-credential"]
        told(
            await http.post(
                f"/management/v1/warehouse/{warehouse.id}/storage-credential",
                json={"new-storage-credential": credential},
            )
        )


def _remember_vended(session: Session, answer: Mapping[str, Any]) -> None:
    configs = [answer.get("config", {}), *(entry["config"] for entry in answer.get("storage-credentials", ()))]
    for config in configs:
        for name in ("s3.secret-access-key", "s3.session-token"):
            if name in config:
                session.secrets[f"vended {name} {len(session.secrets)}"] = config[name]


async def _fail(session: Session, place: Place, http: httpx.AsyncClient) -> None:
    """Requests that are refused, each with a secret in it."""
    for body in _bad_warehouses(session, place):
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json", "x-request-id": session.marker}
        reply = session.heard(await http.post("/management/v1/warehouse", content=content, headers=headers))
        assert 400 <= reply.status_code < 500, reply.text
        path = f"/management/v1/warehouse/{place.warehouse.id}/storage-credential"
        if isinstance(body, dict):
            credential = {"new-storage-credential": body["storage-credential"]}
            session.heard(await http.post(path, json=credential))
    for kind in ("Bearer", "Basic", "bearer bearer", ""):
        token = f"{secrets.token_urlsafe(12)}.{secrets.token_urlsafe(12)}.{secrets.token_urlsafe(12)}"
        session.secrets[f"a refused token ({kind})"] = token
        headers = {"authorization": f"{kind} {token}".strip(), "x-request-id": session.marker}
        reply = session.heard(await http.get(f"{place.path}/namespaces", headers=headers))
        assert reply.status_code == 401
    session.heard(await http.get(f"{place.path}/namespaces/{session.marker}-none"))
    session.heard(await http.post(f"{place.path}/namespaces", json={"namespace": [session.marker]}))


def _bad_warehouses(session: Session, place: Place) -> Sequence[dict[str, Any] | bytes]:
    bad: list[dict[str, Any] | bytes] = []
    for number, spoil in enumerate(_SPOILT):
        secret = f"hush{secrets.token_urlsafe(18)}"
        session.secrets[f"a refused key {number}"] = secret
        body: dict[str, Any] = warehouse_document(
            place.store,
            name=f"bad{number}",
            key_prefix=f"bad{number}",
            key=Key(place.store.admin.access_key, secret),
            sts=False,
        )
        bad.append(spoil(body, secret))
    return bad


def _with(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """With another credential; names have underscores in place of hyphens."""
    changed = {name.replace("_", "-"): value for name, value in changes.items()}
    return {**body, "storage-credential": {**body["storage-credential"], **changed}}


_SPOILT: tuple[Callable[[dict[str, Any], str], dict[str, Any] | bytes], ...] = (
    lambda body, secret: body,  # the store refuses it
    lambda body, secret: _with(body, secret_access_key=[secret]),
    lambda body, secret: _with(body, secret_access_key={"value": secret}),
    lambda body, secret: _with(body, access_key_id=7),
    lambda body, secret: _with(body, credential_type=secret),
    lambda body, secret: _with(body, type=secret),
    lambda body, secret: _with(body, type="gcs"),
    lambda body, secret: {**body, "storage-credential": secret},
    lambda body, secret: {**body, "storage-credential": [secret]},
    lambda body, secret: {**body, "storage-profile": {**body["storage-profile"], "endpoint": "ftp://x"}},
    lambda body, secret: {**body, "storage-profile": {**body["storage-profile"], "endpoint": "http://169.254.169.254"}},
    lambda body, secret: {**body, "storage-profile": {**body["storage-profile"], "type": "none"}},
    lambda body, secret: {**body, "storage-profile": {**body["storage-profile"], "bucket": "no-such-bucket"}},
    lambda body, secret: {**body, "warehouse-name": ""},
    lambda body, secret: {**body, "warehouse-name": 7},
    lambda body, secret: json.dumps(body).encode()[:-3],
    lambda body, secret: json.dumps(body).replace('"secret-access-key"', '"secret-access-key').encode(),
    lambda body, secret: json.dumps(body).encode() + b"}",
)


async def _rows(database: str) -> Mapping[str, str]:
    """All that is in the database, a text a table."""
    connection = await asyncpg.connect(database)
    try:
        tables = await connection.fetch(
            "select table_schema, table_name from information_schema.tables"
            " where table_schema like 'lakeward%' and table_type = 'BASE TABLE'"
        )
        found: dict[str, str] = {}
        for schema, name in tables:
            rows = await connection.fetch(f"select t from {schema}.{name} t")
            found[f"{schema}.{name}"] = "\n".join(_shown(value) for row in rows for value in row["t"].values())
        return found
    finally:
        await connection.close()


def _shown(value: object) -> str:
    if isinstance(value, bytes):
        return f"{value!r} {value.decode('utf-8', errors='replace')}"
    return str(value)
