"""What tests do with signatures, a line each.

signed = signs(house, monkeypatch)                      # vending signs, and what it signed is here
scope = await scope_of(house, "orders")                 # as a load hands it out
looks = Looks(house, monkeypatch)                       # what is asked of stores and authz from here on
await sign(house, file_of(house, "orders"), of="orders", scope=scope)
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from lakeward_catalog.application.ports.access import Access, Folder, SignedRequest, StorageRequest, Vended
from lakeward_locations import Location
from lakeward_protocol.catalog.v1 import signing_pb2
from lakeward_servicekit.errors import Reason, Refusal
from tests.support.catalog.house import House, context
from tests.support.catalog.tables import load

BASE: Final = "http://lake"
READING, WRITING = ("GET", "HEAD"), ("PUT", "POST", "DELETE")
_QUERY: Final = "scope="


def signs(house: House, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Access]]:
    """Have vending sign what stays inside the folder that it is given; answers (location, level) of what it signed."""
    signed: list[tuple[str, Access]] = []

    async def vend(*_: Any, **__: Any) -> Vended:
        return Vended({"s3.region": "eu"}, {}, None, sign_remotely=True, refresh_property="")

    async def sign(
        warehouse: Any, folder: Folder | None, level: Access, request: StorageRequest, *, principal: str
    ) -> SignedRequest:
        place = Location.parse(request.uri.replace("https://s3/", "s3://"))
        if folder is None or not Location.parse(folder.location).contains(place):
            raise Refusal(Reason.REASON_SIGNING_OUTSIDE, "it lies elsewhere", location=str(place))
        signed.append((folder.location, level))
        said = f"signed in {folder.location} of {folder.incarnation} as {level.name} for {principal}"
        return SignedRequest(request.uri, {"authorization": (said,)}, cacheable=request.method == "GET")

    monkeypatch.setattr(house.access, "vend", vend)
    monkeypatch.setattr(house.access, "sign", sign)
    return signed


class Looks:
    """What is asked of the stores, by the methods' names, and of authz, by how much is asked at once."""

    def __init__(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        self.stores: list[str] = []
        self.authz: list[int] = []
        for store in (house.catalog.warehouses, house.catalog.tabulars, house.catalog.namespaces):
            for name in ("find", "find_by_name", "locate", "by_id", "by_location", "children", "list"):
                if hasattr(store, name):
                    monkeypatch.setattr(store, name, self._noting(name, getattr(store, name)))
        decide = house.authorizer.decide

        async def noting(principal: Any, demands: Sequence[Any]) -> Any:
            self.authz.append(len(demands))
            return await decide(principal, demands)

        monkeypatch.setattr(house.authorizer, "decide", noting)

    def _noting(self, name: str, asked: Any) -> Any:
        async def noting(*args: Any, **kwargs: Any) -> Any:
            self.stores.append(name)
            return await asked(*args, **kwargs)

        return noting


def file_of(house: House, name: str) -> str:
    """The URI of a data file of a tabular."""
    return house.tabular(name).location.replace("s3://", "https://s3/") + "/data/1.parquet"


async def scope_of(house: House, name: str, *, who: str = "") -> str:
    """The scope that a load of a table of `sales` hands out."""
    reply = await load(house, "sales", name, context=context(base_uri=BASE, authorization=who))
    query: str = urlsplit(reply.table.config["s3.signer.endpoint"]).query
    assert query.startswith(_QUERY)
    return query.removeprefix(_QUERY)


def sign(
    house: House, uri: str, *, of: object = "", method: str = "GET", scope: str = "", who: str = "", at: str = ""
) -> Awaitable[Any]:
    """`of` is a tabular's name or id, "" leaves it to the place; `at` is a warehouse's id."""
    named = of if isinstance(of, str) and of == "" else str(house.tabular(of).tabular_id if isinstance(of, str) else of)
    called: Awaitable[Any] = house.signing.SignS3Request(
        signing_pb2.SignS3RequestRequest(
            context=context(authorization=who),
            warehouse_id=at or house.warehouse_id,
            tabular_id=named,
            method=method,
            uri=uri,
            region="eu",
            scope=scope,
        )
    )
    return called


def said(refusal: Refusal) -> tuple[Any, ...]:
    """Everything that a caller sees of a refusal."""
    return refusal.reason, refusal.message, dict(refusal.metadata)
