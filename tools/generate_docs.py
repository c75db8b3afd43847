"""Writes what is made of the code: generated pages of docs/, and the kit's list of what services read alone.

python tools/generate_docs.py          writes them
python tools/generate_docs.py --check  fails when they are stale
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from event_pages import events

import lakeward_authz.adapters.openfga.engine
import lakeward_cli.composing
import lakeward_servicekit.observing
from lakeward_authz import settings as authz
from lakeward_catalog import settings as catalog
from lakeward_gateway import settings as gateway
from lakeward_gateway.bootstrap import openapi_documents
from lakeward_gateway.dialects.iceberg import errors as iceberg
from lakeward_gateway.dialects.management import errors as management
from lakeward_gateway.errors import Rendering, Renderings
from lakeward_protocol.errors.v1 import reason_pb2
from lakeward_servicekit.errors import Reason, ReasonValue, name_of, rule_of
from lakeward_servicekit.settings import (
    authorization,
    names,
    observability,
    postgres,
    provisioning,
    server,
    services,
    storage,
)
from lakeward_servicekit.settings.catalogue import EVERYONE, FILE_SUFFIX, Family, Setting, Support
from lakeward_servicekit.settings.events import EventSettings
from lakeward_servicekit.settings.known import (
    access,
    background,
    commercial,
    console,
    earlier,
)
from lakeward_servicekit.settings.known import observability as observing
from lakeward_servicekit.settings.known import server as serving
from lakeward_servicekit.settings.model import Settings
from lakeward_servicekit.telemetry import metrics
from lakeward_vending import settings as vending

ROOT: Final = Path(__file__).resolve().parent.parent
PROTO: Final = ROOT / "protos" / "lakeward" / "errors" / "v1" / "reason.proto"
NOTE: Final = "<!-- made by tools/generate_docs.py from the code; do not edit -->"

OURS: Final = "Between services, and what upstream does not have"
# The classes of a section, and the names in it that have no effect. What is ours has a section of its own.
GROUPS: Final[Mapping[str, tuple[Sequence[type[Settings]], Sequence[Setting]]]] = {
    "Server, limits and storage switches": (
        (
            gateway.PublicSettings,
            server.BindSettings,
            server.ServerSettings,
            server.PageSettings,
            catalog.IdentitySettings,
            catalog.RequestSettings,
            storage.SystemIdentitySettings,
            vending.StorageSettings,
        ),
        serving.SETTINGS,
    ),
    "Postgres and secrets": ((postgres.PostgresSettings, vending.SecretSettings, vending.Kv2Settings), ()),
    "Who calls, and who may": (
        (
            authz.AuthenticationSettings,
            authz.OpenIdProvider,
            authz.RoleSettings,
            provisioning.ScimSettings,
            authz.LdapSettings,
            authz.DirectorySettings,
            authorization.AuthorizationSettings,
            authorization.OpenFgaSettings,
            authorization.TrustedEngine,
            authorization.EngineIdentity,
        ),
        access.SETTINGS,
    ),
    "Tasks, events, caches and idempotency": (
        (
            catalog.TaskSettings,
            catalog.CheckerSettings,
            EventSettings,
            vending.CacheSettings,
            server.IdempotencySettings,
        ),
        background.SETTINGS,
    ),
    "Logs, metrics and debugging": ((observability.LogSettings, observability.MetricsSettings), observing.SETTINGS),
    OURS: (
        (
            catalog.CatalogEndpoint,
            authz.AuthzEndpoint,
            vending.VendingEndpoint,
            services.PeerSettings,
            services.TlsSettings,
            services.WorkloadSettings,
        ),
        (),
    ),
    "Console": ((), console.SETTINGS),
    "Names of upstream's commercial edition": ((), commercial.SETTINGS),
    "Names of earlier versions": ((), earlier.SETTINGS),
}

CONFIGURATION: Final = """\
# Configuration

{note}

Everything is set by environment variables, read once at the start. Names that upstream has begin with `LAKEKEEPER__` (or the
older `ICEBERG_REST__`, over which the newer wins, name by name, and which warns); Lakeward's own begin with `LAKEWARD__`. `__`
separates levels.

- A name under these prefixes that nobody knows stops the start, and the nearest known one is said. A bad value stops it too. All
  problems are said at once, with exit code 78. `lakeward config check`, or `lakeward config check catalog` for one service, looks
  without starting: it prints what is in force and where each value comes from, with secrets masked, and ends with that code where
  something is wrong. `lakeward config show` prints the same and judges nothing.
- A known name that has no effect in this build warns when it is set. Such names are marked below.
- Text is taken as it stands, digits and braces included. Lists are separated by commas, and spaces around them don't count.
- A span of time is `30s`, `500ms`, `PT30M` or plain seconds, whatever the name.
- A setting marked *secret* can be read from a file: put the file's path into the name with `{suffix}` behind it.
- A whole level may be one inline table, as in `LAKEKEEPER__IDEMPOTENCY={{lifetime="PT1H", enabled=true}}`; a single name wins
  over it.

Not under a prefix, and read by the libraries that they belong to: `SSL_CERT_FILE` and `SSL_CERT_DIR` (authorities that outbound
calls trust beside the public ones) and `AWS_*` (where a warehouse uses the process's own identity). `LAKEWARD_HOME` is where
`lakeward up` keeps its state.
"""

ERRORS: Final = """\
# Errors

{note}

A refusal has a reason, and a reason has a family, which is the gRPC status code. Over gRPC the reason travels as
`google.rpc.ErrorInfo` with domain `lakeward`, and its metadata has the keys that are named here. Over HTTP each dialect has one
table that shows a reason as a status and a word (`type`) in the envelope:

```json
{{"error": {{"message": "there is no table 'sales.orders' that you can see",
           "type": "NoSuchTableException", "code": 404, "stack": []}}}}
```

A message says what was wrong, with which value, and what would be right; never a secret. What a caller may not see is refused
with the bytes of what is absent. From status 500 on, `stack` holds one line, `Error ID: <id>`, under which the log has the
cause. `Retry-After` is there only where nothing was done.

*Retry* says whether the same request, sent again after a pause or a fresh read, can succeed.
"""

# Words that depend on what was refused, said for people.
VARYING: Final[Mapping[ReasonValue, str]] = {
    Reason.REASON_FORBIDDEN: "403 `<Kind>ActionForbidden`, as `TableActionForbidden`",
    Reason.REASON_PROPERTY_NOT_LOWERCASE: "400 `<Key>NotLowercase`",
    Reason.REASON_NAMESPACE_LOCATION_FIXED: "400 `LocationCannotBeUpdated` or `LocationCannotBeRemoved`",
    Reason.REASON_IMMUTABLE_PROPERTY: "400 `ImmutablePropertyModification` or `ImmutablePropertyRemoval`",
    Reason.REASON_SIGNING_INVALID: "400 with the cause as its word; 424 `SignWithoutCredentials`, `SigningIdentityError`",
    Reason.REASON_PERMISSIONS_INVALID: "400 with the cause as its word",
    Reason.REASON_DUPLICATE_HEADER: "400 `DuplicateHeader`, or `DuplicateIdempotencyKey`",
    Reason.REASON_INVALID_PROJECT_NAME: "400 `EmptyProjectName`, `ProjectNameTooLong` or `InvalidProjectName`",
    Reason.REASON_INVALID_WAREHOUSE_NAME: "400 `EmptyWarehouseName`, `WarehouseNameTooLong` or `InvalidWarehouseName`",
    Reason.REASON_TOO_MANY_NAMED: "400 `TooManyTasks`, `TooManyQueueNames` or `TooManyEntities`",
    Reason.REASON_USER_INCOMPLETE: "400 `MissingUserName`, `MissingUserType`, `MissingUserId`, `EmptyName`, `InvalidUserName`, "
    "`InvalidUserEmail`",
    Reason.REASON_INVALID_ROLE_NAME: "400 `EmptyRoleName` or `InvalidRoleName`",
    Reason.REASON_INVALID_FORMAT_VERSION_POLICY: "400 `EmptyAllowedFormatVersions` or `DefaultFormatVersionNotAllowed`",
}
VARYING_ELSEWHERE: Final[Mapping[ReasonValue, str]] = {
    Reason.REASON_PERMISSIONS_INVALID: "400 with the cause as its word, `InvalidGetAccessQuery` for a user and a role at once",
    Reason.REASON_SERVICE_UNAVAILABLE: "502 `CommitStateUnknownException` where the catalog broke the call, else 503",
    Reason.REASON_INVALID_UPDATE: "400 `AddSchemaError`, `AppendViewVersionError`, `SetCurrentViewVersionError` or "
    "`InvalidViewUpdate`",
}
ELSEWHERE: Final[Mapping[str, Renderings]] = {
    "Probing for a table or view": iceberg.PROBED,
    "Committing to a table or a transaction": iceberg.COMMITTED,
    "Committing to a view": iceberg.VIEW_COMMITTED,
    "Creating a view": iceberg.VIEW_CREATED,
    "Creating a namespace": iceberg.NAMESPACE_CREATED,
    "Signing at the older paths": iceberg.SIGNED,
    "Management": management.RENDERED,
    "Roles of one project": management.IN_PROJECT,
    "Giving and taking rights": management.APPLIED,
    "Asking what somebody may do": management.INSPECTED,
}


def configuration() -> str:
    """docs/configuration.md."""
    lines = [CONFIGURATION.format(note=NOTE, suffix=FILE_SUFFIX)]
    shown: list[Setting] = []
    for title, (classes, without_effect) in GROUPS.items():
        ours = [each for every, _ in GROUPS.values() for each in _declared(every) if each.family is Family.OURS]
        others = [each for each in _declared(classes) if each.family is not Family.OURS]
        section = [*(ours if title == OURS else others), *without_effect]
        lines += [f"## {title}", "", "| name | value | default | meaning |", "|---|---|---|---|"]
        lines += [_setting(setting) for setting in section]
        lines.append("")
        shown += section
    assert sorted(each.name for each in shown) == sorted(each.name for each in names.every()), "a class is missing here"
    return "\n".join(lines)


def _declared(classes: Iterable[type[Settings]]) -> Iterator[Setting]:
    for each in classes:
        yield from each.own.values()


def elsewhere() -> str:
    """The kit's list of what services declare themselves, for a process beside which some of them are not installed."""
    own = [each for cls in names.classes() if "servicekit" not in cls.__module__ for each in cls.own.values()]
    lines = [" ".join([each.family.name, each.name, *(["secret"] if each.secret else [])]) for each in own]
    return "".join(f"{line}\n" for line in sorted(lines))


def _setting(setting: Setting) -> str:
    about = [_plain(setting.about)]
    if setting.secret:
        about.append("*Secret.*")
    if setting.instead is not None:
        about.append("Its value is handed on, with a warning.")
    elif setting.support is not Support.SUPPORTED:
        about.append(f"**No effect: {setting.support.value}.**")
    elif setting.services != EVERYONE:
        about.append(f"Read by {_listed(sorted(service.value for service in setting.services))}.")
    if setting.family is Family.UPSTREAM_NEW:
        about.append("Only with the newer prefix.")
    default = "" if setting.default is None else f"`{setting.default}`" if setting.default else "empty"
    return f"| `{setting.variable}` | {setting.kind.name} | {_cell(default)} | {_cell(' '.join(about))} |"


def errors() -> str:
    """docs/errors.md."""
    comments = dict(_comments())
    lines = [
        ERRORS.format(note=NOTE),
        "| reason | meaning | family | retry | metadata | HTTP |",
        "|---|---|---|---|---|---|",
    ]
    for value in _reasons():
        rule = rule_of(value)
        family = reason_pb2.Family.Name(reason_pb2.Family.ValueType(rule.family)).removeprefix("FAMILY_")
        lines.append(
            f"| `{_short(value)}` | {_cell(_plain(comments.get(_short(value), '')))} | {family} | "
            f"{'yes' if rule.retryable else 'no'} | {_cell(', '.join(f'`{key}`' for key in rule.metadata_keys))} | "
            f"{_cell(_shown(iceberg.RENDERED, value, VARYING))} |"
        )
    lines += [
        "",
        "## Where it is shown in another way",
        "",
        "| while | reason | HTTP |",
        "|---|---|---|",
    ]
    for title, table in ELSEWHERE.items():
        lines += [
            f"| {title} | `{_short(value)}` | {_cell(_shown(table, value, VARYING_ELSEWHERE))} |"
            for value in _reasons()
            if table[value] is not iceberg.RENDERED[value] and table[value] != iceberg.RENDERED[value]
        ]
    lines.append("")
    return "\n".join(lines)


COVERAGE: Final = """\
# API coverage

{note}

Every operation of the public APIs, and whether this server serves it. It is made of the gateway's own table of routes;
`tests/conformance/test_coverage.py` holds it against the public specifications, and sends a request for each line to a running
gateway. What the documents say of each operation is compared too, down to the members of bodies: what is lacking there has its
reason in `tests/conformance/differences.py`.

- *served*: it is routed, and is in the document that the server shows (`/api-docs/<API>/v1/openapi.json`).
- *not routed*: nobody is told of it; why stands beside it.
"""

# What the specifications have at these paths and is not routed, by what it is called there.
NOT_ROUTED: Final[Mapping[str, Sequence[tuple[str, str, str, str]]]] = {
    "catalog": (
        (
            "POST",
            "/catalog/v1/oauth/tokens",
            "getToken",
            "tokens are an identity provider's; deprecated by the specification",
        ),
        *(
            (
                method,
                f"/catalog/v1/{{prefix}}/namespaces/{{namespace}}/tables/{{table}}/{path}",
                name,
                "engines plan their scans",
            )
            for method, path, name in (
                ("POST", "plan", "planTableScan"),
                ("GET", "plan/{plan-id}", "fetchPlanningResult"),
                ("DELETE", "plan/{plan-id}", "cancelPlanning"),
                ("POST", "tasks", "fetchScanTasks"),
            )
        ),
    )
}


def coverage() -> str:
    """docs/api-coverage.md."""
    lines = [COVERAGE.format(note=NOTE)]
    for name, made in openapi_documents().items():
        document = made()
        rows = [
            (path, method.upper(), f"`{operation['operationId']}`", "served")
            for path, item in document["paths"].items()
            for method, operation in item.items()
        ]
        rows += [
            (path, method, f"`{called}`", f"not routed: {why}")
            for method, path, called, why in NOT_ROUTED.get(name, ())
        ]
        served = sum(state == "served" for *_, state in rows)
        lines += [f"## {document['info']['title']}", "", f"{served} of {len(rows)} operations are served.", ""]
        lines += ["| path | method | operation | |", "|---|---|---|---|"]
        lines += [f"| `{path}` | {method} | {called} | {state} |" for path, method, called, state in sorted(rows)]
        lines.append("")
    return "\n".join(lines)


def _reasons() -> Sequence[ReasonValue]:
    return [value for value in Reason.values() if value != Reason.REASON_UNSPECIFIED]


def _shown(table: Renderings, value: ReasonValue, varying: Mapping[ReasonValue, str]) -> str:
    entry = table[value]
    if not isinstance(entry, Rendering):
        return varying[value]  # a new one has to be said there
    retry = "" if entry.retry_after is None else f", `Retry-After: {entry.retry_after}`"
    return f"{entry.status} `{entry.type}`{retry}"


def _short(value: ReasonValue) -> str:
    return name_of(value).removeprefix("REASON_")


def _comments() -> Iterator[tuple[str, str]]:
    """Each reason's comment in the contract; a comment of several lines is one text."""
    gathered: list[str] = []
    for line in PROTO.read_text().splitlines():
        stripped = line.strip()
        if stripped.startswith("//"):
            text = stripped.removeprefix("//").strip()
            if not text.startswith("----"):
                gathered.append(text)
            continue
        found = re.match(r"(REASON_[A-Z_0-9]+) = \d+", stripped)
        if found is not None:
            yield found[1].removeprefix("REASON_"), " ".join(gathered)
        gathered = []


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _plain(text: str) -> str:
    return re.sub(r"(?<!`)<(\w+)>(?!`)", r"`<\1>`", text)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


METRICS_BEGIN: Final = "<!-- metrics: made by tools/generate_docs.py from the code; do not edit -->\n"
METRICS_END: Final = "<!-- end of metrics -->\n"
# Whose modules are loaded above declare all there are; the runtime's own come with the Python process.
DECLARING: Final = (lakeward_cli.composing, lakeward_authz.adapters.openfga.engine, lakeward_servicekit.observing)


def operators() -> str:
    """docs/operators.md, as it stands, with its table of metrics."""
    before, _, rest = (ROOT / "docs/operators.md").read_text().partition(METRICS_BEGIN)
    _, _, after = rest.partition(METRICS_END)
    rows = ["| metric | type | labels | |", "|---|---|---|---|"]
    rows += [
        f"| `{each.name}` | {each.kind} | {', '.join(f'`{label}`' for label in each.labels)} | {_cell(each.about)} |"
        for each in metrics.families()
    ]
    return "".join([before, METRICS_BEGIN, "\n", *(f"{row}\n" for row in rows), "\n", METRICS_END, after])


KIT: Final = "libs/servicekit/lakeward_servicekit/settings"
PAGES: Final = {
    "docs/configuration.md": configuration,
    "docs/errors.md": errors,
    "docs/api-coverage.md": coverage,
    "docs/events.md": events,
    "docs/operators.md": operators,
    f"{KIT}/known/elsewhere.txt": elsewhere,
}


def main() -> int:
    """0 when done or current, 1 when `--check` found a stale page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when a page is stale")
    check = parser.parse_args().check
    stale = 0
    for name, made in PAGES.items():
        path, text = ROOT / name, made()
        if path.exists() and path.read_text() == text:
            continue
        if check:
            print(f"stale: {name}; run `python tools/generate_docs.py` and commit the result", file=sys.stderr)
            stale = 1
        else:
            path.write_text(text)
    return stale


if __name__ == "__main__":
    raise SystemExit(main())
