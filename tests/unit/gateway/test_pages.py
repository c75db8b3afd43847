"""The pages that browsers get: complete, from here alone, and nothing for engines."""

from __future__ import annotations

import gzip
import re
from importlib import metadata
from urllib.parse import urljoin

import pytest

from tests.unit.gateway.fakes import World, error_of, world

BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
PAGES = ["/", "/swagger-ui", "/swagger-ui/"]
_LOADED = re.compile(r'(?:src|<link[^>]* href)="([^"]+)"')


@pytest.mark.parametrize("path", PAGES)
async def test_everything_that_a_page_loads_is_served_here_as_what_it_is(served: World, path: str) -> None:
    page = await served.client.get(path, headers=BROWSER)
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    loaded = _LOADED.findall(page.text)
    assert len(loaded) >= 3
    types = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
    for each in loaded:
        reply = await served.client.get(urljoin(f"http://lake.test{path}", each))
        assert (reply.status_code, reply.headers["content-type"]) == (200, types[each.rpartition(".")[2]]), each
        assert reply.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_has_no_script_or_style_in_it_and_its_policy_allows_none(served: World, path: str) -> None:
    page = await served.client.get(path, headers=BROWSER)
    assert re.findall(r"<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son[a-z]+=|https?://", page.text) == []
    policy = dict(part.strip().split(" ", 1) for part in page.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"


@pytest.mark.parametrize("accept", ["application/json", "*/*", "", "application/json, text/plain"])
async def test_engines_that_ask_for_the_root_get_a_404(served: World, accept: str) -> None:
    for method in ("GET", "HEAD"):
        reply = await served.client.request(method, "/", headers={"accept": accept})
        assert reply.status_code == 404
    assert error_of(await served.client.get("/", headers={"accept": accept}))["type"] == "NotFoundException"


async def test_the_first_page_says_what_runs_and_leads_to_the_documents(served: World) -> None:
    page = await served.client.get("/", headers=BROWSER)
    assert f"Version {metadata.version('lakeward-gateway')}." in page.text
    assert "accept" in page.headers.get_list("vary")[0].split(", ")
    assert 'href="swagger-ui/"' in page.text
    for name in ("catalog", "management"):
        assert f"/api-docs/{name}/v1/openapi.json" in page.text
    assert not served.catalog.asked, "a page was made from what belongs to tenants"


async def test_an_asset_is_sent_compressed_and_not_again_to_who_has_it(served: World) -> None:
    path = "/swagger-ui/swagger-ui-bundle.js"
    plain = await served.client.get(path)
    assert "content-encoding" not in plain.headers
    assert plain.headers["cache-control"] == "public, max-age=3600"
    assert b"SwaggerUIBundle" in plain.content
    async with served.client.stream("GET", path, headers={"accept-encoding": "gzip"}) as zipped:
        sent = b"".join([piece async for piece in zipped.aiter_raw()])
    assert zipped.headers["content-encoding"] == "gzip"
    assert zipped.headers["vary"] == "accept-encoding"
    assert gzip.decompress(sent) == plain.content
    assert len(sent) < len(plain.content) / 2
    again = await served.client.get(path, headers={"if-none-match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_pages_that_are_switched_off_are_not_there() -> None:
    async with world(serve_swagger_ui=False) as served:
        for path in (*PAGES, "/pages/start.js", "/swagger-ui/swagger-ui-bundle.js"):
            assert (await served.client.get(path, headers=BROWSER)).status_code == 404
