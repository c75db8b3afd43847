"""Lands the events of warehouses in an Iceberg table.

    python -m lakeward_pipelines.audit sales [hr ...] --table ops.trail [--into lake] [--once]

The server is that of LAKEWARD_URL and LAKEWARD_TOKEN, or of a profile of the `lakeward` command: an application's credentials
in one last for runs of any length.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from lakeward import Client, profiles
from lakeward.auth import EnvironmentToken
from lakeward.errors import LakewardError
from lakeward.names import levels
from lakeward_pipelines.audit.landing import Bounds, Landing
from lakeward_pipelines.audit.source import EventsMissing, Log
from lakeward_pipelines.audit.table import AuditTable, TableUnfit, WrittenMeanwhile
from lakeward_pipelines.java import JavaMissing
from lakeward_pipelines.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOCAL: Final = "http://127.0.0.1:8181"
_USUAL: Final = Bounds()

Opened = Callable[[Mapping[str, str]], AbstractContextManager["SparkSession"]]


def main(arguments: Sequence[str] | None = None, *, opened: Opened | None = None) -> int:
    """0 where all was landed, or it was interrupted.

    Args:
        arguments: of the command line.
        opened: makes a session with settings; None: one on this machine.
    """
    given = _parsed(arguments)
    try:
        with _client(given) as client:
            _land(client, given, opened or _session)
    except KeyboardInterrupt:
        return 0
    except (EventsMissing, JavaMissing, LakewardError, TableUnfit, WrittenMeanwhile) as error:
        sys.stderr.write(f"audit: {error}\n")
        return 1
    return 0


def _land(client: Client, given: argparse.Namespace, opened: Opened) -> None:
    into = client.management.warehouses.get(given.into or given.warehouses[0])
    catalog = f"warehouse_{into.id.replace('-', '')}"  # a session of somebody else's may have others
    with opened(client.warehouse(into.id).endpoint().spark(catalog)) as spark:
        table = AuditTable(spark, [catalog, *levels(given.table)])
        table.prepare()
        logs = [Log.of(client, warehouse) for warehouse in given.warehouses]
        bounds = Bounds(events=given.batch, seconds=given.every)
        landing = Landing(table, logs, bounds, over_holes=given.over_holes)
        if given.once:
            sys.stdout.write(f"{landing.once()} events added to {given.table}\n")
        else:
            landing.follow()


def _session(settings: Mapping[str, str]) -> AbstractContextManager[SparkSession]:
    return session("lakeward-audit", settings=settings)


def _client(given: argparse.Namespace) -> Client:
    profile = None if given.url else profiles.find(given.profile)
    if profile is not None:
        return Client.of(profile)
    auth = EnvironmentToken() if os.environ.get("LAKEWARD_TOKEN") else None
    return Client(given.url or _LOCAL, auth=auth, project=os.environ.get("LAKEWARD_PROJECT"))


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="lakeward_pipelines.audit", description="Lands the events of warehouses in an Iceberg table."
    )
    parser.add_argument("warehouses", nargs="+", metavar="warehouse", help="whose events")
    parser.add_argument("--table", required=True, help="namespace and name, as ops.trail; made where it is not there")
    parser.add_argument("--into", help="the warehouse that has the table (default: the first one)")
    parser.add_argument("--once", action="store_true", help="land what there is, and end")
    parser.add_argument("--batch", type=_positive, default=_USUAL.events, help="events a commit, at most")
    parser.add_argument("--every", type=float, default=_USUAL.seconds, help="seconds that a batch waits for more")
    parser.add_argument(
        "--over-holes", action="store_true", help="go on where events are not kept any more that the table lacks"
    )
    parser.add_argument("--url", default=os.environ.get("LAKEWARD_URL"), help="of the server; LAKEWARD_URL")
    parser.add_argument("--profile", help="a server by the name that `lakeward profiles` gave it; LAKEWARD_PROFILE")
    return parser.parse_args(arguments)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"{number} is not above 0")
    return number


if __name__ == "__main__":
    sys.exit(main())
