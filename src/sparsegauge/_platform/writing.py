"""Write files in one step, so that a failure never destroys the file that was there."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path


def check_destination(path: Path) -> None:
    """Raise the OSError that writing to `path` would meet; call it before a long computation, not after it."""
    if path.is_dir():
        raise OSError(errno.EISDIR, "is a directory; name a file in it", str(path))
    if not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"cannot be written: {path.parent} is not a directory", str(path))
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(error.errno, f"cannot be written ({error.strerror})", str(path)) from error


def make_directory(directory: Path) -> None:
    """Create a directory and its parents, if they do not exist yet."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"cannot be a directory to write to ({error.strerror})"
        raise OSError(error.errno, reason, str(directory)) from error


def replace_file(path: Path, content: str | bytes) -> None:
    """Write all of `content` (text as UTF-8) beside `path`, sync it, then move it into place in one step."""
    with draft_of(path) as draft, draft.open("xb") as file:
        file.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def draft_of(path: Path) -> Iterator[Path]:
    """Yield the path of a draft in the folder of `path`; the draft replaces `path` when the block ends.

    The draft is synced before it is moved. If the block fails, the draft is deleted and `path` stays as it was. A
    symbolic link stays a link.
    """
    target = path.resolve()
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        _sync(draft)
        os.replace(draft, target)
        sync_directory(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def sync_directory(directory: Path) -> None:
    """Put new names in a directory on the disk; Windows cannot open directories, and needs no such step."""
    if os.name != "nt":
        _sync(directory)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
