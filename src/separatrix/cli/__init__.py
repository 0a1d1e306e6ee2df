"""The command line: ``separatrix fit``, ``predict`` and the others. Reading and writing; no mathematics."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from typing import Any

import separatrix

_LEAST = 1900 << 20  # bytes of address space, below which libraries crash while they are loaded
_NO_MEMORY = re.compile("allocate memory|failed to map segment", re.IGNORECASE)


def main() -> None:
    """Run the command line; an error is one sentence on standard error and exit status 2."""
    if sys.argv[1:] == ["--version"]:  # at once
        from separatrix import __version__

        print(f"separatrix {__version__}")
        return
    separatrix._is_command = True
    _check_address_space()
    _write_all_or_fail()
    _end_like_ctrl_c()
    try:
        from separatrix.cli.guard import guarded
        from separatrix.cli.program import program

        try:
            with guarded():
                program(sys.argv[1:])(standalone_mode=True)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except (ValueError, TypeError, OverflowError, ImportError) as problem:
        if isinstance(problem, ImportError) and _NO_MEMORY.search(str(problem)):
            raise _out_of_memory() from None
        print(f"separatrix: {_lines(problem)}", file=sys.stderr)
        raise SystemExit(2) from None
    except MemoryError:
        raise _out_of_memory() from None
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


def _check_address_space() -> None:
    """Refuse to start where libraries could not be loaded: they would crash."""
    if os.name == "nt":
        return
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    if limit < _LEAST:
        print(
            f"separatrix: the address space is limited to {limit >> 20:,} MB; at least {_LEAST >> 20:,} MB are needed "
            "(see ulimit -v)",
            file=sys.stderr,
        )
        raise SystemExit(2)
    for library in ("OPENBLAS", "OMP", "MKL"):  # each thread of theirs takes address space
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


def _out_of_memory() -> SystemExit:
    print("separatrix: out of memory; fit --memory 200MB keeps rows on disk", file=sys.stderr)
    return SystemExit(2)


def _lines(problem: BaseException) -> str:
    """Return a message in one line, or of several problems one line for each."""
    from separatrix.text import printable

    return "\n".join(printable(" ".join(part.split())) for part in re.split(r"\n(?=- )", str(problem)))


def _one_line(problem: BaseException) -> str:
    from separatrix.text import printable

    return printable(" ".join(str(problem).split()))


def _give_up_output() -> None:
    """Let nothing be flushed to a standard output that takes nothing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_all_or_fail() -> None:
    """Buffer standard output that is not (PYTHONUNBUFFERED): there a short write to a full disk is no error."""
    stream: Any = sys.stdout
    raw = getattr(stream, "buffer", None)
    if sys.stdout is sys.__stdout__ and isinstance(raw, io.RawIOBase):
        whole: Any = io.BufferedWriter(raw)
        sys.stdout = io.TextIOWrapper(
            whole, encoding=stream.encoding, errors=stream.errors, line_buffering=True, write_through=True
        )


def _end_like_ctrl_c() -> None:
    """Let a request to end (SIGTERM, and SIGHUP where it is not ignored) do what Ctrl-C does: keep what was learned."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
