"""The OpenAPI documents and the page that shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from lakeward.gateway.errors import Renderings
from lakeward.gateway.http import Request, Response, encode, json_response
from lakeward.gateway.operation import Answer, Method, Operation

_PAGE: Final = b"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lakeward APIs</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1.5rem; color: #1b2733; }
nav button { font: inherit; margin-right: .5rem; padding: .3rem .8rem; cursor: pointer; }
nav button[aria-pressed=true] { background: #14506e; color: #fff; border-color: #14506e; }
h2 { margin-top: 2rem; border-bottom: 1px solid #cfd8e0; }
details { border: 1px solid #dde4ea; border-radius: 4px; margin: .3rem 0; }
summary { padding: .35rem .6rem; cursor: pointer; }
details > div { padding: 0 1rem 1rem; }
code { font: 13px ui-monospace, monospace; overflow-wrap: anywhere; }
b { display: inline-block; min-width: 4.2rem; font: 600 12px ui-monospace, monospace; color: #14506e; }
pre { background: #f4f7f9; padding: .6rem; overflow: auto; max-height: 22rem; }
.old { text-decoration: line-through; }
</style>
</head>
<body>
<h1>Lakeward APIs</h1>
<nav aria-label="APIs"></nav>
<main aria-live="polite"></main>
<script>
const documents = { Catalog: "catalog", Management: "management" };
const nav = document.querySelector("nav"), main = document.querySelector("main");
const make = (tag, text, parent, attributes = {}) => {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  parent.append(made);
  return made;
};
const base = location.pathname.replace(/\\/swagger-ui.*$/, "");
async function show(name, button) {
  for (const other of nav.children) other.setAttribute("aria-pressed", other === button);
  const url = `${base}/api-docs/${documents[name]}/v1/openapi.json`;
  const api = await (await fetch(url)).json();
  main.replaceChildren();
  make("a", "OpenAPI document", make("p", "", main), { href: url });
  const groups = {};
  for (const [path, item] of Object.entries(api.paths))
    for (const [method, operation] of Object.entries(item))
      (groups[operation.tags[0]] ??= []).push([method, path, operation]);
  for (const [group, operations] of Object.entries(groups)) {
    make("h2", group, main);
    for (const [method, path, operation] of operations) {
      const details = make("details", "", main);
      const summary = make("summary", "", details, operation.deprecated ? { class: "old" } : {});
      make("b", method.toUpperCase(), summary);
      make("code", path, summary);
      const inside = make("div", "", details);
      make("p", `${operation.summary} (${operation.operationId})`, inside);
      for (const parameter of operation.parameters) {
        const line = make("p", "", inside);
        make("code", `${parameter.in} ${parameter.name}`, line);
        if (parameter.description) line.append(` - ${parameter.description}`);
      }
      const schemas = { request: operation.requestBody, ...operation.responses };
      for (const [title, part] of Object.entries(schemas)) {
        const reference = part?.content?.["application/json"]?.schema?.$ref;
        if (!reference || reference.endsWith("IcebergErrorResponse")) continue;
        const schema = reference.split("/").pop();
        make("p", `${title}: ${schema}`, inside);
        make("pre", JSON.stringify(api.components.schemas[schema], null, 2), inside);
      }
    }
  }
}
for (const name of Object.keys(documents)) {
  const button = make("button", name, nav, { type: "button", "aria-pressed": "false" });
  button.addEventListener("click", () => show(name, button));
}
nav.firstChild.click();
</script>
</body>
</html>
"""
_HTML: Final = (
    (b"content-type", b"text/html; charset=utf-8"),
    (
        b"content-security-policy",
        (
            b"default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
            b"frame-ancestors 'none'"
        ),
    ),
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


async def page(_request: Request) -> Response:
    """The page."""
    return Response(200, headers=_HTML, body=_PAGE)


async def document(_request: Request, *, kept: _Kept) -> Response:
    """One OpenAPI document."""
    response = json_response(None)
    return Response(response.status, headers=response.headers, body=kept.body())


def operations(documents: Mapping[str, Document], *, renderings: Renderings) -> Sequence[Operation]:
    """The page and the documents.

    Args:
        documents: what makes each document, by the API's name in its path.
        renderings: how refusals of bad requests are shown.
    """

    def serve(name: str, path: str, handler: Callable[[Request], Any], method: Method = "GET") -> Operation:
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
        )

    return (
        serve("swaggerUi", "/swagger-ui", page),
        serve("swaggerUiSlash", "/swagger-ui/", page),
        *(
            serve(f"openapi{name.title()}", f"/api-docs/{name}/v1/openapi.json", partial(document, kept=_Kept(make)))
            for name, make in documents.items()
        ),
    )
