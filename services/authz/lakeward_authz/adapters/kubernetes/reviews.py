"""Asks the API server about tokens: TokenReview of authentication.k8s.io/v1.

All who ask about one token at once wait for one review, and for `REMEMBERED_SECONDS` after it they get its answer, whatever it
was. That is for bursts, and for a client that repeats a token that is refused: whoever asks this service remembers for longer.
Answers are kept by the token's hash; the token itself is not.
"""

from __future__ import annotations

import asyncio
import dataclasses
import hashlib
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

import httpx

from lakeward_authz.adapters.kubernetes.cluster import Cluster, NoCluster, OwnToken
from lakeward_servicekit import tls
from lakeward_servicekit.keeping import Kept, Once

REMEMBERED_SECONDS: Final = 5.0
SECONDS: Final = 10.0
_CAPACITY: Final = 10_000
# A stream of made-up tokens, each another, gets no more of the API server than this at once; the rest waits its turn.
_AT_ONCE: Final = 16
_MAX_BYTES: Final = 256 * 1024
_PATH: Final = "/apis/authentication.k8s.io/v1/tokenreviews"


class ClusterUnreachable(Exception):  # noqa: N818 - it says what is the case
    """The API server gave no answer that can be used; the message says why and what would help, and holds no token."""


@dataclasses.dataclass(frozen=True, slots=True)
class Reviewed:
    """What the API server says of a token.

    Attributes:
        authenticated: whether it holds.
        uid: of the service account; "" where it has none.
        username: "system:serviceaccount:<namespace>:<name>".
        audiences: those that were asked about and are the token's, in the API server's order.
    """

    authenticated: bool
    uid: str = ""
    username: str = ""
    audiences: tuple[str, ...] = ()


Review = Callable[[str], Awaitable[Reviewed]]


class TokenReviews:
    """Reviews at one API server.

    Args:
        http: trusts the API server's certificate.
        cluster: where it is.
        audiences: of which a token needs one; empty: the API server's own.
    """

    def __init__(self, http: httpx.AsyncClient, cluster: Cluster, *, audiences: Sequence[str]) -> None:
        """Ask over `http`; see the class."""
        self._http = http
        self._url = cluster.address + _PATH
        self._own = OwnToken(cluster.token_file)
        self._audiences = tuple(audiences)
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def __call__(self, token: str) -> Reviewed:
        """What the API server says of a token.

        Raises:
            ClusterUnreachable: it says nothing that can be used.
        """
        spec: dict[str, object] = {"token": token}
        if self._audiences:
            spec["audiences"] = list(self._audiences)
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        try:
            async with asyncio.timeout(SECONDS), self._turns:
                status, body = await self._post(asked, await self._own.get())
                if status == httpx.codes.UNAUTHORIZED:
                    # The kubelet may have put a new token into its place since.
                    status, body = await self._post(asked, await self._own.get(fresh=True))
        except TimeoutError as error:
            raise ClusterUnreachable(f"{self._url} did not answer within {SECONDS:g} s") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = tls.explain(error) or str(error) or type(error).__name__
            raise ClusterUnreachable(f"{self._url} can't be reached: {why}") from error
        except NoCluster as error:
            raise ClusterUnreachable(str(error)) from error
        if status not in (httpx.codes.CREATED, httpx.codes.OK):
            raise ClusterUnreachable(f"{self._url} answers {status}{_CURES.get(status, '')}")
        return _reviewed(body, self._url)

    async def _post(self, asked: object, own: str) -> tuple[int, bytes]:
        headers = {"authorization": f"Bearer {own}", "accept": "application/json", "accept-encoding": "identity"}
        async with self._http.stream("POST", self._url, json=asked, headers=headers) as response:
            body = bytearray()
            async for part in response.aiter_raw():
                body += part
                if len(body) > _MAX_BYTES:
                    raise ClusterUnreachable(f"{self._url} answers more than {_MAX_BYTES} bytes")
        return response.status_code, bytes(body)


_CURES: Final[Mapping[int, str]] = {
    401: ": it does not know this process's own token; check the token file",
    403: ": this process may not review tokens; bind its service account to the cluster role system:auth-delegator",
}


def _reviewed(body: bytes, url: str) -> Reviewed:
    try:
        document = json.loads(body)
        status = document["status"]
        if not isinstance(status, dict):
            raise TypeError  # noqa: TRY301 - one answer for every form that is not a review's
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ClusterUnreachable(f"{url} answers something that is no TokenReview") from error
    user, audiences = status.get("user"), status.get("audiences")
    if status.get("authenticated") is not True or status.get("error") or not isinstance(user, dict):
        return Reviewed(authenticated=False)
    return Reviewed(
        authenticated=True,
        uid=_text(user.get("uid")),
        username=_text(user.get("username")),
        audiences=tuple(each for each in audiences if isinstance(each, str)) if isinstance(audiences, list) else (),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


class RememberedReviews:
    """Reviews that are asked for once; see the module.

    Args:
        review: asks.
        now: seconds on a clock that never goes back.
    """

    def __init__(self, review: Review, *, now: Callable[[], float] = time.monotonic) -> None:
        """Remember what `review` answers; see the class."""
        self._review = review
        self._now = now
        self._asking = Once[bytes, Reviewed]()
        self._answered = Kept[bytes, tuple[Reviewed, float]](_CAPACITY)

    async def __call__(self, token: str) -> Reviewed:
        """See `TokenReviews`."""
        digest = hashlib.sha256(token.encode()).digest()
        answered = self._answered.look(digest)
        if answered is not None and self._now() < answered[1]:
            return answered[0]
        return await self._asking(digest, lambda: self._ask(digest, token))

    async def _ask(self, digest: bytes, token: str) -> Reviewed:
        until = self._now() + REMEMBERED_SECONDS
        reviewed = await self._review(token)
        self._answered.put(digest, (reviewed, until))
        return reviewed
