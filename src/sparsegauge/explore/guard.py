"""The guard in front of the page's server: which requests reach it at all.

Every request, websockets included, passes `Guard` before any handler of Panel or Bokeh sees it. What the guard does not
know is refused, so that a route that a later version of Panel adds is not served until it is listed here.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Collection
from dataclasses import dataclass
from html import escape
from http.client import responses
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tornado.httputil import HTTPHeaders, HTTPMessageDelegate, HTTPServerRequest, ResponseStartLine
from tornado.routing import Router

# Paths as they stand in the request, before any percent-decoding. Folders of Panel have versions such as "^4" in their
# names; no other character of a static path is ever encoded.
PAGE = "/"
WEBSOCKET = "/ws"
ICON = "/favicon.ico"
STATIC = re.compile(r"/static(?:/(?!\.\.?(?:/|\Z))(?:[A-Za-z0-9_@.+^-]|%5E)+)+\Z")
METHODS = ("GET", "HEAD")
TOKEN_ARGUMENT = "token"
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1")

SECURITY_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def url_host(address: str) -> str:
    """Return an address as it is written in a URL: in lower case, and IPv6 in brackets."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return address.lower()
    return f"[{ip}]" if ip.version == 6 else str(ip)


def own_hosts(address: str, port: int) -> frozenset[str]:
    """Return every Host header that names this server; browsers leave out port 80."""
    names = {url_host(name) for name in (*LOOPBACK_NAMES, address)}
    return frozenset({f"{name}:{port}" for name in names} | (names if port == 80 else set()))


def is_served(path: str) -> bool:
    """Return whether the page needs this path; paths with empty or dot parts, plain or encoded, are never served."""
    return path in (PAGE, WEBSOCKET, ICON) or STATIC.match(path) is not None


@dataclass(frozen=True)
class Answer:
    """A response that the guard gives itself."""

    status: int
    text: str
    headers: tuple[tuple[str, str], ...] = ()
    content_type: str = "text/plain; charset=utf-8"


class Guard(Router):
    """Passes a request on to the application if it is meant for this server and comes from its own page.

    In this order:

    1. The Host header names this server, with its port. A page of another name that resolves to this machine (DNS
       rebinding) is refused here.
    2. The Origin header, if there is one, is this server's own. A websocket has to have one: browsers always send it.
    3. The request has the token of this start, in its cookie or, for the page itself, in its URL. A URL with the token
       sets the cookie and leads to the URL without it.
    4. The method is GET or HEAD.
    5. The path is one that the page needs.

    Headers that proxies add, such as X-Forwarded-Host, are ignored.
    """

    def __init__(self, application: Any, *, hosts: Collection[str], port: int, token: str) -> None:
        self.application, self.hosts, self.token = application, hosts, token
        self.cookie = cookie_name(port)

    def start_request(self, server_conn: object, request_conn: Any) -> HTTPMessageDelegate:
        """Begin a request; every response to it has the security headers."""
        return super().start_request(server_conn, _Connection(request_conn))  # type: ignore[arg-type]

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """Return the application's handler, or one that gives the guard's own answer."""
        answer = self.answer(request)
        if answer is not None:
            return _Answering(request, answer)
        handler: HTTPMessageDelegate | None = self.application.find_handler(request, **kwargs)
        return handler

    def answer(self, request: HTTPServerRequest) -> Answer | None:
        """Return the guard's own answer, or None for a request that the application may see."""
        host = _only(request, "Host")
        if host is None or host.lower() not in self.hosts:
            return Answer(403, "This server does not answer to the name in this request's Host header.")
        if not self._is_own_origin(request, host.lower()):
            return Answer(403, "This server does not talk to pages of other origins.")
        arguments = parse_qsl(request.query, keep_blank_values=True, errors="replace")
        tokens = [value for name, value in arguments if name == TOKEN_ARGUMENT]
        if tokens and request.path == PAGE and request.method == "GET":
            if len(tokens) == 1 and self._is_token(tokens[0]):
                rest = urlencode([pair for pair in arguments if pair[0] != TOKEN_ARGUMENT])
                return self._welcome(request, PAGE + (f"?{rest}" if rest else ""))
            return _no_token()
        if not any(self._is_token(value) for value in _cookies(request, self.cookie)):
            return _no_token()
        if request.method not in METHODS:
            return Answer(405, "This server answers GET and HEAD only.", (("Allow", ", ".join(METHODS)),))
        if not is_served(request.path or ""):
            return Answer(404, "There is nothing here.")
        return None

    def _is_own_origin(self, request: HTTPServerRequest, host: str) -> bool:
        """Return whether the request says that it comes from a page of the host that it asks."""
        origins = request.headers.get_list("Origin") + request.headers.get_list("Sec-WebSocket-Origin")
        if not origins:
            return request.path != WEBSOCKET
        return all(origin.lower() == f"http://{host}" for origin in origins)

    def _is_token(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "surrogatepass"), self.token.encode())

    def _welcome(self, request: HTTPServerRequest, target: str) -> Answer:
        """Set the cookie and lead to the page.

        A browser that followed a link from another site does not send a SameSite=Strict cookie along a redirect. It
        does so when the page itself leads on.
        """
        cookie = ("Set-Cookie", f"{self.cookie}={self.token}; HttpOnly; Path=/; SameSite=Strict")
        if request.headers.get("Sec-Fetch-Site") != "cross-site":
            return Answer(303, f"The page is at {target}", (cookie, ("Location", target)))
        page = f'<!DOCTYPE html><title>sparsegauge</title><meta http-equiv="refresh" content="0; url={escape(target)}">'
        return Answer(200, page, (cookie,), "text/html; charset=utf-8")


def cookie_name(port: int) -> str:
    """Return the name of the token's cookie. It has the port, since cookies are shared by all ports of a host."""
    return f"sparsegauge-explore-{port}"


def _only(request: HTTPServerRequest, name: str) -> str | None:
    """Return the value of a header that occurs once."""
    values = request.headers.get_list(name)
    return values[0] if len(values) == 1 else None


def _cookies(request: HTTPServerRequest, name: str) -> list[str]:
    """Return the values of all cookies of that name; a broken cookie next to ours must not hide it."""
    pairs = [pair.strip().partition("=") for header in request.headers.get_list("Cookie") for pair in header.split(";")]
    return [value for key, _, value in pairs if key == name]


def _no_token() -> Answer:
    return Answer(
        403, "This page needs the token of the running server. Open the URL that sparsegauge printed in the terminal."
    )


class _Answering(HTTPMessageDelegate):
    """Gives an answer once the request has been read; its body is thrown away as it comes."""

    def __init__(self, request: HTTPServerRequest, answer: Answer) -> None:
        self.request, self.answer = request, answer

    def finish(self) -> None:
        answer, connection = self.answer, self.request.connection
        assert connection is not None
        body = f"{answer.text}\n".encode()
        headers = HTTPHeaders({"Content-Type": answer.content_type, "Content-Length": str(len(body))})
        headers["Cache-Control"] = "no-store"
        for name, value in answer.headers:
            headers.add(name, value)
        start = ResponseStartLine("HTTP/1.1", answer.status, responses[answer.status])
        connection.write_headers(start, headers, b"" if self.request.method == "HEAD" else body)
        connection.finish()


class _Connection:
    """A connection that adds the security headers to every response."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def write_headers(self, start_line: ResponseStartLine, headers: HTTPHeaders, chunk: bytes | None = None) -> Any:
        for name, value in SECURITY_HEADERS.items():
            headers[name] = value
        return self._connection.write_headers(start_line, headers, chunk)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)
