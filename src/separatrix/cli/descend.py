"""``separatrix descend``: gradient descent on a function that is typed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import MODEL, OUTPUT, Json
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.table_formats import FormatOption, OutputOption, format_of
from separatrix.cli.writing import console, plain_table, print_content, say
from separatrix.files import write_text
from separatrix.text import csv_text, html_table, latex, markdown, times

if TYPE_CHECKING:
    from separatrix.insight.descent import Descent
    from separatrix.insight.expression import Expression

_MOST_RUNS = 12
_MOST_STEPS = 100_000
_HEAD, _TAIL = 8, 3  # rows of a long table on the screen


def descend(
    function: Annotated[
        str,
        typer.Argument(
            help="A function of x, or of x and y, as in '(x-3)^2': numbers, + - * / ^, parentheses, exp, log, sqrt, "
            "sin, cos, pi, e. One that starts with a minus comes last, after --."
        ),
    ],
    start: Annotated[
        str | None,
        typer.Option(help="Where to start: 0, or 0,0 for x and y. [default: 0 for each]", rich_help_panel=MODEL),
    ] = None,
    step: Annotated[
        str, typer.Option(help="Step sizes (learning rates), comma-separated: one run each.", rich_help_panel=MODEL)
    ] = "0.1",
    max_iter: Annotated[int, typer.Option(help="Maximum number of steps.", rich_help_panel=MODEL)] = 1000,
    tol: Annotated[
        float, typer.Option(help="Stop when the gradient is at most this long.", rich_help_panel=MODEL)
    ] = 1e-6,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Image file (.png, .svg or .pdf): the path of each run on the function.", rich_help_panel=OUTPUT
        ),
    ] = None,
    digits: Annotated[int, typer.Option(help="Significant digits.", rich_help_panel=OUTPUT)] = 6,
    format: FormatOption = None,
    output: OutputOption = None,
    json: Json = False,
) -> None:
    """Follow gradient descent on a function, step by step, with one or several step sizes.

    For example:

      separatrix descend "(x-3)^2" --start 0 --step 0.1,0.4,1.1

      separatrix descend "x^2 + 6*y^2" --start 4,1 --step 0.02,0.15,0.17 --plot steps.png

    Needs SymPy: pip install 'separatrix[descend]'.
    """
    if not 1 <= digits <= 17:
        raise ValueError(f"--digits must be between 1 and 17; found {digits}")
    if not 1 <= max_iter <= _MOST_STEPS:
        raise ValueError(f"--max-iter must be between 1 and {_MOST_STEPS:,}; found {max_iter}")
    if output is not None:
        guard().writes(output)
    chosen = None if json else format_of(format, output)
    if plot is not None:
        check_picture(plot, "--plot")
        guard().writes(plot, "--plot")
    f, runs = _run(function, start, step, max_iter, tol)
    if plot is not None:
        figure = _draw(f, runs)
        write_picture(figure, plot)
    if json:
        import json as to_text

        text = to_text.dumps(_facts(f, runs), allow_nan=False)
    elif chosen is None:
        _show(f, runs, digits)
        text = ""
    else:
        text = _written(f, runs, digits, chosen)
    if output is not None:
        write_text(output, text.rstrip("\n") + "\n")
        say(f"{times(sum(run.n_steps for run in runs.values()), 'step')} written to {output}.", err=True)
    elif text:
        print_content(text)
    if plot is not None:
        say(f"Plot written to {plot}.", err=bool(text))


def _run(function: str, start: str | None, step: str, max_iter: int, tol: float) -> tuple[Expression, dict[float, Any]]:
    from separatrix.insight.descent import descend as run_descent
    from separatrix.insight.expression import VARIABLES, Expression

    f = Expression(function)
    begin = [0.0] * len(f.variables) if start is None else _numbers("--start", start)
    if len(begin) == len(VARIABLES):
        f = Expression(function, VARIABLES)
    if len(begin) != len(f.variables):
        example = ",".join("0" * len(f.variables))
        raise ValueError(
            f"--start needs {times(len(f.variables), 'number')} for {' and '.join(f.variables)}, as in {example}; "
            f"found {len(begin)}"
        )
    sizes = list(dict.fromkeys(_numbers("--step", step)))
    if len(sizes) > _MOST_RUNS:
        raise ValueError(f"--step takes at most {_MOST_RUNS} step sizes; found {len(sizes)}")
    if min(sizes) <= 0:
        raise ValueError(f"--step must be greater than 0; found {min(sizes):g}")
    if not 0 <= tol < math.inf:
        raise ValueError(f"--tol must be zero or a positive number; found {tol:g}")
    at: Any = begin[0] if len(begin) == 1 else begin
    if not all(map(math.isfinite, [f(at), *map(float, [f.gradient(at)] if len(begin) == 1 else f.gradient(at))])):
        where = _point(f, at, 6)
        raise ValueError(
            f"the function or its derivative is not defined or not finite at --start {where}; choose another"
        )
    return f, {size: run_descent(f, f.gradient, at, size, tol=tol, max_steps=max_iter) for size in sizes}


def _numbers(option: str, text: str) -> list[float]:
    """Return numbers such as 0.1 or 1/3, separated by commas."""
    found = []
    for cell in text.split(","):
        above, sign, below = cell.partition("/")
        try:
            value = float(above) / (float(below) if sign else 1.0)
        except (ValueError, ZeroDivisionError):
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"{option} must be numbers such as 0.1 or 1/3, separated by commas; found {text!r}")
        found.append(value)
    return found


# ---------------------------------------------------------------------------------------------- tables


def _header(f: Expression) -> list[str]:
    names = ", ".join(f.variables)
    slopes = [f"f'({names})"] if len(f.variables) == 1 else [f"df/d{name}" for name in f.variables]
    return ["k", *f.variables, f"f({names})", *slopes]


def _rows(f: Expression, run: Descent, digits: int, places: range | list[int] | None = None) -> list[list[str]]:
    rows = []
    for k in range(len(run.path)) if places is None else places:
        point = run.path[k]
        slope = f.gradient(point)
        numbers = [*point.ravel().tolist(), float(run.values[k]), *([slope] if point.ndim == 0 else slope.tolist())]
        rows.append([str(k), *(f"{value + 0.0:.{digits}g}" for value in numbers)])
    return rows


def _written(f: Expression, runs: dict[float, Descent], digits: int, format: str) -> str:
    head = ["step", *_header(f)]
    rows = [[f"{size:g}", *row] for size, run in runs.items() for row in _rows(f, run, digits)]
    if format == "csv":
        return csv_text(head, rows)
    if format == "latex":
        return latex(head, rows)
    if format == "html":
        return html_table(head, rows)
    verdicts = "\n".join(f"- {_verdict(f, size, run, digits)}" for size, run in runs.items())
    return f"{_title(f)}\n\n{markdown(head, rows)}\n\n{verdicts}"


def _show(f: Expression, runs: dict[float, Descent], digits: int) -> None:
    """Print a table for each run, of a long one the ends."""
    screen = console()
    screen.print(_title(f), soft_wrap=True)
    for size, run in runs.items():
        long = len(run.path) > _HEAD + _TAIL + 1
        ends = [*range(_HEAD), *range(len(run.path) - _TAIL, len(run.path))] if long else None
        rows = _rows(f, run, digits, ends)
        if long:
            rows.insert(_HEAD, ["..."] * len(rows[0]))
        screen.print(f"\nstep {size:g}")
        screen.print(plain_table(_header(f), rows, right=True))
        if long:
            screen.print(f"({times(len(run.path) - _HEAD - _TAIL, 'row')} left out; --format csv has every step)")
        screen.print(_verdict(f, size, run, digits), soft_wrap=True)


def _title(f: Expression) -> str:
    names = ", ".join(f.variables)
    slopes = [f"{name} = {text}" for name, text in zip(_header(f)[len(f.variables) + 2 :], f.derivatives, strict=True)]
    return f"f({names}) = {f.text.strip()},  {',  '.join(slopes)}"


def _verdict(f: Expression, size: float, run: Descent, digits: int) -> str:
    """Return in one sentence where a run has ended."""
    end, name = _point(f, run.x, digits), f"f({', '.join(f.variables)})"
    if run.outcome == "converged":
        text = f"converged to {end} with {name} = {run.value + 0.0:.{digits}g} after {times(run.n_steps, 'step')}"
        if run.n_steps == 0:
            text += ": the gradient is zero at the start, which may also be a maximum or a saddle point"
    elif math.isnan(run.value):
        text = (
            f"left the domain after {times(run.n_steps, 'step')}: {name} is not defined at {end}; take a smaller step"
        )
    elif run.outcome == "too many steps" and _oscillates(run):
        before = _point(f, run.path[-2], digits)
        advice = str(run.status).partition("; ")[2] or "the step is too large"
        text = f"oscillates between {before} and {end} after {times(run.n_steps, 'step')}; {advice}"
    else:
        text = str(run.status)
    return f"step {size:g}: {text}"


def _oscillates(run: Descent) -> bool:
    import numpy as np

    last, before, earlier = (run.path[-k] for k in (1, 2, 3)) if len(run.path) > 2 else (0, 0, 1)
    return np.allclose(last, earlier, rtol=1e-9, atol=0.0) and not np.allclose(last, before, rtol=1e-3, atol=0.0)


def _point(f: Expression, at: Any, digits: int) -> str:
    import numpy as np

    values = np.ravel(at).tolist()
    return ", ".join(f"{name} = {value + 0.0:.{digits}g}" for name, value in zip(f.variables, values, strict=True))


def _facts(f: Expression, runs: dict[float, Descent]) -> dict[str, Any]:
    return {
        "function": f.text.strip(), "variables": list(f.variables), "derivatives": list(f.derivatives),
        "runs": [
            {
                "step": size, "outcome": run.outcome, "status": _verdict(f, size, run, 6), "steps": run.n_steps,
                "path": [[_json(value) for value in point.ravel().tolist()] for point in run.path],
                "values": [_json(value) for value in run.values.tolist()],
            }
            for size, run in runs.items()
        ],
    }  # fmt: skip


def _json(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _draw(f: Expression, runs: dict[float, Descent]) -> Any:
    figure = new_figure()
    from separatrix import plots
    from separatrix.plots.descents import panels

    rows, columns = panels(len(runs))
    figure.set_size_inches(max(3.7 * columns, 5.0), 3.7 * rows)
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes[len(runs) :]:
        ax.remove()
    plots.descents({f"step {size:g}": run for size, run in runs.items()}, axes[: len(runs)])
    figure.suptitle(f"f({', '.join(f.variables)}) = {f.text.strip()}", fontsize="medium", parse_math=False)
    return figure
