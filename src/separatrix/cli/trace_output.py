"""What ``separatrix trace`` prints or writes: the table in one of its formats, or JSON."""

from __future__ import annotations

import html
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separatrix.cli.guard import guard
from separatrix.cli.table_formats import ENDINGS, TableFormat, format_of
from separatrix.cli.writing import print_content, say, show_trace
from separatrix.files import write_text
from separatrix.text import html_table, latex, markdown, times

if TYPE_CHECKING:
    from separatrix.insight.trace import Trace


_ENDINGS = {**ENDINGS, ".txt": "markdown", ".json": "json", "": "markdown"}


def output_format(output: Path | None, format: TableFormat | None, json: bool) -> str:
    """Return the format that the options choose, and note the file as an output."""
    if output is not None:
        guard().writes(output)
    return "json" if json else format_of(format, output, _ENDINGS) or "table"


def write_trace(run: Trace, format: str, output: Path | None) -> None:
    """Print a trace in this format, or write it to a file."""
    if output is None and format == "table":
        show_trace(run)
        return
    text = _WRITERS[format](run).rstrip("\n")
    if output is None:
        print_content(text)
    else:
        write_text(output, text + "\n")
        say(f"{times(len(run), 'step')} written to {output}", err=True)


def _as_markdown(run: Trace) -> str:
    parts = [run.to_markdown(by_epoch=True), f"{run.summary()} Final {run.final()}.", *run.notes()]
    if run.readout == "voted":
        parts += [markdown(*run.votes_table()), run.votes_note()]
    return "\n\n".join(parts)


def _as_latex(run: Trace) -> str:
    votes = [latex(*run.votes_table())] if run.readout == "voted" else []
    return "\n\n".join([run.to_latex(), *votes])


def _as_html(run: Trace) -> str:
    parts = [run.to_html(), *(f"<p>{html.escape(note)}</p>" for note in run.notes())]
    if run.readout == "voted":
        parts.append(html_table(*run.votes_table(), caption=run.votes_note()))
    return "\n".join(parts)


def _as_json(run: Trace) -> str:
    import json

    written: dict[str, Any] = {
        "steps": [dict(zip(run.header(), row, strict=True)) for row in run.rows()],
        "records": run.records(),
        "status": str(run.status), "epochs": run.n_epochs, "updates": run.n_updates, "final": run.final(),
        "start": _plane(*run.start), "weights": run.weights, "bias": run.bias, "readout": run.readout,
    }  # fmt: skip
    if run.readout == "voted":
        written["votes"] = [{**_plane(vote.weights, vote.bias), "count": vote.count} for vote in run.votes]
    if run.proof is not None:
        proof = run.proof
        written["proof"] = {
            **_plane(proof.weights, proof.bias), "alpha": proof.alpha, "beta": proof.beta, "square": proof.square,
            "k_max": proof.most,
        }  # fmt: skip
    return json.dumps(_numbers(written))


def _plane(weights: Any, bias: Any) -> dict[str, Any]:
    return {"weights": weights, "bias": bias}


def _numbers(value: Any) -> Any:
    """Return what JSON can hold: fractions as floats (too large for one: as text)."""
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers(each) for each in value]
    if isinstance(value, Fraction):
        try:
            return float(value)
        except OverflowError:
            return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)


_WRITERS = {
    "markdown": _as_markdown, "latex": _as_latex, "html": _as_html,
    "csv": lambda run: run.to_csv(), "json": _as_json,
}  # fmt: skip
