"""What the public specifications have and our documents lack, each with its reason.

`tests/conformance/test_specifications.py` fails for what is lacking and not here, and for what is here and not lacking any more.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from tests.conformance.comparing import Lack, Part


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """Things that are lacking for one reason.

    Attributes:
        reason: why it stays so.
        operations: ids in the specification; empty: whichever.
        part: of what.
        name: a regular expression for the whole name.
    """

    reason: str
    operations: Collection[str]
    part: Part
    name: str = ""

    def covers(self, lack: Lack) -> bool:
        """Whether it is the reason of that."""
        about = not self.operations or lack.operation in self.operations
        return about and self.part == lack.part and re.fullmatch(self.name, lack.name) is not None


_NO_TOKENS: Final = (
    "deprecated by the specification itself: tokens come from an identity provider, and upstream has no such route"
)
_NO_PLANS: Final = "scans are planned by engines: nothing here reads manifests, and upstream does not route it either"
_FORMAT: Final = (
    "documents of Iceberg's table and view format, which its own specification describes: they pass through with members that "
    "nobody knows yet, so a list here would promise less than is done"
)
_PLANNED: Final = {"planTableScan", "fetchPlanningResult", "cancelPlanning", "fetchScanTasks"}
_FORMAT_PARTS: Final[Sequence[tuple[Collection[str], Part, str]]] = (
    (
        {"createTable", "loadTable", "registerTable", "updateTable", "createView", "loadView", "replaceView"},
        "reply",
        r"metadata\..*",
    ),
    ({"createTable"}, "request", r"(schema|partition-spec|write-order)\..*"),
    ({"createView"}, "request", r"schema\..*"),
    ({"updateTable", "replaceView"}, "request", r"updates\..*"),
    ({"commitTransaction"}, "request", r"table-changes\.\[\]\.updates\..*"),
)
_ICEBERG: Final = (
    Difference(_NO_TOKENS, {"getToken"}, "operation"),
    Difference(_NO_PLANS, _PLANNED, "operation"),
    Difference(
        "a token that has ended is answered with 401, as RFC 6750 has it and upstream does", (), "status", "419"
    ),
    *(Difference(_FORMAT, names, part, name) for names, part, name in _FORMAT_PARTS),
    Difference(
        "reports of metrics are taken as they come and dropped, so their members are nobody's",
        {"reportMetrics"},
        "request",
        ".*",
    ),
)
DIFFERENCES: Final[Mapping[str, Sequence[Difference]]] = {
    "lakekeeper-iceberg-rest.yaml": _ICEBERG,
    "iceberg-rest-catalog.yaml": (
        *_ICEBERG,
        Difference(
            "newer than what upstream serves, and no client asks for it unless it is offered",
            {"listFunctions", "loadFunction", "unregisterTable", "registerView"},
            "operation",
        ),
        Difference(
            "requests are signed at the address that a load names, as upstream's are", {"signRequest"}, "operation"
        ),
        Difference(
            "the same: where requests are signed stands in `config`, under the names that clients read today",
            {"createTable", "loadTable", "registerTable"},
            "reply",
            r"remote-signing-config(\..*)?",
        ),
    ),
    "lakekeeper-generic-table.yaml": (),
    "lakekeeper-management.yaml": (
        Difference(
            "facts of upstream's own builds and of its console, all of them optional",
            {"get_server_info"},
            "reply",
            r"console(\..*)?|lakekeeper-(enterprise-)?(commit-sha|version)",
        ),
    ),
}
# Operations that a specification has and nobody is told of here, by id.
DECLINED: Final[Mapping[str, Collection[str]]] = {
    name: {operation for each in differences if each.part == "operation" for operation in each.operations}
    for name, differences in DIFFERENCES.items()
}
