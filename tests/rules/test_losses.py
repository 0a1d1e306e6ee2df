"""Losses and the rules that walk down them: known values, symbolic derivatives, differences, extreme margins."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from separatrix import _core
from separatrix.loop.state import State
from separatrix.rules import RULES, LogisticNeuron, Perceptron, SigmoidNeuron, Smooth, Update
from separatrix.rules.losses import LOSSES, Hinge, Log, PerceptronCriterion, Squared, SquaredHinge, ZeroOne, sigmoid

SMOOTH = [Squared, Log]
MARGIN = [Hinge, SquaredHinge]
MARGINS = [-1e4, -745.2, -700.0, -40.0, -3.0, -1e-8, 0.0, 1e-8, 0.7, 3.0, 36.7, 40.0, 700.0, 745.2, 1e4]


def symbolic(loss):
    """The neuron's own formulas, in the activation z and the label t, not in the margin."""
    z, t = sympy.symbols("z t", real=True)
    a = 1 / (1 + sympy.exp(-z))
    value = (a - t) ** 2 / 2 if loss is Squared else -(t * sympy.log(a) + (1 - t) * sympy.log(1 - a))
    return z, t, value, sympy.diff(value, z)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("label", [0, 1])
def test_value_and_slope_are_the_symbolic_ones(loss, label):
    z, t, value, slope = symbolic(loss)
    for at in np.linspace(-30, 30, 41):
        sign = 1 if label else -1
        exact = {z: sympy.Float(str(at), 60), t: label}
        assert float(loss.value(sign * at)) == pytest.approx(float(value.evalf(40, subs=exact)), rel=1e-12, abs=1e-300)
        found = sign * float(loss.slope(sign * at))  # d/dz = y d/dm
        assert found == pytest.approx(float(slope.evalf(40, subs=exact)), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("loss", [*SMOOTH, PerceptronCriterion, Hinge, SquaredHinge])
@given(m=st.floats(-20, 20).filter(lambda m: abs(m) > 1e-3 and abs(m - 1) > 1e-3))
def test_slopes_are_what_differences_say(loss, m):
    h = 1e-5
    difference = (loss.value(m + h) - loss.value(m - h)) / (2 * h)
    assert float(loss.slope(m)) == pytest.approx(float(difference), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("loss", SMOOTH)
def test_the_curvature_bounds_the_second_derivative_and_is_nearly_reached(loss):
    m = np.linspace(-20, 20, 40_001)
    second = np.abs(np.gradient(loss.slope(m), m))
    assert 0.99 * loss.curvature < second.max() <= loss.curvature


@pytest.mark.parametrize("loss", SMOOTH)
def test_extreme_margins_are_safe(loss):
    with np.errstate(all="raise", under="ignore"):
        values, slopes = loss.value(np.array(MARGINS)), loss.slope(np.array(MARGINS))
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()
    assert (np.diff(values) <= 0).all()
    assert (slopes <= 0).all()
    assert float(Log.value(-1e4)) == 1e4
    assert float(Squared.value(-1e4)) == 0.5
    assert float(sigmoid(-1e4)) == 0.0


@pytest.mark.parametrize("loss", MARGIN)
def test_the_losses_of_the_margin_take_arrays_and_keep_exact_numbers_exact(loss):
    m = np.array([-2.0, 0.0, 0.75, 1.0, 3.0])
    assert loss.value(m).tolist() == [loss.value(each) for each in m.tolist()]
    assert loss.slope(m).tolist() == [loss.slope(each) for each in m.tolist()]
    third = Fraction(1, 3)
    assert loss.value(third) == (Fraction(2, 3) if loss is Hinge else Fraction(4, 9))
    assert loss.slope(third) == (-1 if loss is Hinge else Fraction(-4, 3))
    assert loss.value(Fraction(4, 3)) == loss.slope(Fraction(4, 3)) == loss.slope(1) == 0


@pytest.mark.parametrize("loss", MARGIN)
def test_the_conjugate_is_the_largest_of_what_it_is_the_largest_of(loss):
    m = np.linspace(-50, 50, 400_001)
    for alpha in (0.0, 0.3, 1.0, *([] if loss is Hinge else [1.7, 40.0])):
        assert float((-alpha * m - loss.value(m)).max()) == pytest.approx(loss.conjugate(alpha), abs=1e-7)
    for alpha in (-0.1, *([1.1] if loss is Hinge else [])):  # no largest: it grows with the range of m
        assert loss.conjugate(alpha) == math.inf
        assert (-alpha * m - loss.value(m)).max() > 4
    given = np.array([-0.5, 0.0, 0.5, 1.0, 2.0])
    assert loss.conjugate(given).tolist() == [loss.conjugate(each) for each in given.tolist()]
    for each in (-3.0, 0.2, 0.9, 4.0):  # equality in the inequality of Fenchel and Young
        slope = loss.slope(each)
        assert loss.value(each) + loss.conjugate(-slope) == pytest.approx(slope * each)


def test_the_curvature_of_the_squared_hinge_is_reached_and_that_of_the_hinge_is_infinite():
    m = np.linspace(-2, 3, 5_001)
    assert np.abs(np.gradient(SquaredHinge.slope(m), m)).max() == pytest.approx(SquaredHinge.curvature)
    assert Hinge.curvature == math.inf


def core_losses(m):
    """The losses that the compiled core finds at this margin."""
    examples = _core.Examples(np.array([1], np.int32), None, None)
    state = State.new(1, np.array([m]), 0.0, readout="last")
    task = _core.BinaryTask(state.weights, state.real, state.count, None, None, 1, (True, True), False)
    _, *losses = _core.tally(_core.dense(np.ones((1, 1))), examples, 0, 1, task, True)
    return dict(zip(LOSSES, losses, strict=True))


def core_step(kind, m):
    """How far the compiled core moves the weight of the example x = 1 at this margin, with eta = 1."""
    examples = _core.Examples(np.array([1], np.int32), None, None)
    state = State.new(1, np.array([m]), 0.0, readout="last")
    task = _core.BinaryTask(state.weights, state.real, state.count, None, None, 1, (True, True), False)
    rule = _core.Rule(kind, [1.0, 0.0, 0.0])
    _core.visit(_core.dense(np.zeros((1, 1)) + 1.0), examples, 0, 1, [task], rule, 1.0, 0.0, 1, None, None, 1)
    return state.bias, state.epoch_loss  # the bias starts at 0, so no digit of the step is lost


@pytest.mark.parametrize("build", _core.builds())
def test_the_core_computes_losses_and_slopes_to_the_last_digits(build):
    used = _core.build()
    _core.use_build(build)
    mpmath.mp.dps = 40
    try:
        rng = np.random.default_rng(0)
        for m in [*MARGINS, *rng.normal(0, 5, 200), *rng.normal(0, 200, 100)]:
            m = float(m)
            wrong = 1 / (1 + mpmath.exp(mpmath.mpf(m)))
            right = 1 / (1 + mpmath.exp(-mpmath.mpf(m)))
            exact = {"squared": wrong**2 / 2, "log": mpmath.log1p(mpmath.exp(-mpmath.mpf(m)))}
            slopes = {"squared": wrong**2 * right, "log": wrong}
            found = core_losses(m)
            for kind in ("squared", "log"):
                step, met = core_step(kind, m)
                assert found[kind] == pytest.approx(float(exact[kind]), rel=2e-15, abs=1e-300)
                assert met == pytest.approx(float(exact[kind]), rel=2e-15, abs=2e-16)
                assert step == pytest.approx(float(slopes[kind]), rel=2e-15, abs=1e-300)
            assert found["perceptron"] == max(0.0, -m)
            assert found["zero_one"] == ZeroOne.value(m)
            assert found["hinge"] == max(0.0, 1.0 - m)
            assert found["squared_hinge"] == max(0.0, 1.0 - m) ** 2
    finally:
        _core.use_build(used)


def test_first_steps_from_zero_are_an_eighth_and_a_half():
    assert SigmoidNeuron(eta=1.0).step(0, 1, 0, 0, 1) == Update(1.0, 0.125)
    assert LogisticNeuron(eta=1.0).step(0, 1, 0, 0, 1) == Update(1.0, 0.5)
    assert Perceptron().step(0, 1, 0, 0, 1) == Update(1, 1)


@pytest.mark.parametrize("rule", [rule for rule in RULES.values() if issubclass(rule, Smooth)])
def test_schedules_and_shrinkage(rule):
    plain = rule(eta=0.5).step(0.3, 1, 0, 0, 9)
    assert rule(eta=0.5, alpha=0.1).step(0.3, 1, 0, 0, 9) == Update(0.95, plain.tau)
    falling = rule(eta=0.5, alpha=0.1, schedule="invscaling").step(0.3, 1, 0, 0, 9)
    assert falling.tau == pytest.approx(plain.tau / 3)
    assert falling.shrink == pytest.approx(1 - 0.05 / 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta": 0}, "eta0 must be a positive finite number; found 0"),
        ({"eta": math.nan}, "eta0 must be a positive finite number; found nan"),
        ({"alpha": -1}, "alpha must be zero or a positive finite number; found -1"),
        ({"alpha": math.inf}, "alpha must be zero or a positive finite number; found inf"),
        ({"eta": 2.0, "alpha": 0.5}, r"eta0 \* alpha must be below 1"),
        ({"schedule": "optimal"}, "learning_rate must be one of constant, invscaling, adaptive; found 'optimal'"),
    ],
)
def test_impossible_rules_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        SigmoidNeuron(**options)


def test_every_loss_has_a_name_and_a_value():
    assert list(LOSSES) == ["zero_one", "perceptron", "squared", "log", "hinge", "squared_hinge"]
