"""Waiting for what Spark leaves running when it gives a job up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from pyspark import SparkContext

PATIENCE: Final = 60.0
"""Seconds. Spark ends a Python worker of a job that was given up after about four."""

_PAUSE: Final = 0.05  # seconds between two looks
_OVER: Final = frozenset({"SUCCEEDED", "FAILED"})  # a job whose tasks' starts Spark has told of


@contextmanager
def ended(context: SparkContext, tag: str, patience: float = PATIENCE) -> Iterator[None]:
    """A block that an error leaves only when no task works any more on what was asked of Spark in it.

    Spark gives a job up with its first task that fails for good, and tells of it at once: the others go on writing until they are
    reached. The error gets a note where some outlast the patience.

    Args:
        context: that the block asks, in this thread.
        tag: that nobody else gives to jobs.
        patience: seconds.
    """
    context.addJobTag(tag)
    try:
        yield
    except BaseException as error:
        if _lives(context):
            context.cancelJobsWithTag(tag)
            if left := _left(context, tag, patience):
                error.add_note(
                    f"tasks of the job {tag} that still work after {patience:g} s, and may write yet: {left}"
                )
        raise
    finally:
        if _lives(context):
            context.removeJobTag(tag)


def _lives(context: SparkContext) -> bool:
    """Whether nobody has stopped it, which ends its tasks, too."""
    return context._jsc is not None  # noqa: SLF001 - PySpark's own way to know


def _left(context: SparkContext, tag: str, patience: float) -> int:
    until = time.monotonic() + patience
    while (left := _at_work(context, tag)) and time.monotonic() < until:
        time.sleep(_PAUSE)
    return left


def _at_work(context: SparkContext, tag: str) -> int:
    """Tasks that work, or a job that may have some of which Spark has not told yet."""
    tracker = context.statusTracker()
    # PySpark 3.5 knows of jobs by their groups alone, and the group is the caller's own.
    java = cast("Any", context._jsc)  # noqa: SLF001
    found = [tracker.getJobInfo(each) for each in java.sc().statusTracker().getJobIdsForTag(tag)]
    jobs = [job for job in found if job is not None]
    stages = [tracker.getStageInfo(each) for job in jobs for each in job.stageIds]
    working = sum(stage.numActiveTasks for stage in stages if stage is not None)
    return working or sum(job.status not in _OVER for job in jobs)
