"""In which layer of a network does a concept become linearly separable? Verdicts and margins, layer by layer.

Four hidden factors are turned into 64 inputs; four layers of 256 random tanh units follow, in float32. A concept is the
product of the signs of some factors. Labels drawn at random are the control: if a plane separated them too, it would
show the width of the layer and not its content. ``python examples/linear_probe.py [folder]`` writes linear_probe.png
(default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
rng, n, width = np.random.default_rng(0), 1500, 256
factors = rng.uniform(0.3, 1, (n, 4)) * rng.choice([-1, 1], (n, 4))
rotation = np.linalg.qr(rng.standard_normal((64, 64)))[0]
layers = [(np.hstack([factors, 0.05 * rng.standard_normal((n, 60))]) @ rotation).astype(np.float32)]
for _ in range(4):
    below = layers[-1]
    gain = 0.7 / np.sqrt((below**2).sum(axis=1).mean())
    weights = gain * rng.standard_normal((below.shape[1], width)).astype(np.float32)
    layers.append(np.tanh(below @ weights + 0.3 * rng.standard_normal(width).astype(np.float32)))

signs = np.sign(factors)
concepts = {
    "one factor": signs[:, 0] > 0,
    "product of two": signs[:, :2].prod(axis=1) > 0,
    "product of four": signs.prod(axis=1) > 0,
    "random labels": rng.random(n) > 0.5,
}
figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
floor = 2e-4
for (name, label), marker, shift in zip(concepts.items(), "osD^", (0, -0.09, 0, 0.09), strict=True):
    proofs = [sx.certify(layer, label, random_state=0) for layer in layers]
    checked = all(proof.verify(layer, label) for proof, layer in zip(proofs, layers, strict=True))
    print(f"{name} ({'every proof checked' if checked else 'a proof is wrong'}):")
    for depth, proof in enumerate(proofs):
        print(f"  layer {depth}: {' | '.join(proof.facts()[:2])}")
    low = np.array([proof.margin.lower / proof.radius for proof in proofs])
    apart, flat = np.flatnonzero(low), np.flatnonzero(low == 0)
    colour = ax.plot(apart, low[apart], f"{marker}-", label=name)[0].get_color()
    ax.plot(flat + shift, np.full(len(flat), floor), marker, color=colour, markerfacecolor="white")
ax.axhline(1.5 * floor, color="#bbbbbb", linewidth=0.8)
ax.set(yscale="log", xlabel="layer (0: the inputs)", ylabel="largest margin / radius")
ax.set_title("where does a plane begin to separate?", fontsize="medium")
ax.set_yticks([floor, 1e-3, 1e-2, 1e-1], ["proved:\nno plane", "0.001", "0.01", "0.1"])
ax.minorticks_off()
ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 0.12))
figure.savefig(folder / "linear_probe.png", dpi=80)
