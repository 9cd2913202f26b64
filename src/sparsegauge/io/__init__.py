"""From a path to arrays, and nothing else: no metric, no transform, no printing.

`files.py` finds the reader for a path; each of the others reads one kind of file. Nothing is ever unpickled, and no
reader trusts a header that promises more than the file can hold.
"""

from .file_contents import BLOCK_BYTES, Contents, FileRequest
from .files import FORMATS, OpenedFile, check_regular, expand, has_known_ending, name_argument, open_file, opened

__all__ = [
    "BLOCK_BYTES",
    "FORMATS",
    "Contents",
    "FileRequest",
    "OpenedFile",
    "check_regular",
    "expand",
    "has_known_ending",
    "name_argument",
    "open_file",
    "opened",
]
