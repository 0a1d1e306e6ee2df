"""Functions that are typed: what is read, what is refused, and derivatives against finite differences."""

from __future__ import annotations

import builtins
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import separatrix as sx
from separatrix.insight.expression import Expression


@pytest.mark.parametrize(
    ("text", "point", "value", "slopes"),
    [
        ("(x-3)^2", [0.0], 9.0, [-6.0]),
        ("-x^2", [3.0], -9.0, [-6.0]),
        ("2^-1*x", [4.0], 2.0, [0.5]),
        ("2^3^2 + 0*x", [1.0], 512.0, [0.0]),
        ("x - 1 - 2", [7.0], 4.0, [1.0]),
        ("8/x/2", [2.0], 2.0, [-1.0]),
        (" x**2 + 6*y**2", [4.0, 1.0], 22.0, [8.0, 12.0]),
        ("e^x", [0.0], 1.0, [1.0]),
        ("exp(log(x))", [5.0], 5.0, [1.0]),
        ("cos(pi*x)", [1.0], -1.0, [0.0]),
        ("sqrt(x)", [4.0], 2.0, [0.25]),
        ("1e-3*x + .5", [2.0], 0.502, [0.001]),
        ("+y", [2.0], 2.0, [1.0]),
        ("7", [2.0], 7.0, [0.0]),
        ("x^y", [2.0, 3.0], 8.0, [12.0, 8 * math.log(2)]),
    ],
)
def test_values_and_derivatives_that_are_known(text, point, value, slopes):
    f = Expression(text)
    assert f(point) == pytest.approx(value, rel=1e-15)
    np.testing.assert_allclose(f.gradient(point), slopes, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(f.over(np.array([point, point])), value, rtol=1e-15)


def test_it_is_what_descend_takes():
    f = Expression("(x-3)^2")
    run = sx.descend(f, f.gradient, 0.0, 0.25)
    own = sx.descend(lambda x: (x - 3) ** 2, lambda x: 2 * (x - 3), 0.0, 0.25)
    np.testing.assert_array_equal(run.path, own.path)
    assert f.derivatives == ("2*x - 6",)
    assert repr(f) == "Expression('(x-3)^2')"


HOSTILE = {
    "x.real": "'.' at position 2",
    "x.__class__": "'.' at position 2",
    "().__class__": "'.' at position 3",
    "__import__('os').system('true')": "'_' at position 1",
    "exec(x)": "'exec' at position 1",
    "eval(x)": "'eval' at position 1",
    "open(x)": "'open' at position 1",
    "exp(x)(x)": "lacks an operator before position 7",
    "exp(exp)": "lacks a ( at position 8",
    "exp(x)*lambda": "'lambda' at position 8",
    "lambda: x": "'lambda' at position 1",
    "[x for x in x]": "'[' at position 1",
    "{x}": "'{' at position 1",
    "x[0]": "'[' at position 2",
    "'x'": '"\'" at position 1',
    'f"{x}"': "'f' at position 1",
    "(x:=3)": "':' at position 3",
    "x if x else y": "'if' at position 3",
    "x or y": "'or' at position 3",
    "1or 2": "'or' at position 2",
    "not x": "'not' at position 1",
    "x, y": "',' at position 2",
    "x = 3": "'=' at position 3",
    "x < 3": "'<' at position 3",
    "x // 2": "a form that is not accepted at position 1",
    "x % 2": "'%' at position 3",
    "~x": "'~' at position 1",
    "x @ y": "'@' at position 3",
    "*x": "near position 1",
    "exp(*x)": "position 5",
    "exp(**x)": "position",
    "x; y": "';' at position 2",
    "x\ny": r"'\n' at position 2",
    "x#y": "'#' at position 2",
    "x\\": r"'\\' at position 2",
    "x\0": r"'\x00' at position 2",
    "1j": "'j' at position 2",
    "1_000": "'_' at position 2",
    "0x10": "lacks an operator before position 2",
    "007": "near position 1",
    "z^2": "'z' at position 1",
    "X": "'X' at position 1",
    "None": "'None' at position 1",
    "...": "'.' at position 1",
    "\u0435^x": "(CYRILLIC SMALL LETTER IE) at position 1",
    "\U0001d431": "(MATHEMATICAL BOLD SMALL X) at position 1",
    "x\u00b2": "(SUPERSCRIPT TWO) at position 2",
    "\uff11+x": "(FULLWIDTH DIGIT ONE) at position 1",
    "x\u202e": "(RIGHT-TO-LEFT OVERRIDE) at position 2",
    "x\u00a0+1": "(NO-BREAK SPACE) at position 2",
    "\ud800": "at position 1",
    "2x": "lacks an operator before position 2: write 2*x for 2 times x",
    "x(2)": "lacks an operator before position 2",
    "exp x": "lacks a ( at position 5",
    "x+": "ends too early: it lacks a number, a variable or a function at position 3",
    "(x": "ends too early: it lacks a ) at position 3",
    "x)": "has a ) without its ( at position 2",
    "()": "ends too early|not accepted at position 1|near position",
    "exp()": "one value at position 1",
    "": "the function is empty",
    " \t": "the function is empty",
    "(" * 40 + "x" + ")" * 40: "more than 30 levels deep at position 31",
    "-" * 200 + "x": "more than 30 levels deep at position 32",
    "exp(" * 50 + "x" + ")" * 50: "more than 30 levels deep at position 124",
    "x^" * 100 + "x": "more than 30 levels deep",
    "x" + "+x" * 1000: "has 2,001 characters; at most 300",
    "9^9^9^9": "the power 3.8742e+08, larger than 64, at position 3",
    "9^9^9": "at position",
    "x^9^9": "the power 3.8742e+08, larger than 64, at position 1",
    "x^65": "the power 65, larger than 64, at position 1",
    "x^-65": "the power -65",
    "((((1.000000001^64)^64)^64)^64)*x": "too many digits",
    "((1.000000001*x)^64)^64": "too many digits",
    "10^60*10^60": "has a constant that is not 0 or between 1e-100 and 1e+100 at position 1",
    "exp(1000)*x": "has a constant that is not 0",
    "9" * 200: "has a number that is not 0",
    "1e400": "has a number that is not 0",
    "1e101": "has a number that is not 0",
    "1/0": "has a constant without a real value at position 1",
    "log(-1)": "has a constant without a real value at position 1",
    "(-8)^(1/3)": "has a constant without a real value",
    "sqrt(-4)*x": "has a constant without a real value",
}


@pytest.mark.parametrize("text", list(HOSTILE))
def test_anything_else_is_refused_in_one_sentence_that_names_the_position(text, monkeypatch):
    def never(*arguments, **options):
        raise AssertionError("text was run as code")

    for name in ("eval", "exec"):
        monkeypatch.setattr(builtins, name, never)
    began = time.perf_counter()
    with pytest.raises(ValueError, match=r"^the function ") as problem:
        Expression(text)
    assert time.perf_counter() - began < 1.0
    message = str(problem.value)
    assert any(part in message for part in HOSTILE[text].split("|"))
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("given", [None, 3, b"x", ["x"]])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(ValueError, match=r"the function must be text, as in \(x-3\)\^2"):
        Expression(given)


def test_points_and_variables_must_agree():
    f = Expression("x*y")
    with pytest.raises(ValueError, match="of x, y needs 2 numbers; found 1"):
        f(1.0)
    with pytest.raises(ValueError, match="has the variables x, y; found x"):
        Expression("x*y", ("x",))
    assert Expression("y^2", ("x", "y")).gradient([5.0, 3.0]).tolist() == [0.0, 6.0]


def test_derivatives_without_a_real_value_are_refused_when_asked_for():
    with pytest.raises(ValueError, match="has a constant part that is 0 in a denominator"):
        Expression("x/(x-x)").gradient(1.0)


@pytest.mark.parametrize(
    "text",
    [
        "x^" * 25 + "x",
        "sin(x*" * 14 + "x" + ")" * 14,
        "*".join(f"(x+{k})" for k in range(40)),
        "(x+y)^64*(x-y)^64",
        "(1e-50*640)^1e-50*x",
        "(2*x)^1e-50*2^(x+1e-9)",
    ],
)
def test_long_functions_are_differentiated_in_no_time(text):
    f = Expression(text)
    began = time.process_time()
    f.gradient([0.5] * len(f.variables))
    assert time.process_time() - began < 5.0


PARTS = ["x", "y", "x*y", "exp(x/3)", "sin(2*x)", "cos(y)", "log(x)", "sqrt(x+y)", "1/x", "x^y", "y^3"]


def trees():
    """Return pairs of a text and a function that computes it exactly, of x and y."""
    leaves = st.one_of(
        st.integers(0, 9).map(lambda n: (str(n), lambda x, y: Fraction(n))),
        st.sampled_from(["0.5", "1.25", "1e-1"]).map(lambda t: (t, lambda x, y: Fraction(t))),
        st.just(("x", lambda x, y: x)),
        st.just(("y", lambda x, y: y)),
    )

    def joined(inner):
        def both(left, right, sign):
            compute = {
                "+": lambda x, y: left[1](x, y) + right[1](x, y),
                "-": lambda x, y: left[1](x, y) - right[1](x, y),
                "*": lambda x, y: left[1](x, y) * right[1](x, y),
                "/": lambda x, y: left[1](x, y) / right[1](x, y),
            }[sign]
            return f"({left[0]}{sign}{right[0]})", compute

        return st.one_of(
            st.builds(both, inner, inner, st.sampled_from("+-*/")),
            inner.map(lambda each: (f"(-{each[0]})", lambda x, y: -each[1](x, y))),
            st.tuples(inner, st.integers(0, 3)).map(
                lambda pair: (f"({pair[0][0]}^{pair[1]})", lambda x, y: pair[0][1](x, y) ** pair[1])
            ),
        )

    return st.recursive(leaves, joined, max_leaves=8)


@settings(max_examples=150)
@given(tree=trees(), x=st.integers(-40, 40), y=st.integers(-40, 40))
def test_random_trees_agree_with_fractions(tree, x, y):
    text, compute = tree
    at = Fraction(x, 8), Fraction(y, 8)
    try:
        expected = compute(*at)
    except ZeroDivisionError:
        assume(False)
    try:
        f = Expression(text, ("x", "y"))
    except ValueError:  # 1/0 beside a variable whose factor is 0
        event("refused")
        return
    assert f(list(map(float, at))) == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@settings(max_examples=60)
@given(
    parts=st.lists(
        st.sampled_from(PARTS),
        min_size=1, max_size=4,
    ),
    signs=st.lists(st.sampled_from("+-*/"), min_size=4, max_size=4),
    x=st.floats(0.5, 2), y=st.floats(0.5, 2),
)  # fmt: skip
def test_the_gradient_agrees_with_finite_differences(parts, signs, x, y):
    text = parts[0] + "".join(f"{sign}({part})" for sign, part in zip(signs, parts[1:], strict=False))
    f = Expression(text, ("x", "y"))
    point, h = np.array([x, y]), 1e-6
    assume(abs(f(point)) < 1e4)
    slopes = f.gradient(point)
    assume(np.abs(slopes).max() < 1e4)
    ahead = [(f(point + h * e) - f(point - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(slopes, ahead, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "text",
    [
        "9^((x-x+9)^(x-x+9))+x",
        "x^((x/x*9)^(x/x*9)^(x/x*9))",
        "7^((x/x*999)^(x/x*999))*x",
        "exp(log(x-x+9)*(x/x*999)^9)*x",
        "cos(exp(exp(exp(exp(x/x*9)))))*x",
        "((2*x)^(x/x*999))^(x/x*999)",
        "((2*x)^(x/x*64))^(x/x*64)",
        "1/(x-x)",
        "log(x-x)*x",
    ],
)
def test_parts_that_become_constant_are_bounded_too(text):
    begun = time.process_time()
    with pytest.raises(ValueError, match="has a constant part that is"):
        Expression(text).gradient(1.5)
    assert time.process_time() - begun < 5.0
