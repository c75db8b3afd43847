"""Two warehouses never lie at one place, however their endpoints are spelled: a purge in one would empty the other."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support.http import NOBODY
from tests.support.lakeward import Lakeward

pytestmark = pytest.mark.integration


def body(lakeward: Lakeward, name: str, prefix: str, host: str) -> Mapping[str, object]:
    store = lakeward.store
    return {
        "warehouse-name": name,
        "storage-profile": {
            "type": "s3",
            "flavor": "s3-compat",
            "endpoint": f"http://{host}:{urlsplit(store.endpoint).port}",
            "region": store.region,
            "bucket": store.bucket,
            "key-prefix": prefix,
            "path-style-access": True,
            "sts-enabled": False,
            "remote-signing-enabled": True,
            "remote-signing-url-style": "path",
        },
        "storage-credential": {
            "type": "s3",
            "credential-type": "access-key",
            "access-key-id": store.admin.access_key,
            "secret-access-key": store.admin.secret_key,
        },
    }


def test_a_warehouse_over_another_s_place_is_refused_by_every_spelling_until_that_is_deleted(
    lakeward: Lakeward,
) -> None:
    top = name = f"overlap-{secrets.token_hex(4)}"
    prefix = f"{top}/lake"
    with httpx.Client(verify=NOBODY, base_url=f"{lakeward.url}/management/v1", timeout=60) as management:
        first = management.post("/warehouse", json=body(lakeward, name, f"{prefix}/sales", "127.0.0.1"))
        assert first.status_code == 201, first.text
        for host in ("127.0.0.1", "localhost", "LOCALHOST"):
            for place in (f"{prefix}/sales", prefix, f"{prefix}/sales/eu", top):
                refused = management.post("/warehouse", json=body(lakeward, f"{name}-2", place, host))
                assert refused.status_code == 400, (host, place, refused.text)
                error = refused.json()["error"]
                assert error["type"] == "CreateWarehouseStorageProfileOverlap"
                assert f"overlaps that of another warehouse ({name})" in error["message"]
        beside = management.post("/warehouse", json=body(lakeward, f"{name}-3", f"{prefix}/salesmen", "localhost"))
        assert beside.status_code == 201, beside.text
        for made in (first, beside):
            gone = management.delete(f"/warehouse/{made.json().get('warehouse-id') or made.json()['id']}")
            assert gone.status_code in {200, 204}, gone.text
        again = management.post("/warehouse", json=body(lakeward, f"{name}-2", f"{prefix}/sales/eu", "localhost"))
        assert again.status_code == 201, again.text
