"""JSON bodies to classes; what is wrong is said with the path of the member."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from lakeward.servicekit.errors import Reason, Refusal

T = TypeVar("T")


def parsed(decoder: msgspec.json.Decoder[T], body: bytes) -> T:
    """A body as its class.

    Raises:
        Refusal: MALFORMED_DOCUMENT, with the path of the member that is wrong.
    """
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
