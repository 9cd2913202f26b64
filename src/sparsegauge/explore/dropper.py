"""The place where files are dropped, with a limit that the server enforces."""

# mypy: disable-error-code="no-untyped-call"
# (Panel's constructors have no types)

from __future__ import annotations

from typing import Any

import panel as pn

UPLOAD, MOST_NAMES = "upload_event", 100
ALREADY_TAKEN = b""


class LimitedDropper(pn.widgets.FileDropper):
    """A drop zone that throws pieces of a file away once there are more of them than `limit` bytes.

    Panel checks sizes in the browser alone, and collects whatever arrives. Here the pieces of all files that are on
    their way count together, so that a session never holds more than `limit` bytes of them. `complaint` says why the
    last file was refused; it is empty if that file was taken.
    """

    def __init__(self, *, limit: int, **params: Any) -> None:
        self.limit, self.complaint = limit, ""
        self._received: dict[str, int] = {}
        super().__init__(**params)

    def take(self) -> tuple[str, bytes] | None:
        """Return the name and the bytes of the newest file that was not taken yet, and release the bytes."""
        new = [(name, data) for name, data in self.value.items() if data is not ALREADY_TAKEN]
        self.value.update(dict.fromkeys(self.value, ALREADY_TAKEN))
        if not new:
            return None
        name, data = new[-1]
        return name, data.encode() if isinstance(data, str) else bytes(data)

    def _process_event(self, event: Any) -> None:
        if event.event_name != UPLOAD:
            super()._process_event(event)
            return
        name, piece, number = event.data.get("name"), event.data.get("data"), event.data.get("chunk")
        if not isinstance(name, str) or not isinstance(piece, bytes | str) or not isinstance(number, int):
            return  # no page sends this
        if number == 1:
            self._forget(name)
            self._received[name] = 0
            self.complaint = ""
        if name not in self._received:
            return  # the rest of a file that was refused
        self._received[name] += len(piece)
        if sum(self._received.values()) > self.limit or len(self._received) > MOST_NAMES:
            self._forget(name)
            self.complaint = (
                f"A file of more than {self.limit / 1_000_000:g} MB was refused; cut it, or start the page with a "
                "larger --max-upload-mb"
            )
            self.param.trigger("value")
            return
        super()._process_event(event)
        if name not in self._file_buffer:  # all of it has arrived
            self._received.pop(name)

    def _forget(self, name: str) -> None:
        self._received.pop(name, None)
        self._file_buffer.pop(name, None)
