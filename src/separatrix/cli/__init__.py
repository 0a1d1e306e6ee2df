"""The command line: ``separatrix fit``, ``predict`` and the others. Reading and writing; no mathematics."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line; an error is one sentence on standard error and exit status 2."""
    if sys.argv[1:] == ["--version"]:  # at once
        from separatrix import __version__

        print(f"separatrix {__version__}")
        return
    try:
        from separatrix.cli.app import app

        try:
            app(standalone_mode=True)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (ValueError, TypeError, OverflowError, ImportError) as problem:
        print(f"separatrix: {_one_line(problem)}", file=sys.stderr)
        raise SystemExit(2) from None
    except MemoryError:
        print("separatrix: out of memory; --memory 200MB keeps rows on disk", file=sys.stderr)
        raise SystemExit(2) from None
    except KeyboardInterrupt:
        print("separatrix: interrupted", file=sys.stderr)
        raise SystemExit(130) from None
    except BrokenPipeError:  # whoever read the output has seen enough
        _give_up_output()
        raise SystemExit(0) from None
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            _give_up_output()
            raise SystemExit(0) from None
        if end.code == 130:
            print("separatrix: interrupted", file=sys.stderr)
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError) as problem:
        if os.environ.get("SEPARATRIX_DEBUG"):
            raise
        print(
            f"separatrix: unexpected error, please report it ({type(problem).__name__}: {_one_line(problem)}); run the "
            "command again with SEPARATRIX_DEBUG=1 for the traceback",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except OSError as problem:
        _give_up_output()
        print(f"separatrix: cannot write the output: {problem.strerror}", file=sys.stderr)
        raise SystemExit(1) from None


def _one_line(problem: BaseException) -> str:
    return " ".join(str(problem).split())


def _give_up_output() -> None:
    """Let nothing be flushed to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
