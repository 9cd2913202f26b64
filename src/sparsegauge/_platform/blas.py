"""One thread for BLAS, where threads of our own do the work."""

from __future__ import annotations

import contextlib
import sys
import threading

import threadpoolctl  # type: ignore[import-untyped]


class _OneBlasThread:
    """One thread for BLAS while any caller is inside: the first to enter sets the limit, the last to leave resets it.

    The sums of a threaded BLAS may depend on the number of threads, and that number is the process's, not a thread's.
    The libraries are looked for once, and again when modules were imported since: that takes a thousand times longer
    than to set a limit.
    """

    def __init__(self) -> None:
        self.lock, self.users, self.limits = threading.Lock(), 0, contextlib.ExitStack()
        self.libraries, self.modules = None, -1

    def __enter__(self) -> None:
        with self.lock:
            self.users += 1
            if self.users == 1:
                if self.modules != len(sys.modules):
                    self.libraries = threadpoolctl.ThreadpoolController()
                    self.modules = len(sys.modules)
                assert self.libraries is not None
                self.limits.enter_context(self.libraries.limit(limits=1, user_api="blas"))

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.users -= 1
            if self.users == 0:
                self.limits.close()


one_blas_thread = _OneBlasThread()
