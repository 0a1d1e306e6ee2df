"""Copies of states: as those of copy.deepcopy, exact ones too, and with more or fewer columns."""

import copy
from fractions import Fraction

import numpy as np
import pytest

from separatrix.loop.state import State


def test_an_exact_state_is_copied():
    state = State.new(1, [Fraction(1, 3)] * 3, Fraction(1), readout="averaged", exact=True)
    twin = copy.deepcopy(state)
    assert twin.weights.tolist() == state.weights.tolist()
    assert twin.weights is not state.weights
    assert state.mirrored().bias == -1


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_columns_are_added_and_left_out(covariance):
    state = State.new(1, np.arange(3.0), 2.0, readout="averaged")
    state.begin_spread(covariance)
    state.spread *= 0.5
    wide = state.resized(5)
    assert wide.weights.tolist() == [0.0, 1.0, 2.0, 0.0, 0.0]
    assert (wide.spread if covariance == "diagonal" else np.diag(wide.spread)).tolist() == [0.5, 0.5, 0.5, 1, 1, 0.5]
    back = wide.resized(3)
    assert np.array_equal(back.spread, state.spread)
    assert np.array_equal(back.weights, state.weights)
    assert back.bias == 2.0
    back.weights[0] = 7.0
    assert state.weights[0] == wide.weights[0] == 0.0
