r"""Formulas in the texts of exercises: between backticks, in plain characters, written for each format.

A formula is what one types in an e-mail: ``w . x + b <= 0``, ``x1``, ``|w|^2``, ``sqrt(5)``, ``theta``, ``w <- y x``.
A letter followed by digits is an index; ``.`` between spaces is the inner product.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

_GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "xi": "ξ",  # noqa: RUF001
}  # fmt: skip
_WORDS = ("min", "max", "sqrt", "inf")
_SIGNS = {
    "<=": (r"\le ", "≤"), ">=": (r"\ge ", "≥"), "!=": (r"\ne ", "≠"), "<-": (r"\leftarrow ", "←"),
    "->": (r"\to ", "→"), "<": ("<", "&lt;"), ">": (">", "&gt;"), "*": (r"\cdot ", "·"), ".": (r"\cdot ", "·"),
    "-": ("-", "−"), "'": ("'", "′"), "|": ("|", "|"), "&": (r"\&", "&amp;"), "%": (r"\%", "%"), "#": (r"\#", "#"),  # noqa: RUF001
    "{": (r"\{", "{"), "}": (r"\}", "}"),
}  # fmt: skip
_SHORT = 24  # characters of a formula that is not broken over two lines
_THIN = "\u202f"  # a narrow space, between factors
_PRODUCT = re.compile(r"(?<=[\d>)]) (?=<i>|\(<i>|\(\d)")
_TOKEN = re.compile(r"[A-Za-z]+|\d+(?:\.\d+)?|<=|>=|!=|<-|->|\^|\s+|.", re.DOTALL)
_NUMERIC = re.compile(r"[-+0-9./(), ]*\d[-+0-9./(), ]*")
_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": "$<$", ">": "$>$",
          "|": "$|$"}  # fmt: skip


def plain(text: str) -> str:
    """Return a text without the marks around its formulas."""
    return text.replace("`", "")


def latex_text(text: str) -> str:
    r"""Return a text with formulas as LaTeX.

    Examples
    --------
    >>> print(latex_text("Update where `y a <= 0`: 100% of `|x1|^2`."))
    Update where $y a \le 0$: 100\% of $|x_{1}|^{2}$.
    """
    return _parts(text, lambda part: f"${latex_formula(part)}$", latex_escaped)


def html_text(text: str) -> str:
    """Return a text with formulas as HTML.

    Examples
    --------
    >>> html_text("if `x1 < 0`")
    'if <span class="f short"><i>x</i><sub>1</sub> &lt; 0</span>'
    """
    return _parts(text, _html_span, html.escape)


def _html_span(formula: str) -> str:
    short = " short" if len(formula) <= _SHORT else ""
    return f'<span class="f{short}">{html_formula(formula)}</span>'


def cell(text: str) -> str:
    """Return the text of a table's cell with marks around it if it is a number or a vector.

    Examples
    --------
    >>> cell("(1, -1/2)"), cell("Yes"), cell("new `b`")
    ('`(1, -1/2)`', 'Yes', 'new `b`')
    """
    return f"`{text}`" if "`" not in text and _NUMERIC.fullmatch(text) else text


def latex_formula(formula: str) -> str:
    r"""Return a formula as LaTeX, without dollars.

    Examples
    --------
    >>> print(latex_formula("theta <- theta - eta (t - y)"), latex_formula("min y a / sqrt(5)"))
    \theta \leftarrow \theta - \eta (t - y) \min y a / \sqrt{5}
    """
    out = ""
    for kind, value in _tokens(formula):
        if kind == "name":
            out += rf"\{value} " if value in _GREEK else value if len(value) == 1 else rf"\mathrm{{{value}}}"
        elif kind in ("index", "power"):
            out = out.rstrip() + ("_" if kind == "index" else "^") + f"{{{value}}}"
        elif kind == "word":
            out += {"inf": r"\infty "}.get(value, rf"\{value} ")
        elif kind == "root":
            out += rf"\sqrt{{{latex_formula(value)}}}"
        elif kind == "sign":
            out += _SIGNS[value][0] if value in _SIGNS else value
        else:
            out += value
    return re.sub(r" +([),^_])", r"\1", re.sub(r" {2,}", " ", out)).strip()


def html_formula(formula: str) -> str:
    """Return a formula as HTML: letters in italics, indices below, powers above.

    Examples
    --------
    >>> html_formula("sqrt(2) * alpha1")
    '√2 · <i>α</i><sub>1</sub>'
    """
    out = ""
    for kind, value in _tokens(formula):
        if kind == "name":
            out += f"<i>{_GREEK.get(value, value)}</i>" if value in _GREEK or len(value) == 1 else value
        elif kind in ("index", "power"):
            tag = "sub" if kind == "index" else "sup"
            out += f"<{tag}>{value}</{tag}>"
        elif kind == "word":
            out += {"inf": "∞"}.get(value, value)
        elif kind == "root":
            inside = html_formula(value)
            out += f"√{inside}" if inside.isdigit() else f"√({inside})"
        elif kind == "sign":
            out += _SIGNS[value][1] if value in _SIGNS else html.escape(value)
        else:
            out += value
    return _PRODUCT.sub(_THIN, out)


def latex_escaped(text: str) -> str:
    """Return text whose special characters LaTeX prints."""
    return "".join(_LATEX.get(character, character) for character in text).replace("--", "-{}-")


def _parts(text: str, formula: Callable[[str], str], words: Callable[[str], str]) -> str:
    parts = text.split("`")
    if len(parts) % 2 == 0:
        raise ValueError(f"a formula in this text has no end: {text!r:.80}")
    return "".join(formula(part) if place % 2 else words(part) for place, part in enumerate(parts))


def _tokens(formula: str) -> list[tuple[str, str]]:
    """Return the parts of a formula with their kinds."""
    tokens: list[tuple[str, str]] = []
    found = _TOKEN.findall(formula)
    place = 0
    while place < len(found):
        token, after = found[place], found[place + 1] if place + 1 < len(found) else ""
        place += 1
        if token == "sqrt" and after == "(":
            end = found.index(")", place)
            tokens.append(("root", "".join(found[place + 1 : end])))
            place = end + 1
        elif token in _WORDS:
            tokens.append(("word", token))
        elif token[0].isalpha():
            tokens.append(("name", token))
            if after.isdigit():
                tokens.append(("index", after))
                place += 1
        elif token == "^":
            tokens.append(("power", after))
            place += 1
        else:
            tokens.append(("space" if token.isspace() else "number" if token[0].isdigit() else "sign", token))
    return tokens
