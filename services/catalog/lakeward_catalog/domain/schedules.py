"""When a queue makes its next task: so far apart, or as a cron expression has it where people live."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from lakeward_servicekit.errors import invalid_field


@dataclasses.dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression of five fields, and the zone of its hours, as "Europe/Berlin".

    What a change of the clocks leaves out runs when they have changed; what it brings twice runs once, unless it is every hour.
    """

    expression: str
    zone: str

    def after(self, moment: datetime) -> datetime:
        """The next time behind this one, in UTC."""
        return next(CronSim(self.expression, moment.astimezone(ZoneInfo(self.zone)))).astimezone(UTC)


@dataclasses.dataclass(frozen=True, slots=True)
class Timetable:
    """When the tasks of one project's queue are made.

    Attributes:
        cron: by the clock; it wins.
        every: so far apart; None: as the queue has it.
        next_at: when the next is made; None: now.
    """

    cron: Cron | None = None
    every: timedelta | None = None
    next_at: datetime | None = None

    def after(self, moment: datetime, *, otherwise: timedelta) -> datetime:
        """When the next is made, where one is made now; times that were missed are not made up for."""
        return moment + (self.every or otherwise) if self.cron is None else self.cron.after(moment)


def parse_cron(expression: str, zone: str, *, now: datetime) -> Cron:
    """A cron expression as somebody wrote it.

    Raises:
        Refusal: INVALID_FIELD: it is none, its zone is none, or it never comes.
    """
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):  # none of this name, a path that leads elsewhere, a folder
        raise invalid_field("time-zone", zone[:100], 'a time zone of IANA, as "UTC" or "Europe/Berlin"') from None
    if len(expression.split()) != _FIELDS:
        raise invalid_field("cron", expression[:100], _RIGHT)
    cron = Cron(" ".join(expression.split()), zone)
    try:
        cron.after(now)
    except CronSimError:
        raise invalid_field("cron", expression[:100], _RIGHT) from None
    except StopIteration:
        raise invalid_field("cron", expression[:100], "one whose time comes within 50 years") from None
    return cron


_FIELDS = 5
_RIGHT = 'minute, hour, day of month, month and day of week, as "30 2 * * 1-5"'
