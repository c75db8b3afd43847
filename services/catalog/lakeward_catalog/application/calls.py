"""How often what was asked of the server: taking what gateways counted, and telling it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import struct
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from lakeward_catalog.application.caller import Caller
from lakeward_catalog.application.doors import Doors
from lakeward_catalog.application.ports.counting import CallStore, Counted, Window
from lakeward_catalog.domain.model import WarehouseId
from lakeward_servicekit.authorization.actions import Action
from lakeward_servicekit.errors import Reason, Refusal, invalid_field
from lakeward_servicekit.system import Clock

LONGEST: Final = timedelta(days=366)
DAY: Final = timedelta(days=1)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TOKEN: Final = struct.Struct(">Bqq")
_VERSION: Final = 1


@dataclasses.dataclass(frozen=True, slots=True)
class SeeCalls:
    """Tell what was counted in a window.

    Attributes:
        of: this warehouse alone; None: the whole project.
        unmapped: what names no warehouse alone.
        statuses: these alone; empty: all.
        end: of the window; None: now.
        interval: how long it is.
        token: of a window beside another; then it says both.
    """

    of: WarehouseId | None = None
    unmapped: bool = False
    statuses: tuple[int, ...] = ()
    end: datetime | None = None
    interval: timedelta = DAY
    token: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """What was counted, and tokens of the windows before and after."""

    counted: Sequence[Counted]
    before: str
    after: str


@dataclasses.dataclass(frozen=True, slots=True)
class CallStatistics:
    """Tells what was counted. Windows that lie beside each other share no hour: each hour is of the one that it begins in."""

    doors: Doors
    calls: CallStore
    clock: Clock

    async def __call__(self, command: SeeCalls, *, caller: Caller) -> Seen:
        """Tell it of one window.

        Raises:
            Refusal: PROJECT_MISSING, NO_SUCH_PROJECT, NO_SUCH_WAREHOUSE, FORBIDDEN, INVALID_FIELD, INVALID_PAGE_TOKEN.
        """
        if command.of is None:
            project_id = (await self.doors.project(Action.PROJECT_GET_ENDPOINT_STATISTICS, caller=caller)).project_id
        else:
            action = Action.WAREHOUSE_GET_ENDPOINT_STATISTICS
            project_id = (await self.doors.warehouse(command.of, action, caller=caller)).project_id
        end, interval = self._window(command)
        try:
            window, before, after = Window(end - interval, end), end - interval, end + interval
            _ = before - interval, after.astimezone(UTC)
        except OverflowError:
            raise invalid_field("end", end.isoformat(), "a time whose neighbours are in the years 1 to 9999") from None
        counted = await self.calls.read(
            project_id, window, of=command.of, unmapped=command.unmapped, statuses=command.statuses
        )
        return Seen(counted, _encoded(before, interval), _encoded(after, interval))

    def _window(self, command: SeeCalls) -> tuple[datetime, timedelta]:
        if command.token:
            return _decoded(command.token)
        interval = command.interval
        if not timedelta(0) < interval <= LONGEST:
            raise invalid_field("interval", str(interval), f"more than nothing and at most {LONGEST.days} days")
        return command.end or self.clock.now(), interval


def _encoded(end: datetime, interval: timedelta) -> str:
    packed = _TOKEN.pack(_VERSION, (end - _EPOCH) // _MICROSECOND, interval // _MICROSECOND)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _decoded(token: str) -> tuple[datetime, timedelta]:
    with contextlib.suppress(ValueError, struct.error, OverflowError):
        version, end, interval = _TOKEN.unpack(base64.urlsafe_b64decode(token[:64] + "=="))
        found = _EPOCH + end * _MICROSECOND, interval * _MICROSECOND
        if version == _VERSION and timedelta(0) < found[1] <= LONGEST and _encoded(*found) == token:
            return found
    raise Refusal(
        Reason.REASON_INVALID_PAGE_TOKEN, "the token is not one that endpoint statistics handed out; ask by a window"
    )
