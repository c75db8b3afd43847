from __future__ import annotations

import os
import subprocess
import sys

import lakeward_servicekit
from tests.support.installations import foreign_removed

# Prints what gRPC's core will read, at the moment in which it is imported.
SHOW = """
import importlib, os, sys
class Looking:
    def find_spec(self, name, path, target=None):
        if name == "grpc":
            print(os.environ.get("GRPC_EXPERIMENTS"))
            sys.exit()
sys.meta_path.insert(0, Looking())
for service in ("authz", "vending", "catalog", "gateway"):
    importlib.import_module(f"lakeward_{service}.__main__")
"""


def _read_by_grpc(**variables: str) -> str:
    environment = {**foreign_removed(os.environ), **variables}
    if not variables:
        environment.pop(lakeward_servicekit.GRPC_ENGINE, None)
    done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip()


def test_grpc_is_imported_by_a_service_behind_the_choice_of_its_engine() -> None:
    assert _read_by_grpc() == "-event_engine_client,-event_engine_listener"


def test_an_engine_that_somebody_chose_stays() -> None:
    assert _read_by_grpc(GRPC_EXPERIMENTS="event_engine_client") == "event_engine_client"
