"""Every statement that makes, moves or deletes what authz decides about is known here, with who tells authz of it."""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Final

from lakeward_catalog.adapters import postgres
from lakeward_catalog.adapters.postgres.growth import owner_of, owner_text
from lakeward_servicekit.authorization.principals import (
    ANONYMOUS,
    SERVICE,
    Principal,
    PrincipalKind,
    RoleId,
    UserId,
    user,
)

# By itself, in the statement; or by the method that runs it, through `Growth`.
BY_ITSELF: Final = {"sweeps.EXPIRED_STAGED", "tabular_changes.UNDROP"}
BY_ITS_METHOD: Final = {
    "project_changes.INSERT",
    "project_changes.DELETE",
    "server_changes.INSERT_PROJECT",
    "warehouse_changes.INSERT",
    "warehouse_changes.UPDATE",
    "warehouse_changes.DELETE",
    "namespace_changes.INSERT",
    "namespace_changes.MOVE",
    "namespace_changes.DELETE",
    "namespace_changes.DELETE_TABULARS",
    "tabular_changes.DELETE",
    "tabular_changes.INSERT_ALONE",
    "tag_changes.INSERT",
    "tag_changes.DELETE",
}
BY_BOTH: Final = {"tabular_changes.INSERT", "tabular_changes.RENAME"}
_CHANGES: Final = re.compile(
    r"(insert into|delete from) (project|warehouse|namespace|tabular|tag_definition)\b"
    r"|\bset (?:(?!\bwhere\b)[\s\S])*\b(namespace_id|parent_id|project_id|active) =",
)


def _statements() -> dict[str, str]:
    found = {}
    for module in pkgutil.iter_modules(postgres.__path__):
        if module.name not in {"schema", "migrations"}:
            loaded = importlib.import_module(f"{postgres.__name__}.{module.name}")
            constants = {name: value for name, value in vars(loaded).items() if name.lstrip("_").isupper()}
            found |= {f"{module.name}.{name}": value for name, value in constants.items() if isinstance(value, str)}
    return found


def test_no_statement_changes_the_tree_that_authz_is_not_told_of() -> None:
    changing = {name for name, text in _statements().items() if _CHANGES.search(text)}
    assert changing == BY_ITSELF | BY_ITS_METHOD | BY_BOTH


def test_what_says_so_by_itself_writes_what_authz_is_told() -> None:
    statements = _statements()
    assert {name for name in BY_ITSELF | BY_BOTH if "insert into tree_change" not in statements[name]} == set()


def test_an_owner_is_stored_as_authz_will_know_it() -> None:
    role = Principal(PrincipalKind.ROLE, UserId("oidc~anna"), RoleId("018f4c4e-7f6b-7000-8000-000000000001"))
    assert owner_of(owner_text(user("oidc~role:anna"))) == user("oidc~role:anna")
    assert owner_of(owner_text(role)) == Principal(PrincipalKind.ROLE, role_id=role.role_id)
    assert [owner_text(each) for each in (ANONYMOUS, SERVICE)] == [None, None]
    assert owner_of(None) is None
