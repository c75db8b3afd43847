"""What OpenFGA answered under the grants as they are, so that it is not asked again what nothing can have changed.

An answer is kept under the revision that was read before it was asked for. Whatever may take a right away, or give one on what
is there, moves the revision in its own transaction, so an answer that is found under the revision that a question reads is of
that question's state. What is made moves no revision: of an object that may not have been there, no "no" is kept.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from lakeward_authz.domain.permissions.objects import ObjectKey, Subject
from lakeward_servicekit.authorization.authorizer import Demand
from lakeward_servicekit.authorization.principals import Principal

Key = TypeVar("Key", bound=Hashable)
Answer = TypeVar("Answer")


class Asked(NamedTuple):
    """Whether a subject holds a relation on an object.

    Attributes:
        also: roles that it has for this question alone.
        shown: containers that something in them shows to it.
    """

    subject: Subject
    also: tuple[Subject, ...]
    object: ObjectKey
    relation: str
    shown: tuple[ObjectKey, ...]


class Question(NamedTuple):
    """What one principal may, as it was asked.

    Attributes:
        also: roles that it has for this question alone.
    """

    principal: Principal
    demands: tuple[Demand, ...]
    also: tuple[Subject, ...]


class Answers(Generic[Key, Answer]):
    """Those of the newest revision that anybody read, in memory.

    Args:
        most: answers that are kept; with one more all are forgotten.
    """

    def __init__(self, *, most: int) -> None:
        """Know nothing."""
        self._most: Final = most
        self._revision = -1
        self._kept: dict[Key, Answer] = {}

    def of(self, revision: int) -> Mapping[Key, Answer]:
        """What is known under a revision that was just read; nothing under one that was overtaken meanwhile."""
        if revision > self._revision:
            self._revision, self._kept = revision, {}
        return self._kept if revision == self._revision else {}

    def keep(self, revision: int, answers: Mapping[Key, Answer]) -> None:
        """Keep answers that were asked for after the revision was read."""
        if revision != self._revision:
            return
        if len(self._kept) + len(answers) > self._most:
            self._kept = {}
        self._kept |= dict(answers) if len(answers) <= self._most else {}
