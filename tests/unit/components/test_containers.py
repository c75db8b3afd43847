"""What would run in a container."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from lakeward_components import engine
from lakeward_components.containers import Recipe, nats_recipe, postgres_recipe, seaweedfs_recipe

FOLDER = Path("/state")
RECIPES = {
    "postgres": postgres_recipe(FOLDER, password="p", settings={"fsync": "on"}),
    "nats": nats_recipe(FOLDER),
    "seaweedfs": seaweedfs_recipe(FOLDER, buckets=("one", "two")),
}


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_data_lie_in_the_components_folder(recipe: Recipe) -> None:
    assert recipe.mounts
    assert all(ours.is_relative_to(FOLDER) for ours in recipe.mounts)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_an_image_has_a_tag(recipe: Recipe) -> None:
    assert recipe.image.rpartition(":")[2] not in {"", "latest"}


def test_settings_of_postgres_are_on_its_command_line() -> None:
    assert RECIPES["postgres"].command == ("postgres", "-c", "fsync=on")


def test_the_store_makes_every_bucket_and_reports_to_nobody() -> None:
    assert "-bucket=one,two" in RECIPES["seaweedfs"].command
    assert "-master.telemetry=false" in RECIPES["seaweedfs"].command


def test_a_recipe_does_not_show_its_password() -> None:
    recipe = dataclasses.replace(RECIPES["postgres"], environment={"POSTGRES_PASSWORD": "verysecret"})
    assert "verysecret" not in repr(recipe)


@pytest.mark.parametrize("host", ["unix:///nowhere/docker.sock", "tcp://127.0.0.1:1", "ssh://somewhere", "nonsense"])
def test_an_engine_that_does_not_answer_is_none(host: str) -> None:
    assert not engine.answers({"DOCKER_HOST": host})
