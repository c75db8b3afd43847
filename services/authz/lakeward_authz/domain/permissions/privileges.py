"""What can be given, in words for people.

Which privileges an object of a type has is the model's; a test holds the two together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from lakeward_authz.domain.permissions.lakeward import MODEL


@dataclasses.dataclass(frozen=True, slots=True)
class Privilege:
    """Something that can be given on objects of a type.

    Attributes:
        type: as the model names it.
        name: as grants name it.
        category: of which sort it is; a word that pickers lay out columns by.
        description: what it permits.
    """

    type: str
    name: str
    category: str
    description: str

    @property
    def display_name(self) -> str:
        """A short label."""
        return self.name.replace("_", " ").capitalize()


_INSIDE: Final = "it and all that is in it"
_CONTAINER: Final[Mapping[str, tuple[str, str]]] = {
    "ownership": (
        "administration",
        f"Do everything to {_INSIDE}, and give rights where access is not managed from above.",
    ),
    "pass_grants": ("security", "Give others the privileges that one holds here oneself."),
    "manage_grants": ("security", f"Give and take every privilege on {_INSIDE}."),
    "describe": ("metadata", f"See {_INSIDE}."),
    "select": ("read", f"Read the data of {_INSIDE}."),
    "create": ("create", "Make things inside, and see them."),
    "modify": ("write", f"Read and write the data of {_INSIDE}; change and delete it."),
    "manage_tags": ("metadata", f"Set and remove tags on {_INSIDE}."),
}
_TABULAR: Final[Mapping[str, tuple[str, str]]] = {
    "ownership": ("administration", "Do everything to it, and give rights where access is not managed from above."),
    "pass_grants": ("security", "Give others the privileges that one holds here oneself."),
    "manage_grants": ("security", "Give and take every privilege on it."),
    "describe": ("metadata", "See it."),
    "select": ("read", "Read its data."),
    "modify": ("write", "Read and write its data; change and drop it."),
    "manage_tags": ("metadata", "Set and remove tags on it."),
}
_WORDS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "server": {
        "admin": ("administration", "Make projects, manage users, and give rights in every project."),
        "operator": ("administration", "Do everything, everywhere."),
    },
    "project": {
        "project_admin": ("administration", "Do everything in the project."),
        "security_admin": (
            "security",
            "Give every right in the project but that of its administrators; see all of it.",
        ),
        "data_admin": ("administration", "Read, write, make and delete all data and warehouses of the project."),
        "role_creator": ("security", "Make roles."),
        "tag_creator": ("create", "Define tags."),
        "describe": ("metadata", f"See {_INSIDE}."),
        "select": ("read", f"Read the data of {_INSIDE}."),
        "create": ("create", "Make warehouses, and things in them."),
        "modify": ("write", f"Read and write the data of {_INSIDE}; rename and delete the project."),
    },
    "warehouse": _CONTAINER,
    "namespace": _CONTAINER,
    "table": _TABULAR,
    "view": _TABULAR,
    "generic_table": _TABULAR,
    "role": {
        "assignee": ("administration", "Hold the role, with all that was given to it."),
        "ownership": ("administration", "Hold the role, and say who holds it."),
    },
    "tag": {
        "ownership": ("administration", "Change and delete the definition, and say who applies it."),
        "apply": ("metadata", "Set and remove the tag where one manages tags."),
    },
}
# In the model's order, which is the order in which the API lists them.
VOCABULARY: Final[Mapping[str, Sequence[Privilege]]] = MappingProxyType(
    {
        name: tuple(Privilege(name, given, *_WORDS[name][given]) for given in found.given)
        for name, found in MODEL.types.items()
        if found.given
    }
)
