"""Who may talk to the interactive page: real requests, friendly and hostile, to a real server."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import subprocess
import sys
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from bokeh.util.token import get_token_payload
from tornado.httputil import HTTPHeaders, HTTPServerRequest, RequestStartLine

from explore_server import serving
from sparsegauge.explore import guard, server

TRAP = "from pathlib import Path\nPath(__file__).with_name('ran').write_text(__name__)\n"
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": "bokeh, no-session",
}
FOREIGN = "elsewhere.example"


class Running:
    """A server in a folder with a module that leaves a mark when it is imported."""

    def __init__(self, url, folder):
        parts = urlsplit(url)
        self.url, self.folder, self.address, self.port = url, folder, parts.hostname, parts.port
        self.host = parts.netloc
        self.token = parse_qs(parts.query)["token"][0]
        self.cookie = f"sparsegauge-explore-{self.port}={self.token}"

    def ask(self, target="/", *, method="GET", host=None, cookie=True, headers=(), body=None):
        """Send one request, all of whose headers are named here; `host` may be several, or () for none."""
        connection = http.client.HTTPConnection(self.address, self.port, timeout=120)
        with contextlib.closing(connection):
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            for value in [self.host] if host is None else [host] if isinstance(host, str) else host:
                connection.putheader("Host", value.replace("PORT", str(self.port)))
            if cookie:
                connection.putheader("Cookie", self.cookie if cookie is True else cookie)
            for name, value in dict(headers).items():
                connection.putheader(name, value.replace("PORT", str(self.port)))
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            text = "" if response.status == 101 else response.read().decode("utf-8", "replace")
            return SimpleNamespace(status=response.status, headers=response.headers, text=text)

    def knock(self, origin, **options):
        """Return the status of a websocket's handshake."""
        more = {} if origin is None else {"Origin": origin}
        return self.ask("/ws", headers={**HANDSHAKE, **more, **options.pop("headers", {})}, **options).status

    def session(self):
        """Return the headers of a websocket for a page that was just loaded: Bokeh's token of its session."""
        return {"Sec-WebSocket-Protocol": f"bokeh, {session_token(self.ask('/').text)}"}


def session_token(page):
    return re.search(r'"token":\s*"([\w.-]+)"', page).group(1)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cwd")
    (folder / "cleanup.py").write_text(TRAP)
    with serving(folder=folder) as url:
        yield Running(url, folder)
    assert not (folder / "ran").exists()


def test_the_trap_works(tmp_path):
    (tmp_path / "cleanup.py").write_text(TRAP)
    subprocess.run([sys.executable, "-c", "import cleanup"], cwd=tmp_path, check=True)
    assert (tmp_path / "ran").exists()


# --- the way in


def test_the_url_sets_a_cookie_and_leads_to_the_page_without_the_token(running):
    answer = running.ask(f"/?token={running.token}", cookie=False)
    assert (answer.status, answer.headers["Location"]) == (303, "/")
    assert answer.headers["Set-Cookie"] == f"{running.cookie}; HttpOnly; Path=/; SameSite=Strict"
    page = running.ask("/")
    assert page.status == 200
    assert "sparsegauge explore" in page.text
    assert running.knock(f"http://{running.host}", headers=running.session()) == 101


def test_other_arguments_are_kept(running):
    answer = running.ask(f"/?a=1&token={running.token}&b=%0d%0aX:%20y", cookie=False)
    assert (answer.status, answer.headers["Location"]) == (303, "/?a=1&b=%0D%0AX%3A+y")


def test_a_link_on_another_site_leads_to_the_page_by_a_page(running):
    answer = running.ask(f"/?token={running.token}&a=%22%3E", cookie=False, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status == 200
    assert answer.headers["Set-Cookie"].startswith(running.cookie)
    assert 'content="0; url=/?a=%22%3E"' in answer.text
    assert running.token not in answer.text


def test_every_answer_has_the_security_headers(running):
    answers = [
        running.ask("/"),
        running.ask("/static/js/bokeh.min.js"),
        running.ask("/favicon.ico"),
        running.ask("/static/js/missing.js"),
        running.ask("/", cookie=False),
        running.ask("/components/cleanup/a/b/c"),
        running.ask(f"/?token={running.token}", cookie=False),
        running.ask("/ws", headers={**HANDSHAKE, "Origin": f"http://{running.host}", **running.session()}),
    ]
    assert [answer.status for answer in answers] == [200, 200, 200, 404, 403, 404, 303, 101]
    for answer in answers:
        for name, value in guard.SECURITY_HEADERS.items():
            assert answer.headers.get_all(name) == [value]
        assert "Access-Control-Allow-Origin" not in answer.headers


def test_the_token_is_not_in_the_page(running):
    """Bokeh would write the headers and cookies of the request into its session's token, which is in the page."""
    page = running.ask("/").text
    assert running.token not in page
    payload = get_token_payload(session_token(page))
    assert (payload["headers"], payload["cookies"]) == ({}, {})


def test_each_start_has_its_own_token():
    urls = set()
    for _ in range(2):
        made, url = server.make_server(address="127.0.0.1", port=server.find_port("127.0.0.1", 0), max_upload_mb=1)
        made._http.stop()
        urls.add(parse_qs(urlsplit(url).query)["token"][0])
    assert len(urls) == 2
    assert all(len(token) >= 43 for token in urls)  # 256 bits


# --- no token, or a wrong one


@pytest.mark.parametrize(
    "target",
    ["/", "/?token=", "/?token=wrong", "/ws", "/static/js/bokeh.min.js", "/favicon.ico", "/metadata", "/autoload.js",
     "/components/cleanup/a/b/c", "/nothing"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH"])
def test_without_the_token_there_is_nothing(running, target, method):
    answer = running.ask(target, method=method, cookie=False, headers={"Origin": f"http://{running.host}"})
    assert answer.status == 403
    assert "Set-Cookie" not in answer.headers
    assert method == "HEAD" or "Open the URL that sparsegauge printed in the terminal." in answer.text


def test_the_token_counts_in_the_url_of_the_page_and_in_its_own_cookie_only(running):
    name, _, token = running.cookie.partition("=")
    assert running.ask(f"/static/js/bokeh.min.js?token={token}", cookie=False).status == 403
    assert running.ask(f"/?token={token}&token=x", cookie=False).status == 403
    assert running.ask(f"/?token={token}", method="POST", cookie=False, body=b"").status == 403
    assert running.ask("/?token=wrong").status == 403  # a wrong token is not made good by the cookie
    for cookie in (
        f"{name}=x",
        f"{name}=",
        name,
        f"x={token}",
        f"{name}1={token}",
        f"{name}={token}x",
        "\u00fc=\u00fc",
    ):
        assert running.ask("/favicon.ico", cookie=cookie).status == 403
    assert running.ask("/favicon.ico", cookie=f"broken; {name}=old; a[]=1; {running.cookie}").status == 200
    assert running.knock(f"http://{running.host}", cookie=False) == 403
    assert running.knock(f"http://{running.host}", cookie=False, headers={"Authorization": f"token {token}"}) == 403


# --- Host and Origin


@pytest.mark.parametrize("host", ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT"])
def test_own_names(running, host):
    assert running.ask("/favicon.ico", host=host).status == 200
    origin = "http://" + host.replace("PORT", str(running.port))
    assert running.knock(origin, host=host, headers=running.session()) == 101


BAD_HOSTS = [
    f"{FOREIGN}:PORT", FOREIGN, "127.0.0.1", "localhost", "127.0.0.1:1", "127.0.0.1:0PORT", "localhost.:PORT",
    "127.0.0.1.:PORT", "127.0.0.1.nip.io:PORT", "localhost.elsewhere.example:PORT", "127.1:PORT", "0.0.0.0:PORT",
    "[::]:PORT", "::1:PORT", "[0:0:0:0:0:0:0:1]:PORT", "user@127.0.0.1:PORT", "127.0.0.1:PORT@elsewhere.example",
    "127.0.0.1:PORT, elsewhere.example", "127.0.0.1:PORT/", "http://127.0.0.1:PORT", "", ":PORT", "127.0.0.2:PORT",
    ("127.0.0.1:PORT", f"{FOREIGN}:PORT"), (f"{FOREIGN}:PORT", "127.0.0.1:PORT"), ("127.0.0.1:PORT",) * 2, (),
]  # fmt: skip


@pytest.mark.parametrize("host", BAD_HOSTS, ids=str)
def test_other_hosts_get_nothing(running, host):
    """Tornado itself answers 400 to a Host header that is missing, repeated or malformed."""
    own = f"http://{running.host}"
    for target in ("/", f"/?token={running.token}", "/static/js/bokeh.min.js", "/components/cleanup/a/b/c"):
        answer = running.ask(target, host=host)
        assert answer.status in (400, 403)
        assert "Set-Cookie" not in answer.headers
    assert running.knock(own, host=host) in (400, 403)


def test_an_old_request_without_a_host_gets_nothing(running):
    for target in ("/", "/components/cleanup/a/b/c", "http://127.0.0.1/"):
        with socket.create_connection((running.address, running.port), timeout=120) as connection:
            connection.sendall(f"GET {target} HTTP/1.0\r\nCookie: {running.cookie}\r\n\r\n".encode())
            assert connection.makefile("rb").readline().split()[1] == b"403"


def test_a_name_that_is_rebound_to_this_machine_gets_nothing(running):
    """The browser of a reader who visits that name sends it as Host and as Origin, without the cookie or with it."""
    foreign = f"{FOREIGN}:{running.port}"
    for cookie in (True, False):
        assert running.knock(f"http://{foreign}", host=foreign, cookie=cookie) == 403
        for target in ("/", f"/?token={running.token}", "/autoload.js?bokeh-autoload-element=x"):
            answer = running.ask(target, host=foreign, cookie=cookie, headers={"Origin": f"http://{foreign}"})
            assert answer.status == 403


@pytest.mark.parametrize("name", ["X-Forwarded-Host", "Forwarded", "X-Host", "X-Original-URL", "X-Forwarded-Proto"])
def test_what_proxies_add_counts_for_nothing(running, name):
    assert running.ask("/favicon.ico", host=f"{FOREIGN}:PORT", headers={name: running.host}).status == 403
    assert running.ask("/favicon.ico", headers={name: FOREIGN}).status == 200


@pytest.mark.parametrize(
    "origin",
    [f"http://{FOREIGN}", f"http://{FOREIGN}:PORT", "null", "", "http://127.0.0.1:1", "http://127.0.0.1", "file://",
     "https://127.0.0.1:PORT", "http://localhost:PORT", "127.0.0.1:PORT", "http://127.0.0.1:PORT.elsewhere.example",
     "http://127.0.0.1:PORT/", "http://x@127.0.0.1:PORT", "http://127.0.0.1:PORT http://elsewhere.example"],
)  # fmt: skip
def test_other_origins_get_nothing(running, origin):
    assert running.knock(origin) == 403
    for target in ("/", "/static/js/bokeh.min.js", "/autoload.js?bokeh-autoload-element=x"):
        for method in ("GET", "POST", "OPTIONS"):
            assert running.ask(target, method=method, headers={"Origin": origin}).status == 403


def test_a_websocket_has_to_say_where_it_comes_from(running):
    own = f"http://{running.host}"
    assert running.knock(None) == 403
    assert running.knock(own, headers={"Sec-WebSocket-Origin": f"http://{FOREIGN}"}) == 403


# --- only what the page needs


@pytest.mark.parametrize(
    "target",
    ["/components/cleanup/a/b/c", "/components/cleanup", "/components/", "/%63omponents/cleanup/a/b/c",
     "//components/cleanup/a/b/c", "/x/../components/cleanup/a/b/c", "/static/../components/cleanup/a/b/c",
     "/static/%2e%2e/components/cleanup/a/b/c", "/static/..%2fcomponents/cleanup/a/b/c", "/./components/cleanup/a/b/c",
     "/components%2fcleanup/a/b/c", "/COMPONENTS/cleanup/a/b/c", "/;/components/cleanup/a/b/c",
     "/components/cleanup/a/b/c?token=x", "/static/extensions/../../components/cleanup/a/b/c",
     "/components\\cleanup/a/b/c", "/autoload.js", "/autoload.js?bokeh-autoload-element=x",
     "/autoload%2ejs", "/metadata", "/rest/session_info",
     "/liveness", "/admin", "/login", "/index", "//", "/.", "/ws/", "/ws/x", "/favicon.ico/", "/static", "/static/",
     "/static//js/bokeh.min.js", "/static/./js/bokeh.min.js", "/static/js/../js/bokeh.min.js",
     "/static/js/%62okeh.min.js", "/static/js/bokeh.min.js/..", "/static/%00", "http://127.0.0.1/", "*"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_other_paths_are_not_there(running, target, method):
    assert running.ask(target, method=method).status == 404
    assert not (running.folder / "ran").exists()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"])
def test_other_methods_are_refused_and_their_bodies_thrown_away(running, method):
    for target in ("/", "/ws", "/static/js/bokeh.min.js", "/components/cleanup/a/b/c"):
        own = {"Origin": f"http://{running.host}"}
        answer = running.ask(target, method=method, headers=own, body=b"x" * 1_000_000)
        assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")
    assert not (running.folder / "ran").exists()


def test_a_connection_that_is_kept_open_is_checked_at_each_request(running):
    connection = http.client.HTTPConnection(running.address, running.port, timeout=120)
    with contextlib.closing(connection):
        for target, host, status in [
            ("/favicon.ico", running.host, 200),
            ("/components/cleanup/a/b/c", running.host, 404),
            ("/favicon.ico", FOREIGN, 403),
            ("/favicon.ico", running.host, 200),
        ]:
            connection.request("GET", target, headers={"Host": host, "Cookie": running.cookie})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == status


def test_all_that_the_page_names_is_served(running):
    names = set(re.findall(r'(?:src|href)="([^"#]+)"', running.ask("/").text))
    names = {"/" + name.removeprefix("./").lstrip("/") for name in names if "://" not in name}
    assert len(names) > 10
    assert {name: running.ask(name.replace("^", "%5E")).status for name in names} == dict.fromkeys(names, 200)


# --- addresses


@pytest.mark.parametrize(
    ("address", "port", "more"),
    [
        ("127.0.0.1", 5006, set()),
        ("Laptop", 5006, {"laptop:5006"}),
        ("192.0.2.1", 5006, {"192.0.2.1:5006"}),
        ("2001:DB8:0::1", 5006, {"[2001:db8::1]:5006"}),
    ],
)
def test_the_names_of_a_server(address, port, more):
    assert guard.own_hosts(address, port) == {"127.0.0.1:5006", "localhost:5006", "[::1]:5006"} | more


def test_browsers_leave_out_port_80():
    assert {"localhost", "localhost:80", "[::1]"} <= guard.own_hosts("127.0.0.1", 80)


def test_the_guard_asks_the_application_nothing_about_what_it_refuses():
    class Application:
        def find_handler(self, request, **_):
            raise AssertionError("asked")

    watch = guard.Guard(Application(), hosts={"localhost:1"}, port=1, token="t")
    for path in ("/", "/ws", "/components/os/a/b/c"):
        request = HTTPServerRequest(
            start_line=RequestStartLine("GET", path, "HTTP/1.1"), headers=HTTPHeaders({"Host": "localhost:1"})
        )
        assert watch.find_handler(request) is not None


def has_ipv6():
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_the_page_on_ipv6(tmp_path):
    with serving("--address", "::1", folder=tmp_path) as url:
        assert url.startswith("http://[::1]:")
        running = Running(url, tmp_path)
        assert running.ask(f"/?token={running.token}", cookie=False).status == 303
        assert running.ask("/").status == 200
        assert running.knock(f"http://{running.host}", headers=running.session()) == 101
        assert running.knock(f"http://{FOREIGN}") == 403
        assert running.ask("/", host=f"{FOREIGN}:PORT").status == 403
