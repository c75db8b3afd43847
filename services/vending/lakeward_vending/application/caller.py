"""Who calls."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakeward_servicekit.authorization.principals import Principal


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """One call's caller, settled.

    Attributes:
        principal: whom rights are asked for.
        project: the project that the call names, else the default one.
    """

    principal: Principal
    project: str
