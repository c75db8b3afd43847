"""Reads people and groups of an LDAP directory, whole or not at all."""

from __future__ import annotations

import asyncio
import dataclasses
import re
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import ldap3
from ldap3.core.exceptions import LDAPException
from ldap3.utils.dn import parse_dn

from lakeward_authz.application.synchronising import Unreadable
from lakeward_authz.domain.directories import DirectoryContents, DirectoryGroup
from lakeward_servicekit.secrecy import SecretStr

MOST_ENTRIES: Final = 500_000
MOST_MEMBERS: Final = 2_000_000
_PAGES: Final = "1.2.840.113556.1.4.319"  # RFC 2696
_RANGE: Final = ";range="
# Of Active Directory, and no text.
_BINARY_ID: Final = "objectguid"
_ESCAPE: Final = re.compile(rb"\\([0-9a-fA-F]{2})|\\(.)", re.DOTALL)
Values = Mapping[str, Sequence[bytes]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LdapDirectory:
    """Where a directory is, and what of it is read.

    Attributes:
        urls: of servers that hold the same; the first that answers is asked.
        bind_dn: None: nobody in particular asks.
        ca_file: what the server's certificate is verified with; None: what the system trusts.
        user_id: attribute that is a person's subject at its identity provider.
        group_id: attribute that names a group for good.
        member: attribute of groups that names members; None where people and groups say what they are in.
        member_of: attribute that says so.
        seconds: for a connection, and for each answer.
    """

    urls: Sequence[str]
    bind_dn: str | None
    bind_password: SecretStr | None
    start_tls: bool
    ca_file: Path | None
    user_base_dn: str
    user_filter: str
    user_id: str
    group_base_dn: str
    group_filter: str
    group_id: str
    group_name: str
    member: str | None
    member_of: str
    page_size: int
    seconds: int


@dataclasses.dataclass(frozen=True, slots=True)
class LdapReader:
    """The `Directory` that is asked by LDAP."""

    source: LdapDirectory

    async def read(self) -> DirectoryContents:
        """See `Directory`."""
        return await asyncio.to_thread(self._read)

    def _read(self) -> DirectoryContents:
        why = "no server is named"
        for url in self.source.urls:
            try:
                return self._asked(url)
            except (LDAPException, OSError) as error:
                why = f"{url}: {type(error).__name__}: {str(error)[:300]}"
        raise Unreadable(f"the directory could not be read: {why}")

    def _asked(self, url: str) -> DirectoryContents:
        connection = self._connected(url)
        try:
            return self._contents(connection)
        finally:
            connection.unbind()  # which its own block does only where it was that block that bound it

    def _connected(self, url: str) -> ldap3.Connection:
        source = self.source
        tls = ldap3.Tls(
            validate=ssl.CERT_REQUIRED, ca_certs_file=None if source.ca_file is None else str(source.ca_file)
        )
        server = ldap3.Server(url, tls=tls, connect_timeout=source.seconds, get_info=ldap3.NONE)
        connection = ldap3.Connection(
            server,
            user=source.bind_dn,
            password=None if source.bind_password is None else source.bind_password.get_secret_value(),
            receive_timeout=source.seconds,
            auto_referrals=False,
            raise_exceptions=True,
            check_names=False,
            read_only=True,
        )
        try:
            connection.open()
            if source.start_tls:
                connection.start_tls()
            connection.bind()
        except (LDAPException, OSError):
            if connection.socket is not None:  # unbinding closes only what was opened whole
                connection.socket.close()
            raise
        return connection

    def _contents(self, connection: ldap3.Connection) -> DirectoryContents:
        source = self.source
        above = [] if source.member is not None else [source.member_of]
        people: dict[str, str] = {}
        inside: dict[str, list[str]] = {}
        for dn, values in entries_of(
            connection, source.user_base_dn, source.user_filter, [source.user_id, *above], page_size=source.page_size
        ):
            subject = _text(values, source.user_id)
            if subject is None:
                continue
            people[key_of(dn)] = subject
            self._note(inside, key_of(dn), values, above)
        groups = []
        wanted = [source.group_id, source.group_name, *above, *([source.member] if source.member else [])]
        for dn, values in entries_of(
            connection, source.group_base_dn, source.group_filter, wanted, page_size=source.page_size
        ):
            group_id, name = _text(values, source.group_id), _text(values, source.group_name)
            if group_id is None or name is None:
                raise Unreadable(
                    f"the group {dn[:200]!r} has no {source.group_id if group_id is None else source.group_name}"
                )
            members = [] if source.member is None else _members(connection, dn, values, source.member)
            self._note(inside, key_of(dn), values, above)
            groups.append(DirectoryGroup(key_of(dn), group_id, name, members))
        if source.member is None:
            groups = [dataclasses.replace(group, members=inside.get(group.key, [])) for group in groups]
        if sum(len(group.members) for group in groups) > MOST_MEMBERS:
            raise Unreadable(f"the groups have more than {MOST_MEMBERS} members; narrow the filters")
        return DirectoryContents(people, groups)

    def _note(self, inside: dict[str, list[str]], key: str, values: Values, attributes: Sequence[str]) -> None:
        for attribute in attributes:
            for value in _values(values, attribute):
                inside.setdefault(key_of(value.decode("utf-8", "replace")), []).append(key)


def entries_of(
    connection: ldap3.Connection, base: str, wanted: str, attributes: Sequence[str], *, page_size: int
) -> Iterator[tuple[str, Values]]:
    """Every entry, page by page.

    Raises:
        Unreadable: there are more than are read, or some are elsewhere.
        LDAPException: the server refuses, or does not answer.
    """
    cookie: bytes | None = None
    count = 0
    while True:
        connection.search(
            base,
            wanted,
            search_scope=ldap3.SUBTREE,
            attributes=[*attributes],
            paged_size=page_size,
            paged_cookie=cookie,
        )
        for entry in connection.response or ():
            if entry["type"] != "searchResEntry":
                raise Unreadable(
                    f"below {base!r} the directory refers to another; name a base that one server holds whole"
                )
            count += 1
            if count > MOST_ENTRIES:
                raise Unreadable(f"there are more than {MOST_ENTRIES} entries below {base!r}; narrow the filter")
            yield entry["dn"], entry["raw_attributes"]
        cookie = _cookie_of(connection.result)
        if not cookie:
            return


def _cookie_of(result: Mapping[str, Any]) -> bytes:
    control = (result.get("controls") or {}).get(_PAGES)
    return b"" if control is None else control["value"]["cookie"]


def _members(connection: ldap3.Connection, dn: str, values: Values, attribute: str) -> list[str]:
    def more(ranged: str) -> Values:
        connection.search(dn, "(objectClass=*)", search_scope=ldap3.BASE, attributes=[ranged])
        if not connection.response:
            raise Unreadable(f"the group {dn[:200]!r} is gone while it is read")
        found: Values = connection.response[0]["raw_attributes"]
        return found

    return [key_of(value.decode("utf-8", "replace")) for value in ranged_values(values, attribute, more)]


def ranged_values(values: Values, attribute: str, more: Callable[[str], Values]) -> list[bytes]:
    """All values of an attribute. Active Directory shows 1500 at once and says so: `member;range=0-1499`.

    Args:
        values: of the entry.
        attribute: which.
        more: asks for an attribute with a range.

    Raises:
        Unreadable: a range does not follow on the one before.
    """
    found = [*_values(values, attribute)]
    while True:
        ranged = next((name for name in values if name.lower().startswith(attribute.lower() + _RANGE)), None)
        if ranged is None:
            return found
        first, _, last = ranged.lower().rpartition(_RANGE)[2].partition("-")
        if first != str(len(found)):
            raise Unreadable(
                f"the directory shows the values of {attribute} from {first} where {len(found)} were to follow"
            )
        found += values[ranged]
        if last == "*":
            return found
        values = more(f"{attribute}{_RANGE}{len(found)}-*")


def key_of(name: str) -> str:
    """What two spellings of one distinguished name have in common; what is none stays as it is."""
    try:
        parts = parse_dn(name, escape=False, strip=True)
    except LDAPException:
        return name
    return ",".join(f"{attribute.casefold()}={_plain(value)!r}" for attribute, value, _ in parts)


def _plain(value: str) -> str:
    r"""A value without its escapes: `a\2Cb` and `a\,b` are one (RFC 4514)."""
    written = _ESCAPE.sub(lambda found: bytes.fromhex(found[1].decode()) if found[1] else found[2], value.encode())
    return written.decode("utf-8", "replace").casefold()


def _values(values: Values, attribute: str) -> Sequence[bytes]:
    return next((found for name, found in values.items() if name.casefold() == attribute.casefold()), ())


def _text(values: Values, attribute: str) -> str | None:
    found = _values(values, attribute)
    if not found or not found[0]:
        return None
    if attribute.casefold() == _BINARY_ID:
        return str(UUID(bytes_le=found[0]))
    return found[0].decode("utf-8", "replace")
