"""The command line: ``separatrix trace``, ``separatrix demo``. Reading, writing and words; no mathematics."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an error is one sentence on standard error and exit status 2."""
    from separatrix.cli.app import app

    try:
        app()
    except (ValueError, TypeError) as problem:
        print(f"separatrix: {problem}", file=sys.stderr)
        raise SystemExit(2) from None
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(1) from None
