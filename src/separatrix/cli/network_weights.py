"""The weights of a network, layer by layer, as tables and as JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.cli.writing import plain_table
from separatrix.text import times

_MOST_NEURONS = 8  # columns of a table


def is_network(estimator: Any) -> bool:
    """Return whether this is a fitted network of the package."""
    return type(estimator).__name__ == "Network" and hasattr(estimator, "coefs_")


def layers_as_dict(estimator: Any, names: list[str] | None, most: int = 1000) -> list[dict[str, Any]]:
    """Return each layer: its inputs, those with the largest weights first, its neurons, weights and biases."""
    out = []
    for title, inputs, neurons, weights, bias in _layers(estimator, names):
        places = _strongest(weights, most)
        out.append(
            {
                "layer": title,
                "inputs": [inputs[place] for place in places],
                "neurons": neurons,
                "weights": weights[places].tolist(),
                "bias": bias.tolist(),
            }
        )
    return out


def show_layers(estimator: Any, names: list[str] | None, features: str, console: Any, most: int) -> None:
    """Print the weights of each layer, a column for each neuron; the inputs with the largest weights come first."""
    sizes = [str(len(bias)) for bias in estimator.intercepts_]
    total = sum(weights.size + bias.size for weights, bias in zip(estimator.coefs_, estimator.intercepts_, strict=True))
    inputs = times(estimator.n_features_in_, "input")
    console.print(f"Network of sigmoid neurons: {inputs}, layers of {', '.join(sizes)}; {total:,} weights and biases.")
    for title, rows, neurons, weights, bias in _layers(estimator, names):
        places = _strongest(weights, most)
        shown = min(len(neurons), _MOST_NEURONS, most)
        cells = [[rows[place], *(f"{value:.4g}" for value in weights[place, :shown])] for place in places]
        cells.append(["(bias)", *(f"{value:.4g}" for value in bias[:shown])])
        console.print()
        about = f" ({features})" if title.startswith("Layer 1") else ""
        console.print(f"{title}{about}:")
        console.print(plain_table(["weight of", *neurons[:shown]], cells, right=True))
        left = []
        if len(rows) > len(places):
            left.append(f"{len(rows) - len(places):,} more inputs: --top {len(rows)}")
        if len(neurons) > shown:
            left.append(f"{len(neurons) - shown:,} more neurons: --json")
        if left:
            console.print(f"Not shown: {'; '.join(left)}.")


def _layers(estimator: Any, names: list[str] | None) -> list[tuple[str, list[str], list[str], Any, Any]]:
    """Return each layer: its title, the names of its inputs and of its neurons, weights and biases."""
    inputs = names or [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    inputs = inputs or [f"x{place + 1}" for place in range(estimator.n_features_in_)]
    depth, out = len(estimator.coefs_), []
    for k, (weights, bias) in enumerate(zip(estimator.coefs_, estimator.intercepts_, strict=True), 1):
        if k < depth:
            neurons = [f"h{j + 1}" if depth == 2 else f"h{k}.{j + 1}" for j in range(len(bias))]
            title = f"Layer {k}, {times(len(bias), 'hidden neuron')}"
        else:
            labels = [str(label) for label in estimator.classes_.tolist()]
            neurons = labels[1:] if len(bias) == 1 and len(labels) > 1 else labels
            title = f"Layer {k}, {times(len(bias), 'output neuron')} (positive: {neurons[0]})"
            title = title if len(bias) == 1 else f"Layer {k}, {times(len(bias), 'output neuron')}"
        out.append((title, inputs, neurons, weights, bias))
        inputs = neurons
    return out


def _strongest(weights: Any, most: int) -> list[int]:
    """Return the inputs with the largest weights, largest first."""
    return [int(place) for place in np.argsort(-np.abs(weights).max(axis=1), kind="stable")[:most]]
