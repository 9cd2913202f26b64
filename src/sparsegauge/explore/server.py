"""The page on a local port: for this machine alone, and without a word to any other."""

from __future__ import annotations

import importlib.util
import ipaddress
import logging
import socket
from typing import Any

from ..errors import InvalidInput, MissingExtra

MODULES = ("bokeh", "panel", "panel_material_ui")


def check_extra() -> None:
    """Whether all that the page needs is installed."""
    for module in MODULES:
        if importlib.util.find_spec(module) is None:
            raise MissingExtra(f"the page needs {module}; pip install 'sparsegauge[explore]'")


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach it."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def check_address(address: str) -> str:
    """An IPv4 address or a host name of this machine."""
    if ":" in address or address in ("", "0.0.0.0", "*"):
        raise InvalidInput(
            f"address must be one IPv4 address or host name of this machine, got {address!r}: pages are served to "
            "their own address only; 127.0.0.1 is for this machine alone"
        )
    return address


def find_port(address: str, port: int) -> int:
    """That port if it can be listened on, or for 0 any; the origin has to be known before the server listens."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((address, port))
        except OSError as error:
            raise InvalidInput(
                f"cannot listen on port {port} of {address} ({error.strerror or error}); --port 0 takes one that is "
                "free, and the address has to be one of this machine"
            ) from error
        return int(probe.getsockname()[1])


def warm_up() -> None:
    """Compile and measure what every page needs, before there is one."""
    import numpy as np

    from .model import Coefficients, contributions, demo_signal
    from .ranking import gds_standing, standings

    now = Coefficients(demo_signal("ecg").values, "wavelet")
    for order in (1.0, 2.0, 2.5, 3.0):
        contributions(now.values, order)
        gds_standing(now.values, order)
    standings(now.values)
    assert np.isfinite(now.profile).all()


def make_server(*, address: str, port: int, max_upload_mb: float) -> tuple[Any, str]:
    """A server that listens but does not run yet, and the address of its page.

    Websockets are accepted from pages of that address alone, so that no other page in the reader's browser can talk to
    this one.
    """
    check_extra()
    import panel as pn

    from .view import TITLE, make_page

    for name in ("asyncio", "bokeh.server.views.ws"):
        logging.getLogger(name).addFilter(_closed_pages_are_no_news)
    pn.extension("filedropper")
    server = pn.io.server.get_server(
        {"/": lambda: make_page(max_upload_mb)},
        address=address,
        port=port,
        websocket_origin=f"{address}:{port}",
        title={"/": TITLE},
        start=False,
        show=False,
    )
    return server, f"http://{address}:{port}/"


def serve(server: Any) -> None:
    """Until Ctrl-C.

    Systems as small as a page's are solved far faster by one thread than by several that wait for each other. The
    number of BLAS's threads is the process's: runs that overlap must not set and reset it each for itself.
    """
    from ..study.run import one_blas_thread

    with one_blas_thread:
        try:
            server.io_loop.start()
        except KeyboardInterrupt:
            pass
        finally:
            server.stop()


def _closed_pages_are_no_news(record: logging.LogRecord) -> bool:
    """Whether to log it: a page that was closed while it was being told something is an everyday thing."""
    return "connection was closed" not in record.getMessage() and "WebSocketClosedError" not in record.getMessage()
