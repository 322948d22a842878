"""Serves a trace's page on loopback; its views request compilations on demand."""

from __future__ import annotations

import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec

from ..comms.trace_answers import TraceAnswers
from ..report.errors import CompilescopeError
from ..views.saved_page import render_served

REQUESTS = "requests"
_MAX_REQUEST_BYTES = 1 << 20


class PageServer(ThreadingHTTPServer):
    """Serves one trace to clients that know the address.

    The address has a secret in it, and a request has to name the loopback address as its host, so
    that neither other users of the machine nor pages of other origins can read the trace.

    Parameters
    ----------
    answers
        The answers for the trace.
    port
        0: a free one.

    Raises
    ------
    CompilescopeError
        The port is in use or invalid.
    """

    daemon_threads = True

    def __init__(self, answers: TraceAnswers, port: int = 0) -> None:
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except (OSError, OverflowError) as error:
            raise CompilescopeError(
                f"The page cannot be served on port {port}.",
                f"{getattr(error, 'strerror', None) or error}".rstrip(".") + ".",
                "Give another --port, or none.",
            ) from None
        self.answers = answers
        self.path = f"/{secrets.token_urlsafe(24)}/"
        self.page = render_served(answers.name, REQUESTS).encode()

    @property
    def host(self) -> str:
        """The host name of this server in a browser."""
        return f"127.0.0.1:{self.server_port}"

    @property
    def url(self) -> str:
        """The page's address."""
        return f"http://{self.host}{self.path}"


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        if self._is_ours(self.server.path):
            self._send(self.server.page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        if not self._is_ours(self.server.path + REQUESTS):
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > _MAX_REQUEST_BYTES:
            self.send_error(413)
            return
        try:
            data = msgspec.json.decode(self.rfile.read(int(length)))
        except msgspec.DecodeError:
            data = None  # answered as an invalid request
        answer = self.server.answers.answer(data)
        self._send(msgspec.json.encode(answer), "application/json")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Log nothing: every click sends requests."""

    def _is_ours(self, path: str) -> bool:
        if self.path == path and self.headers.get("Host") == self.server.host:
            return True
        self.send_error(404)
        return False

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)
