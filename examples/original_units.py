"""What does the model say, in the units of the data? Penguins: millimetres and grams, not standard deviations.

Learning wants scaled numbers, readers want raw ones. ``sx.original_units`` writes the same model for the raw numbers: a
weight is then what one more millimetre or gram adds. ``python examples/original_units.py [folder]`` writes
original_units.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
birds = pd.read_csv(sx.datasets.path("penguins")).dropna()
birds = birds[birds["species"] != "Gentoo"]
X, y = birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]], birds["species"]

pipeline = make_pipeline(StandardScaler(), sx.LinearSVM(C=1.0)).fit(X, y)
raw = sx.original_units(pipeline)
assert np.array_equal(raw.predict(X), pipeline.predict(X))

print(f"{'feature':18} {'per deviation':>14} {'per unit':>10} {'one deviation is':>18}")
for name, scaled, unit, deviation in zip(X, pipeline[-1].coef_[0], raw.coef_[0], pipeline[0].scale_, strict=True):
    print(f"{name:18} {scaled:14.3f} {unit:10.5f} {deviation:18.2f}")
print("Chinstrap if", " ".join(f"{w:+.4g} {name}" for name, w in zip(X, raw.coef_[0], strict=True)), end="")
print(f" {raw.intercept_[0]:+.4g} > 0, else Adelie: {raw.score(X, y):.1%} right")
weights, mean = raw.coef_[0], X.mean().to_numpy()
rest = raw.intercept_[0] + weights[2:] @ mean[2:]  # what flipper and mass of an average bird add
longest = -(rest + weights[1] * mean[1]) / weights[0]
print(f"an otherwise average bird is a Chinstrap if its bill is longer than {longest:.1f} mm")

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
sx.plots.weights(list(X), pipeline[-1].coef_, ["Chinstrap"], left)
left.set_title("weights per standard deviation: which feature matters", fontsize="medium")
for name, marker in (("Adelie", "o"), ("Chinstrap", "s")):
    right.plot(*X[y == name].to_numpy()[:, :2].T, marker, alpha=0.6, markersize=5, label=name)
lengths = np.array([40.0, 52.0])
right.plot(lengths, -(rest + weights[0] * lengths) / weights[1], "k", label="boundary (average flipper, mass)")
right.set(xlabel="bill length (mm)", ylabel="bill depth (mm)", xlim=(31, 60), ylim=(14.5, 23.5))
right.set_title(f"per unit: {weights[0]:+.2f} per mm of length, {weights[1]:+.2f} per mm of depth", fontsize="medium")
right.legend(frameon=False, fontsize="small", loc="lower right")
figure.savefig(folder / "original_units.png", dpi=80)
