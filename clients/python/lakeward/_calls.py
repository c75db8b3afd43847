"""A call before it is sent: no I/O, so both clients share it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from string import Formatter
from typing import Any
from urllib.parse import quote
from uuid import UUID, uuid4

from lakeward.errors import AnswerError, ConfigurationError

_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})


@dataclass(frozen=True)
class Call:
    """One request, in the API's terms.

    Attributes:
        method: of HTTP.
        path: template, as "/management/v1/warehouse/{warehouse_id}".
        places: what stands in the template's places, unquoted.
        query: parameters; those that are None are left out.
        body: what is sent as JSON; None sends nothing.
        headers: beside those that every request has.
        project: whose project is meant; None for the client's.
        key: the server does what it is asked once for each key, however often it is sent.
        reads: whether a POST changes nothing.
    """

    method: str
    path: str
    places: Mapping[str, object] = field(default_factory=dict)
    query: Mapping[str, object] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    project: str | None = None
    key: UUID | None = None
    reads: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent again where nobody knows if it arrived."""
        return self.reads or self.key is not None or self.method in _REPEATABLE

    @property
    def target(self) -> str:
        """The path, each place quoted whole: a slash in a name stays in the name.

        Raises:
            ConfigurationError: a place is empty, so the path would be another one's.
        """
        written = {}
        for _, name, _, _ in Formatter().parse(self.path):
            if name is None:
                continue
            value = _text(self.places[name])
            if not value or value in {".", ".."}:
                raise ConfigurationError(f"{name} is {value!r}; it stands in the path {self.path} and can't be that")
            written[name] = quote(value, safe="")
        return self.path.format(**written)

    @property
    def parameters(self) -> Sequence[tuple[str, str]]:
        """The query's parameters as they are sent; one with several values stands several times."""
        return [
            (name, _text(each))
            for name, value in self.query.items()
            if value is not None
            for each in (value if isinstance(value, (list, tuple, set, frozenset)) else (value,))
        ]

    def headed(self, token: str | None, project: str | None) -> Mapping[str, str]:
        """The headers as they are sent.

        Args:
            token: who calls; None: nobody in particular.
            project: that is meant where the call names none.
        """
        found = {
            "authorization": f"Bearer {token}" if token else None,
            "x-project-id": self.project or project,
            "idempotency-key": None if self.key is None else str(self.key),
            "content-type": None if self.body is None else "application/json",
        }
        return {**self.headers, **{name: value for name, value in found.items() if value}}

    @property
    def content(self) -> bytes | None:
        """The body as it is sent."""
        return None if self.body is None else json.dumps(self.body, separators=(",", ":")).encode()


@dataclass(frozen=True)
class Answer:
    """What came back, whole.

    Attributes:
        status: of HTTP, below 400.
        headers: names in lower case.
        content: the body, inflated.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes


def document(answer: Answer) -> Any:  # noqa: ANN401 - whatever a JSON document may be
    """The document that is an answer's body.

    Raises:
        AnswerError: it is none.
    """
    try:
        return json.loads(answer.content)
    except ValueError as error:
        raise AnswerError("the answer is no JSON document") from error


def key_of(given: UUID | None) -> UUID:
    """An idempotency key: the one that is given, else a new one, so that every change may be sent again."""
    return given or uuid4()


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
