"""`sparsegauge explore`: the interactive page, on this machine."""

from __future__ import annotations

import sys
import webbrowser
from typing import Annotated

import typer


def explore(
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="The port; 0 chooses a free one.")] = 0,
    address: Annotated[
        str, typer.Option("--address", help="The address to listen on; 127.0.0.1 is reachable from this machine only.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    max_upload_mb: Annotated[
        float, typer.Option("--max-upload-mb", min=0.001, help="The largest file to accept, in MB.")
    ] = 50,
) -> None:
    """Explore a signal on a local page: move the order, compare metrics, watch a recovery converge.

    Runs until Ctrl-C. The URL holds a token, new at each start; without it the page cannot be used.

    The page fetches nothing from elsewhere, and files that are dropped in are not kept.
    """
    from ..explore import server

    server.check_address(address)
    server.check_extra()
    port = server.find_port(address, port)  # before the work, not after it
    if not server.is_loopback(address):
        print(
            f"sparsegauge: {address} can be reached from other machines; anyone who has the URL, or reads it from the "
            "unencrypted connection, can use this page",
            file=sys.stderr,
        )
    print("sparsegauge: loading", file=sys.stderr)
    server.warm_up()
    running, url = server.make_server(address=address, port=port, max_upload_mb=max_upload_mb)
    running.start()
    print(f"{url}  (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(url, new=2)
    server.serve(running)
