"""Estimators: thin scikit-learn classes over ``solve``. One-vs-rest lives here only."""

from __future__ import annotations

from separatrix.estimators.network import Network
from separatrix.estimators.neuron import Neuron
from separatrix.estimators.perceptron import Perceptron

__all__ = ["Network", "Neuron", "Perceptron"]
