"""A small model file."""

from __future__ import annotations

import pytest

import separatrix as sx


@pytest.fixture
def small(tmp_path):
    """Return the path of a small model file."""
    path = tmp_path / "small.sx"
    sx.save(sx.Perceptron(max_iter=2, shuffle=False, random_state=0).fit([[0.0], [1.0]], [0, 1]), path)
    return path
