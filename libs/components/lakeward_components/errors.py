"""What can go wrong with a component.

ComponentError
 ├─ ComponentUnavailable   nothing on this machine provides it; the message names the cure
 ├─ ComponentFailed        it was started and did not become ready; the message ends with its log
 ├─ ComponentMisconfigured an environment variable says something that can't be
 └─ FolderInUse            another process holds the folder; the message names its pid
"""

from __future__ import annotations

from pathlib import Path


class ComponentError(Exception):
    """A component that could not be had."""


class ComponentUnavailable(ComponentError):  # noqa: N818 - the state is the name, as in the docstring's tree
    """No URL, no container and no binary provides the component."""


class ComponentMisconfigured(ComponentError):  # noqa: N818 - as above
    """A variable of the environment, or a combination of them, can't be used."""


class ComponentFailed(ComponentError):  # noqa: N818 - as above
    """The component's process ended, or was not ready in time."""


class FolderInUse(ComponentError):  # noqa: N818 - as above
    """Another process works in the folder.

    Attributes:
        folder: the folder that is held.
        holder: the pid that holds it; None where it can't be told.
    """

    def __init__(self, folder: Path, *, holder: int | None) -> None:
        who = "another process" if holder is None else f"process {holder}"
        super().__init__(f"{folder} is in use by {who}; stop it, or choose another folder")
        self.folder = folder
        self.holder = holder
