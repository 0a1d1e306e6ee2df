"""Models with River's interface pass River's own checks."""

import numpy as np
import pytest

import separatrix as sx

checks = pytest.importorskip("river.checks")
pytestmark = pytest.mark.filterwarnings("ignore")  # of River and what it imports


@pytest.mark.parametrize("model", [sx.PassiveAggressive(), sx.Neuron(loss="log")])
def test_the_checks_of_river(model):
    wrapped = sx.river.Wrap(model)
    for check in checks.yield_checks(wrapped):
        if check.__name__ in wrapped._unit_test_skips():
            continue
        check(wrapped.clone())


def test_it_learns_what_a_stream_learns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    rows = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    wrapped, online = sx.river.Wrap(sx.PassiveAggressive()), sx.stream(sx.PassiveAggressive())
    assert wrapped.predict_one(rows[0]) is None
    for row, label in zip(rows, (X[:, 0] > 0).tolist(), strict=True):
        wrapped.learn_one(row, label)
        online.learn(row, label)
    assert [wrapped.predict_one(row) for row in rows] == [online.predict(row) for row in rows]
    with pytest.raises(NotImplementedError, match="PassiveAggressive has no probabilities"):
        wrapped.predict_proba_one(rows[0])
