"""`lakeward why`: why somebody may do something, or what they would have to be given; asked of a running server."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from uuid import UUID

import click

_SECONDS: Final = 30
_TABULARS: Final = ("table", "view", "generic-table")
_SHAPES: Final = (
    "server, project[/ID], warehouse/NAME, namespace/WAREHOUSE/a.b or table/WAREHOUSE/a.b.t (view, generic-table)"
)
# Method, path below /management/v1, and body; answers the reply's document.
Ask: TypeAlias = Callable[[str, str, Mapping[str, Any] | None], Any]


class NotAsked(click.ClickException):
    """What was asked can't be meant, or the server refuses it; not to be taken for a no."""

    exit_code = 2


def why(url: str, token: str, question: Sequence[str]) -> int:
    """Print why; 0 where it is allowed, 1 where it is not.

    Args:
        url: of the server.
        token: the caller's; empty where nobody is asked who they are.
        question: who, which action, and on what.

    Raises:
        NotAsked: what was asked can't be meant, or the server refuses it.
    """
    who, action, on = question
    ask = _asking(url, token)
    found = explained(ask, who=who, action=action, on=on)
    for line in lines(found, who=who, action=action, on=on):
        click.echo(line)
    return 0 if found["allowed"] else 1


def explained(ask: Ask, *, who: str, action: str, on: str) -> Mapping[str, Any]:
    """The server's explanation.

    Raises:
        NotAsked: what was asked can't be meant, or the server refuses it.
    """
    body: dict[str, Any] = {"operation": _operation(ask, action, on)}
    if who != "me":
        kind, _, own = who.partition(":")
        body["identity"] = {"role": own} if kind == "role" else {"user": who}
    found: Mapping[str, Any] = ask("POST", "/permissions/explain", body)
    return found


def lines(found: Mapping[str, Any], *, who: str, action: str, on: str) -> Sequence[str]:
    """What is printed of an explanation."""
    said = [f"{'yes' if found['allowed'] else 'no'}: {who} {'may' if found['allowed'] else 'may not'} {action} on {on}"]
    if found["ground"] != "grants":
        said.append(f"  {found['ground'].replace('-', ' ')}")
    said += ["  by " + ", together with ".join(map(_source, group)) for group in found["because"]]
    said += [f"  shown by {_source(source)}" for source in found["shown-by"]]
    said += [f"  access is managed by {_place(resource)}" for resource in found["managed-by"]]
    for remedy in found["remedies"]:
        givers = ", ".join(map(_principal, remedy["givers"])) or f"whoever may {remedy['right-to-give']} there"
        said.append(f"  {remedy['privilege']} on {_place(remedy['resource'])} would do; to be given by {givers}")
    return said


def _source(source: Mapping[str, Any]) -> str:
    if source["principal"] is None:
        return f"something on {_place(source['resource'])}, whose grants you may not read"
    roles = source["through-roles"]
    through = f" through {' > '.join(roles)}" if roles else ""
    return f"{source['privilege']} on {_place(source['resource'])} to {_principal(source['principal'])}{through}"


def _principal(principal: Mapping[str, str]) -> str:
    return f"role:{principal['role']}" if "role" in principal else principal["user"]


def _place(resource: Mapping[str, str]) -> str:
    kind = resource["type"]
    own = resource.get(f"{kind}-id", "")
    return f"{kind} {own}" if own else kind


def _operation(ask: Ask, action: str, on: str) -> Mapping[str, Any]:
    kind, *rest = on.split("/", 2)
    match kind, rest:
        case "server", []:
            return {kind: {"action": action}}
        case "project", []:
            return {kind: {"action": action}}
        case "project", [own]:
            return {kind: {"action": action, "project-id": own}}
        case "warehouse", [name]:
            return {kind: {"action": action, "warehouse-id": _warehouse(ask, name)}}
        case "namespace", [name, path]:
            return {kind: {"action": action, "warehouse-id": _warehouse(ask, name), "namespace": path.split(".")}}
        case _, [name, path] if kind in _TABULARS and "." in path:
            *namespace, own = path.split(".")
            named = {"warehouse-id": _warehouse(ask, name), "namespace": namespace, "table": own}
            return {kind: {"action": action, **named}}
        case _:
            raise NotAsked(f"{on!r} names no object; say {_SHAPES}")


def _warehouse(ask: Ask, name: str) -> str:
    try:
        return str(UUID(name))
    except ValueError:
        pass
    for warehouse in ask("GET", "/warehouse", None)["warehouses"]:
        if warehouse["name"] == name:
            return str(warehouse["warehouse-id"])
    raise NotAsked(f"there is no warehouse {name!r} that you can see; say its name or its id")


def _asking(url: str, token: str) -> Ask:
    base = urllib.parse.urlsplit(url)
    if base.scheme not in {"http", "https"} or not base.hostname:
        raise NotAsked(f"{url!r} is no address of a server; say http://host:port")

    def ask(method: str, path: str, body: Mapping[str, Any] | None) -> Any:  # noqa: ANN401 - JSON
        headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        request = urllib.request.Request(  # noqa: S310 - the scheme was looked at
            f"{url.rstrip('/')}/management/v1{path}",
            method=method,
            headers=headers,
            data=None if body is None else json.dumps(body).encode(),
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as reply:  # noqa: S310 - as above
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                raise NotAsked(_refused(error)) from error
        except urllib.error.URLError as error:
            raise NotAsked(f"nothing answers at {url}: {error.reason}") from error

    return ask


def _refused(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.load(error)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {error.code}"
