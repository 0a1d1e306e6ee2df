"""The program with all its commands, for tests and documentation."""

from __future__ import annotations

from separatrix.cli.program import program

app = program()
