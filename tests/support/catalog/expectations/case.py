"""One expectation of a method: who may call it, what of, and how it is refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.authorization.objects import ObjectKind
from lakeward_servicekit.errors import Reason
from tests.support.catalog.house import (
    House,
)

SERVER: Final = {ObjectKind.SERVER: Reason.REASON_FORBIDDEN}  # it is never absent
PROJECT: Final = {ObjectKind.PROJECT: Reason.REASON_NO_SUCH_PROJECT}
WAREHOUSE: Final = {ObjectKind.WAREHOUSE: Reason.REASON_NO_SUCH_WAREHOUSE}
NAMESPACE: Final = {**WAREHOUSE, ObjectKind.NAMESPACE: Reason.REASON_NO_SUCH_NAMESPACE}
TABLE: Final = {**WAREHOUSE, ObjectKind.TABLE: Reason.REASON_NO_SUCH_TABLE}
VIEW: Final = {**WAREHOUSE, ObjectKind.VIEW: Reason.REASON_NO_SUCH_VIEW}
GENERIC_TABLE: Final = {**WAREHOUSE, ObjectKind.GENERIC_TABLE: Reason.REASON_NO_SUCH_GENERIC_TABLE}
TABLE_TASK: Final = {**WAREHOUSE, ObjectKind.TABLE: Reason.REASON_NO_SUCH_TASK}
VIEW_TASK: Final = {**WAREHOUSE, ObjectKind.VIEW: Reason.REASON_NO_SUCH_TASK}
GENERIC_TASK: Final = {**WAREHOUSE, ObjectKind.GENERIC_TABLE: Reason.REASON_NO_SUCH_TASK}


@dataclasses.dataclass(frozen=True)
class Case:
    """One request of a method.

    Attributes:
        request: makes it, for a house as `a_house` builds it.
        needs: actions that it is refused without; None: every permission of the method's rule.
        shapes: actions without which it succeeds with less.
        gone: by the kind of what is hidden, the reason that it and its absence are refused with.
        target: the namespace that is removed to be absent.
        only_hidden: kinds whose absence is no refusal at all, such as what is overwritten.
        prepare: makes the house ready beyond `a_house`.
        unwrap: raises the refusal that is inside of a response.
    """

    request: Callable[[House], Any]
    gone: Mapping[ObjectKind, Reason.ValueType]
    needs: frozenset[Action] | None = None
    shapes: frozenset[Action] = frozenset()
    target: tuple[str, ...] = ("sales",)
    only_hidden: frozenset[ObjectKind] = frozenset()
    prepare: Callable[[House], Awaitable[None]] | None = None
    unwrap: Callable[[Any], None] = lambda response: None
