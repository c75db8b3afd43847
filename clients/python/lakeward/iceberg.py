"""How engines are pointed at a warehouse over the Iceberg REST API.

    where = lake.warehouse("sales").endpoint()
    spark = SparkSession.builder.config(map=where.spark("sales")).getOrCreate()

Engines that can ask an identity provider themselves are told how, where the client was; others get a token of now.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakeward.auth import Auth, ClientCredentials
from lakeward.errors import ConfigurationError

_VENDED = "vended-credentials"


@dataclass(frozen=True)
class Endpoint:
    """A warehouse as engines reach it.

    Attributes:
        uri: of the catalog API, ending in "/catalog".
        warehouse: "project id/name".
        auth: where the client's tokens come from; None: the server does not ask who calls.
        token: one of now; None as above.
    """

    uri: str
    warehouse: str
    auth: Auth | None = None
    token: str | None = field(default=None, repr=False)

    def pyiceberg(self) -> dict[str, Any]:
        """What `pyiceberg.catalog.load_catalog` takes beside a name. PyIceberg asks for a token with each request."""
        told: dict[str, Any] = {"type": "rest", "uri": self.uri, "warehouse": self.warehouse}
        if self.auth is not None:
            told["auth"] = {
                "type": "custom",
                "impl": "lakeward._pyiceberg.Tokens",
                "custom": {"auth": self.auth},
            }
        return told

    def spark(self, name: str) -> dict[str, str]:
        """Settings of a Spark session under which the warehouse is a catalog; Iceberg's jars have to be there.

        Args:
            name: of the catalog, as in `select * from name.namespace.table`.
        """
        told = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "rest",
            ".uri": self.uri,
            ".warehouse": self.warehouse,
            ".header.X-Iceberg-Access-Delegation": _VENDED,
        }
        provider = self._provider()
        if provider is not None:
            told |= {".credential": f"{provider.client_id}:{provider.client_secret}", ".rest.auth.type": "oauth2"}
            told[".oauth2-server-uri"] = provider.token_url
            if provider.scope:
                told[".scope"] = provider.scope
        elif self.token is not None:
            # Nobody here gives tokens for tokens.
            told |= {".token": self.token, ".token-refresh-enabled": "false"}
        return {f"spark.sql.catalog.{name}{key}": value for key, value in told.items()}

    def trino(self) -> dict[str, str]:
        """The properties of a Trino catalog, for its file below `etc/catalog`."""
        told = {
            "connector.name": "iceberg",
            "iceberg.catalog.type": "rest",
            "iceberg.rest-catalog.uri": self.uri,
            "iceberg.rest-catalog.warehouse": self.warehouse,
            "iceberg.rest-catalog.nested-namespace-enabled": "true",
            "iceberg.rest-catalog.vended-credentials-enabled": "true",
            # A table that is made again must not lie where its dropped self still does.
            "iceberg.unique-table-location": "true",
            "fs.s3.enabled": "true",
        }
        provider = self._provider()
        if provider is not None:
            told |= {
                "iceberg.rest-catalog.security": "OAUTH2",
                "iceberg.rest-catalog.oauth2.credential": f"{provider.client_id}:{provider.client_secret}",
                "iceberg.rest-catalog.oauth2.server-uri": provider.token_url,
            }
            if provider.scope:
                told["iceberg.rest-catalog.oauth2.scope"] = provider.scope
        elif self.token is not None:
            told |= {
                "iceberg.rest-catalog.security": "OAUTH2",
                "iceberg.rest-catalog.oauth2.token": self.token,
                "iceberg.rest-catalog.oauth2.token-refresh-enabled": "false",
            }
        return told

    def duckdb(self, name: str) -> str:
        """Statements after which DuckDB has the warehouse attached; its extensions `httpfs` and `iceberg` have to be installed.

        Args:
            name: of the attached database.
        """
        quoted = '"' + name.replace('"', '""') + '"'
        provider = self._provider()
        how: Mapping[str, str] = {}
        if provider is not None:
            how = {
                "CLIENT_ID": provider.client_id,
                "CLIENT_SECRET": provider.client_secret,
                "OAUTH2_SERVER_URI": provider.token_url,
                **({"OAUTH2_SCOPE": provider.scope} if provider.scope else {}),
            }
        elif self.token is not None:
            how = {"TOKEN": self.token}
        secret = ""
        using = "AUTHORIZATION_TYPE none"
        if how:
            clauses = "".join(f", {key} {_quoted(value)}" for key, value in how.items())
            secret = f"CREATE OR REPLACE SECRET {quoted} (TYPE iceberg{clauses});\n"
            using = f"SECRET {quoted}"
        options = f"TYPE iceberg, ENDPOINT {_quoted(self.uri)}, {using}, SUPPORT_NESTED_NAMESPACES true"
        return f"LOAD httpfs; LOAD iceberg;\n{secret}ATTACH {_quoted(self.warehouse)} AS {quoted} ({options});"

    def _provider(self) -> ClientCredentials | None:
        """An identity provider that an engine can ask by itself."""
        if not isinstance(self.auth, ClientCredentials):
            return None
        if ":" in self.auth.client_id:
            raise ConfigurationError(f"engines can't be told the client id {self.auth.client_id!r}, for its colon")
        return self.auth


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
