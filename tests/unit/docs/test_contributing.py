"""CONTRIBUTING.md sends nobody to a file that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = re.findall(r"^\*\*(.+?)\*\*", PAGE, re.MULTILINE)
PLACES = sorted(set(re.findall(r"`((?:protos|services|libs|cli|tests|docs|tools)/[^` ]*)`", PAGE)))


def test_folders_whose_fixtures_end_with_them_are_packages() -> None:
    tests = ROOT / "tests"
    folders = [each.parent for each in tests.rglob("conftest.py") if 'scope="package"' in each.read_text()]
    assert folders
    within = {each for folder in folders for each in (folder, *folder.parents) if each.is_relative_to(tests)}
    assert [each for each in sorted(within) if not (each / "__init__.py").is_file()] == []


def test_a_newcomers_changes_have_their_recipes() -> None:
    kinds = ("A method", "A storage kind", "A permission", "An event", "A setting")
    assert [kind for kind in kinds if not any(recipe.startswith(kind) for recipe in RECIPES)] == []


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_a_recipe_names_is_there(place: str) -> None:
    path = ROOT / place
    assert path.is_dir() if place.endswith("/") else path.is_file()
