"""Roles that follow a directory: a real LDAP server, real rows, and authz as it is started."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import ldap3
import pytest

from lakeward_authz.domain.permissions.objects import role_subject
from lakeward_components.oidc import OidcProvider
from tests.integration.authz.test_people import ADMINISTRATOR, PROJECT, People, serving
from tests.support import slapd as servers
from tests.support.certificates import Authority
from tests.support.slapd import BASE, PASSWORD, Slapd

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def program() -> Path:
    found = servers.available()
    if found is None:
        pytest.skip("slapd is neither installed nor to be had from Debian's packages, so no directory can be asked")
    return found


@pytest.fixture
def slapd(program: Path, authority: Authority, tmp_path: Path) -> Iterator[Slapd]:
    with servers.slapd(program, tmp_path / "slapd", authority.issue()) as server:
        yield server


@dataclasses.dataclass(frozen=True)
class Ground:
    """What authz stands on."""

    database: str
    oidc: OidcProvider


@pytest.fixture
def ground(make_database: Callable[[], str], oidc: OidcProvider) -> Ground:
    return Ground(make_database(), oidc)


class Directory:
    """What a directory's administrator does."""

    def __init__(self, server: Slapd) -> None:
        self._server = server
        with server.administrator() as connection:
            for unit in ("people", "groups"):
                connection.add(f"ou={unit},{BASE}", "organizationalUnit")

    def hire(self, *names: str) -> None:
        with self._server.administrator() as connection:
            for name in names:
                connection.add(person(name), "inetOrgPerson", {"sn": name, "cn": name.title()})

    def group(self, name: str, *members: str) -> None:
        with self._server.administrator() as connection:
            connection.add(group(name), "groupOfNames", {"member": list(members)})

    def change(self, name: str, how: str, *members: str) -> None:
        with self._server.administrator() as connection:
            connection.modify(group(name), {"member": [(how, list(members))]})

    def remove(self, *names: str) -> None:
        with self._server.administrator() as connection:
            for name in names:
                connection.delete(name)

    def rename(self, name: str, other: str) -> None:
        with self._server.administrator() as connection:
            connection.modify_dn(group(name), f"cn={other}")


def person(name: str) -> str:
    return f"uid={name},ou=people,{BASE}"


def group(name: str) -> str:
    return f"cn={name},ou=groups,{BASE}"


@pytest.fixture
def directory(slapd: Slapd) -> Directory:
    return Directory(slapd)


@asynccontextmanager
async def following(
    ground: Ground, url: str, *, authority: Authority | None = None, again: bool = False, **more: str
) -> AsyncIterator[People]:
    """Authz that reads the directory, over and over."""
    told = {
        "URL": url,
        "BIND_DN": f"cn=admin,{BASE}",
        "BIND_PASSWORD": PASSWORD,
        "PROJECT": PROJECT,
        "USER_BASE_DN": f"ou=people,{BASE}",
        "GROUP_BASE_DN": f"ou=groups,{BASE}",
        "INTERVAL": "20ms",
        "PAGE_SIZE": "2",
        **({"ALLOW_INSECURE": "true"} if authority is None else {"CA_FILE": str(authority.certificate)}),
        **more,
    }
    variables = {f"LAKEWARD__LDAP__CORP__{name}": value for name, value in told.items()}
    async with serving(
        ground.database, ground.oidc, again=again, LAKEKEEPER__AUTHZ_BACKEND="builtin", **variables
    ) as people:
        yield people


async def roles_of(people: People) -> dict[str, Any]:
    listed = await people.told(ADMINISTRATOR, "GET", "/role?providerIds=corp")
    return {role["name"]: role for role in listed["roles"]}


async def members_of(people: People, role: str) -> Sequence[str] | None:
    """Who is in a role, by name; None where there is no such role."""
    found = (await roles_of(people)).get(role)
    if found is None:
        return None
    members = await people.told(ADMINISTRATOR, "GET", f"/role/{found['id']}/members")
    return [member["id"].removeprefix("oidc~") for member in members["members"]]


async def until(people: People, role: str, expected: Sequence[str] | None) -> None:
    """Wait for the fact, however long it takes."""
    async with asyncio.timeout(20):
        while await members_of(people, role) != expected:
            await asyncio.sleep(0.02)


async def complaint(caplog: pytest.LogCaptureFixture) -> str:
    """Wait for the log to say why roles do not follow."""
    async with asyncio.timeout(20):
        while True:
            for record in caplog.records:
                if "do not follow" in record.message:
                    return str(record.__dict__["why"])
            await asyncio.sleep(0.02)


async def test_groups_are_roles_and_who_leaves_one_is_refused_what_it_gave(
    ground: Ground, slapd: Slapd, directory: Directory
) -> None:
    directory.hire("ann", "bob", "carl", "dora", "eve")
    directory.group("engineers", person("ann"), person("bob"), person("carl"))
    directory.group("all", group("engineers"), person("dora"))
    async with following(ground, slapd.url) as people:
        await until(people, "engineers", ["ann", "bob", "carl"])
        assert await members_of(people, "all") == ["ann", "bob", "carl", "dora"]
        roles = await roles_of(people)
        assert roles["all"]["provider-id"] == "corp"
        await people.give(role_subject(roles["all"]["id"]), "describe")
        assert (await people.call("ann", "GET", "/role")).is_success
        directory.change("engineers", ldap3.MODIFY_DELETE, person("ann"))
        await until(people, "engineers", ["bob", "carl"])
        assert not (await people.call("ann", "GET", "/role")).is_success
        directory.rename("engineers", "builders")
        directory.change("builders", ldap3.MODIFY_ADD, person("eve"))
        await until(people, "builders", ["bob", "carl", "eve"])
        assert (await roles_of(people))["builders"]["id"] == roles["engineers"]["id"]
        # a group that is gone gives nothing any more, and its role stays for what people gave to it
        directory.remove(group("builders"))
        await until(people, "builders", [])
        managed = await people.refused(ADMINISTRATOR, "POST", f"/role/{roles['all']['id']}", {"name": "mine"})
        assert managed == (400, "ManagedRoleImmutable")


async def test_a_directory_that_is_away_or_shows_nobody_takes_nothing(
    ground: Ground, slapd: Slapd, directory: Directory, caplog: pytest.LogCaptureFixture
) -> None:
    directory.hire("ann", "bob")
    directory.group("engineers", person("ann"))
    async with following(ground, slapd.url) as people:
        await until(people, "engineers", ["ann"])
    caplog.set_level(logging.INFO)
    for more in (
        {"GROUP_FILTER": "(cn=nothing)"},
        {"GROUP_BASE_DN": f"ou=nowhere,{BASE}"},
        {"BIND_PASSWORD": "wrong-secret"},
        {"GROUP_ID_ATTRIBUTE": "description"},
    ):
        caplog.clear()
        async with following(ground, slapd.url, again=True, **more) as people:
            await complaint(caplog)
            assert await members_of(people, "engineers") == ["ann"], more
    assert PASSWORD not in caplog.text
    assert "wrong-secret" not in caplog.text
    async with following(ground, slapd.url, again=True, GROUP_FILTER="(cn=nothing)", MAY_EMPTY="true") as people:
        await until(people, "engineers", [])


async def test_a_directory_is_read_by_tls_alone_and_from_who_has_the_right_certificate(
    ground: Ground,
    slapd: Slapd,
    authority: Authority,
    tmp_path_factory: pytest.TempPathFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    directory = Directory(slapd)
    directory.hire("ann")
    directory.group("engineers", person("ann"))
    stranger = Authority(tmp_path_factory.mktemp("stranger"), "stranger")
    async with following(ground, slapd.tls_url, authority=stranger) as people:
        await complaint(caplog)
        assert await roles_of(people) == {}
    for url, more in ((slapd.tls_url, {}), (slapd.url, {"STARTTLS": "true"})):
        away = f"{url.partition(':')[0]}://127.0.0.1:1,"
        async with following(ground, away + url, authority=authority, again=True, **more) as people:
            await until(people, "engineers", ["ann"])


async def test_of_several_processes_none_undoes_another_s_reading(
    ground: Ground, slapd: Slapd, directory: Directory
) -> None:
    directory.hire("ann", "bob")
    directory.group("engineers", person("ann"))
    async with following(ground, slapd.url) as first:
        async with following(ground, slapd.url, again=True) as second:
            await until(second, "engineers", ["ann"])
        directory.change("engineers", ldap3.MODIFY_ADD, person("bob"))
        await until(first, "engineers", ["ann", "bob"])
        assert len(await roles_of(first)) == 1
