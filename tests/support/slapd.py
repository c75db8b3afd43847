"""A real LDAP server: OpenLDAP's slapd, from PATH or from Debian's packages, which are kept in a folder of the user's cache."""

from __future__ import annotations

import dataclasses
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import ldap3

from lakeward_components import ports
from tests.support.certificates import Pair

BASE: Final = "dc=example,dc=org"
ADMINISTRATOR: Final = f"cn=admin,{BASE}"
PASSWORD: Final = "the-directory's-own-secret"
_PACKAGES: Final = ("slapd", "libltdl7", "libodbc2", "libwrap0", "libldap-2.5-0", "libsasl2-2", "libargon2-1")
_MARK: Final = "whole"
_ATTEMPTS: Final = 5


@dataclasses.dataclass(frozen=True)
class Slapd:
    """Where a server listens, and its program.

    Attributes:
        url: without TLS, which StartTLS adds.
    """

    url: str
    tls_url: str

    @contextmanager
    def administrator(self) -> Iterator[ldap3.Connection]:
        """A connection that may write."""
        server = ldap3.Server(self.url, get_info=ldap3.NONE)
        connection = ldap3.Connection(server, ADMINISTRATOR, PASSWORD, raise_exceptions=True)
        try:
            connection.bind()
            yield connection
        finally:
            connection.unbind()


def available() -> Path | None:
    """The folder that has slapd below it, "/" for the system's own; None where none can be had."""
    if Path("/usr/sbin/slapd").exists():
        return Path("/")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lakeward" / "slapd"
    if (folder / _MARK).is_file():
        return folder
    if not all(map(shutil.which, ("apt-get", "dpkg-deb"))):
        return None
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        for package in _PACKAGES:  # one by one: what a release of Debian has under another name may be there already
            subprocess.run(["apt-get", "download", package], cwd=scratch, capture_output=True, check=False)
        made = Path(scratch, "made")
        for found in sorted(Path(scratch).glob("*.deb")):
            subprocess.run(["dpkg-deb", "--extract", found, made], capture_output=True, check=True)
        if not (made / "usr/sbin/slapd").is_file() or not _runs(made):
            return None
        (made / _MARK).touch()
        if not folder.exists():
            made.replace(folder)
    return folder


def _environ(root: Path) -> dict[str, str]:
    libraries = [*root.glob("usr/lib/*-linux-gnu*"), root / "usr/lib"] if root != Path("/") else []
    return {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, libraries))}


def _runs(root: Path) -> bool:
    asked = subprocess.run([root / "usr/sbin/slapd", "-VV"], env=_environ(root), capture_output=True, check=False)
    return b"OpenLDAP" in asked.stderr


@contextmanager
def slapd(root: Path, folder: Path, certificate: Pair) -> Iterator[Slapd]:
    """A server with an empty tree below BASE."""
    data = folder / "data"
    data.mkdir(parents=True)
    lines = [
        *(
            f"include {root}/etc/ldap/schema/{name}.schema".replace("//", "/")
            for name in ("core", "cosine", "inetorgperson")
        ),
        f"modulepath {root}/usr/lib/ldap".replace("//", "/"),
        "moduleload back_mdb",
        f"pidfile {folder}/pid",
        f"TLSCertificateFile {certificate.certificate}",
        f"TLSCertificateKeyFile {certificate.key}",
        "database mdb",
        f'suffix "{BASE}"',
        f'rootdn "{ADMINISTRATOR}"',
        f"rootpw {PASSWORD}",
        f"directory {data}",
        "maxsize 67108864",
    ]
    config = folder / "slapd.conf"
    config.write_text("\n".join([*lines, ""]), encoding="utf-8")
    process, made = _started(root, config)
    try:
        yield made
    finally:
        process.terminate()
        process.communicate()


def _started(root: Path, config: Path) -> tuple[subprocess.Popen[bytes], Slapd]:
    """A server that answers. One whose port somebody else took meanwhile has ended by itself, and another is tried."""
    last, said = None, b""
    for _ in range(_ATTEMPTS):
        last = ports.take(given=None, last=last, twin_offset=1)
        made = Slapd(f"ldap://127.0.0.1:{last}", f"ldaps://127.0.0.1:{last + 1}")
        process = subprocess.Popen(
            [root / "usr/sbin/slapd", "-d", "0", "-f", config, "-h", f"{made.url} {made.tls_url}"],
            env=_environ(root),
            stderr=subprocess.PIPE,
        )
        if _answers(process, made):
            return process, made
        said = process.communicate()[1]
    raise RuntimeError(said.decode())


def _answers(process: subprocess.Popen[bytes], server: Slapd) -> bool:
    until = time.monotonic() + 30
    while process.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", int(server.url.rpartition(":")[2]))).close()
        except OSError:
            time.sleep(0.05)
            continue
        with server.administrator() as connection:
            added = connection.add(BASE, ["dcObject", "organization"], {"dc": "example", "o": "Example"})  # type: ignore[no-untyped-call]
            return bool(added)
    process.terminate()
    return False
