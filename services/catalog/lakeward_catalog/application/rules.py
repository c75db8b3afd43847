"""What settings say about the use cases' own decisions."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

from lakeward_catalog.domain.model import (
    ProjectId,
)
from lakeward_catalog.domain.view_owners import OwnerProperties


@dataclasses.dataclass(frozen=True, slots=True)
class Rules:
    """What settings say about the use cases' own decisions.

    Attributes:
        reserved_namespaces: name keys beside those that always are reserved.
        staged_for: how long a staged create waits for its commit.
        purge_after: how long a drop's files are left alone, for engines that delete them too.
        restorable_by_default: how long what is dropped can be restored where that is asked for without a span.
        idempotency_lifetime: how long a key is remembered; None: keys are ignored.
        page_size_default: entries of a page whose size is not given.
        page_size_max: the most entries of a page.
        referenced_by_max: the most views that a load may say it was led by.
        owner_properties: which property of views is which trusted engine's.
        default_project: None where no default project is on.
    """

    reserved_namespaces: frozenset[str]
    staged_for: timedelta
    purge_after: timedelta
    restorable_by_default: timedelta
    idempotency_lifetime: timedelta | None
    idempotency_grace: timedelta
    page_size_default: int
    page_size_max: int
    referenced_by_max: int
    owner_properties: OwnerProperties
    default_project: ProjectId | None
