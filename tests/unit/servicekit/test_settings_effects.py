"""A supported setting has an effect: somewhere outside of the settings themselves its value is read."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import lakeward_servicekit.settings as package
from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import Support
from lakeward_servicekit.settings.model import Settings, setting
from lakeward_servicekit.settings.names import classes

_ROOT = Path(__file__).parents[3]
_PRODUCT = ("libs", "services", "cli")


def test_every_supported_setting_is_read_by_the_product() -> None:
    assert [unread for owner in classes() for unread in _unread(owner)] == []


def test_a_setting_that_nothing_outside_the_settings_reads_is_found() -> None:
    class Idle(Settings):
        nobody_asks_for_this: int = setting("IDLE", kinds.COUNT, "1", "Nothing.")
        nor_for_this_yet: int = setting("LATER", kinds.COUNT, "1", "Nothing.", support=Support.PLANNED)

    assert _unread(Idle) == ["IDLE (Idle.nobody_asks_for_this)"]


def test_a_setting_that_only_its_own_checks_look_at_counts_as_unread() -> None:
    class Checked(Settings):
        checked: int = setting("CHECKED", kinds.COUNT, "1", "Something.")
        derived: int = setting("DERIVED", kinds.COUNT, "1", "Something.")

        def _consistent(self) -> bool:
            return self.checked > 0

    assert "checked" not in _readers(Checked)["checked"] - {"checked"}
    assert not _is_read(Checked, "checked")


def _unread(owner: type[Settings]) -> list[str]:
    supported = {field: each for field, each in owner.own.items() if each.support is Support.SUPPORTED}
    return [
        f"{each.name} ({owner.__name__}.{field})" for field, each in supported.items() if not _is_read(owner, field)
    ]


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
    readers: dict[str, set[str]] = {field: {field} for field in owner.fields}
    for field in owner.fields:
        reached = {field}
        while more := {name for name, used in uses.items() if used & reached} - reached:
            reached |= more
        readers[field] |= {name for name in reached if not name.startswith("_")}
    return readers


def _called(owner: type[Settings]) -> set[str]:
    """What instances of the class are called where they are read: as `settings`, or as the part of a whole that they are."""
    kinds_of_it = (owner, *owner.__subclasses__())
    return {"settings"}.union(*(_parts()[each.__name__] for each in kinds_of_it))


@functools.cache
def _accessed() -> Mapping[str, set[str]]:
    """By attribute: what it is read from, by the last name: {"write_url": {"postgres", "settings"}}."""
    accessed: defaultdict[str, set[str]] = defaultdict(set)
    for tree in _trees(with_settings=False):
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
    for tree in _trees(with_settings=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                parts[ast.unparse(node.annotation)].add(node.target.id)
            elif isinstance(node, ast.arg) and node.annotation is not None:
                parts[ast.unparse(node.annotation)].add(node.arg)
    return parts


def _trees(*, with_settings: bool) -> list[ast.Module]:
    files = [
        path for part in _PRODUCT for path in (_ROOT / part).rglob("lakeward_*/**/*.py") if "_pb2" not in path.name
    ]
    return [ast.parse(path.read_text()) for path in files if with_settings or not _declares(path)]


def _declares(path: Path) -> bool:
    """Whether settings are declared there: what reads them there does not make them count."""
    return path.name == "settings.py" or Path(package.__path__[0]) in path.parents
