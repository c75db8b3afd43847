"""A session as an STS granted it: a stranger's words, bounded before they are remembered or sent on."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Final

from lakeward_vending.adapters.network.refusals import unavailable
from lakeward_vending.adapters.s3 import failures, xml
from lakeward_vending.domain.s3.keys import Session
from lakeward_vending.domain.secret import Secret

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lakeward_vending.adapters.network.calls import Reply

# A whole reply of an STS, an error's document included.
MAX_REPLY_BYTES: Final = 64 * 1024
_OK: Final = 200
# What goes into headers and clients' configurations: one word of printable ASCII. Tokens with a policy in them are the longest.
_KEY: Final = re.compile(r"[\x21-\x7e]{1,1024}\Z")
_TOKEN: Final = re.compile(r"[\x21-\x7e]{1,16384}\Z")


class BadGrant(ValueError):  # noqa: N818 - it says what the reply is
    """A reply that grants no credential that can be used; the message says why, and holds nothing of it."""


def body_of(url: str, reply: Reply) -> bytes:
    """What a service said that was asked for a session.

    Raises:
        Refusal: CREDENTIAL_NOT_ISSUED, or STORE_UNAVAILABLE where it may say otherwise later.
    """
    if reply.status == _OK:
        return reply.body
    if failures.is_passing(reply):
        raise failures.of_reply(url, reply)
    raise failures.not_issued(url, f"{reply.status} {reply.body[:500]!r}")


def of_xml(url: str, body: bytes) -> Session:
    """The session of an AssumeRole reply.

    Raises:
        Refusal: STORE_UNAVAILABLE where there is none in it.
    """
    try:
        found = xml.text(body, "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration")
        return session(
            found.get("AccessKeyId"),
            found.get("SecretAccessKey"),
            found.get("SessionToken"),
            expires_at=moment(found.get("Expiration")),
        )
    except (xml.BadXml, BadGrant) as error:
        raise unavailable(url, error) from error


def member(body: bytes, name: str) -> Mapping[str, object]:
    """The named object of a JSON reply.

    Raises:
        BadGrant: the reply is no JSON object, or has no such object.
    """
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadGrant("the reply is not JSON") from error
    found = document.get(name) if isinstance(document, dict) else None
    if not isinstance(found, dict):
        raise BadGrant(f"the reply has no object {name}")
    return found


def session(key_id: object, secret: object, token: object, *, expires_at: dt.datetime) -> Session:
    """The session that three members of a reply are.

    Raises:
        BadGrant: one is absent, is too long, or is not a word of printable ASCII.
    """
    if not (isinstance(key_id, str) and isinstance(secret, str) and isinstance(token, str)):
        raise BadGrant("the reply lacks a part of the credential")
    if not (_KEY.match(key_id) and _KEY.match(secret) and _TOKEN.match(token)):
        raise BadGrant("a part of the credential is too long, or is no word of printable ASCII")
    return Session(key_id, Secret(secret), Secret(token), expires_at)


def moment(text: object) -> dt.datetime:
    """A moment in ISO 8601, in UTC, which it is also where it names no zone.

    Raises:
        BadGrant: it is none, or none that a calendar has in UTC.
    """
    try:
        found = dt.datetime.fromisoformat(text if isinstance(text, str) else "")
        return found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found.astimezone(dt.UTC)
    except (ValueError, OverflowError) as error:
        raise BadGrant("the reply does not say when the credential ends") from error
