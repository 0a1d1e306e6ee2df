"""Layers of sigmoid neurons and back-propagation (Lecture 002), as NumPy matrix products.

A network is a list of layers; ``a_l = sigmoid(a_(l-1) W_l + b_l)``, with ``a_0 = x``. Nothing here knows about data
sets, epochs or classes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.rules.losses import LOSSES, sigmoid


class Layer(NamedTuple):
    """Weights of shape (inputs, neurons) and a bias for each neuron."""

    weights: Floats
    bias: Floats


def random_layers(sizes: list[int], rng: np.random.Generator) -> list[Layer]:
    """Return layers of these sizes, uniform in ``2 sqrt(6 / (inputs + neurons))`` around 0.

    Sigmoid neurons bend little near 0: twice the range that is usual for tanh (Glorot and Bengio 2010) leaves the
    plateau at the start sooner.
    """
    layers = []
    for inputs, neurons in pairwise(sizes):
        reach = 2.0 * np.sqrt(6.0 / (inputs + neurons))
        layers.append(Layer(rng.uniform(-reach, reach, (inputs, neurons)), rng.uniform(-reach, reach, neurons)))
    return layers


def activations(layers: list[Layer], X: Any) -> Floats:
    """Return what goes into the last layer's sigmoids, of shape (n, outputs)."""
    for layer in layers[:-1]:
        X = sigmoid(X @ layer.weights + layer.bias)
    return np.asarray(X @ layers[-1].weights + layers[-1].bias)


def objective(layers: list[Layer], X: Any, signs: Floats, weights: Floats, loss: str, alpha: float) -> float:
    """Return the weighted mean loss, added over the outputs, plus ``alpha / 2`` times the square of all weights."""
    values = LOSSES[loss].value(signs * activations(layers, X)).sum(axis=1)
    return float(weights @ values / weights.sum()) + penalty(layers, alpha)


def penalty(layers: list[Layer], alpha: float) -> float:
    """Return ``alpha / 2 |W|^2``; biases are free."""
    return 0.5 * alpha * sum(float(np.vdot(layer.weights, layer.weights)) for layer in layers) if alpha else 0.0


def back_propagate(
    layers: list[Layer], X: Any, signs: Floats, weights: Floats, loss: str, alpha: float
) -> tuple[list[Layer], float, int]:
    """Return the gradient of :func:`objective`, the weighted sum of the losses, and the number of mistakes.

    Parameters
    ----------
    layers : list of Layer
        The network.
    X : array or sparse matrix of shape (n, inputs)
        A fold.
    signs : array of shape (n, outputs)
        +1 where an output should fire, -1 where not.
    weights : array of shape (n,)
        How much each example counts.
    loss : {"squared", "log"}
        Of each output.
    alpha : float
        The strength of the penalty.
    """
    outputs = [X]
    for layer in layers[:-1]:
        outputs.append(sigmoid(outputs[-1] @ layer.weights + layer.bias))
    margins = signs * (outputs[-1] @ layers[-1].weights + layers[-1].bias)
    met = float(weights @ LOSSES[loss].value(margins).sum(axis=1))
    blame = signs * LOSSES[loss].slope(margins) * (weights / weights.sum())[:, None]  # d objective / d activation
    gradient: list[Layer] = []
    for layer, given in zip(reversed(layers), reversed(outputs), strict=True):
        gradient.append(Layer(np.asarray(given.T @ blame) + alpha * layer.weights, blame.sum(axis=0)))
        if len(gradient) < len(layers):
            blame = (blame @ layer.weights.T) * given * (1.0 - given)
    return gradient[::-1], met, int((margins[weights > 0] <= 0).sum())
