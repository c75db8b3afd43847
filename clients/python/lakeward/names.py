"""Names and ids, and namespaces as people write them."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from lakeward.errors import ConfigurationError

SEPARATOR = "\x1f"
"""Between a namespace's levels, in paths and parameters of the Iceberg API."""


def is_id(given: str | UUID) -> bool:
    """Whether it is an id; a warehouse, or a role, whose name is a UUID can be given by its id alone."""
    if isinstance(given, UUID):
        return True
    try:
        UUID(given)
    except ValueError:
        return False
    return True


def same(one: str, other: str) -> bool:
    """Whether two names are one: case makes no difference."""
    return one.casefold() == other.casefold()


def levels(namespace: str | Sequence[str]) -> Sequence[str]:
    """A namespace's levels.

    Args:
        namespace: "sales.eu", or the levels themselves, which is how a level that holds a dot is given.

    Raises:
        ConfigurationError: it has no level, or an empty one.
    """
    found = namespace.split(".") if isinstance(namespace, str) else list(namespace)
    if not found or not all(found):
        raise ConfigurationError(f"{namespace!r} is no namespace: each level has a name, as in sales.eu")
    return found
