"""The report of a table about the points of the studio's page, with the model that it shows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from separatrix.studio.points import Points

_MODELS = {
    "Neuron": "neuron", "PassiveAggressive": "pa", "AROW": "arow", "LinearSVM": "svm",
    "KernelPerceptron": "kernel-perceptron", "KernelSVM": "kernel-svm",
}  # fmt: skip
_PERCEPTRONS = {"last": "perceptron", "averaged": "averaged", "pocket": "pocket"}
_OWN = ("readout", "max_iter", "stop", "random_state")  # which a table's settings have names of their own for


def report_of(points: Points, names: list[str], labels: list[str], estimator: str, parameters: dict[str, Any]) -> str:
    """Return the page of ``separatrix report`` on a model that is trained on all points, as they are."""
    import pyarrow as pa

    from separatrix.tables.columns import ColumnOptions
    from separatrix.tables.fit import fit
    from separatrix.tables.report.page import write_report
    from separatrix.tables.report.rows import inspect_rows
    from separatrix.tables.settings import Settings
    from separatrix.tables.sources.in_memory import TableInMemory

    x, y = _distinct([str(name)[:60] or "x" for name in names])
    negative, positive = _distinct([str(label)[:60] for label in labels])
    classes = [positive if sign > 0 else negative for sign in points.y.tolist()]
    table = pa.table({x: points.X[:, 0], y: points.X[:, 1], _free("class", x, y): classes})
    source = TableInMemory(table, "points of the studio")
    model = _MODELS.get(estimator) or _PERCEPTRONS[parameters.get("readout", "last")]
    rest = {name: value for name, value in parameters.items() if name not in _OWN}
    settings = Settings(
        model=model, test=0, seed=parameters.get("random_state", 0), stop=parameters.get("stop"),
        epochs=parameters.get("max_iter"), parameters={**rest, **({"average": False} if model == "pa" else {})},
    )  # fmt: skip
    result = fit(source, ColumnOptions(table.column_names[2], scale="none", detect=False), settings)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        write_report(result.model, path, inspect_rows(result.model, source, trained_on=True), result.certificate)
        return path.read_text(encoding="utf-8")


def _distinct(names: list[str]) -> tuple[str, str]:
    """Return two names, the second changed if it is the first."""
    first, second = names
    return first, second if second != first else f"{second} (2)"


def _free(name: str, *taken: str) -> str:
    """Return a name that is not taken."""
    while name in taken:
        name += "_"
    return name
