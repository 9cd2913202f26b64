"""Which parts a store's own runs have written.

Each run keeps a file in ``journal/`` with one line per part: its name, the checksum of its content, and a checksum of
all lines up to this one, which begins with the fingerprint of the study. A line is on the disk before its part is. So a
part that is in no journal was copied from elsewhere or forged, although its name is the checksum of its content. The
journals of two stores of one study may be copied together, as their parts may.

This detects mistakes and parts that were added by hand. It is no signature: anyone who can write to the whole store can
write a new journal too.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from .._platform.locks import open_regular, read_regular
from .._platform.writing import make_directory, sync_directory
from ..errors import NotRegularFile

FOLDER = "journal"


def _chained(before: str, name: str, checksum: str) -> str:
    return hashlib.sha256(f"{before} {name} {checksum}".encode()).hexdigest()


@dataclass
class Journal:
    """The journal of one run, made when the first part is written."""

    directory: Path
    fingerprint: str
    _name: str = field(default_factory=lambda: f"{secrets.token_hex(8)}.txt")
    _chain: str = ""
    _complete: bool = True

    def note(self, name: str, data: bytes) -> None:
        """Put a line about a part on the disk, before the part is written."""
        folder = self.directory / FOLDER
        if not self._complete:  # an interrupt came in between: whether the last line is there is not known
            self._name, self._chain = f"{secrets.token_hex(8)}.txt", ""
        self._complete = False
        new = not self._chain
        if new:
            make_directory(folder)
        checksum = hashlib.sha256(data).hexdigest()
        chain = _chained(self._chain or self.fingerprint, name, checksum)
        handle = open_regular(folder / self._name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            os.write(handle, f"{name} {checksum} {chain}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        if new:
            sync_directory(folder)
        self._chain, self._complete = chain, True


def listed_parts(directory: Path, fingerprint: str) -> set[str]:
    """Return the names of all parts that journals of this study list; a journal counts up to its first broken line."""
    found: set[str] = set()
    for path in sorted((directory / FOLDER).glob("*.txt")):
        try:
            lines = read_regular(path).decode("ascii", "replace").split("\n")[:-1]  # the last line may be cut off
        except (NotRegularFile, OSError):
            continue
        chain = fingerprint
        for line in lines:
            words = line.split(" ")
            if len(words) != 3 or _chained(chain, words[0], words[1]) != words[2]:
                break
            chain = words[2]
            found.add(words[0])
    return found
