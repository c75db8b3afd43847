"""Runs in the child, between fork and exec: takes an identity, asks to die with the parent, becomes the server.

Executed by path with `python -I -S`, never imported by the package: it must start in milliseconds and see nothing of
the virtual environment. A separate program and not a `preexec_fn`, because Python code between fork and exec can
deadlock in a parent that has threads (gRPC's, for one).

    launch.py PARENT_PID DEATH_SIGNAL IDENTITY PROGRAM [ARGUMENT...]

IDENTITY is `self`, `namespace` (a user namespace in which we are not root, while files stay ours) or `drop:UID:GID`.
Exit status 125 means that the launcher itself failed; it has said why on standard error.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path
from typing import Final

LAUNCH_FAILED: Final = 125
_PR_SET_PDEATHSIG: Final = 1
_CLONE_NEWUSER: Final = 0x10000000
_INSIDE_ID: Final = 1000


def main(arguments: list[str]) -> None:
    """Becomes the program; returns never.

    Raises:
        OSError: a step was refused by the kernel.
    """
    parent, death_signal, identity, program = int(arguments[0]), int(arguments[1]), arguments[2], arguments[3:]
    _become(identity)
    _die_with(parent, death_signal)
    os.execv(program[0], program)  # noqa: S606 - becoming the program is what this file is for


def _become(identity: str) -> None:
    kind, _, ids = identity.partition(":")
    if kind == "namespace":
        uid, gid = os.geteuid(), os.getegid()
        _system_call("unshare", _CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{_INSIDE_ID} {uid} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{_INSIDE_ID} {gid} 1", encoding="ascii")
    elif kind == "drop":
        uid, gid = (int(part) for part in ids.split(":"))
        os.setgroups([])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)


def _die_with(parent: int, death_signal: int) -> None:
    # After the identity: the kernel clears the request when credentials change. It survives exec.
    # Whoever started us in the background of a shell may have it ignored, and so would the program until it says otherwise.
    if death_signal != signal.SIGKILL:  # which nobody can ignore
        signal.signal(death_signal, signal.SIG_DFL)
    if sys.platform == "linux":
        _system_call("prctl", _PR_SET_PDEATHSIG, death_signal, 0, 0, 0)
    # A parent that died before the request sends no signal any more; then we have been given another parent.
    if os.getppid() != parent:
        sys.exit(LAUNCH_FAILED)


def _system_call(name: str, *arguments: int) -> None:
    if ctypes.CDLL(None, use_errno=True)[name](*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except OSError as failure:
        sys.stderr.write(f"could not launch {sys.argv[4:5]}: {failure}\n")
        sys.exit(LAUNCH_FAILED)
