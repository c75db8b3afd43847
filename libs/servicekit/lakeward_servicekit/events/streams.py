"""What streams are called, so that no two are called alike.

A warehouse's stream has its id, which is a UUID, for its name. Who makes a project chooses its id, so what is made of that begins
with the kind, and with a letter that no UUID begins with.
"""

from __future__ import annotations

from typing import Final

PROJECT: Final = "project"


def of_project(project_id: str, *, kind: str = PROJECT) -> str:
    """A project's stream, as "project-sales"; of a service that has one of its own, as "authz-sales"."""
    return f"{kind}-{project_id}"


def of_service(project_id: str | None, *, kind: str) -> str:
    """The stream of a project in a service that has streams of its own; None: the server's, which is called as they begin."""
    return kind if project_id is None else of_project(project_id, kind=kind)


def project_of(stream: str, *, kind: str) -> str | None:
    """The project of a stream that `of_service` names; None: the server's."""
    return None if stream == kind else stream.removeprefix(of_project("", kind=kind))
