"""Every kernel with a formula can be exported to every target that has kernels, or is named here as missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from separatrix.geometry.kernels import KERNELS
from separatrix.tables import export
from separatrix.tables.export import kernel_formulas

EXPORTABLE = {name for name, kind in KERNELS.items() if not kind.supplied}
MISSING: dict[str, set[str]] = {"c": set(), "onnx": set(), "json": set()}  # kernels that a target cannot express


def test_a_formula_for_each_kernel_is_there_or_listed_as_missing():
    script = Path(export.__file__).with_name("scorer.js").read_text(encoding="utf-8")
    formulas = {
        "c": set(kernel_formulas.C),
        "onnx": set(kernel_formulas.ONNX),
        "json": {
            name for name in KERNELS if f'given.name === "{name}"' in script or f'given.name !== "{name}"' in script
        },
    }
    assert {target: EXPORTABLE - names for target, names in formulas.items()} == MISSING


@pytest.mark.parametrize(("target", "formulas"), [("c", kernel_formulas.C), ("onnx", kernel_formulas.ONNX)])
def test_a_kernel_without_a_formula_is_refused_by_name(target, formulas, monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 2))
    model = sx.KernelSVM().fit(X, X[:, 0] > 0)
    monkeypatch.delitem(formulas, "rbf")
    with pytest.raises(ValueError, match=f"the kernel rbf cannot be exported to {target}; these can: linear, poly"):
        sx.export(model, to=target)
