"""What upstream's consumers read: its events as it sends them.

An event's own form says more, and says it in one way for all. Upstream's has for `data` the request's document, or null; it
joins a namespace's parts by a dot or by a unit separator, and gives the warehouse as `prefix` or nothing, by the type of the
event. What ours has beside stays beside it, under names that upstream has not.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

_DOT: Final = "."
_UNIT: Final = "\x1f"


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """How upstream sends a type of event.

    Attributes:
        has_request: `data` is the request's document, and else null.
        separator: between the parts of a namespace.
        has_prefix: `prefix` is the warehouse's id, and else empty.
    """

    has_request: bool = False
    separator: str = _DOT
    has_prefix: bool = True


FORMS: Final[Mapping[str, Form]] = MappingProxyType(
    {
        "createTable": Form(has_request=True),
        "registerTable": Form(),
        "updateTable": Form(has_request=True, separator=_UNIT, has_prefix=False),
        "renameTable": Form(has_request=True, separator=_UNIT, has_prefix=False),
        "dropTable": Form(),
        "createView": Form(has_request=True),
        "updateView": Form(has_request=True),
        "renameView": Form(has_prefix=False),
        "dropView": Form(),
        "createGenericTable": Form(has_request=True),
        "renameGenericTable": Form(has_request=True, separator=_UNIT),
        "dropGenericTable": Form(),
        "undropTabulars": Form(separator=_UNIT, has_prefix=False),
    }
)
_NULL: Final = msgspec.Raw(b"null")
_EMPTY: Final = msgspec.Raw(b'""')


class _Path(msgspec.Struct, frozen=True):
    namespace: tuple[str, ...] = ()


class _Said(msgspec.Struct):
    where: _Path = _Path()
    before: _Path | None = None
    request: msgspec.Raw = _NULL


class _Typed(msgspec.Struct):
    type: str
    data: msgspec.Raw = _NULL


_TYPED: Final = msgspec.json.Decoder(_Typed)
_SAID: Final = msgspec.json.Decoder(_Said | None)
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def upstreams(body: bytes) -> bytes | None:
    """An event as upstream sends it; None where it has no such event.

    Args:
        body: the CloudEvent, as JSON.
    """
    typed = _TYPED.decode(body)
    form = FORMS.get(typed.type)
    if form is None:
        return None
    said = _SAID.decode(typed.data) or _Said()
    document = _MEMBERS.decode(body)
    document["data"] = said.request if form.has_request else _NULL
    document["namespace"] = msgspec.Raw(msgspec.json.encode(form.separator.join((said.before or said.where).namespace)))
    if not form.has_prefix:
        document["prefix"] = _EMPTY
    return msgspec.json.encode(document)
