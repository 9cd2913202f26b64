"""From a path to arrays, and nothing else: no metric, no transform, no printing.

`files.py` finds the reader for a path; each of the others reads one kind of file. Nothing is ever unpickled, and no
reader believes a header that promises more than the file can hold.
"""

from .contents import BLOCK_BYTES, Contents
from .files import FORMATS, expand, open_file, spooled

__all__ = ["BLOCK_BYTES", "FORMATS", "Contents", "expand", "open_file", "spooled"]
