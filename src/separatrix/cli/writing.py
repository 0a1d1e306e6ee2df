"""What the commands print."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from separatrix.cli.guard import guard
from separatrix.text import listed, printable

if TYPE_CHECKING:
    from separatrix.insight.trace import Trace

# As SIMPLE_HEAD, with a rule between sections too.
_RULED = box.Box("    \n    \n ── \n    \n ── \n    \n    \n    \n")


def show_trace(run: Trace, *, head: int | None = None, tail: int = 0) -> None:
    """Print a trace as a table: a rule after each epoch, updates in bold; with ``head``, only the ends."""
    screen = console()
    table = Table(box=_RULED, show_edge=False, pad_edge=False)
    heads, rows, places = run.header(), run.rows(), run.table_rows()
    for name in heads:
        table.add_column(printable(name), overflow="fold")
    shown = range(len(rows)) if head is None or head + tail >= len(rows) else [*range(head), *range(-tail, 0)]
    for place, index in enumerate(shown):
        row = places[index]
        after = shown[place + 1] if place + 1 < len(shown) else None
        gap = head is not None and place == head - 1 and len(shown) < len(rows)
        table.add_row(*map(printable, rows[index]), style="bold" if row.updated else None, end_section=False)
        if gap:
            table.add_row(*["..."] * len(heads))
        elif after is None or places[after].epoch != row.epoch:
            table.add_row("", "", f"end of epoch {row.epoch}", *[""] * (len(heads) - 3), end_section=True)
    screen.print(table)
    screen.print(run.summary())
    screen.print(f"Final {run.final()}.")
    for note in run.notes():
        screen.print(note)
    if run.readout == "voted":
        screen.print()
        screen.print(plain_table(*run.votes_table()))
        screen.print(run.votes_note())


def show_demo() -> None:
    """Print the demonstration."""
    from separatrix import datasets
    from separatrix.insight.trace import trace

    data = datasets.separable(60, 2, margin=0.08, random_state=4)
    X = data.X.round(2)
    run = trace(X.tolist(), data.y.tolist(), decimals=True)
    radius_square = max(float((row * row).sum()) + 1.0 for row in X)
    margin = float((data.y * (X @ data.weights + data.bias)).min())
    bound = radius_square / margin**2
    screen = console()
    screen.print("The perceptron on 60 points in the plane that some line separates, from w = 0 and b = 0.\n")
    show_trace(run, head=6, tail=4)
    screen.print(
        f"\nMistakes made: {run.n_updates}. The theorem allows at most (R / gamma)^2 = "
        f"({radius_square**0.5:.3f} / {margin:.4f})^2 = {bound:,.0f}:\n"
        f"R is the length of the longest point and gamma the distance from one known separating line to the nearest\n"
        f"point, both with the bias as a third coordinate fixed to 1."
    )


def show_certificate(certificate: Any, *, explain: bool) -> None:
    """Print a certificate of data or of a model: verdict and numbers in a table, on request the proof in words."""
    from separatrix.certificates.multiclass import HEAD, Certificates

    screen = console()
    parts = list(certificate.values()) if isinstance(certificate, dict) else [certificate]
    parts = list(certificate.all) if isinstance(certificate, Certificates) else parts
    if explain:
        for place, part in enumerate(parts):
            screen.print(("\n" if place else "") + part.explain())
    elif isinstance(certificate, Certificates):  # one line each
        screen.print(plain_table(HEAD, certificate.facts()))
    else:
        for place, part in enumerate(parts):
            screen.print(("\n" if place else "") + part.headline())
            screen.print(plain_table(["claim", "proved"], part.details()))


def show_check(certificate: Any, check: Any) -> None:
    """Print whether a certificate holds, and of what."""
    from separatrix.certificates.multiclass import Certificates

    screen = console()
    if check:
        for part in certificate.all if isinstance(certificate, Certificates) else [certificate]:
            screen.print(f"verified: {part}", soft_wrap=True)
    for problem in check.problems:
        screen.print(f"rejected: {problem}", soft_wrap=True)


def pasted(path: object) -> str:
    """Return a path as an argument of a command, where a leading - would make it an option."""
    return f"./{path}" if str(path).startswith("-") else str(path)


def plain_table(head: list[str], rows: list[list[str]], *, right: bool = False) -> Table:
    """Return a table; with ``right`` all columns but the first hold numbers."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, name in enumerate(head):
        table.add_column(printable(name), overflow="fold", justify="right" if right and place else "left")
    for row in rows:
        table.add_row(*map(printable, row))
    return table


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show a spinner where standard error is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    with Console(stderr=True).status(what):
        yield


def read_text(path: Path) -> str:
    """Return the text of a file, which is an input of the command, or say why it cannot be read."""
    guard().reads(path)
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not UTF-8 text") from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror}") from None


class _Screen(Console):
    """A console on which control characters in names and labels are escapes; the colours are its own."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, as Rich does."""
        super().print(*(printable(each, "\n") if isinstance(each, str) else each for each in objects), **options)


def console() -> Console:
    """A console that keeps wide tables whole where the output is not a terminal."""
    screen = _Screen(highlight=False, markup=False, emoji=False)
    return screen if screen.is_terminal else _Screen(highlight=False, markup=False, emoji=False, width=200)


def say(text: str, *, err: bool = False) -> None:
    """Print a sentence about the work."""
    typer.echo(printable(text, "\n"), err=err)


def say_unknown(counts: Mapping[str, int], unknown: str) -> None:
    """Print how many rows have categories that the model was not trained on, by column, and what became of them."""
    if not counts:
        return
    columns = ", ".join(f"{name} {n:,}" for name, n in counts.items())
    what = "no prediction" if unknown == "null" else "encoded as none of the known ones"
    say(f"unknown categories, {what}: {columns} (--unknown)", err=True)


def say_imputed(counts: Mapping[str, int]) -> None:
    """Print how many missing values were imputed, by column, most first."""
    if counts:
        columns = sorted(counts.items(), key=lambda pair: -pair[1])
        shown = listed([f"{name} {n:,}" for name, n in columns])
        say(f"missing values imputed: {shown}", err=True)


def print_content(text: str, *, nl: bool = True) -> None:
    """Print what could also go to a file: as it is, but with control characters as escapes on a terminal."""
    typer.echo(printable(text, "\n\t") if sys.stdout.isatty() else text, nl=nl)
