"""Formulas as MathML, which browsers draw by themselves: no script, no font and no picture to load."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def inline(page: Any, node: Any) -> None:
    """Write a formula in a line of text."""
    page.body.append(str(tex2mathml(node.astext())))
    raise nodes.SkipNode


def display(page: Any, node: Any) -> None:
    """Write a formula on a line of its own."""
    page.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Make the formulas known as ``html_math_renderer = "mathml"``."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
