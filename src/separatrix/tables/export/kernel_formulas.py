"""The formula of each kernel in C and in ONNX operators, by the kernel's name.

A kernel without an entry here cannot be exported to that language. JSON holds a kernel's name and parameters; its
formula in JavaScript is in scorer.js.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from separatrix.tables.export.c_words import number, numbers

Formula = TypeVar("Formula")


def formula_of(formulas: Mapping[str, Formula], kernel: str, language: str) -> Formula:
    """Return a kernel's formula in a language, or say that it has none."""
    if kernel not in formulas:
        raise ValueError(f"the kernel {kernel} cannot be exported to {language}; these can: {', '.join(formulas)}")
    return formulas[kernel]


# ------------------------------------------------------------------------------------------------ C


class CFormula(NamedTuple):
    """Arrays besides ``@_support``, the body of ``double @_kernel(values, i)``, and whether it calls ``exp``."""

    arrays: list[str]
    body: list[str]
    needs_exp: bool = False


def _c_linear(scorer: Any, decision: Any) -> CFormula:
    return CFormula([], ["    return @_product(values, @_support[i]);"])


def _c_gaussian(scorer: Any, decision: Any) -> CFormula:
    n, hot = len(scorer.role("number")), scorer.hot
    arrays, body = [], ["    double square = 0.0;", "    int j;"]
    if n:
        body += [
            f"    for (j = 0; j < {n}; ++j) {{",
            "        const double apart = values->x[j] - @_support[i][j];",
            "        square += apart * apart;",
            "    }",
        ]
    if hot:
        arrays = [
            "/* For each support vector, the squared norm of its one-hot part. */",
            numbers("@_squares", (decision.support[:, n:] ** 2).sum(axis=1)),
        ]
        body += [
            "    square += @_squares[i];",
            f"    for (j = 0; j < {hot}; ++j)",
            "        if (values->hot[j] >= 0) square += 1.0 - 2.0 * @_support[i][values->hot[j]];",
        ]
    return CFormula(arrays, [*body, f"    return exp(-{number(decision.gamma)} * square);"], needs_exp=True)


def _c_polynomial(scorer: Any, decision: Any) -> CFormula:
    gamma, coef0 = number(decision.gamma), number(decision.coef0)
    body = [
        "    SEPARATRIX_NOT_FUSED",
        f"    const double base = {gamma} * @_product(values, @_support[i]) + {coef0};",
        "    double power = base;",
    ]
    for bit in bin(decision.degree)[3:]:
        body.append("    power *= power;")
        if bit == "1":
            body.append("    power *= base;")
    return CFormula([], [*body, "    return power;"])


C: dict[str, Callable[[Any, Any], CFormula]] = {"linear": _c_linear, "rbf": _c_gaussian, "poly": _c_polynomial}


# ------------------------------------------------------------------------------------------------ ONNX


def _onnx_linear(nodes: Any, decision: Any, x: str, in_lanes: bool) -> str:
    return str(nodes.products(x, decision.support, in_lanes=in_lanes))


def _onnx_gaussian(nodes: Any, decision: Any, x: str, in_lanes: bool) -> str:
    """Return ``exp(-gamma |x - s|^2)``, with rows centered at the mean of the support vectors to keep the digits."""
    centre = decision.support.mean(axis=0)
    support = decision.support - centre
    x = nodes.add("Sub", x, centre)
    squares = nodes.add("ReduceSum", nodes.add("Mul", x, x), np.array([1]))
    apart = nodes.add("Sub", squares, nodes.matrix_product(x, 2.0 * support.T))
    apart = nodes.add("Max", nodes.add("Add", apart, (support**2).sum(axis=1)), np.array(0.0))
    return str(nodes.add("Exp", nodes.add("Mul", apart, np.array(-decision.gamma))))


def _onnx_polynomial(nodes: Any, decision: Any, x: str, in_lanes: bool) -> str:
    products = nodes.products(x, decision.support, in_lanes=False)
    gamma = np.full(len(decision.support), decision.gamma)  # no single number: see matrix_product
    base = power = nodes.add("Add", nodes.add("Mul", products, gamma), np.array(decision.coef0))
    for bit in bin(decision.degree)[3:]:  # powers by squaring, as in the package
        power = nodes.add("Mul", power, power)
        if bit == "1":
            power = nodes.add("Mul", power, base)
    return str(power)


ONNX: dict[str, Callable[[Any, Any, str, bool], str]] = {
    "linear": _onnx_linear,
    "rbf": _onnx_gaussian,
    "poly": _onnx_polynomial,
}
