"""Each service from its own distribution alone: four environments that were empty before, and Lakeward over them."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest

from lakeward_components import blocking
from lakeward_components.nats import NatsServer
from tests.support.http import NOBODY
from tests.support.installations import SERVICES, Composition, Program, environment, migrate, planned, running

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
FOUND = "import pkgutil; print(*(found.name for found in pkgutil.iter_modules() if found.name.startswith('lakeward')))"


@pytest.fixture(scope="module")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """By service, the interpreter of an environment into which its distribution was installed, and nothing else."""
    wheels = tmp_path_factory.mktemp("wheels")
    sources = [str(path.parent) for folder in ("libs", "services") for path in ROOT.glob(f"{folder}/*/pyproject.toml")]
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), *sources)
    found = {}
    for service in SERVICES:
        home = tmp_path_factory.mktemp(service)
        venv.create(home)
        found[service] = home / "bin" / "python"
        where = ("--find-links", str(wheels), "--constraint", str(ROOT / "constraints.txt"))
        pip("--python", str(found[service]), "install", "--no-compile", *where, f"lakeward-{service}")
    return found


def pip(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_brings_libraries_and_no_other_service(service: str, pythons: Mapping[str, Path]) -> None:
    found = subprocess.run([pythons[service], "-c", FOUND], check=True, capture_output=True, text=True).stdout
    packages = set(found.split())
    assert f"lakeward_{service}" in packages
    others = {f"lakeward_{other}" for other in (*SERVICES, "cli", "components", "pipelines") if other != service}
    assert packages & others == set()


def test_four_services_serve_from_their_own_distributions(
    pythons: Mapping[str, Path], make_database: Callable[[], str], nats_server: NatsServer, tmp_path: Path
) -> None:
    settings = environment(make_database(), nats_server)
    blocking.run(migrate(settings))
    installation = planned(Composition.FOUR_PROCESSES, tmp_path, settings)
    for service, process in installation.processes.items():
        own = process.program.environment
        process.program = Program(f"lakeward_{service}", (), own, python=str(pythons[service]))
    with running(installation), httpx.Client(verify=NOBODY, base_url=installation.url) as http:
        made = http.post("/management/v1/bootstrap", json={"accept-terms-of-use": True})
        assert made.status_code == httpx.codes.NO_CONTENT, made.text
        assert http.get("/management/v1/info").json()["bootstrapped"] is True
