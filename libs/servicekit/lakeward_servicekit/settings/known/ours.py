"""Lakeward's own names."""

from __future__ import annotations

from typing import Final

from lakeward_servicekit.settings import kinds
from lakeward_servicekit.settings.catalogue import EVERYONE, Family, Service, Setting

_DATABASE: Final = frozenset({Service.CATALOG, Service.AUTHZ, Service.VENDING, Service.CLI})
_VENDING: Final = frozenset({Service.VENDING})
_GATEWAY: Final = frozenset({Service.GATEWAY})
_AUTHZ: Final = frozenset({Service.AUTHZ})

# service, default port, who calls it
_PEERS: Final = (
    (Service.CATALOG, 8191, frozenset({Service.GATEWAY, Service.AUTHZ, Service.CLI})),
    (Service.AUTHZ, 8192, frozenset({Service.GATEWAY, Service.CATALOG, Service.VENDING, Service.CLI})),
    (Service.VENDING, 8193, frozenset({Service.GATEWAY, Service.CATALOG, Service.CLI})),
)


def _ours(
    name: str,
    kind: kinds.Kind,
    default: str | None,
    about: str,
    *,
    services: frozenset[Service] = EVERYONE,
    secret: bool = False,
) -> Setting:
    return Setting(name, kind, default, about, family=Family.OURS, services=services, secret=secret)


def _peer(service: Service, port: int, callers: frozenset[Service]) -> tuple[Setting, ...]:
    name, own = service.name, frozenset({service, Service.CLI})
    return (
        _ours(f"{name}__LISTEN", kinds.ENDPOINT, f"127.0.0.1:{port}", f"Where {service} serves gRPC.", services=own),
        _ours(
            f"{name}__ADDRESS", kinds.ENDPOINT, f"127.0.0.1:{port}", f"Where peers find {service}.", services=callers
        ),
    )


SETTINGS: Final = (
    _ours(
        "TRUSTED_PROXIES",
        kinds.NETWORKS,
        "127.0.0.0/8,::1/128",
        "Networks whose forwarded headers are believed.",
        services=_GATEWAY,
    ),
    _ours(
        "BODY_MEMORY",
        kinds.integer(minimum=1024 * 1024),
        "100663296",
        "Bytes of request bodies, inflated, that one process holds at once; more is refused with 429.",
        services=_GATEWAY,
    ),
    _ours(
        "MAX_CONNECTIONS",
        kinds.integer(minimum=16, maximum=1_000_000),
        "4096",
        "Connections that one process keeps; for a further one an idle one is closed, else it is refused with 429.",
        services=_GATEWAY,
    ),
    _ours(
        "MAX_CONNECTIONS_PER_CLIENT",
        kinds.integer(minimum=16, maximum=1_000_000),
        "1024",
        "The same, of one address; trusted proxies have no bound of their own.",
        services=_GATEWAY,
    ),
    _ours(
        "PG_DIRECT_URL",
        kinds.POSTGRES_URL,
        None,
        "Postgres past any pooler, for LISTEN and leases; the write URL if unset.",
        services=_DATABASE,
        secret=True,
    ),
    _ours(
        "ENCRYPTION_KEYS",
        kinds.ID_PAIRS,
        None,
        "Key ring of the secret store: id:key pairs, a key being 32 bytes in base64; the first one encrypts.",
        services=_VENDING,
        secret=True,
    ),
    _ours(
        "STORAGE_DENY_ADDRESSES",
        kinds.NETWORKS,
        "169.254.0.0/16,fe80::/10,fd00:ec2::254/128,100.100.100.200/32",
        "Networks no store may lie in; the metadata services of clouds by default.",
        services=_VENDING,
    ),
    _ours(
        "STORAGE_ALLOW_ADDRESSES",
        kinds.NETWORKS,
        "",
        "Networks a store may lie in though they are denied.",
        services=_VENDING,
    ),
    _ours(
        "STORAGE_CALLS_AT_ONCE",
        kinds.integer(minimum=1, maximum=512),
        "64",
        "Calls to one store at once, by one process; others have slots of their own.",
        services=_VENDING,
    ),
    _ours(
        "STORAGE_BREAKER_FAILURES",
        kinds.integer(maximum=1000),
        "10",
        "Calls in a row, kept waiting for nothing, after which a store is left alone for 5 to 60 seconds; 0: never.",
        services=_VENDING,
    ),
    _ours(
        "PURGE_DELAY",
        kinds.DURATION,
        "60s",
        "How long the files of what was dropped are left alone; Spark's DROP TABLE ... PURGE reads and deletes them meanwhile.",
        services=frozenset({Service.CATALOG}),
    ),
    _ours(
        "OPENID_CLOCK_LEEWAY",
        kinds.DURATION,
        "60s",
        "How far this clock and that of the provider `oidc` may differ.",
        services=_AUTHZ,
    ),
    _ours(
        "OPENID_PROVIDERS__<ID>__CLOCK_LEEWAY",
        kinds.DURATION,
        "60s",
        "How far this clock and the provider's may differ.",
        services=_AUTHZ,
    ),
    _ours(
        "KUBERNETES__API_SERVER",
        kinds.url("https"),
        None,
        "Where service account tokens are reviewed; unset, the cluster that this process runs in.",
        services=_AUTHZ,
    ),
    _ours(
        "KUBERNETES__CA_FILE",
        kinds.PATH,
        None,
        "PEM that the API server's certificate is verified with; unset, the pod's own.",
        services=_AUTHZ,
    ),
    _ours(
        "KUBERNETES__TOKEN_FILE",
        kinds.PATH,
        None,
        "Token that this process reviews with, read again as it changes; unset, the pod's own.",
        services=_AUTHZ,
    ),
    *(setting for peer in _PEERS for setting in _peer(*peer)),
    _ours("TLS__CERT_FILE", kinds.PATH, None, "Certificate chain of this process, PEM; gRPC is served with TLS."),
    _ours("TLS__KEY_FILE", kinds.PATH, None, "Its private key, PEM."),
    _ours("TLS__CA_FILE", kinds.PATH, None, "CA bundle that peers' certificates are verified with; calls use TLS."),
    _ours("TLS__CLIENT_CA_FILE", kinds.PATH, None, "CA bundle that callers' certificates must come from (mTLS)."),
    _ours(
        "WORKLOAD__PRIVATE_KEY",
        kinds.TEXT,
        None,
        "Ed25519 key this process proves itself with to its peers: PEM, or the 32 bytes in base64.",
        secret=True,
    ),
    _ours(
        "WORKLOAD__PEERS",
        kinds.ID_PAIRS,
        None,
        "service:key pairs, a key being the 32 bytes of an Ed25519 public key in base64.",
    ),
    _ours("LOG__LEVEL", kinds.word("debug", "info", "warning", "error"), "info", "Least severe log line."),
    _ours("LOG__FORMAT", kinds.word("auto", "json", "text"), "auto", "JSON lines, or text for people on a terminal."),
)
