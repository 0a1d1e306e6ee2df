"""Sheets as Markdown, LaTeX and HTML: the blocks of exercises, and whole documents."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from separatrix.exercises.content import Block, Table
from separatrix.exercises.formulas import cell, html_text, latex_escaped, latex_text, plain
from separatrix.text import markdown

if TYPE_CHECKING:
    from separatrix.exercises.sheet import Exercise

# ---------------------------------------------------------------------------------------------- Markdown


def markdown_blocks(blocks: Sequence[Block]) -> str:
    """Return paragraphs and tables as Markdown that reads well as plain text."""
    return "\n\n".join(
        markdown([plain(name) for name in block.head], [[plain(each) for each in row] for row in block.rows])
        if isinstance(block, Table)
        else block
        for block in blocks
    )


def markdown_exercise(exercise: Exercise, *, solution: bool) -> str:
    """Return one exercise as Markdown, under a heading."""
    parts = [f"## Exercise {exercise.number}", markdown_blocks(exercise.statement)]
    if solution:
        parts += ["### Solution", markdown_blocks(exercise.solution)]
    return "\n\n".join(parts)


def markdown_sheet(title: str, note: str, command: str, exercises: Sequence[Exercise], *, solution: bool) -> str:
    """Return a sheet as Markdown."""
    parts = [f"# {title}", f"{note} `{command}`", *(markdown_exercise(each, solution=solution) for each in exercises)]
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------------------------------------- LaTeX


def latex_blocks(blocks: Sequence[Block]) -> str:
    """Return paragraphs and tables as LaTeX."""
    return "\n\n".join(_tabular(block) if isinstance(block, Table) else latex_text(block) for block in blocks)


def _tabular(table: Table) -> str:
    lines = [
        rf"\begin{{center}}\small\begin{{tabular}}{{{'l' * len(table.head)}}}",
        r"\hline",
        " & ".join(latex_text(name) for name in table.head) + r" \\",
        r"\hline",
        *(
            " & ".join(latex_text(cell(each)) for each in row) + r" \\" + (r" \hline" if end else "")
            for row, end in zip(table.rows, table.ends, strict=True)
        ),
        r"\hline",
        r"\end{tabular}\end{center}",
    ]
    return "\n".join(lines)


def latex_exercise(exercise: Exercise, *, solution: bool) -> str:
    """Return one exercise as LaTeX, under a heading."""
    parts = [rf"\section*{{Exercise {exercise.number}}}", latex_blocks(exercise.statement)]
    if solution:
        parts += [r"\subsection*{Solution}", latex_blocks(exercise.solution)]
    return "\n\n".join(parts)


def latex_sheet(title: str, note: str, command: str, exercises: Sequence[Exercise], *, solution: bool) -> str:
    """Return a sheet as a LaTeX document that needs no packages."""
    head = [
        r"\documentclass[a4paper]{article}",
        r"\setlength{\textwidth}{16cm}\setlength{\oddsidemargin}{0cm}\setlength{\evensidemargin}{0cm}",
        r"\setlength{\textheight}{24cm}\setlength{\topmargin}{-1.5cm}",
        r"\setlength{\parindent}{0pt}\setlength{\parskip}{1ex}\setlength{\tabcolsep}{4pt}",
        r"\begin{document}",
        rf"\begin{{center}}\Large {latex_escaped(title)}\end{{center}}",
    ]
    body = [
        rf"{latex_text(note)} \texttt{{{latex_escaped(command)}}}",
        *(latex_exercise(each, solution=solution) for each in exercises),
    ]
    return "\n".join(head) + "\n\n" + "\n\n".join(body) + "\n\n" + r"\end{document}" + "\n"


# ---------------------------------------------------------------------------------------------- HTML

_STYLE = """\
:root { color-scheme: light dark; --line: #888; --tint: rgba(128, 128, 128, 0.12) }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin-bottom: 0.2rem } h2 { font-size: 1.15rem; margin: 2rem 0 0.4rem }
h3 { font-size: 1rem; margin: 0 0 0.4rem } p { margin: 0.5rem 0 }
.note { color: GrayText; font-size: 0.9rem }
.f { font-family: Cambria, "STIX Two Text", "Times New Roman", serif; font-size: 1.05em }
.short { white-space: nowrap }
.f sub, .f sup { font-size: 0.7em; line-height: 0 }
.solution { background: var(--tint); border-left: 3px solid var(--line); padding: 0.6rem 1rem; margin: 0.8rem 0 }
.wide { overflow-x: auto } table { border-collapse: collapse; margin: 0.6rem 0; font-size: 0.95em }
th, td { text-align: left; padding: 0.15rem 0.6rem } td { white-space: nowrap }
th { vertical-align: bottom; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child { padding-left: 0 }
tbody tr:last-child td, .end td { border-bottom: 1px solid var(--line) }
@media print {
  body { font-size: 11pt; max-width: none; margin: 0; padding: 0 } h2, h3 { break-after: avoid }
  .statement, table, tr { break-inside: avoid } .wide { overflow: visible } th, td { padding: 0.1rem 0.45rem }
  .solution { background: none }
}"""


def html_blocks(blocks: Sequence[Block]) -> str:
    """Return paragraphs and tables as HTML."""
    return "\n".join(
        _html_table(block) if isinstance(block, Table) else f"<p>{html_text(block)}</p>" for block in blocks
    )


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{html_text(name)}</th>" for name in table.head)
    rows = (
        ('<tr class="end">' if end else "<tr>") + "".join(f"<td>{html_text(cell(each))}</td>" for each in row) + "</tr>"
        for row, end in zip(table.rows, table.ends, strict=True)
    )
    body = "\n".join(rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>'


def html_exercise(exercise: Exercise, *, solution: bool) -> str:
    """Return one exercise as HTML, in a section of its own."""
    statement = f"<h2>Exercise {exercise.number}</h2>\n{html_blocks(exercise.statement)}"
    parts = [f'<div class="statement">\n{statement}\n</div>']
    if solution:
        parts.append(f'<div class="solution">\n<h3>Solution</h3>\n{html_blocks(exercise.solution)}\n</div>')
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def html_sheet(title: str, note: str, command: str, exercises: Sequence[Exercise], *, solution: bool) -> str:
    """Return a sheet as one HTML file that loads nothing and prints well."""
    head = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n"
    )
    body = [
        f"<h1>{html.escape(title)}</h1>",
        f'<p class="note">{html_text(note)} <code>{html.escape(command)}</code></p>',
    ]
    body += [html_exercise(each, solution=solution) for each in exercises]
    return head + "\n".join(body) + "\n</body>\n</html>\n"


SHEETS: dict[str, Callable[..., str]] = {"markdown": markdown_sheet, "latex": latex_sheet, "html": html_sheet}
