"""Who calls."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from lakeward_servicekit.errors import Reason, Refusal

if TYPE_CHECKING:
    from lakeward_servicekit.authorization.principals import Principal


@dataclasses.dataclass(frozen=True, slots=True)
class Caller:
    """One call's caller, settled.

    Attributes:
        principal: whom rights are asked for.
        project: the project that the call names, else the default one; None where there is neither.
    """

    principal: Principal
    project: str | None

    @property
    def chosen_project(self) -> str:
        """The project that the call is about; nothing is decided of it.

        Raises:
            Refusal: PROJECT_MISSING.
        """
        if self.project is None:
            raise Refusal(
                Reason.REASON_PROJECT_MISSING, "no project is named and there is no default one; send x-project-id"
            )
        return self.project
