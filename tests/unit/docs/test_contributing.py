"""CONTRIBUTING.md sends nobody to a file that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
RECIPES = re.findall(r"^\*\*(.+?)\*\*", PAGE, re.MULTILINE)
PLACES = sorted(set(re.findall(r"`((?:protos|services|libs|cli|tests|docs|tools)/[^` ]*)`", PAGE)))


def test_a_newcomers_changes_have_their_recipes() -> None:
    kinds = ("A method", "A storage kind", "A permission", "An event", "A setting")
    assert [kind for kind in kinds if not any(recipe.startswith(kind) for recipe in RECIPES)] == []


@pytest.mark.parametrize("place", PLACES)
def test_every_place_that_a_recipe_names_is_there(place: str) -> None:
    path = ROOT / place
    assert path.is_dir() if place.endswith("/") else path.is_file()


def test_every_use_case_that_knows_s3_by_name_is_told_to_who_adds_a_storage_kind() -> None:
    rooms = [ROOT / "services/vending/lakeward_vending" / room for room in ("application", "domain")]
    modules = [path for room in rooms for path in room.glob("*.py") if "S3Profile" in path.read_text()]
    assert [str(path.relative_to(ROOT)) for path in modules if str(path.relative_to(ROOT)) not in PLACES] == []
    assert modules
