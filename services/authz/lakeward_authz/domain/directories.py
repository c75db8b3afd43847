"""What a directory holds, and who is in which of its groups by that."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryGroup:
    """A group, as its directory has it.

    Attributes:
        key: what members are named by, where a group is one.
        source_id: what the directory calls it for good.
        name: what people call it.
        members: keys of people and groups, or people's subjects; also of some that the directory has not shown.
    """

    key: str
    source_id: str
    name: str
    members: Sequence[str]


@dataclasses.dataclass(frozen=True, slots=True)
class DirectoryContents:
    """All that a directory was asked for; never a part of it.

    Attributes:
        people: subjects by key.
    """

    people: Mapping[str, str]
    groups: Sequence[DirectoryGroup]


@dataclasses.dataclass(frozen=True, slots=True)
class SourcedGroup:
    """A group with all who are in it, be it by another group."""

    source_id: str
    name: str
    subjects: frozenset[str]


def with_everybody(contents: DirectoryContents, *, nested: bool) -> Sequence[SourcedGroup]:
    """Groups, each with all who are in it; groups that are in one another end nowhere.

    Args:
        contents: of the directory.
        nested: whether who is in a group is in those that this one is in.
    """
    known = {*contents.people.values()}
    groups = {group.key: group for group in contents.groups}

    def inside(group: DirectoryGroup) -> frozenset[str]:
        found: set[str] = set()
        seen, fresh = {group.key}, [group]
        while fresh:
            for member in fresh.pop().members:
                if member in contents.people:
                    found.add(contents.people[member])
                elif nested and member in groups and member not in seen:
                    seen.add(member)
                    fresh.append(groups[member])
                elif member in known:
                    found.add(member)
        return frozenset(found)

    return [SourcedGroup(group.source_id, group.name, inside(group)) for group in contents.groups]
