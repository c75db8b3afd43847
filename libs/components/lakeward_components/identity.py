"""As whom Postgres runs. It refuses to be root, so a root parent gives its server another identity.

A user namespace is best: outside it the files stay root's, so nothing changes hands and the environment may lie in a
private folder. Where namespaces are forbidden, the server becomes an unprivileged user, which owns its folder. A folder
stays with the way it was made; who owns it tells which way that was.
"""

from __future__ import annotations

import os
import pwd
import signal
import stat
import subprocess
from pathlib import Path
from typing import Final

from lakeward_components.child import SELF, launched
from lakeward_components.errors import ComponentFailed
from lakeward_components.launch import LAUNCH_FAILED

NAMESPACE: Final = "namespace"
_NOBODY: Final = 65534


def for_folder(folder: Path, *, data: Path) -> str:
    """The identity for a server whose data lie in `data`, below `folder`; see `launch` for its form.

    When the server becomes another user, the folder is given to that user.

    Raises:
        ComponentFailed: that user can't get to the folder.
    """
    if os.geteuid() != 0:
        return SELF
    owner = data.stat() if data.exists() else None
    if owner is None and _namespaces_allowed():
        return NAMESPACE
    if owner is not None and owner.st_uid == 0:
        return NAMESPACE
    uid, gid = _unprivileged() if owner is None else (owner.st_uid, owner.st_gid)
    if (
        closed := next((above for above in folder.parents if not _passable(above, uid=uid, gid=gid)), None)
    ) is not None:
        raise ComponentFailed(
            f"{closed} is closed to user {uid}, as whom Postgres runs here because it refuses to be root; "
            f"open it (chmod o+x), choose another folder, or run as an ordinary user"
        )
    os.chown(folder, uid, gid)
    return f"drop:{uid}:{gid}"


def _namespaces_allowed() -> bool:
    trial = launched([Path("/bin/true")], death_signal=signal.SIGKILL, identity=NAMESPACE)
    status = subprocess.run(trial, check=False, capture_output=True, timeout=30).returncode  # noqa: S603 - ours
    return status != LAUNCH_FAILED


def _passable(folder: Path, *, uid: int, gid: int) -> bool:
    found = folder.stat()
    needed = stat.S_IXUSR if found.st_uid == uid else stat.S_IXGRP if found.st_gid == gid else stat.S_IXOTH
    return bool(found.st_mode & needed)


def _unprivileged() -> tuple[int, int]:
    for name in ("postgres", "nobody"):
        try:
            user = pwd.getpwnam(name)
        except KeyError:
            continue
        return user.pw_uid, user.pw_gid
    return _NOBODY, _NOBODY
