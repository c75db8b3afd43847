"""Refusals in Iceberg's own words.

Spark and Flink show their users nothing of a refusal but its text, and clients match on how it begins. So each begins as
Iceberg's library says it, to the letter, and goes on in ours. What is hidden is refused by the same functions as what is absent,
with what the caller wrote alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

from lakeward_catalog.domain.model import Kind
from lakeward_servicekit.errors import Reason, Refusal

_SHOWN_MAX: Final = 2000  # characters of a path that a caller made up; one that can exist is shorter


def no_such_project(project_id: str) -> Refusal:
    """The refusal of a project that is absent or hidden."""
    shown = _shown(project_id)
    return Refusal(Reason.REASON_NO_SUCH_PROJECT, f"there is no project {shown!r} that you can see", project=shown)


def project_exists(project_id: str) -> Refusal:
    """The refusal of an id that another project has; who may make projects sees all of them."""
    return Refusal(
        Reason.REASON_PROJECT_EXISTS,
        f"there is a project with the id {project_id!r} already; choose another, or leave it out to have one made",
        project=project_id,
    )


def project_not_empty(project_id: str) -> Refusal:
    """The refusal to delete a project that has warehouses."""
    return Refusal(
        Reason.REASON_PROJECT_NOT_EMPTY,
        f"project {project_id!r} has warehouses, active or not; delete them first",
        project=project_id,
    )


def no_such_warehouse(named: object) -> Refusal:
    """The refusal of a warehouse that is absent, inactive or hidden, by what the caller called it."""
    shown = str(named)[:300]
    return Refusal(
        Reason.REASON_NO_SUCH_WAREHOUSE, f"there is no warehouse {shown!r} that you can see", warehouse=shown
    )


def warehouse_managed(name: str) -> Refusal:
    """The refusal to change what a warehouse is that others manage."""
    return Refusal(
        Reason.REASON_WAREHOUSE_MANAGED,
        f"warehouse {name!r} is managed by administrators of the instance; ask one of them for the change",
        warehouse=name,
    )


def warehouse_protected(name: str) -> Refusal:
    """The refusal to delete a protected warehouse."""
    return Refusal(
        Reason.REASON_WAREHOUSE_PROTECTED,
        f"warehouse {name!r} is protected; take its protection away first, or use force",
        warehouse=name,
    )


def instance_admin_required() -> Refusal:
    """The refusal of what only administrators of the instance may do."""
    return Refusal(
        Reason.REASON_INSTANCE_ADMIN_REQUIRED,
        "only an administrator of the instance may say who manages a warehouse; ask one of them",
    )


def no_such_task(task_id: object) -> Refusal:
    """The refusal of a task that is absent or hidden; also of one whose record is kept no more."""
    shown = str(task_id)
    return Refusal(Reason.REASON_NO_SUCH_TASK, f"there is no task {shown!r} here that you can see", task=shown)


def already_queued(task_ids: Iterable[object]) -> Refusal:
    """The refusal to run failed tasks again while something equal waits or runs."""
    shown = ", ".join(str(each) for each in task_ids)[:1000]
    return Refusal(
        Reason.REASON_CONCURRENT_CHANGE, f"what one of the tasks {shown} does is queued again already", object="task"
    )


def task_active(queue: str, task_id: object) -> Refusal:
    """The refusal to queue what waits or runs already."""
    shown = str(task_id)
    return Refusal(
        Reason.REASON_TASK_ACTIVE,
        f"a task of queue {str(queue)!r} waits or runs already: {shown}; wait for it, or have that one run",
        queue=str(queue),
        task=shown,
    )


def not_schedulable(queue: str, others: Iterable[str]) -> Refusal:
    """The refusal to say when tasks of a queue are made that others queue."""
    return Refusal(
        Reason.REASON_QUEUE_NOT_SCHEDULABLE,
        f"queue {str(queue)!r} can't be scheduled; these can: {', '.join(sorted(str(each) for each in others)) or 'none'}",
        queue=str(queue),
    )


def too_far(at: datetime, most: timedelta) -> Refusal:
    """The refusal of a task so far ahead."""
    return Refusal(
        Reason.REASON_SCHEDULED_TOO_FAR,
        f"{at.isoformat()} is too far ahead; at most {most.days} days are",
        at=at.isoformat(),
        days=str(most.days),
    )


def no_such_namespace(ident: object) -> Refusal:
    """The refusal of a namespace that is absent or hidden; the whole text is Iceberg's, since clients compare all of it."""
    shown = _shown(ident)
    return Refusal(Reason.REASON_NO_SUCH_NAMESPACE, f"Namespace does not exist: {shown}", namespace=shown)


def no_such_tabular(kind: Kind, ident: object) -> Refusal:
    """The refusal of a tabular that is absent or hidden, or is of another kind."""
    shown = _shown(ident)
    message = f"{kind.noun.capitalize()} does not exist: {shown}, or you may not see it"
    match kind:
        case Kind.TABLE:
            return Refusal(Reason.REASON_NO_SUCH_TABLE, message, table=shown)
        case Kind.VIEW:
            return Refusal(Reason.REASON_NO_SUCH_VIEW, message, view=shown)
        case Kind.GENERIC_TABLE:
            return Refusal(Reason.REASON_NO_SUCH_GENERIC_TABLE, message, table=shown)


def no_such_view_between(ident: object) -> Refusal:
    """The refusal of a view through which something is read, and that is absent, hidden or not to be read through."""
    shown = _shown(ident)
    return Refusal(
        Reason.REASON_NO_SUCH_VIEW,
        f"View does not exist: {shown}, or who reads through it may not; ask who manages its grants",
        view=shown,
    )


def view_owner_unclear(ident: object, why: str) -> Refusal:
    """The refusal to read through a view of which nobody can say as whom."""
    shown = _shown(ident)
    return Refusal(
        Reason.REASON_VIEW_OWNER_UNCLEAR,
        f"as whom view {shown} is read can't be told: {why}; have its engine set its owner anew",
        view=shown,
    )


def property_protected(key: str, name: str) -> Refusal:
    """The refusal to set or remove what says as whom a view is read."""
    shown = key[:200]
    return Refusal(
        Reason.REASON_PROPERTY_PROTECTED,
        f"property {shown!r} says as whom a view is read; only the engine that {name!r} belongs to sets or removes it, and "
        "spells it so",
        property=shown,
    )


def namespace_exists(ident: object) -> Refusal:
    """The refusal of a namespace's name that is taken."""
    shown = _shown(ident)
    return Refusal(
        Reason.REASON_NAMESPACE_EXISTS,
        f"Namespace already exists: {shown}; names compare without case, choose another",
        namespace=shown,
    )


def name_taken(wanted: Kind, ident: object, *, by: Kind) -> Refusal:
    """The refusal of a name for a new table or view, which another one has."""
    named = by.noun.capitalize()
    what = f"{named} already exists" if by is wanted else f"{named} with same name already exists"
    return _taken(ident, f"{what}: {_shown(ident)}; choose another name, or drop it first")


def new_name_taken(old: object, new: object, *, by: Kind) -> Refusal:
    """The refusal to rename to a name that another table or view has."""
    taken = f"{by.noun.capitalize()} already exists"
    return _taken(new, f"Cannot rename {_shown(old)} to {_shown(new)}. {taken}; choose another name, or drop it first")


def unseen_name_taken(ident: object) -> Refusal:
    """The refusal of a name for something new, which something has that the caller may not see; it says nothing of its kind."""
    return _taken(ident, f"Table or view already exists: {_shown(ident)}; choose another name")


def unseen_new_name_taken(old: object, new: object) -> Refusal:
    """The refusal to rename to a name that something has which the caller may not see; it says nothing of its kind."""
    taken = "Table or view already exists"
    return _taken(new, f"Cannot rename {_shown(old)} to {_shown(new)}. {taken}; choose another name")


def name_taken_meanwhile(ident: object) -> Refusal:
    """The refusal of a name that something took while it was being given; of which kind that is, nobody looked."""
    return _taken(
        ident, f"Table or view already exists: {_shown(ident)}; it was made meanwhile, load it or choose another name"
    )


def name_taken_since(ident: object) -> Refusal:
    """The refusal to restore what was dropped under a name that something else has by now; of which kind, nobody looked."""
    return _taken(
        ident,
        f"Table or view already exists: {_shown(ident)}; it got the name since the drop; rename or drop it, then restore",
    )


def uuid_taken(ident: object) -> Refusal:
    """The refusal to register metadata whose UUID another table of the warehouse has."""
    return _taken(
        ident, f"Table already exists: {_shown(ident)} has the UUID of another one in this warehouse; drop that first"
    )


def purge_refused(ident: object) -> Refusal:
    """The refusal to purge a table that keeps its files, in the words of Iceberg's Spark."""
    return Refusal(
        Reason.REASON_GC_DISABLED,
        f"Cannot purge table: GC is disabled (deleting files may corrupt other tables): {_shown(ident)} has gc.enabled=false; "
        "drop it with purgeRequested=false, which keeps its files, or set gc.enabled to true first",
        tabular=_shown(ident),
    )


def requirement_failed(object_name: str, requirement: str, found: str) -> Refusal:
    """The refusal of a commit whose requirement does not hold; a fresh read and a retry can win.

    Args:
        object_name: what the commit is to.
        requirement: its type, as "assert-create".
        found: what is so instead, beginning with Iceberg's words for it.
    """
    return Refusal(
        Reason.REASON_COMMIT_CONFLICT,
        f"Requirement failed: {found} ({requirement} of {object_name}); load it and commit again",
        object=object_name,
        requirement=requirement,
    )


def _taken(ident: object, message: str) -> Refusal:
    return Refusal(Reason.REASON_TABULAR_EXISTS, message, tabular=_shown(ident))


def _shown(ident: object) -> str:
    return str(ident)[:_SHOWN_MAX]
