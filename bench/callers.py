"""An identity provider, and callers that it knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bench.stack import Stack
from lakeward_components import blocking, provision
from lakeward_components.environment import TEST
from lakeward_components.oidc import SPARK, OidcProvider
from tests.support.tokens import client_token


@dataclass(frozen=True, slots=True)
class Callers:
    """Who is known.

    Attributes:
        settings: of a Lakeward that knows them.
        tokens: each another one, of an hour.
    """

    settings: Mapping[str, str]
    tokens: Sequence[str] = field(repr=False)

    @property
    def headers(self) -> Mapping[str, str]:
        """Those of the first of them."""
        return {"authorization": f"Bearer {self.tokens[0]}"}

    def behind(self, parts: Stack) -> Stack:
        """The same stack, for a Lakeward that knows them."""
        return replace(parts, environment={**parts.environment, **self.settings})

    def written(self, home: Path) -> Path:
        """A file in `home` with a token in each line, as the load generator reads them."""
        tokens = home / "tokens"
        tokens.write_text("\n".join(self.tokens) + "\n", encoding="ascii")
        return tokens


@contextmanager
def callers(parts: Stack, *, count: int) -> Iterator[Callers]:
    """Start a provider and ask it for tokens; end it with the block, after which who is remembered is still known."""
    provider = blocking.run(provision.oidc_provider(parts.home / "oidc", names=TEST))
    try:
        settings = {
            "LAKEKEEPER__OPENID_PROVIDER_URI": provider.issuer,
            "LAKEKEEPER__OPENID_AUDIENCE": provider.audience,
        }
        yield Callers(settings, blocking.run(_tokens(provider, count)))
    finally:
        blocking.run(provider.stop(gracefully=False))


async def _tokens(provider: OidcProvider, count: int) -> Sequence[str]:
    return [await client_token(provider, SPARK) for _ in range(count)]
