"""Where a component comes from: a URL in the environment, a container, or a binary that a package ships.

The rule is a function of what the machine offers, so that it can be read and tested without any of the three.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lakeward_components.binaries import PACKAGES
from lakeward_components.environment import Component, Names
from lakeward_components.errors import ComponentMisconfigured, ComponentUnavailable


class Source(enum.Enum):
    """Where a component can come from, in the order in which they are asked."""

    URL = "url"
    CONTAINER = "container"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class FromUrl:
    """Somebody else runs it."""

    url: str


@dataclass(frozen=True, slots=True)
class FromContainer:
    """A container engine runs it for us."""


@dataclass(frozen=True, slots=True)
class FromBinary:
    """We run it.

    Attributes:
        programs: the folder they are in.
    """

    programs: Path


Choice = FromUrl | FromContainer | FromBinary


def choose(
    component: Component, *, environment: Mapping[str, str], names: Names, containers: bool, programs: Path | None
) -> Choice:
    """The first source that has the component.

    Args:
        component: what is wanted.
        environment: variables by name.
        names: which variables count.
        containers: whether an engine answers and can be driven from here.
        programs: the folder of the component's programs, or None.

    Raises:
        ComponentUnavailable: none has it; the message names the cures.
        ComponentMisconfigured: the list of sources holds a word that is none.
    """
    allowed = sources(environment, names=names)
    for source in allowed:
        match source:
            case Source.URL:
                if url := environment.get(names.url(component)):
                    return FromUrl(url)
            case Source.CONTAINER:
                if containers:
                    return FromContainer()
            case Source.BINARY:
                if programs is not None:
                    return FromBinary(programs)
    raise ComponentUnavailable(missing(component, names=names, allowed=allowed))


def sources(environment: Mapping[str, str], *, names: Names) -> tuple[Source, ...]:
    """Which sources are asked, in which order: those that the environment lists, or all.

    Raises:
        ComponentMisconfigured: the list holds a word that is none, or nothing.
    """
    if (listed := environment.get(names.sources)) is None:
        return tuple(Source)
    known = {source.value: source for source in Source}
    words = [word.strip() for word in listed.split(",")]
    if wrong := [word for word in words if word not in known]:
        raise ComponentMisconfigured(f"{names.sources} holds {wrong[0]!r}; it lists some of {', '.join(known)}")
    return tuple(known[word] for word in words)


def missing(component: Component, *, names: Names, allowed: tuple[Source, ...] = tuple(Source)) -> str:
    """What to tell someone who lacks the component: one cure per source that is asked."""
    cures = {
        Source.URL: f"set {names.url(component)}",
        Source.CONTAINER: "start Docker and `pip install 'lakeward-components[containers]'`",
        Source.BINARY: f"`pip install '{PACKAGES[component]}'`",
    }
    return f"there is no {component.value} here; " + ", or ".join(cures[source] for source in reversed(allowed))
