"""Estimators: thin scikit-learn classes over ``solve``. One-vs-rest lives here only."""

from __future__ import annotations

from separatrix.estimators.perceptron import Perceptron

__all__ = ["Perceptron"]
