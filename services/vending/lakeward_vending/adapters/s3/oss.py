"""Alibaba OSS's temporary credentials, by its RPC-style STS.

Source: Alibaba Cloud, "AssumeRole" and "Request syntax and signature method" (version 1) of STS.
"""

from __future__ import annotations

import base64
import hmac
import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlencode

from lakeward_locations import pattern_mark
from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.network.refusals import unavailable
from lakeward_vending.adapters.s3 import granted
from lakeward_vending.adapters.s3.sts import session_name_of
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.signing.target import UNRESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock, Ids
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.application.ports import Grant
    from lakeward_vending.domain.credentials import Credential
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.s3.keys import Session
    from lakeward_vending.domain.secret import Secret

_READ: Final = ("oss:GetObject", "oss:GetObjectVersion")
_WRITE: Final = ("oss:PutObject", "oss:AbortMultipartUpload", "oss:ListParts")
_DELETE: Final = ("oss:DeleteObject",)
_ACTIONS: Final = {
    Access.READ: _READ,
    Access.READ_WRITE: _READ + _WRITE,
    Access.READ_WRITE_DELETE: _READ + _WRITE + _DELETE,
}


async def mint(
    grant: Grant,
    credential: Credential,
    profile: S3Profile,
    *,
    calls: HttpCalls,
    clock: Clock,
    ids: Ids,
) -> Session:
    """A session for one prefix.

    Raises:
        Refusal: CREDENTIAL_NOT_ISSUED, also for a location with a wild mark, which OSS's policies can't escape;
            STORE_UNAVAILABLE, ADDRESS_DENIED.
    """
    url = profile.sts_endpoint or f"https://sts.{profile.region}.aliyuncs.com"
    parameters = {
        "AccessKeyId": credential.text("access-key-id") or "",
        "Action": "AssumeRole",
        "DurationSeconds": str(profile.sts_token_validity_seconds),
        "Format": "JSON",
        "Policy": policy(grant.location, access=grant.access, url=url),
        "RoleArn": profile.role_to_vend or "",
        "RoleSessionName": session_name_of(grant.principal),
        "SignatureMethod": "HMAC-SHA1",
        "SignatureNonce": str(ids.uuid4()),
        "SignatureVersion": "1.0",
        "Timestamp": clock.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "Version": "2015-04-01",
    }
    if (external_id := credential.text("external-id")) is not None:
        parameters["ExternalId"] = external_id
    parameters["Signature"] = signature(parameters, key=credential.secret("secret-access-key"))
    reply = await calls.send(
        "POST",
        f"{url}/",
        headers={"content-type": "application/x-www-form-urlencoded"},
        body=urlencode(parameters).encode(),
        repeatable=False,  # a nonce is taken once
        limit=granted.MAX_REPLY_BYTES,
        call="sts",
    )
    granting = granted.body_of(url, reply)
    try:
        found = granted.member(granting, "Credentials")
        return granted.session(
            found.get("AccessKeyId"),
            found.get("AccessKeySecret"),
            found.get("SecurityToken"),
            expires_at=granted.moment(found.get("Expiration")),
        )
    except granted.BadGrant as error:
        raise unavailable(url, error) from error


def policy(location: Location, *, access: Access, url: str) -> str:
    """OSS's own kind of session policy.

    Raises:
        Refusal: CREDENTIAL_NOT_ISSUED for a location with "*", "?" or "${".
    """
    if pattern_mark(location.path) is not None:
        raise Refusal(
            Reason.REASON_CREDENTIAL_NOT_ISSUED,
            f"OSS can't confine a credential to {location}: its policies have no escape for '*', '?' and '${{'",
            store=url,
        )
    bucket = f"acs:oss:*:*:{location.bucket}"
    inside = f"{location.prefix}*"
    statements = [
        {"Effect": "Allow", "Action": list(_ACTIONS[access]), "Resource": f"{bucket}/{inside}"},
        {
            "Effect": "Allow",
            "Action": "oss:ListObjects",
            "Resource": bucket,
            "Condition": {"StringLike": {"oss:Prefix": inside}},
        },
        {"Effect": "Allow", "Action": "oss:GetBucketLocation", "Resource": bucket},
    ]
    return json.dumps({"Version": "1", "Statement": statements}, separators=(",", ":"), ensure_ascii=False)


def signature(parameters: Mapping[str, str], *, key: Secret) -> str:
    """Version 1: HMAC-SHA1 over the sorted, twice encoded parameters."""
    canonical = "&".join(f"{_encode(name)}={_encode(parameters[name])}" for name in sorted(parameters))
    to_sign = f"POST&{_encode('/')}&{_encode(canonical)}"
    return base64.b64encode(hmac.digest(f"{key.reveal()}&".encode(), to_sign.encode(), "sha1")).decode()


def _encode(text: str) -> str:
    return quote(text, safe=UNRESERVED)
