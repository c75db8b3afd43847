"""Cloudflare R2's temporary credentials.

Source: Cloudflare API, "Create Temporary Access Credentials" of R2.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from lakeward_vending.adapters.network.refusals import unavailable
from lakeward_vending.adapters.s3 import granted
from lakeward_vending.domain.access import Access

if TYPE_CHECKING:
    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.application.ports import Grant
    from lakeward_vending.domain.credentials import Credential
    from lakeward_vending.domain.s3.keys import Session

API: Final = "https://api.cloudflare.com"


async def mint(
    grant: Grant,
    credential: Credential,
    *,
    seconds: int,
    calls: HttpCalls,
    clock: Clock,
    api: str = API,
) -> Session:
    """A session for one prefix. R2 knows two levels: deletes come with writes.

    Raises:
        Refusal: CREDENTIAL_NOT_ISSUED, STORE_UNAVAILABLE.
    """
    account = quote(credential.text("account-id") or "", safe="")
    url = f"{api}/client/v4/accounts/{account}/r2/temp-access-credentials"
    body = {
        "bucket": grant.location.bucket,
        "prefixes": [grant.location.prefix],
        "permission": "object-read-only" if grant.access is Access.READ else "object-read-write",
        "ttlSeconds": seconds,
        "parentAccessKeyId": credential.text("access-key-id"),
    }
    headers = {"authorization": f"Bearer {credential.secret('token').reveal()}", "content-type": "application/json"}
    asked_at = clock.now()
    reply = await calls.send(
        "POST",
        url,
        headers=headers,
        body=json.dumps(body).encode(),
        repeatable=True,
        limit=granted.MAX_REPLY_BYTES,
        call="sts",
    )
    granting = granted.body_of(api, reply)
    try:
        found = granted.member(granting, "result")
        return granted.session(
            found.get("accessKeyId"),
            found.get("secretAccessKey"),
            found.get("sessionToken"),
            expires_at=asked_at + dt.timedelta(seconds=seconds),
        )
    except granted.BadGrant as error:
        raise unavailable(api, error) from error
