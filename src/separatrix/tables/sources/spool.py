"""Standard input, kept in a temporary file so that it can be read more than once."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import weakref
from typing import BinaryIO

STDIN = "standard input"


class Spool:
    """A temporary copy of a stream.

    Parameters
    ----------
    stream : binary file or None
        What to copy; standard input by default.
    """

    def __init__(self, stream: BinaryIO | None = None) -> None:
        if stream is None:
            if sys.stdin is None or sys.stdin.isatty():
                raise ValueError(
                    "standard input is the keyboard; send a file into it, as in: cat data.csv | separatrix ..."
                )
            stream = sys.stdin.buffer
        self.folder = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)  # also if nobody closes it
        self.path = os.path.join(self.folder, "input")
        told = hashlib.sha256()
        try:
            with open(self.path, "wb") as file:
                while part := stream.read(1 << 20):
                    told.update(part)
                    file.write(part)
        except BaseException as problem:
            self.close()
            if isinstance(problem, OSError):
                raise ValueError(
                    f"standard input cannot be copied to {tempfile.gettempdir()}: {problem.strerror}"
                ) from None
            raise
        self.digest = told.hexdigest()

    def close(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.folder, ignore_errors=True)
