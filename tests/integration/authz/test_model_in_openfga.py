"""OpenFGA's own engine, out of its command, reads our model as we do and decides the matrix alike; no server is needed."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lakeward_authz.adapters.openfga.documents import authorization_model
from lakeward_authz.domain.permissions import lakeward
from lakeward_authz.domain.permissions.lakeward import ASSIGNEE, GLIMPSE, MODEL, SIGHT, TEXT
from lakeward_authz.domain.permissions.language import Computed
from lakeward_authz.domain.permissions.tuples import (
    FgaTuple,
    caller_name,
    grant_tuple,
    link_tuple,
    managed_tuples,
    object_name,
)
from tests.support.authz_matrix import MATRIX, SUBJECTS, fixture
from tests.support.authz_worlds import World, subject_of

pytestmark = pytest.mark.integration
FGA = Path(sysconfig.get_path("scripts")) / "fga"


def fga(*arguments: str) -> str:
    done = subprocess.run([FGA, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def test_the_file_reads_in_openfga_as_it_does_here() -> None:
    file = Path(lakeward.__file__).with_name("model.fga")
    assert plain(json.loads(fga("model", "transform", "--file", str(file)))) == plain(authorization_model(MODEL.rules))


def plain(document: dict[str, Any]) -> dict[str, Any]:
    """A model with what the two leave out in different ways filled in alike."""
    types = {}
    for found in document["type_definitions"]:
        metadata = (found.get("metadata") or {}).get("relations") or {}
        types[found["type"]] = {
            relation: (rule, (metadata.get(relation) or {}).get("directly_related_user_types") or [])
            for relation, rule in (found.get("relations") or {}).items()
        }
    return {"schema": document["schema_version"], "types": types}


def tuples_of(world: World) -> Iterator[FgaTuple]:
    for node in world.nodes.values():
        if (link := link_tuple(node.key, world.parent_id(node))) is not None:
            yield link
        yield from managed_tuples(node.key) if node.managed else ()
    for subject, relation, name in world.grants:
        yield grant_tuple(world.nodes[name].key, subject, relation)


def shown(caller: str, world: World) -> Iterator[FgaTuple]:
    """What authz tells with a question: which containers are shown by something in them."""
    name = caller_name(subject_of(caller))
    for node_name, node in world.nodes.items():
        if GLIMPSE in MODEL.types[node.key.type].bits and SIGHT in world.may(caller, node_name):
            yield FgaTuple(name, GLIMPSE, object_name(node.key))
    if caller.startswith("role:"):
        yield FgaTuple(name, ASSIGNEE, name)


def as_document(each: FgaTuple) -> dict[str, str]:
    return {"user": each.user, "relation": each.relation, "object": each.object}


def told_apart(type_name: str, actions: dict[str, set[str]]) -> dict[str, set[str]]:
    """One action of those that are other names for one relation: that they are, the model's document says."""
    rules = MODEL.rules[type_name]
    named: dict[str, str] = {}
    for action in actions:
        relation = action
        while isinstance(rule := rules[relation], Computed):
            relation = rule.relation
        named.setdefault(relation, action)
    return {action: actions[action] for action in named.values()}


def test_openfga_decides_the_matrix_alike(tmp_path: Path) -> None:
    world = fixture()
    tests: list[dict[str, Any]] = [
        {
            "name": caller,
            "tuples": [as_document(each) for each in shown(caller, world)],
            "check": [
                {
                    "user": caller_name(subject_of(caller)),
                    "object": object_name(world.nodes[name].key),
                    "assertions": {
                        action: caller.removeprefix("user:") in allowed if caller in users else action in may
                        for action, allowed in told_apart(world.nodes[name].key.type, actions).items()
                    },
                }
                for name, actions in MATRIX.items()
                for may in [world.may(caller, name)]
            ],
        }
        for users in [{f"user:{subject}" for subject in SUBJECTS}]
        for caller in [*sorted(users), "role:R"]
    ]
    document = {
        "name": "matrix",
        "model": TEXT,
        "tuples": [as_document(each) for each in tuples_of(world)],
        "tests": tests,
    }
    file = tmp_path / "matrix.fga.yaml"
    file.write_text(json.dumps(document), encoding="utf-8")
    summary = fga("model", "test", "--tests", str(file))
    assert f"Tests {len(tests)}/{len(tests)} passing" in summary
    checks = sum(len(check["assertions"]) for test in tests for check in test["check"])
    assert f"Checks {checks}/{checks} passing" in summary
