"""The model that this release runs, and which relation of it each action asks for."""

from __future__ import annotations

import importlib.resources
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lakeward_authz.domain.permissions.compiled import Model
from lakeward_authz.domain.permissions.language import parse
from lakeward_servicekit.authorization.actions import SHOWING, Action
from lakeward_servicekit.authorization.objects import ObjectKind

VERSION: Final = "1.0"
"""Major and minor: a minor step adds, and an older release runs on; a major one does not allow that."""

TEXT: Final = (
    importlib.resources.files("lakeward_authz.domain.permissions").joinpath("model.fga").read_text(encoding="utf-8")
)
MODEL: Final = Model(parse(TEXT))

# An action asks for `can_<its word>`; these have another name in the model, which is upstream's.
_NAMED_OTHERWISE: Final = {
    Action.WAREHOUSE_MODIFY_STORAGE: "can_update_storage",
    Action.WAREHOUSE_MODIFY_STORAGE_CREDENTIAL: "can_update_storage_credential",
}
RELATION_OF: Final[Mapping[Action, str]] = MappingProxyType(
    {action: _NAMED_OTHERWISE.get(action, f"can_{action.word}") for action in Action}
)
# Each action with what its kind's sight needs, of which any will do, and what itself needs, as bits of the kind's type.
ALLOWS: Final[Mapping[Action, tuple[int, int]]] = MappingProxyType(
    {
        action: (
            bits[RELATION_OF[action.sight]] | (bits[RELATION_OF[action]] if action in SHOWING else 0),
            bits[RELATION_OF[action]],
        )
        for action in Action
        for bits in [MODEL.types[action.kind.word].bits]
    }
)

TABULARS: Final = (ObjectKind.TABLE, ObjectKind.VIEW, ObjectKind.GENERIC_TABLE)
GLIMPSE: Final = "glimpse"
MANAGED_ACCESS: Final = "managed_access"
SIGHT: Final = "can_get_metadata"
OWNERSHIP: Final = "ownership"
ASSIGNEE: Final = "assignee"
ADMIN: Final = "admin"
OPERATOR: Final = "operator"
_SEEN_FROM_ABOVE: Final = ("warehouse", "namespace", "table", "view", "generic_table")


def shows_above(type_name: str) -> frozenset[str]:
    """The given relations that, on an object of the type, let its containers be glimpsed."""
    return MODEL.alone(type_name, SIGHT) if type_name in _SEEN_FROM_ABOVE else frozenset()


def granting(type_name: str, privilege: str) -> str | None:
    """The relation that who gives or takes a privilege must hold; None where the type has no such privilege."""
    found = MODEL.types.get(type_name)
    if found is None or privilege not in found.given:
        return None
    return "can_change_ownership" if privilege == OWNERSHIP else f"can_grant_{privilege}"


_GIVES_OR_REACHES_DATA: Final = frozenset(
    {"can_read_data", "can_write_data", "can_select", "can_assume", "can_change_ownership", "can_set_managed_access"}
)
CONTROLS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        name: frozenset(
            each
            for each in found.bits
            if each.startswith("can_") and not each.startswith("can_grant_") and each not in _GIVES_OR_REACHES_DATA
        )
        for name, found in MODEL.types.items()
    }
)
"""What an administrator of the instance does without being granted anything: all but reaching data and giving rights."""
