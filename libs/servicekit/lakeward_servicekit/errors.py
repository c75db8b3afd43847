"""One kind of failure that crosses every wall: a refusal with a reason.

    Refusal ── raised where the failure is known, with a Reason, a message for people and values for programs.

A reason's family (the gRPC status code), whether a retry can win, and which metadata keys it carries stand beside the
reason in `protos/lakeward/errors/v1/reason.proto`. What survives a trip between services: reason, message, metadata.
What is lost: the traceback and the cause, which the raising service has logged.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import ClassVar, Final, Self, TypeAlias

from lakeward_protocol.errors.v1 import reason_pb2

Reason = reason_pb2.Reason
Family = reason_pb2.Family
ReasonValue: TypeAlias = reason_pb2.Reason.ValueType
PREFIX: Final = "REASON_"
MAX_MESSAGE: Final = 2048  # bytes of UTF-8
MAX_VALUE: Final = 1024  # bytes of UTF-8
_LEFT_OUT: Final = " [...] "


@dataclasses.dataclass(frozen=True, slots=True)
class Rule:
    """What holds for every failure with one reason.

    Attributes:
        family: the gRPC status code, by number.
        retryable: whether the same request, sent again, can succeed.
        metadata_keys: keys that the failure carries, all of them and no others.
    """

    family: int
    retryable: bool
    metadata_keys: tuple[str, ...]


@functools.cache
def rule_of(reason: ReasonValue) -> Rule:
    """The contract's rule for a reason.

    Raises:
        KeyError: the number is not a reason of this build, or is REASON_UNSPECIFIED.
    """
    value = reason_pb2.Reason.DESCRIPTOR.values_by_number[reason]
    options = value.GetOptions()
    if not options.HasExtension(reason_pb2.rule):
        raise KeyError(value.name)
    rule = options.Extensions[reason_pb2.rule]
    return Rule(rule.family, rule.retryable, tuple(rule.metadata_keys))


def name_of(reason: ReasonValue) -> str:
    """The reason's name without its prefix: "COMMIT_CONFLICT"."""
    return reason_pb2.Reason.Name(reason).removeprefix(PREFIX)


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, and the house's word for it
    """A call that is refused, for a reason of the contract.

    A message repeats what callers wrote, which may be of any length, and travels in headers, which may not: what is longer than
    MAX_MESSAGE or MAX_VALUE is cut here, whoever made it. What was wrong stands at a message's beginning and the cure at its end,
    so it loses its middle.

    Args:
        reason: a value of `Reason`; its rule names the metadata keys, which must all be given.
        message: says what was wrong, with which value, and what would be right. Never a secret.
        metadata: the values by key, as text.
    """

    __slots__ = ("message", "metadata", "reason")
    _classes: ClassVar[dict[object, type[Refusal]]] = {}

    def __init_subclass__(cls, *, reason: ReasonValue | None = None) -> None:
        """The class of one reason, to be caught by name: whoever makes a refusal for that reason makes one of these."""
        if reason is not None:
            Refusal._classes[reason] = cls

    def __new__(cls, *about: object, **_: object) -> Self:
        """Of the reason's own class, where it has one."""
        made = Refusal._classes.get(about[0]) if about else None
        return super().__new__(cls if made is None or not issubclass(made, cls) else made)

    def __init__(self, reason: ReasonValue, message: str, **metadata: str) -> None:
        """Refuse for `reason`; see the class."""
        expected = rule_of(reason).metadata_keys
        if set(expected) != metadata.keys():
            raise TypeError(f"{name_of(reason)} carries {sorted(expected)}, not {sorted(metadata)}")
        self.reason: Final = reason
        self.message: Final = _cut(message, MAX_MESSAGE)
        self.metadata: Final[Mapping[str, str]] = {key: _cut(value, MAX_VALUE) for key, value in metadata.items()}
        super().__init__(self.message)

    @property
    def retryable(self) -> bool:
        """Whether the same request, sent again, can succeed."""
        return rule_of(self.reason).retryable

    def __str__(self) -> str:
        return f"{name_of(self.reason)}: {self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.reason, self.message, dict(self.metadata))


class CommitStateUnknown(Refusal, reason=Reason.REASON_COMMIT_STATE_UNKNOWN):
    """Whether a change happened is not known."""


class FileNotFound(Refusal, reason=Reason.REASON_FILE_NOT_FOUND):
    """A metadata file is not there."""


class FileUnreadable(Refusal, reason=Reason.REASON_FILE_UNREADABLE):
    """A metadata file is not what its name says."""


class InvalidMetadata(Refusal, reason=Reason.REASON_INVALID_METADATA):
    """Metadata breaks a rule of its format."""


class MaintenanceMode(Refusal, reason=Reason.REASON_MAINTENANCE):
    """Nothing is written for now."""


class MalformedDocument(Refusal, reason=Reason.REASON_MALFORMED_DOCUMENT):
    """A document can't be read."""


class NoSuchTable(Refusal, reason=Reason.REASON_NO_SUCH_TABLE):
    """A table is absent, or hidden."""


class NoSuchSecret(Refusal, reason=Reason.REASON_NO_SUCH_SECRET):
    """A storage secret is gone."""


class SigningOutside(Refusal, reason=Reason.REASON_SIGNING_OUTSIDE):
    """A storage request lies outside of what may be signed."""


def _cut(text: str, limit: int) -> str:
    """A text of at most `limit` bytes of UTF-8, without its middle where it has more."""
    if len(text) <= limit and (text.isascii() or len(text.encode(errors="replace")) <= limit):
        return text
    kept = limit - len(_LEFT_OUT)
    head, tail = text[:kept].encode(errors="replace"), text[-kept:].encode(errors="replace")
    # cut where a character may end only by chance; the halves of one that was cut are dropped
    before, after = head[: kept * 2 // 3], tail[-(kept // 3) :]
    return before.decode(errors="ignore") + _LEFT_OUT + after.decode(errors="ignore")


def _rebuild(reason: ReasonValue, message: str, metadata: dict[str, str]) -> Refusal:
    return Refusal(reason, message, **metadata)


def invalid_field(field: str, value: object, right: str) -> Refusal:
    """A request's field that can't be used; `right` says what would be, as in "a UUID"."""
    shown = str(value)[:200]
    return Refusal(Reason.REASON_INVALID_FIELD, f"{field} is {shown!r}; it must be {right}", field=field, value=shown)
