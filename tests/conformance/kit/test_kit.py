"""Iceberg's own compatibility kit, in both versions, over both compositions, with vended credentials and signed requests.

Adapted for it is only what `Warehouse.java` says. Where a test fails, `differences.py` says why that is as it should be. The
counts stand in README; `LAKEWARD_KIT_WRITES_README=1` makes a run write them there.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx
import pytest

from tests.conformance.kit import counts as readme
from tests.conformance.kit import java_kit
from tests.conformance.kit.counts import COUNTED, Counts
from tests.conformance.kit.differences import DIFFERENCES, NOT_ASKED, VERSIONS, Difference, expected, surprises
from tests.conformance.kit.java_kit import Result, Warehouse
from tests.support import maven
from tests.support.http import NOBODY
from tests.support.lakeward import Lakeward
from tests.support.warehouses import make_warehouse

DELEGATIONS = ("vended-credentials", "remote-signing")
ROOT = Path(__file__).resolve().parents[3]

pytestmark = [pytest.mark.integration, pytest.mark.conformance]

Results = Mapping[tuple[str, str], Sequence[Result]]


@pytest.fixture(scope="session")
def classpaths(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The kit's, by version."""
    cure = maven.missing()
    if cure is not None:
        pytest.fail(cure, pytrace=False)
    return {version: java_kit.build(version, tmp_path_factory.mktemp(f"kit-{version}")) for version in VERSIONS}


@pytest.fixture(scope="session")
async def results(lakeward: Lakeward, classpaths: Mapping[str, str]) -> Results:
    """All runs in one composition, each in a warehouse of its own; the versions side by side."""
    warehouses = [await _warehouses(lakeward, version) for version in VERSIONS]
    runs = [
        asyncio.to_thread(java_kit.run, classpaths[version], made)
        for version, made in zip(VERSIONS, warehouses, strict=True)
    ]
    by_version = dict(zip(VERSIONS, await asyncio.gather(*runs), strict=True))
    return {
        (version, delegation): [result for result in by_version[version] if result.run == delegation]
        for version in VERSIONS
        for delegation in DELEGATIONS
    }


async def _warehouses(lakeward: Lakeward, version: str) -> Sequence[Warehouse]:
    made = []
    async with httpx.AsyncClient(verify=NOBODY, base_url=lakeward.url) as http:
        for delegation in DELEGATIONS:
            vends = delegation == "vended-credentials"
            name = f"kit-{version}-{delegation}"
            warehouse = await make_warehouse(http, lakeward.store, sts=vends, name=name)
            location = f"s3://{lakeward.store.bucket}/{warehouse.key_prefix}"
            made.append(Warehouse(delegation, lakeward.catalog_uri, name, delegation, location))
    return made


@pytest.mark.parametrize("delegation", DELEGATIONS)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_kit_passes_but_for_the_argued_differences(
    version: str,
    delegation: str,
    results: Results,
    lakeward: Lakeward,
    record_property: Callable[[str, object], None],
) -> None:
    outcome = results[version, delegation]
    counts = Counts.of(outcome)
    record_property(COUNTED, f"{version}, {lakeward.composition}, {delegation}: {counts}")
    assert "\n".join(surprises(version, outcome)) == ""
    if os.environ.get("LAKEWARD_KIT_WRITES_README"):
        readme.write(version, counts)
    assert readme.written(version) == counts.row(version), "LAKEWARD_KIT_WRITES_README=1 makes a run write the row"


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.tests[0])
def test_every_difference_from_the_kit_is_argued_on_the_page(difference: Difference) -> None:
    page = (ROOT / "docs" / "upstream-differences.md").read_text(encoding="utf-8")
    assert f"| `{difference.documented}` |" in page


SAID = {
    "no-dots-in-namespaces": "BadRequestException: namespace part 'new.db' contains a dot; nest namespaces instead",
    "tables-stay-themselves": "S3Exception: Access Denied. (Service: S3, Status Code: 403)",
    "forbidden-properties-are-400": "BadRequestException: property 'write.metadata.path' can't be set or removed",
    "kit-1-10-views-lie-on-a-disk": "BadRequestException: 'file:/tmp/junit-1/ns/view' is not a location",
    "kit-moves-files-on-a-disk": "java.nio.file.NoSuchFileException: /tmp/junit-1/tmp.json -> s3:/lake/x.json",
    "register-view-is-not-served": "Server does not support endpoint: POST /v1/{prefix}/register-view",
}


def _as_argued(version: str) -> list[Result]:
    """Results of which none is a surprise; those of the tests that pass are left out."""
    differ = [Result("", test, "failed", SAID[known.documented]) for test, known in expected(version).items()]
    return differ + [Result("", test, "skipped", "") for test in sorted(NOT_ASKED)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("turned", "surprise"),
    [
        (Result("", "Tables.testAppend", "failed", "no"), "Tables.testAppend failed: no"),
        (Result("", "Tables.testAppend", "skipped", "no"), "Tables.testAppend skipped: no"),
        (Result("", "Tables.testNamespaceWithDot", "passed", ""), "Tables.testNamespaceWithDot passed, though"),
        (Result("", "Tables.testNamespaceWithDot", "failed", "500"), "Tables.testNamespaceWithDot fails for another"),
        (Result("", "Views.listViewsInEmptyNamespace", "passed", ""), "Views.listViewsInEmptyNamespace passed"),
    ],
    ids=["fails", "skipped", "passes", "fails otherwise", "asked"],
)
def test_a_test_that_turns_is_a_surprise_in_either_direction(version: str, turned: Result, surprise: str) -> None:
    argued = _as_argued(version)
    assert surprises(version, argued) == []
    (found,) = surprises(version, [*(known for known in argued if known.test != turned.test), turned])
    assert found.startswith(surprise)
    assert surprises(version, argued[1:]) == [f"{argued[0].test} did not run"]
