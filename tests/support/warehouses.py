"""Warehouses and what is in them, made over the public API of an installation."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import httpx

from lakeward_components.seaweedfs import S3Store
from lakeward_components.sigv4 import Key


@dataclass(frozen=True, slots=True)
class Warehouse:
    """A warehouse of an installation.

    Attributes:
        id: its UUID, the prefix of its paths.
        name: unique in the project.
        key_prefix: in the store's bucket.
    """

    id: str
    name: str
    key_prefix: str

    @property
    def path(self) -> str:
        """Where its Iceberg REST begins."""
        return f"/catalog/v1/{self.id}"


async def bootstrap(http: httpx.AsyncClient) -> None:
    """Open a new installation for use."""
    told(await http.post("/management/v1/bootstrap", json={"accept-terms-of-use": True}))


async def make_warehouse(
    http: httpx.AsyncClient,
    store: S3Store,
    *,
    endpoint: str | None = None,
    key: Key | None = None,
    sts: bool = True,
    name: str | None = None,
) -> Warehouse:
    """A warehouse over the public API.

    Args:
        http: to an installation.
        store: where its files go.
        endpoint: the way there, where it is not the direct one.
        key: the server's own; None: the one that may do nothing but assume the role with `sts`, else the other.
        sts: whether credentials are vended.
        name: None: one that nobody else has.
    """
    name, prefix = name or f"w{secrets.token_hex(4)}", f"faults-{secrets.token_hex(4)}"
    body = warehouse_document(store, name=name, key_prefix=prefix, endpoint=endpoint, key=key, sts=sts)
    made = told(await http.post("/management/v1/warehouse", json=body, timeout=60)).json()
    return Warehouse(str(made.get("warehouse-id") or made["id"]), name, prefix)


def warehouse_document(
    store: S3Store, *, name: str, key_prefix: str, endpoint: str | None = None, key: Key | None = None, sts: bool = True
) -> dict[str, object]:
    """What `make_warehouse` sends."""
    key = key or (store.sts_only if sts else store.admin)
    roles = {"assume-role-arn": store.role_arn, "sts-role-arn": store.role_arn} if sts else {}
    return {
        "warehouse-name": name,
        "storage-profile": {
            "type": "s3",
            "flavor": "s3-compat",
            "endpoint": endpoint or store.endpoint,
            "region": store.region,
            "bucket": store.bucket,
            "key-prefix": key_prefix,
            "path-style-access": True,
            "sts-enabled": sts,
            "remote-signing-enabled": True,
            "remote-signing-url-style": "path",
            **roles,
        },
        "storage-credential": {
            "type": "s3",
            "credential-type": "access-key",
            "access-key-id": key.access_key,
            "secret-access-key": key.secret_key,
        },
    }


def told(reply: httpx.Response) -> httpx.Response:
    """The reply of a success; a failure says what the server said."""
    assert reply.is_success, f"{reply.request.method} {reply.request.url} answered {reply.status_code}: {reply.text}"
    return reply


def tables_of(warehouse: Warehouse, namespace: str) -> str:
    """The path of a namespace's tables."""
    return f"{warehouse.path}/namespaces/{namespace}/tables"


SCHEMA: Final[Mapping[str, object]] = {
    "type": "struct",
    "schema-id": 0,
    "fields": [{"id": 1, "name": "id", "type": "long", "required": False}],
}


async def make_namespace(http: httpx.AsyncClient, warehouse: Warehouse, name: str | None = None) -> str:
    """A namespace, by its name."""
    name = name or f"n{secrets.token_hex(4)}"
    told(await http.post(f"{warehouse.path}/namespaces", json={"namespace": [name]}))
    return name


async def make_table(
    http: httpx.AsyncClient, warehouse: Warehouse, namespace: str, name: str, **properties: str
) -> dict[str, object]:
    """A table; what loading it answers."""
    body = {"name": name, "schema": SCHEMA, "properties": properties}
    made: dict[str, object] = told(await http.post(tables_of(warehouse, namespace), json=body)).json()
    return made
