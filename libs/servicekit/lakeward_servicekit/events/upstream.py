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
# How members begin, as `cloud_event` writes them. A quote within a text is escaped, so none of these is found in one.
_TYPE: Final = b',"type":"'
_NAMESPACE: Final = b',"namespace":'
_PREFIX: Final = b',"prefix":"'
_DATA: Final = b',"data":'
_BETWEEN_TEXTS: Final = b'","'
_BY_TYPE: Final = {name.encode(): form for name, form in FORMS.items()}
_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def upstreams(body: bytes) -> bytes | None:
    """An event as upstream sends it; None where it has no such event.

    Args:
        body: the CloudEvent, as JSON.
    """
    data, begin = body.find(_DATA), body.find(_TYPE)
    if 0 <= begin < data:
        begin += len(_TYPE)
        form = _BY_TYPE.get(body[begin : body.find(b'"', begin)])
        if form is not None:
            copied = _cut(body[:data], body[data + len(_DATA) : -1], form)
            if copied is not None:
                return copied
    return _written_anew(body)


def _cut(head: bytes, data: bytes, form: Form) -> bytes | None:
    """Upstream's event out of the bytes of one of ours, as `_written_anew` makes it; None where they are not as ours are.

    Two events in three are upstream's, and to read all of their members and to write them again costs twice as much.

    Args:
        head: what is before the data.
        data: all that is behind its name, but for the brace that ends the event.
        form: of the event.
    """
    begin = head.find(_NAMESPACE)
    end = head.find(_PREFIX, begin)
    if begin < 0 or end < 0 or head.find(_BETWEEN_TEXTS, begin + len(_NAMESPACE), end) >= 0:
        return None
    try:
        said = _SAID.decode(data) or _Said()
    except msgspec.MsgspecError:
        return None  # more members behind it
    prefix = head[end:]
    if not form.has_prefix:
        prefix = _PREFIX + prefix[prefix.find(b'"', len(_PREFIX)) :]
    namespace = msgspec.json.encode(form.separator.join((said.before or said.where).namespace))
    parts = (head[:begin], _NAMESPACE, namespace, prefix, _DATA, said.request if form.has_request else _NULL, b"}")
    return b"".join(parts)


def _written_anew(body: bytes) -> bytes | None:
    """Upstream's event, of any JSON."""
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
