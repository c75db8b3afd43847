"""A store that knows no conditional writes: the real one, behind a door that refuses each of them."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

_REFUSAL = b"<Error><Code>NotImplemented</Code><Message>A header implies what is not here</Message></Error>"
_OWN = frozenset({"connection", "transfer-encoding", "content-length", "date", "server"})


@dataclass
class Unconditional:
    """Where it is, and how many conditional writes it refused."""

    endpoint: str
    refused: int = field(default=0)


@contextmanager
def unconditional(store: str) -> Iterator[Unconditional]:
    """Stand before the store at this endpoint. The door's name is passed on: it is what requests were signed for."""
    target = urlsplit(store)

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.command in {"PUT", "POST"} and ("if-none-match" in self.headers or "if-match" in self.headers):
                told.refused += 1
                self._answer(501, {}, _REFUSAL)
                return
            connection = http.client.HTTPConnection(target.hostname or "", target.port)
            try:
                connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    connection.putheader(name, value)
                connection.endheaders(body)
                answer = connection.getresponse()
                content = answer.read()
                self._answer(
                    answer.status, dict(answer.getheaders()), content, length=answer.getheader("content-length")
                )
            finally:
                connection.close()

        def _answer(self, status: int, headers: dict[str, str], content: bytes, *, length: str | None = None) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in _OWN:
                    self.send_header(name, value)
            # of a HEAD the length is the object's, and there is no body
            self.send_header("content-length", length if length and self.command == "HEAD" else str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815 - the handler's words

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the handler's word
            """Nothing: the addresses hold keys."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as server:
        told = Unconditional(f"http://127.0.0.1:{server.server_address[1]}")
        serving = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        serving.start()
        try:
            yield told
        finally:
            server.shutdown()
            serving.join()
