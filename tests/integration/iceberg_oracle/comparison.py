"""Holding the engine's answers against an oracle's: what is compared, and what may differ and why."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence
from typing import Any

from tests.integration.iceberg_oracle.generated import Creation, Step

Json = dict[str, Any]
Asked = Step | Creation
# The oracles read their own clock. Everything that the generator makes lies before this, and their clock after it.
ORACLE_CLOCK_MS = 1_750_000_000_000


# Members that mean the same as their absence.
SAYS_NOTHING: tuple[tuple[str, Any], ...] = (
    ("sequence-number", 0),
    ("identifier-field-ids", []),
    ("current-snapshot-id", -1),
    ("current-snapshot-id", None),
    ("last-sequence-number", 0),
)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """One question's two answers.

    Attributes:
        kind: "same", "both refuse", "we refuse", "it refuses" or "differ".
        members: top-level members that differ.
        error: what the oracle said, where it refuses.
    """

    asked: Asked
    kind: str
    members: frozenset[str]
    ours: Json | None
    theirs: Json | None
    error: str

    def actions(self) -> set[str]:
        return {update["action"] for update in self.asked.updates} if isinstance(self.asked, Step) else {"create"}

    def __str__(self) -> str:
        lines = [f"{self.kind} {sorted(self.members)}", f"it said: {self.error}", f"we said: {self.asked.message}"]
        asked = self.asked.updates if isinstance(self.asked, Step) else self.asked.request
        lines.append(f"asked: {asked}")
        for member in sorted(self.members):
            lines += [
                f"{member}, ours:   {(self.ours or {}).get(member)}",
                f"{member}, theirs: {(self.theirs or {}).get(member)}",
            ]
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class Difference:
    """A way in which the engine answers otherwise, on purpose.

    Attributes:
        why: the argument for ours.
        holds: whether an outcome is of this kind.
    """

    why: str
    holds: Callable[[Outcome], bool]


def it_refuses(pattern: str) -> Callable[[Outcome], bool]:
    """The oracle refuses what the engine takes, with a message that matches."""
    return lambda outcome: outcome.kind == "it refuses" and re.search(pattern, outcome.error) is not None


def we_refuse(pattern: str) -> Callable[[Outcome], bool]:
    """The engine refuses what the oracle takes, with a message that matches."""
    return lambda outcome: outcome.kind == "we refuse" and re.search(pattern, outcome.asked.message) is not None


def differ(*members: str) -> Callable[[Outcome], bool]:
    """Both take it; of the documents only these members differ."""
    return lambda outcome: outcome.kind == "differ" and outcome.members <= set(members)


def compare(asked: Asked, answer: Json, ignored: frozenset[str]) -> Outcome:
    """The outcome of one question; `ignored` are top-level members that are never compared."""
    error, theirs = answer.get("error", ""), answer.get("metadata")
    if asked.metadata is None:
        return Outcome(asked, "both refuse" if error else "we refuse", frozenset(), None, theirs, error)
    if theirs is None:
        return Outcome(asked, "it refuses", frozenset(), asked.metadata, None, error)
    now = asked.now_ms if isinstance(asked, Step) else asked.metadata["last-updated-ms"]
    ours, theirs = normalise(asked.metadata, now), normalise(theirs, now)
    names = (ours.keys() | theirs.keys()) - ignored
    members = frozenset(name for name in names if ours.get(name) != theirs.get(name))
    return Outcome(asked, "differ" if members else "same", members, ours, theirs, "")


def normalise(document: Json, now_ms: int) -> Json:
    """The document with what says nothing evened out: order where none is promised, zeros, and either clock's now."""

    def walk(value: Any, name: str) -> Any:
        if isinstance(value, dict):
            kept = {key: walk(member, key) for key, member in value.items()}
            return {key: member for key, member in kept.items() if (key, member) not in SAYS_NOTHING}
        if isinstance(value, list):
            items = [walk(member, name) for member in value]
            key = {"statistics": "snapshot-id", "partition-statistics": "snapshot-id", "versions": "version-id"}.get(
                name
            )
            if key is not None:
                items.sort(key=lambda item: item[key])
            return sorted(items) if name == "identifier-field-ids" else items
        if name in {"timestamp-ms", "last-updated-ms"} and (value == now_ms or value > ORACLE_CLOCK_MS):
            return "now"
        return value

    walked: Json = walk(document, "")
    return walked


def unexplained(outcomes: Sequence[Outcome], differences: Sequence[Difference]) -> list[Outcome]:
    """Outcomes that differ and that no entry of the table explains."""
    return [
        outcome
        for outcome in outcomes
        if outcome.kind not in {"same", "both refuse"} and not any(known.holds(outcome) for known in differences)
    ]


def unseen(outcomes: Sequence[Outcome], differences: Sequence[Difference]) -> list[str]:
    """Entries of the table that no outcome shows: they are out of date."""
    differing = [outcome for outcome in outcomes if outcome.kind not in {"same", "both refuse"}]
    return [known.why for known in differences if not any(known.holds(outcome) for outcome in differing)]
