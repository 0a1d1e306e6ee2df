"""Models that tests save and load, and what must hold for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import separatrix as sx

READOUTS = ("last", "averaged", "voted", "pocket")

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 4))
TWO = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
TEXTS = ["a red dog", "one cat", "dog and cat", "fish", "red fish", "the cat and a fish"] * 5
TOPICS = [0, 1, 0, 1, 0, 1] * 5
FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 4.0, 0.5, 3.0] * 5,
        "count": [1, 2, 3, 4, 5, 6] * 5,
        "color": ["red", "blue", "red", "green", "blue", "red"] * 5,
        "text": TEXTS,
    }
)


def plain(model, X=X, y=TWO, **kwargs):
    return model.fit(X, y, **kwargs)


def same(model, other, rows):
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            found, expected = getattr(other, method)(rows), getattr(model, method)(rows)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes() if found.dtype != object else (found == expected).all()


def through(model, tmp_path, name="model.sx"):
    sx.save(model, tmp_path / name)
    return sx.load(tmp_path / name)


def refuse(path, text):
    with pytest.raises(ValueError, match=text) as refused:
        sx.load(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    return str(refused.value)
