"""Entity tags of loaded tables: over the whole reply's shape, so that callers with other rights never share one.

Form: `W/"lw1.<16 hex>[.<hex>]"`: a hash, and where the reply held a credential or a signer's scope, the time (milliseconds since
the epoch) from which the caller is to fetch a fresh one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from lakeward_catalog.application.caller import Caller, Delegation
from lakeward_catalog.application.opened import OpenedTabular, Through
from lakeward_catalog.application.ports.access import Access
from lakeward_catalog.domain.model import Tabular, Warehouse

_MINE: Final = re.compile(r'^(?:W/)?"lw1\.([0-9a-f]{16})(?:\.([0-9a-f]{1,16}))?"$')
_LONGEST: Final = timedelta(hours=1)
ANY: Final = "*"
_NUMBERS: Final = {word: str(word.value) for word in Delegation}
_SELECTION: Final = {False: "all", True: "refs"}


def shape_of(opened: OpenedTabular, level: Access | None, caller: Caller, *, references: bool) -> str:
    """What a reply depends on beside the life of credentials and scopes; without a level it holds metadata alone."""
    if level is None:
        return without_access(opened.tabular, references=references)
    return with_access(
        opened.tabular,
        opened.warehouse,
        level,
        delegation=caller.delegation,
        base_uri=caller.base_uri,
        references=references,
        through=opened.through,
    )


def without_access(tabular: Tabular, *, references: bool) -> str:
    """The shape of a reply that holds metadata alone."""
    return _digest(tabular.metadata_id.hex, _SELECTION[references])


def with_access(
    tabular: Tabular,
    warehouse: Warehouse,
    level: Access,
    *,
    delegation: frozenset[Delegation],
    base_uri: str,
    references: bool,
    through: Through | None = None,
) -> str:
    """The shape of a reply with client properties: it changes with the caller's level and the warehouse's storage.

    Read through views it changes with them, whom links name, and with whose access it is, which signer scopes name.
    """
    return _digest(
        tabular.metadata_id.hex,
        _SELECTION[references],
        str(level.value),
        str(warehouse.row_version),
        ",".join(map(_NUMBERS.__getitem__, sorted(delegation))),
        base_uri,
        *(() if through is None else _way(through)),
    )


def _way(through: Through) -> Iterable[str]:
    """What tells one way through views from another; no part can hold what stands between them."""
    yield through.reader.key
    for view in through.views:
        yield from (str(len(view.namespace.parts)), *view.namespace.parts, view.name)


def _digest(*shape: str) -> str:
    return hashlib.blake2b("\0".join(shape).encode(), digest_size=8).hexdigest()


def tag(shape: str, *, expires_at: datetime | None, now: datetime) -> str:
    """The tag of a reply; a credential or scope in it is to be renewed at half of its remaining life, or in an hour."""
    if expires_at is None:
        return f'W/"lw1.{shape}"'
    renew = now + min((expires_at - now) / 2, _LONGEST)
    return f'W/"lw1.{shape}.{int(renew.timestamp() * 1000):x}"'


def matching(presented: Iterable[str], shape: str, *, now: datetime) -> str | None:
    """The presented tag that still holds, or None.

    A tag without a time belongs to a reply without credential and scope. `*` holds like one, for a shape that can't have any:
    that is the caller's to say, by leaving it out of `presented`.
    """
    for candidate in presented:
        if candidate == ANY:
            return f'W/"lw1.{shape}"'
        mine = _MINE.match(candidate.strip())
        if mine is None or mine[1] != shape:
            continue
        if mine[2] is None or int(mine[2], 16) > now.timestamp() * 1000:
            return candidate.strip()
    return None
