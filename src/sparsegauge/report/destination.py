"""Write a file so that a failure never destroys the file that was there."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from pathlib import Path


def check_destination(path: Path) -> None:
    """Raise the OSError that writing to `path` would meet; ask before a long computation, not after it."""
    if path.is_dir():
        raise OSError(errno.EISDIR, "is a directory; name a file in it", str(path))
    if not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"cannot be written: {path.parent} is not a directory", str(path))
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(error.errno, f"cannot be written ({error.strerror})", str(path)) from error


def replace_file(path: Path, content: str | bytes) -> None:
    """Write all of `content` (text as UTF-8) beside `path`, then put it in its place in one step."""
    target = path.resolve()  # a link stays a link
    draft = target.with_name(f".sparsegauge-{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
