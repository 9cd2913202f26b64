"""When figures may be changed: with the lock of their document, which a widget's callback does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Soon:
    """Does what it is called with in the document's next moment; what is asked for again meanwhile is done once.

    So a slider that moves faster than figures can be drawn skips values and does not lag behind.
    """

    def __init__(self, document: Any) -> None:
        self.document = document
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, work: Callable[[], None]) -> None:
        """Act at once without a document, as in a test."""
        if self.document is None or self.document.session_context is None:
            work()
        elif work not in self.waiting:
            self.waiting.append(work)
            self.document.add_next_tick_callback(lambda: self._do(work))

    def _do(self, work: Callable[[], None]) -> None:
        self.waiting.remove(work)
        work()
