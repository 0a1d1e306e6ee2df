"""Functions that a user types, such as ``(x-3)^2``, as values: read, evaluated and differentiated.

Nothing that is typed is ever evaluated as code. The text is split into numbers, the names listed here and operators;
what Python's ``ast`` makes of it is walked, and only the forms listed here become part of a tree; the tree is
evaluated with NumPy, and SymPy (an extra) sees the tree, never the text. Sizes are limited, so that nothing takes long.
Descent itself is in descent.py.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats

VARIABLES = ("x", "y")
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos
}  # fmt: skip
CONSTANTS = {"pi": math.pi, "e": math.e}
ACCEPTED = (
    f"accepted are numbers, {' and '.join(VARIABLES)}, + - * / ^, parentheses, {', '.join(FUNCTIONS)}, "
    f"{' and '.join(CONSTANTS)}"
)
_LONGEST = 300  # characters
_DEEPEST = 30  # levels of parentheses, functions, powers and signs
_LARGEST_POWER = 64  # of whole exponents
_MOST_DIGITS = 2000  # that an exact number in SymPy may get
_HUGE = 1e100  # constants lie between one over this and this
_SMALL = 1000  # the largest part of a fraction that SymPy gets
_MOST_NODES = 5000  # of a derivative

_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z]+)|(?P<sign>\*\*|[-+*/^()])"
    r"|(?P<space>[ \t]+)"
)
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "^"}


@dataclass(frozen=True)
class Node:
    """A part of an expression: an operator, a function, a variable, ``pi``, ``e`` or a number, and its operands."""

    kind: str
    operands: tuple[Node, ...] = ()
    number: Fraction = Fraction(0)

    def __call__(self, values: dict[str, Any]) -> Any:
        """Return the value for these values of the variables; NaN or infinite where there is none."""
        if self.kind == "number":
            return float(self.number)
        if self.kind in CONSTANTS:
            return CONSTANTS[self.kind]
        if self.kind in VARIABLES:
            return values[self.kind]
        given = [np.float64(value) if np.ndim(value) == 0 else value for value in (o(values) for o in self.operands)]
        if self.kind in FUNCTIONS:
            return FUNCTIONS[self.kind](given[0])
        first, *others = given
        for other in others:
            if self.kind == "+":
                first = first + other
            elif self.kind == "-":
                first = first - other
            elif self.kind == "*":
                first = first * other
            elif self.kind == "/":
                first = first / other
            else:
                first = np.power(first, other)
        return -first if self.kind == "-" and not others else first

    @property
    def size(self) -> int:
        """How many parts it has."""
        return 1 + sum(operand.size for operand in self.operands)

    @property
    def variables(self) -> frozenset[str]:
        """The variables in it."""
        own = {self.kind} & set(VARIABLES)
        return frozenset(own).union(*(operand.variables for operand in self.operands))


class Expression:
    """A function of x, of y, or of x and y, that was read from text; callable, and so is its ``gradient``.

    Parameters
    ----------
    text : str
        The function, as in ``(x-3)^2`` or ``exp(x)*sin(y)/2``.
    variables : tuple of str, optional
        Its variables, in the order in which points have them; by default those in the text (x where there is none).

    Examples
    --------
    >>> f = Expression("(x-3)^2")
    >>> f(1.0), f.gradient(1.0), f.derivatives
    (4.0, -4.0, ('2*x - 6',))
    >>> from separatrix import descend
    >>> round(descend(f, f.gradient, 0.0, step=0.25).x, 6)
    3.0
    >>> Expression("x.real")
    Traceback (most recent call last):
    ValueError: the function 'x.real' has '.' at position 2; accepted are numbers, x and y, + - * / ^, parentheses, \
exp, log, sqrt, sin, cos, pi and e
    """

    def __init__(self, text: str, variables: tuple[str, ...] | None = None) -> None:
        self.text = text
        self.tree = _read(text)
        used = tuple(name for name in VARIABLES if name in self.tree.variables) or VARIABLES[:1]
        self.variables = used if variables is None else tuple(variables)
        if not set(self.tree.variables) <= set(self.variables) <= set(VARIABLES) or not self.variables:
            given = ", ".join(self.variables) or "none"
            raise ValueError(f"the function {_quoted(text)} has the variables {', '.join(used)}; found {given}")

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __call__(self, point: Any) -> float:
        """Return the value at a point: a number, or one number for each variable."""
        return float(_at(self.tree, self._named(np.asarray(point, dtype=np.float64))))

    def over(self, points: Floats) -> Floats:
        """Return the values at the rows of an array of shape (n, variables)."""
        values = {name: points[:, place] for place, name in enumerate(self.variables)}
        return np.broadcast_to(np.asarray(_at(self.tree, values), dtype=np.float64), (len(points),)).copy()

    def gradient(self, point: Any) -> Any:
        """Return the derivative, or the vector of partial derivatives; needs SymPy."""
        at = np.asarray(point, dtype=np.float64)
        values = self._named(at)
        slopes = np.array([float(_at(tree, values)) for tree in self._slopes[0]])
        return slopes if at.ndim else float(slopes[0])

    @property
    def derivatives(self) -> tuple[str, ...]:
        """The partial derivatives as text, one for each variable."""
        return self._slopes[1]

    @cached_property
    def _slopes(self) -> tuple[list[Node], tuple[str, ...]]:
        try:
            import sympy
        except ImportError:
            raise ValueError("derivatives need SymPy: pip install 'separatrix[descend]'") from None
        symbols = {name: sympy.Symbol(name) for name in VARIABLES}
        try:
            whole = _to_sympy(self.tree, sympy, symbols)
            found = [sympy.diff(whole, symbols[name]) for name in self.variables]
            trees = [self._from_sympy(each, sympy) for each in found]
        except _ConstantError as problem:
            raise ValueError(f"the function {_quoted(self.text)} has a constant part that is {problem}") from None
        except (ArithmeticError, RecursionError):
            raise ValueError(f"the function {_quoted(self.text)} cannot be differentiated; shorten it") from None
        texts = tuple(re.sub(r"\bE\b", "e", str(each).replace("**", "^")) for each in found)
        return trees, texts

    def _from_sympy(self, found: Any, sympy: Any) -> Node:
        tree = _from_sympy(found, sympy)
        if tree is None:
            raise ValueError(f"the function {_quoted(self.text)} has no real derivative: {_short(str(found))}")
        if tree.size > _MOST_NODES:
            raise ValueError(
                f"the function {_quoted(self.text)} has a derivative of {tree.size:,} parts; shorten the function"
            )
        return tree

    def _named(self, point: Floats) -> dict[str, Any]:
        values = point.ravel()
        if len(values) != len(self.variables):
            raise ValueError(
                f"the function {_quoted(self.text)} of {', '.join(self.variables)} needs {len(self.variables)} "
                f"number{'s' if len(self.variables) > 1 else ''}; found {len(values)}"
            )
        return dict(zip(self.variables, values.tolist(), strict=True))


def _at(tree: Node, values: dict[str, Any]) -> Any:
    with np.errstate(all="ignore"):
        return tree(values)


# ---------------------------------------------------------------------------------------------- from text to tree


def _read(text: str) -> Node:
    if not isinstance(text, str):
        raise ValueError(f"the function must be text, as in (x-3)^2; found {text!r:.60}")
    if not text.strip():
        raise ValueError(f"the function is empty; {ACCEPTED}")
    if len(text) > _LONGEST:
        raise ValueError(f"the function has {len(text):,} characters; at most {_LONGEST} are accepted")
    code, places = _tokens(text)
    try:
        parsed = ast.parse(code, mode="eval").body
    except (SyntaxError, RecursionError, MemoryError, ValueError) as problem:
        offset = getattr(problem, "offset", None) or 1
        place = places[min(offset, len(places)) - 1]
        raise ValueError(
            f"the function {_quoted(text)} is not complete or not well formed near position {place}"
        ) from None
    return _Reader(text, places).node(parsed, 0)


def _tokens(text: str) -> tuple[str, list[int]]:
    """Return the text in Python's spelling, checked name by name, and the position in the text of each character."""
    code: list[str] = []
    places: list[int] = []
    at = depth = 0
    before = ""
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(
                f"the function {_quoted(text)} has {_named_character(text[at])} at position {at + 1}; {ACCEPTED}"
            )
        kind, word = token.lastgroup or "", token.group()
        if kind == "name" and word not in (*VARIABLES, *FUNCTIONS, *CONSTANTS):
            raise ValueError(f"the function {_quoted(text)} has {word!r} at position {at + 1}; {ACCEPTED}")
        if before == "name" and kind != "space" and word != "(":
            raise ValueError(f"the function {_quoted(text)} lacks a ( at position {at + 1}: write exp(x), not exp x")
        if (kind in ("number", "name") or word == "(") and before == "value":
            raise ValueError(
                f"the function {_quoted(text)} lacks an operator before position {at + 1}: write 2*x for 2 times x"
            )
        depth += (word == "(") - (word == ")")
        if depth < 0:
            raise ValueError(f"the function {_quoted(text)} has a ) without its ( at position {at + 1}")
        if depth > _DEEPEST:
            raise ValueError(
                f"the function {_quoted(text)} is nested more than {_DEEPEST} levels deep at position {at + 1}"
            )
        if kind != "space":
            value = kind == "number" or word == ")" or word in VARIABLES or word in CONSTANTS
            before = "value" if value else kind
        spelled = "**" if word == "^" else word
        code.append(spelled)
        places.extend(at + 1 + min(k, len(word) - 1) for k in range(len(spelled)))
        at = token.end()
    if before != "value" or depth:
        lacks = "a )" if before == "value" else "a number, a variable or a function"
        raise ValueError(f"the function {_quoted(text)} ends too early: it lacks {lacks} at position {len(text) + 1}")
    led = len(code[0]) if code[0].isspace() else 0  # a space at the start would be an indent
    return "".join(code)[led:], places[led:]


class _Reader:
    """Turns what ``ast`` made of a text into a tree, and refuses every form that is not listed."""

    def __init__(self, text: str, places: list[int]) -> None:
        self._text, self._places = text, places

    def node(self, form: ast.expr, depth: int) -> Node:
        """Return the tree of a form."""
        if depth > _DEEPEST:
            raise self._problem(form, f"is nested more than {_DEEPEST} levels deep")
        if isinstance(form, ast.Constant):
            made = self._number(form)
        elif isinstance(form, ast.Name) and form.id in (*VARIABLES, *CONSTANTS):
            made = Node(form.id)
        elif isinstance(form, ast.UnaryOp) and isinstance(form.op, ast.USub | ast.UAdd):
            inner = self.node(form.operand, depth + 1)
            made = Node("-", (inner,)) if isinstance(form.op, ast.USub) else inner
        elif isinstance(form, ast.BinOp) and type(form.op) in _OPERATORS:
            made = self._chain(form, depth)
        elif isinstance(form, ast.Call) and isinstance(form.func, ast.Name) and form.func.id in FUNCTIONS:
            if len(form.args) != 1 or form.keywords:
                raise self._problem(form, f"needs {form.func.id}(...) of one value")
            made = Node(form.func.id, (self.node(form.args[0], depth + 1),))
        else:
            raise self._problem(form, "has a form that is not accepted", f"; {ACCEPTED}")
        self._check(form, made)
        return made

    def _chain(self, form: ast.BinOp, depth: int) -> Node:
        """Return a + b + c as one node, so that a long sum is no deep tree."""
        kind, operands, at = _OPERATORS[type(form.op)], [form.right], form.left
        while kind != "^" and isinstance(at, ast.BinOp) and type(at.op) is type(form.op):
            operands.append(at.right)
            at = at.left
        return Node(kind, tuple(self.node(each, depth + 1) for each in [at, *reversed(operands)]))

    def _number(self, form: ast.Constant) -> Node:
        value: Any = form.value
        if type(value) not in (int, float) or not (value == 0 or 1 / _HUGE <= value <= _HUGE):
            raise self._problem(form, f"has a number that is not 0 or between {1 / _HUGE:g} and {_HUGE:g}")
        return Node("number", number=Fraction(repr(value)))

    def _check(self, form: ast.expr, made: Node) -> None:
        if made.kind == "^":
            exponent = made.operands[1]
            power = float(_at(exponent, {})) if not exponent.variables else 0.0
            if not abs(power) <= _LARGEST_POWER:
                raise self._problem(form, f"has the power {power:g}, larger than {_LARGEST_POWER},")
        if _digits(made) > _MOST_DIGITS:
            raise self._problem(form, "has numbers and powers that multiply to too many digits")
        if made.operands and not made.variables:
            value = float(_at(made, {}))
            if math.isnan(value) or (math.isinf(value) and made.kind == "/"):
                raise self._problem(form, "has a constant without a real value")
            if not (value == 0 or 1 / _HUGE <= abs(value) <= _HUGE):
                raise self._problem(form, f"has a constant that is not 0 or between {1 / _HUGE:g} and {_HUGE:g}")

    def _problem(self, form: ast.expr, what: str, more: str = "") -> ValueError:
        place = self._places[min(form.col_offset, len(self._places) - 1)]
        return ValueError(f"the function {_quoted(self._text)} {what} at position {place}{more}")


def _digits(node: Node) -> int:
    """Return an upper bound on the digits of numbers that exact arithmetic could make of a tree."""
    if node.kind == "number":
        return len(str(node.number.numerator)) + len(str(node.number.denominator))
    every = sum(_digits(operand) for operand in node.operands)
    if node.kind == "^" and not node.operands[1].variables:
        return every * max(1, math.ceil(min(abs(float(_at(node.operands[1], {}))), _MOST_DIGITS)))
    return every


def _named_character(letter: str) -> str:
    if letter.isascii():
        return repr(letter)
    return f"{letter!a} ({unicodedata.name(letter, 'no letter')})"


def _quoted(text: str) -> str:
    return repr(_short(text))


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


# ---------------------------------------------------------------------------------------------- to SymPy and back


def _to_sympy(node: Node, sympy: Any, symbols: dict[str, Any]) -> Any:
    """Return the same in SymPy, by its constructors; constants as small fractions, or as floats.

    Exact arithmetic with large fractions, in powers above all, can take forever.
    """
    if node.kind in CONSTANTS:
        return sympy.pi if node.kind == "pi" else sympy.E
    if not node.variables:
        return _constant(_at(node, {}), sympy)
    if node.kind in VARIABLES:
        return symbols[node.kind]
    given = [_to_sympy(operand, sympy, symbols) for operand in node.operands]
    if all(each.is_number for each in given):  # x - x is one: its function is a float, not an exact number without end
        numbers = tuple(Node("number", number=Fraction(_finite(each))) for each in given)
        return _constant(_at(Node(node.kind, numbers), {}), sympy)
    if node.kind in FUNCTIONS:
        return getattr(sympy, node.kind)(given[0])
    if node.kind == "-":
        rest = [sympy.Mul(-1, each) for each in given[1:]]
        return sympy.Add(given[0], *rest) if rest else sympy.Mul(-1, given[0])
    if node.kind == "/":
        return sympy.Mul(given[0], *(_power(each, sympy.Integer(-1), sympy) for each in given[1:]))
    if node.kind == "^":
        return _power(given[0], given[1], sympy)
    return {"+": sympy.Add, "*": sympy.Mul}[node.kind](*given)


class _ConstantError(Exception):
    """Why a part that became constant has no value that can be used."""


def _finite(form: Any) -> float:
    """Return the value of a constant of SymPy; refuse one that is not real, not finite, or too large."""
    try:
        value = float(form)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not (value == 0 or 1 / _HUGE <= abs(value) <= _HUGE):
        raise _ConstantError(f"not 0 or between {1 / _HUGE:g} and {_HUGE:g}")
    return value


def _constant(value: Any, sympy: Any) -> Any:
    """Return a number as a small fraction, or as a float."""
    near = Fraction(_finite(value)).limit_denominator(_SMALL)
    exact = abs(near.numerator) <= _SMALL and float(near) == value
    return sympy.Rational(near.numerator, near.denominator) if exact else sympy.Float(value)


def _power(base: Any, exponent: Any, sympy: Any) -> Any:
    """Return a power; refuse a constant exponent that is too large, or a base whose numbers would grow too long."""
    if exponent.is_number:
        power = _finite(exponent)
        if abs(power) > _LARGEST_POWER:
            raise _ConstantError(f"the power {power:g}, larger than {_LARGEST_POWER}")
        if base.is_number and power < 0 and _finite(base) == 0:
            raise _ConstantError("0 in a denominator")
        if base.is_number:
            return _constant(_finite(base) ** power, sympy)
        digits = sum(len(str(abs(each.p))) + len(str(each.q)) for each in base.atoms(sympy.Rational))
        if digits * math.ceil(abs(power)) > _MOST_DIGITS:
            raise _ConstantError("of too many digits")
    return sympy.Pow(base, exponent)


def _from_sympy(form: Any, sympy: Any) -> Node | None:
    """Return a tree of what SymPy made, None if it holds anything that has no real value."""
    if form.is_Rational:
        if len(str(abs(form.p))) > 300 + len(str(form.q)):
            raise _ConstantError("too large for a floating-point number")
        return Node("number", number=Fraction(int(form.p), int(form.q)))
    if form.is_Float and math.isfinite(float(form)):
        return Node("number", number=Fraction(float(form)))
    if form.is_Symbol:
        return Node(str(form.name))
    if form is sympy.pi or form is sympy.E:
        return Node("pi" if form is sympy.pi else "e")
    kinds = {sympy.Add: "+", sympy.Mul: "*", sympy.Pow: "^", sympy.exp: "exp", sympy.log: "log", sympy.sin: "sin",
             sympy.cos: "cos"}  # fmt: skip
    operands = [_from_sympy(each, sympy) for each in form.args]
    if form.func not in kinds or not operands or any(each is None for each in operands):
        return None
    return Node(kinds[form.func], tuple(each for each in operands if each is not None))
