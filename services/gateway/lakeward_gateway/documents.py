"""JSON bodies to classes; what is wrong is said with the path of the member."""

from __future__ import annotations

import asyncio
from typing import Final, TypeVar

import msgspec

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_servicekit.json_bounds import BeyondLimits, JsonLimits, check_json

T = TypeVar("T")

# What is read here is names, properties, profiles and requests to sign: lists of a thousand keys, not schemas of tables.
LIMITS: Final = JsonLimits(depth=64, containers=10_000, values=100_000)
# Below this, counting what a body holds takes less than handing it to a thread.
_THREAD_FROM: Final = 256 * 1024


async def parsed(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """A body as its class, once its bytes have told that it makes few objects: decoding is one step of the loop.

    Raises:
        Refusal: MALFORMED_DOCUMENT, with the path of the member that is wrong.
    """
    try:
        if len(body) < _THREAD_FROM:
            check_json(body, LIMITS)
        else:
            await asyncio.to_thread(check_json, body, LIMITS)
    except BeyondLimits as error:
        raise _malformed(f"the body holds more than is taken here: {error}", "") from error
    try:
        if not body.isascii():
            body.decode()  # the decoder does not look into members that the class has not
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        shown = path.rstrip("`").lstrip(".")
        raise _malformed(f"{shown or 'the body'}: {message}", shown) from error
    except msgspec.DecodeError as error:
        raise _malformed(
            f"the body is not JSON: {error}" if body else "the body is empty; send a JSON object", ""
        ) from error
    except UnicodeDecodeError as error:
        raise _malformed("the body is not UTF-8", "") from error
    except RecursionError as error:
        raise _malformed("the body is nested too deeply", "") from error


def _malformed(message: str, path: str) -> Refusal:
    return Refusal(Reason.REASON_MALFORMED_DOCUMENT, message, path=path)
