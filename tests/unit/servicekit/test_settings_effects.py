"""A supported setting has an effect: somewhere outside of the settings themselves its value is read."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import lakeward_servicekit.settings as package
from lakeward_servicekit.settings.catalogue import Support
from lakeward_servicekit.settings.known import SETTINGS
from lakeward_servicekit.settings.model import LEVEL, SETTING, Settings

_ROOT = Path(__file__).parents[3]
_PRODUCT = ("libs", "services", "cli")


def test_every_supported_setting_is_read_by_the_product() -> None:
    supported = {each.name for each in SETTINGS if each.support is Support.SUPPORTED and each.instead is None}
    unread = [
        f"{name} ({owner.__name__}.{field})"
        for owner in _owners()
        for name, field in _fields(owner).items()
        if name in supported and not _is_read(owner, field)
    ]
    assert unread == []


def test_a_setting_that_only_its_own_checks_look_at_counts_as_unread() -> None:
    class Checked(Settings):
        checked: int
        derived: int

        def _consistent(self) -> bool:
            return self.checked > 0

    assert "checked" not in _readers(Checked)["checked"] - {"checked"}
    assert not _is_read(Checked, "checked")


def _owners() -> Iterator[type[Settings]]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            if (
                inspect.isclass(value)
                and issubclass(value, Settings)
                and value is not Settings
                and value.__module__ == module.__name__
            ):
                yield value


def _fields(owner: type[Settings]) -> Mapping[str, str]:
    """Field by name of its setting."""
    extras = {field: cast("dict[str, str]", info.json_schema_extra) for field, info in owner.model_fields.items()}
    return {extra[SETTING]: field for field, extra in extras.items() if LEVEL not in extra}


def _is_read(owner: type[Settings], field: str) -> bool:
    """Whether anything reads the field, or a public member of its class that is made from it."""
    accessed = _accessed()
    return any(accessed[name] & _called(owner) for name in _readers(owner)[field])


def _readers(owner: type[Settings]) -> Mapping[str, set[str]]:
    """By field: the names under which its value leaves the class: its own, and those of public members that use it."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(tree, ast.ClassDef)
    uses = {
        each.name: {
            part.attr
            for part in ast.walk(each)
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == "self"
        }
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
    }
    readers: dict[str, set[str]] = {field: {field} for field in owner.model_fields}
    for field in owner.model_fields:
        reached = {field}
        while more := {name for name, used in uses.items() if used & reached} - reached:
            reached |= more
        readers[field] |= {name for name in reached if not name.startswith("_")}
    return readers


def _called(owner: type[Settings]) -> set[str]:
    """What instances of the class are called where they are read: as `settings`, or as the part of a whole that they are."""
    return {"settings", *_parts()[owner.__name__]}


@functools.cache
def _accessed() -> Mapping[str, set[str]]:
    """By attribute: what it is read from, by the last name: {"write_url": {"postgres", "settings"}}."""
    accessed: defaultdict[str, set[str]] = defaultdict(set)
    for tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                base = node.value
                if isinstance(base, ast.Attribute | ast.Name):
                    accessed[node.attr].add(base.attr if isinstance(base, ast.Attribute) else base.id)
    return accessed


@functools.cache
def _parts() -> Mapping[str, set[str]]:
    """By class of settings: the names of fields and parameters that are annotated with it."""
    parts: defaultdict[str, set[str]] = defaultdict(set)
    for tree in _trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                parts[ast.unparse(node.annotation)].add(node.target.id)
            elif isinstance(node, ast.arg) and node.annotation is not None:
                parts[ast.unparse(node.annotation)].add(node.arg)
    return parts


@functools.cache
def _trees() -> list[ast.Module]:
    settings = Path(package.__path__[0])
    files = [
        path for part in _PRODUCT for path in (_ROOT / part).rglob("lakeward_*/**/*.py") if settings not in path.parents
    ]
    return [ast.parse(path.read_text()) for path in files if "_pb2" not in path.name]
