"""The page on a local port: how the server is made, started and stopped."""

from __future__ import annotations

import ipaddress
import logging
import secrets
import socket
from typing import Any

from .._platform.extras import check_extras
from .._platform.memory import forget_what_was_kept, give_memory_back, keep_what_is_there
from .._platform.scratch import remove_abandoned_scratch
from ..errors import InvalidInput

MODULES = ("bokeh", "panel", "panel_material_ui", "tornado")
LARGEST_MESSAGE = 4_000_000  # bytes; files come in pieces of a quarter of this
TIDYING = (
    5.0  # seconds from the end of a session until its memory is given back, with that of others that end meanwhile
)


def check_extra() -> None:
    """Raise `MissingExtra` unless all that the page needs is installed."""
    check_extras(MODULES, "the page", extra="explore")


def is_loopback(address: str) -> bool:
    """Return whether only this machine can reach it."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def check_address(address: str) -> str:
    """Return an address that can stand in the page's URL: one IP address or host name of this machine."""
    if address in ("", "*") or "%" in address or _is_everywhere(address):
        raise InvalidInput(
            f"address must be one IP address or host name of this machine, got {address!r}: pages are served to "
            "their own address only; 127.0.0.1 is for this machine alone"
        )
    return address


def _is_everywhere(address: str) -> bool:
    """Return whether this is 0.0.0.0 or ::, which stand for all addresses of this machine."""
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def find_port(address: str, port: int) -> int:
    """Return that port if the server can listen on it, or for 0 any free one.

    The URL, the allowed hosts and the cookie's name have to be known before the server listens.
    """
    try:
        # IPv4 first, as the server does it for names that have both
        family, kind, protocol, _, name = min(socket.getaddrinfo(address, port, type=socket.SOCK_STREAM))
        check_address(str(name[0]))  # "0" is 0.0.0.0 by another name
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
            probe.bind(name)
            return int(probe.getsockname()[1])
    except (OSError, UnicodeError) as error:
        raise InvalidInput(
            f"cannot listen on port {port} of {address} ({getattr(error, 'strerror', None) or error}); --port 0 takes "
            "one that is free, and the address has to be one of this machine"
        ) from error


def warm_up() -> None:
    """Compile and measure what every page needs, before there is one."""
    import numpy as np

    from .model import ShownCoefficients, demo_signal
    from .standing import gds_standing, standings

    now = ShownCoefficients(demo_signal("ecg").values, "wavelet")
    for order in (1.0, 2.0, 2.5, 3.0):
        now.shares(order)
        gds_standing(now.values, order)
    standings(now.values)
    assert np.isfinite(now.profile).all()


def make_server(*, address: str, port: int, max_upload_mb: float) -> tuple[Any, str]:
    """Return a server that listens but does not run yet, and the URL of its page.

    The URL has a random token, which is new at each start; requests without it are refused. `guard.Guard` sees every
    request first: it refuses other hosts, other origins, requests without the token, and paths that the page does not
    need.
    """
    check_extra()
    remove_abandoned_scratch()
    import panel as pn

    from .guard import TOKEN_ARGUMENT, Guard, own_hosts, url_host
    from .recovery_run import start_helper
    from .view import TITLE, make_page

    tidying = Tidying()

    def page() -> Any:
        pn.state.on_session_destroyed(lambda _: tidying.soon())
        return make_page(max_upload_mb)

    start_helper()

    for name in ("asyncio", "bokeh.server.views.ws", "bokeh.server.protocol_handler", "tornado.application"):
        logging.getLogger(name).addFilter(is_not_of_a_closed_page)
    pn.extension("filedropper")
    server = pn.io.server.get_server(
        {"/": page},
        address=address,
        port=port,
        title={"/": TITLE},
        location=False,  # Panel's view of the URL, which the page does not need and which fails with IPv6
        start=False,
        show=False,
        websocket_max_message_size=LARGEST_MESSAGE,
        include_headers=[],  # else Bokeh writes all headers and cookies into the page, with the token
        include_cookies=[],
    )
    hosts, token = own_hosts(address, port), secrets.token_urlsafe(32)
    # Bokeh compares origins for itself too. Its own option cannot name IPv6 addresses.
    server._tornado.websocket_origins.clear()
    server._tornado.websocket_origins.update(hosts)
    if getattr(server._http, "request_callback", None) is not server._tornado:
        raise RuntimeError("this version of Tornado cannot be guarded; the page is not served")
    server._http.request_callback = Guard(server._tornado, hosts=hosts, port=port, token=token)
    return server, f"http://{url_host(address)}:{port}/?{TOKEN_ARGUMENT}={token}"


class Tidying:
    """Gives memory back after sessions have ended, once for all that end within a few seconds.

    The objects of a page refer to each other. Left to itself, Python looks for such garbage ever more rarely, and the C
    library keeps the room of what was deleted.
    """

    def __init__(self) -> None:
        self.is_due = False

    def soon(self) -> None:
        """Give memory back in a few seconds, if there is a server that runs by then."""
        from tornado.ioloop import IOLoop

        if not self.is_due:
            self.is_due = True
            IOLoop.current().call_later(TIDYING, self._now)

    def _now(self) -> None:
        self.is_due = False
        give_memory_back()


def serve(server: Any) -> None:
    """Serve the page until Ctrl-C.

    Systems as small as a page's are solved far faster by one thread than by several that wait for each other. The
    number of BLAS's threads is the process's: runs that overlap must not set and reset it each for itself.
    """
    from .._platform.blas import one_blas_thread

    keep_what_is_there()
    with one_blas_thread:
        try:
            server.io_loop.start()
        except KeyboardInterrupt:
            pass
        finally:
            server.stop()
            forget_what_was_kept()


def is_not_of_a_closed_page(record: logging.LogRecord) -> bool:
    """Return whether to log a message: not if it only says that a page was closed while it sent or received something.

    Bokeh fails an assertion where the last messages of a page arrive after its connection was given up.
    """
    text = record.getMessage()
    if "connection was closed" in text or "WebSocketClosedError" in text:
        return False
    error = record.exc_info[1] if record.exc_info else None
    return not (isinstance(error, AssertionError) and _raised_in(error) == ("bokeh.server.connection", "session"))


def _raised_in(error: BaseException) -> tuple[str, str]:
    """Return the module and the function that raised an error."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return ("", "") if trace is None else (trace.tb_frame.f_globals["__name__"], trace.tb_frame.f_code.co_name)
