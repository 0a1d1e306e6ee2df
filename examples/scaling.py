"""How much does scaling help, and what do the weights mean afterwards? Epochs to a loss, and the way back.

The same neuron on the same tumours (scikit-learn's breast cancer data, ten mean features), raw and scaled to [0, 1],
each with the step 1 / L, L the largest curvature of its loss. ``python examples/scaling.py [folder]`` writes
scaling.png (default folder: docs/pictures).
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import separatrix as sx
from separatrix.stops import MaxEpochs

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
data = load_breast_cancer(as_frame=True)
X, y = data.data.iloc[:, :10], data.target_names[data.target]
target = 0.35


def safe_step(values):
    """Return 1 / L: beyond twice that, descent on the log loss can diverge."""
    augmented = np.column_stack([values, np.ones(len(values))])
    return 4.0 / (np.linalg.norm(augmented, 2) ** 2 / len(values))


figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
for name, values in (("raw", X.to_numpy()), ("scaled to [0, 1]", MinMaxScaler().fit_transform(X))):
    step = safe_step(values)
    model = sx.Neuron(loss="log", batch_size="all", eta0=step, max_iter=20_000, stop=MaxEpochs(20_000)).fit(values, y)
    reached = np.flatnonzero(np.array(model.loss_curve_) <= target)
    epochs = f"{reached[0] + 1:,} epochs" if len(reached) else "not in 20,000 epochs"
    print(f"{name}: step {step:.2g}, loss {target} after {epochs}")
    sx.plots.loss_curve(model, ax, label=f"{name} (step {step:.2g}): {epochs} to {target}")
ax.axhline(target, color="#777777", linestyle=":", linewidth=1.2)
ax.set(xscale="log", title="batch descent, log loss: raw against scaled features")
ax.legend(frameon=False, loc="lower left")
figure.savefig(folder / "scaling.png", dpi=80)

pipeline = make_pipeline(MinMaxScaler(), sx.Neuron(loss="log", eta0=0.1, random_state=0)).fit(X, y)
back = sx.original_units(pipeline)
assert np.array_equal(back.predict(X), pipeline.predict(X))
print("in the data's own units:", ", ".join(f"{w:+.3g} per {name}" for name, w in zip(X, back.coef_[0], strict=True)))
