"""AssumeRole, of AWS and of stores that speak its protocol."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from lakeward_servicekit.remembering import remembered
from lakeward_vending.adapters.s3 import granted
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.request import Signable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.network.calls import HttpCalls
    from lakeward_vending.domain.s3.keys import Session, SigningKey

_VERSION: Final = "2011-06-15"
# What stands in policies, and in what form; the percent sign first, since it stands in what others become.
_USUAL: Final = tuple((bytes([byte]), b"%%%02X" % byte) for byte in b'%":,/*{}[]+=')
# What stays, what others have become, and the space, which is the last to go: it becomes a plus sign.
_DONE: Final = re.compile(rb"[A-Za-z0-9_.~% -]+")
_FORM: Final = "application/x-www-form-urlencoded; charset=utf-8"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class RoleRequest:
    """A role to assume.

    Attributes:
        url: of the STS.
        role: its ARN or what the store takes for one; None where the store needs none.
        session_name: goes into the store's audit log.
        policy: narrows the session; None for all that the role may.
        seconds: how long the session is asked to last.
    """

    url: str
    region: str
    role: str | None
    session_name: str
    policy: str | None
    seconds: int
    external_id: str | None
    tags: Mapping[str, str]


def session_name_of(principal: str) -> str:
    """A session's name for a principal: tells callers apart in the store's audit log, and says nothing about them."""
    return f"lakeward-{hashlib.sha256(principal.encode()).hexdigest()[:16]}"


async def assume_role(request: RoleRequest, key: SigningKey, *, calls: HttpCalls, clock: Clock) -> Session:
    """A session of the role.

    Raises:
        Refusal: CREDENTIAL_NOT_ISSUED, STORE_UNAVAILABLE, ADDRESS_DENIED.
    """
    body = b"&".join(b"%b=%b" % (name.encode(), _quoted(value)) for name, value in _form(request).items())
    url = urlsplit(request.url)
    signable = Signable(
        method="POST",
        authority=url.netloc,
        path=url.path or "/",
        query=(),
        headers={"content-type": _FORM},
        payload_hash=hashlib.sha256(body).hexdigest(),
        access=Access.READ,
        keys=(),
    )
    signed = sigv4.sign(
        signable,
        region=request.region,
        key=key,
        now=clock.now(),
        service="sts",
    )
    headers = {"content-type": _FORM} | signed
    reply = await calls.send(
        "POST", request.url, headers=headers, body=body, repeatable=True, limit=granted.MAX_REPLY_BYTES, call="sts"
    )
    return granted.of_xml(request.url, granted.body_of(request.url, reply))


def quoted(text: str) -> bytes:
    """A form's value. As `quote_plus`, which looks at each character: a policy is a kilobyte, and each new table has its own."""
    value = text.encode()
    for byte, written in _USUAL:
        value = value.replace(byte, written)
    for other in set(_DONE.sub(b"", value)):
        value = value.replace(bytes([other]), b"%%%02X" % other)
    return value.replace(b" ", b"+")


# Of a form's values the policy alone is another for each table, and is longer than the others.
_quoted: Final = remembered(entries=1024, longest=256)(quoted)


def _form(request: RoleRequest) -> dict[str, str]:
    form = {
        "Action": "AssumeRole",
        "Version": _VERSION,
        "RoleSessionName": request.session_name,
        "DurationSeconds": str(request.seconds),
    }
    if request.role is not None:
        form["RoleArn"] = request.role
    if request.policy is not None:
        form["Policy"] = request.policy
    if request.external_id is not None:
        form["ExternalId"] = request.external_id
    for number, (name, value) in enumerate(request.tags.items(), 1):
        form[f"Tags.member.{number}.Key"] = name
        form[f"Tags.member.{number}.Value"] = value
    return form
