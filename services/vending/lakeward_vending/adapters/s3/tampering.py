"""What a store makes of a signed request that is tampered with.

Some stores hold a signature against the path or host that a proxy is said to have had (X-Forwarded-Prefix, X-Forwarded-Host), and
act on the path and host that came. Whoever has a signature for one place then has one for every place that the signing key
reaches. Some don't hold a body against the hash that was signed, so that a signature for one list of deletes is one for any.

Where signatures are made with the server's own key, such headers are signed as empty ones, so that none can be added. Whether the
store minds that is tried here, with requests for what isn't there.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit
from xml.sax.saxutils import escape

from lakeward_servicekit.errors import Reason, Refusal
from lakeward_vending.adapters.s3 import endpoints, failures, xml
from lakeward_vending.domain.access import Access
from lakeward_vending.domain.s3.keys import SigningTerms
from lakeward_vending.domain.s3.signing import sigv4
from lakeward_vending.domain.s3.signing.request import Signable
from lakeward_vending.domain.s3.signing.target import UNRESERVED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lakeward_locations import Location
    from lakeward_servicekit.system import Clock
    from lakeward_vending.adapters.network.calls import HttpCalls, Reply
    from lakeward_vending.domain.profiles.s3 import S3Profile
    from lakeward_vending.domain.s3.keys import SigningKey

PREFIX: Final = "x-forwarded-prefix"
HOST: Final = "x-forwarded-host"
_ELSEWHERE: Final = "elsewhere.invalid"
# The first that the store accepts is taken. A proxy that sets one of them for every request makes a signature that covers it
# worthless; what is not covered has to be without effect.
_COVERS: Final = ((HOST, PREFIX), (PREFIX,), ())
_ACCEPTED: Final = frozenset({200, 404})
_DENIED: Final = frozenset({400, 401, 403})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A request as it is sent, and what of it was signed otherwise.

    Attributes:
        signed_path: None for `path`; so for `signed_host`, `signed_body`.
        covers: headers that are signed as empty ones.
        headers: sent as well, in place of those.
    """

    path: str
    method: str = "GET"
    query: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    covers: tuple[str, ...] = ()
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    signed_path: str | None = None
    signed_host: str | None = None
    signed_body: bytes | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Tampering:
    """Tries a store as one identity.

    Attributes:
        key: who signs.
    """

    profile: S3Profile
    key: SigningKey
    calls: HttpCalls
    clock: Clock

    async def signing_terms(self, absent: str) -> SigningTerms:
        """What a signature by the key has to cover, and may be made for, so that it opens nothing but what it was made for.

        Args:
            absent: an object's key where no object is.

        Raises:
            Refusal: SIGNING_DISABLED where the store obeys a header that was signed as an empty one, or accepts nothing that is
                signed; STORE_UNAVAILABLE.
        """
        path = self._path(absent)
        for covers in _COVERS:
            if (await self._send(_Sent(path=path, covers=covers))).status in _ACCEPTED:
                break
        else:
            raise self._useless("it accepts no signature, with headers of proxies covered or without")
        other = f"/{_ELSEWHERE}{path}"
        wrong = _said(await self._send(_Sent(path=path, covers=covers, signed_path=other)))
        if wrong[0] not in _DENIED:
            raise self._useless("it serves requests by the signatures of others")
        tampered = {
            PREFIX: _Sent(path=path, covers=covers, signed_path=other, headers={PREFIX: f"/{_ELSEWHERE}"}),
            HOST: _Sent(path=path, covers=covers, signed_host=_ELSEWHERE, headers={HOST: _ELSEWHERE}),
        }
        for header, sent in tampered.items():
            if _said(await self._send(sent)) != wrong:
                raise self._useless(f"it goes by the header {header}, which anybody can add to a signed request")
        return SigningTerms(covers=covers, holds_bodies=await self._holds_bodies(absent, covers))

    async def read_forwarded(self, key: str, *, inside: Location) -> None:
        """Read an object by a signature for a place inside `inside`, in a request that says it was forwarded from there.

        Raises:
            Refusal: STORE_DENIED, as it should be; STORE_UNAVAILABLE.
        """
        path, prefix = self._path(key), self._path(inside.path)
        reply = await self._send(_Sent(path=path, signed_path=f"{prefix}{path}", headers={PREFIX: prefix}))
        if reply.status not in _ACCEPTED:
            raise failures.of_reply(self._origin, reply)

    async def _holds_bodies(self, absent: str, covers: tuple[str, ...]) -> bool:
        """Whether a list of deletes is refused that is not the one that was signed."""
        sent, signed = (
            f"<Delete><Object><Key>{escape(key)}</Key></Object><Quiet>true</Quiet></Delete>".encode()
            for key in (f"{absent}-1", f"{absent}-2")
        )
        request = _Sent(
            path=urlsplit(endpoints.bucket_url(self.profile)).path or "/",
            method="POST",
            query=(("delete", ""),),
            body=sent,
            signed_body=signed,
            covers=covers,
        )
        return (await self._send(request)).status in _DENIED

    async def _send(self, sent: _Sent) -> Reply:
        covered = dict.fromkeys(sent.covers, "")
        signable = Signable(
            method=sent.method,
            authority=sent.signed_host or urlsplit(self._origin).netloc,
            path=sent.signed_path or sent.path,
            query=sent.query,
            headers=covered,
            payload_hash=hashlib.sha256(sent.body if sent.signed_body is None else sent.signed_body).hexdigest(),
            access=Access.READ,
            keys=(),
        )
        signed = sigv4.sign(
            signable,
            region=self.profile.region,
            key=self.key,
            now=self.clock.now(),
        )
        query = "&".join(f"{name}={value}" for name, value in sent.query)
        reply = await self.calls.send(
            sent.method,
            f"{self._origin}{sent.path}" + (f"?{query}" if query else ""),
            headers={**covered, **signed, **sent.headers},
            body=sent.body,
            repeatable=True,
        )
        if failures.is_passing(reply):
            raise failures.of_reply(self._origin, reply)
        return reply

    @property
    def _origin(self) -> str:
        url = urlsplit(endpoints.bucket_url(self.profile))
        return f"{url.scheme}://{url.netloc}"

    def _path(self, key: str) -> str:
        bucket = urlsplit(endpoints.bucket_url(self.profile)).path
        return f"{bucket}/{quote(key, safe=f'{UNRESERVED}/')}"

    def _useless(self, why: str) -> Refusal:
        return Refusal(
            Reason.REASON_SIGNING_DISABLED,
            f"requests to {self._origin} can't be signed safely: {why}; let the warehouse vend credentials (sts-enabled), or set"
            " remote-signing-enabled to false",
        )


def _said(reply: Reply) -> tuple[int, str]:
    return reply.status, xml.error_code(reply.body)
