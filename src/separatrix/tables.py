"""Tables: text in rows and columns as Markdown, LaTeX, HTML or CSV. Pure functions of strings; no mathematics."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Sequence

Cells = Sequence[Sequence[str]]


def markdown(head: Sequence[str], rows: Cells) -> str:
    """Return a Markdown table whose columns line up in plain text too.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["1", "22"]]))
    | a | b  |
    |---|----|
    | 1 | 22 |
    """
    table = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip


def latex(head: Sequence[str], rows: Cells) -> str:
    r"""Return a LaTeX tabular; numbers and vectors are set as mathematics.

    Examples
    --------
    >>> print(latex(["w"], [["(1, -1/2)"]]))
    \begin{tabular}{l}
    \hline
    w \\
    \hline
    $(1, -1/2)$ \\
    \hline
    \end{tabular}
    """
    body = [" & ".join(_latex_cell(cell) for cell in row) + r" \\" for row in rows]
    title = " & ".join(_escape(cell) for cell in head) + r" \\"
    return "\n".join(
        [rf"\begin{{tabular}}{{{'l' * len(head)}}}", r"\hline", title, r"\hline", *body, r"\hline", r"\end{tabular}"]
    )


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def _latex_cell(text: str) -> str:
    return f"${text}$" if text and set(text) <= set("0123456789+-./(), ") else _escape(text)


def html_table(head: Sequence[str], rows: Cells, *, marked: Sequence[bool] = (), caption: str = "") -> str:
    """Return an HTML table; marked rows are set in bold on a tint, and the caption stands below."""
    cell = "padding:0.2em 0.8em;text-align:left"
    lines = ['<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">']
    if caption:
        lines.append(
            f'<caption style="caption-side:bottom;text-align:left;padding:0.4em 0.8em">{html.escape(caption)}</caption>'
        )
    titles = "".join(
        f'<th style="{cell};border-bottom:1px solid currentColor">{html.escape(name)}</th>' for name in head
    )
    lines.append(f"<thead><tr>{titles}</tr></thead>")
    lines.append("<tbody>")
    for index, row in enumerate(rows):
        strong = index < len(marked) and marked[index]
        style = ' style="font-weight:bold;background:rgba(128,128,128,0.15)"' if strong else ""
        lines.append(f"<tr{style}>" + "".join(f'<td style="{cell}">{html.escape(text)}</td>' for text in row) + "</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def csv_text(head: Sequence[str], rows: Cells) -> str:
    """Return comma-separated values with a header line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()
