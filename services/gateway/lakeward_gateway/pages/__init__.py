"""What people look at in a browser: a first page, Swagger UI, and the OpenAPI documents that it shows.

Everything comes from this server, scripts and styles in files of their own, so that a strict policy can hold and no network is
needed.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from lakeward_gateway.errors import Renderings, no_such_route
from lakeward_gateway.http import Handler, Header, Request, Response, encode, json_response
from lakeward_gateway.operation import Answer, Method, Operation
from lakeward_gateway.pages.assets import Asset, packaged

_OWN: Final = Path(__file__).parent
# Swagger UI as its makers build it, by the name that it is served under and the package's name for it.
_SWAGGER_UI: Final[Mapping[str, str]] = {
    "swagger-ui.css": "swagger_style.css",
    "swagger-ui-bundle.js": "swagger_bundle.js",
    "swagger-ui-standalone-preset.js": "swagger_preset.js",
}
_POLICY: Final = (
    b"default-src 'none'; connect-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HTML: Final[Sequence[Header]] = (
    (b"content-type", b"text/html; charset=utf-8"),
    (b"content-security-policy", _POLICY),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)

Document = Callable[[], Mapping[str, Any]]


class _Kept:
    """A document that is made when it is first asked for, since most servers are never asked."""

    def __init__(self, make: Document) -> None:
        self._make: Final = make
        self._body: bytes | None = None

    def body(self) -> bytes:
        if self._body is None:
            self._body = encode(self._make())
        return self._body


async def page(_request: Request, *, body: bytes) -> Response:
    """A page."""
    return Response(200, headers=_HTML, body=body)


async def first_page(request: Request, *, body: bytes) -> Response:
    """The page at the root, for who asks for a page; for engines nothing is there."""
    if b"text/html" not in request.headers.get(b"accept", b""):
        raise no_such_route("/")
    return Response(200, headers=(*_HTML, (b"vary", b"accept")), body=body)


async def document(_request: Request, *, kept: _Kept) -> Response:
    """One OpenAPI document."""
    response = json_response(None)
    return Response(response.status, headers=response.headers, body=kept.body())


def operations(documents: Mapping[str, Document], *, version: str, renderings: Renderings) -> Sequence[Operation]:
    """The pages, what they load, and the documents.

    Args:
        documents: what makes each document, by the API's name in its path.
        version: of this server, as people know it.
        renderings: how refusals of bad requests are shown.
    """

    def serve(name: str, path: str, handler: Handler, method: Method = "GET", *, bare: bool = False) -> Operation:
        return Operation(
            id=name,
            method=method,
            path=path,
            summary="Documentation.",
            handler=handler,
            answers={200: Answer("Documentation.")},
            renderings=renderings,
            tag="Documentation",
            documented=False,
            bare=bare,
        )

    listed = encode(
        [{"name": name.title(), "url": f"../api-docs/{name}/v1/openapi.json"} for name in documents]
    ).decode()
    shared = {"version": version, "documents": listed}
    start = partial(first_page, body=_filled("start.html", shared))
    swagger = {
        path: partial(page, body=_filled("swagger.html", {**shared, "base": base}))
        for path, base in (("/swagger-ui", "swagger-ui/"), ("/swagger-ui/", ""))
    }
    assets = {
        **{f"/swagger-ui/{served}": packaged("offapi", name) for served, name in _SWAGGER_UI.items()},
        **{f"/swagger-ui/{name}": Asset(_OWN / name) for name in ("swagger.js", "swagger.css")},
        **{f"/pages/{name}": Asset(_OWN / name) for name in ("start.js", "start.css", "icon.svg")},
    }
    return (
        serve("firstPage", "/", start),
        serve("firstPageHead", "/", start, "HEAD"),
        *(serve(f"swaggerUi{path}", path, handler) for path, handler in swagger.items()),
        # files of no tenant's, which any cache may keep
        *(serve(f"asset{path}", path, asset.answer, bare=True) for path, asset in assets.items()),
        *(
            serve(f"openapi{name.title()}", f"/api-docs/{name}/v1/openapi.json", partial(document, kept=_Kept(make)))
            for name, make in documents.items()
        ),
    )


def _filled(name: str, values: Mapping[str, str]) -> bytes:
    """A page of this package with `{{name}}` replaced by each value, as text."""
    text = (_OWN / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"{{{{{key}}}}}", html.escape(value))
    return text.encode()
