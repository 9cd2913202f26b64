"""One thread for BLAS, where threads of our own do the work."""

from __future__ import annotations

import contextlib
import threading

import threadpoolctl  # type: ignore[import-untyped]


class _OneBlasThread:
    """One thread for BLAS while anybody is inside: the first in sets it, the last out resets it.

    The sums of a threaded BLAS may depend on the number of threads, and that number is the process's, not a thread's.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.limits = threading.Lock(), 0, contextlib.ExitStack()

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.limits.enter_context(threadpoolctl.threadpool_limits(1, user_api="blas"))

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limits.close()


one_blas_thread = _OneBlasThread()
