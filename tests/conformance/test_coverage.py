"""docs/api-coverage.md against the public specifications and against a gateway that runs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakeward_servicekit.errors import Reason, Refusal
from tests.conformance.comparing import by_route
from tests.conformance.specifications import anonymous, specification
from tests.unit.gateway.fakes import Service, world

pytestmark = pytest.mark.conformance

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "api-coverage.md"
_ROW = re.compile(r"\| `(?P<path>/[^`]*)` \| (?P<method>[A-Z]+) \| [^|]* \| (?P<state>served|not routed)")
_ID = "0198e000-0000-7000-8000-00000000000a"


def page() -> Mapping[tuple[str, str], str]:
    """What the page says of each operation, by method and path."""
    rows = [found for line in _PAGE.read_text().splitlines() if (found := _ROW.match(line))]
    return {(row["method"], row["path"]): row["state"] for row in rows}


@pytest.mark.parametrize(
    ("name", "mount"),
    [
        ("lakekeeper-iceberg-rest.yaml", "/catalog"),
        ("lakekeeper-management.yaml", ""),
        ("lakekeeper-generic-table.yaml", ""),
    ],
)
def test_the_page_has_every_operation_of_the_specification(name: str, mount: str) -> None:
    listed = {(method, anonymous(path)) for method, path in page()}
    assert set(by_route(specification(name), mount=mount)) - listed == set()


async def test_the_page_says_of_each_operation_what_a_running_gateway_does() -> None:
    """Whatever is routed reaches a service or is judged by its handler; services here refuse whatever they are asked."""
    seen: dict[tuple[str, str], str] = {}
    async with world() as running:
        for service in (running.authz, running.catalog, running.vending):
            _refuse_all(service)
        for method, path in page():
            target = re.sub(r"\{[^}]+\}", _ID, path)
            response = await running.client.request(method, target, json={} if method in {"POST", "PUT"} else None)
            type_ = "" if method == "HEAD" else response.json()["error"]["type"]
            assert response.status_code != 501, (method, path)
            if response.status_code in {404, 405} and type_ in _UNROUTED:
                seen[method, path] = "not routed"
            else:
                seen[method, path] = "served"
    assert seen == page()


_UNROUTED = {"NotFoundException", "NoSuchRoute", "MethodNotAllowed"}


def _refuse_all(service: Service) -> None:
    class Everything(dict[str, object]):
        def __missing__(self, method: str) -> object:
            return Refusal(Reason.REASON_FORBIDDEN, "no", kind="server", action="any")

    service.answers = Everything()
