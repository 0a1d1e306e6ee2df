"""The command line: ``separatrix trace``, ``certify``, ``verify``, ``demo``. Reading and writing; no mathematics."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an error is one sentence on standard error and exit status 2."""
    from separatrix.cli.app import app

    try:
        try:
            app(standalone_mode=True)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (ValueError, TypeError, OverflowError) as problem:
        print(f"separatrix: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:  # whoever read the output has seen enough
        _give_up_output()
        raise SystemExit(0) from None
    except OSError as problem:
        _give_up_output()
        print(f"separatrix: the output cannot be written: {problem.strerror}", file=sys.stderr)
        raise SystemExit(1) from None


def _give_up_output() -> None:
    """Let nothing be flushed to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
