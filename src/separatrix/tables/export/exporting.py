"""``separatrix.export``: a fitted model in a form that runs without Python."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from separatrix.files import write_bytes, write_together
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.targets import TARGETS, ExportTarget

_OWN = b"separatrix-scorer"  # in every version of our script


def export(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    to: str | None = None,
    unknown: str = "zero",
    table: str = "data",
    name: str = "model",
) -> str | bytes:
    """Return a fitted model in a form that runs without Python, and write it to a file if one is named.

    Preprocessing (scaling, one-hot encoding, imputation) is included, and predictions are those of ``predict``. A row
    with an infinite number has no prediction, nor has one with missing values unless the model imputes them: NULL in
    SQL, -1 in C, null in JavaScript; in ONNX its scores are NaN and the model's metadata give its label.

    Numbers that were text in the table (``1,234.50``, ``12 km``) are read so by the SQL statement too; in all other
    targets the number itself is given, and the file says how it was written.

    Numbers are doubles everywhere, and sums over dense rows of linear and voted models are in the package's own order,
    so that ties are equal. The same holds for sparse rows (many categories, libsvm) in C and JavaScript. Elsewhere,
    and with kernels and networks, a score within rounding of a tie can fall on the other side.

    Parameters
    ----------
    model : model of a table, estimator or pipeline
        What ``separatrix fit`` wrote (``sx.load``), a classifier of this package, a linear classifier of scikit-learn,
        or a pipeline of scalers and one of these.
    path : path, optional
        The file to write. With ``to="json"``, ``separatrix.js``, which reads it, is written beside it.
    to : {"onnx", "sql", "c", "json"}, optional
        The target; by default by the ending of the path. "onnx": a graph of operator set 13 (needs the extra
        ``onnx``). "sql": one SELECT for DuckDB, PostgreSQL and SQLite (linear models and networks). "c": a header
        without dependencies. "json": for ``separatrix.js``; the only one for bag-of-words columns.
    unknown : {"zero", "null"}, default="zero"
        Whether an unknown category is encoded as all zeros, as by ``predict``, or its row has no prediction. Where rare
        levels were pooled in fit, it is one of those.
    table : str, default="data"
        For SQL: the table's name.
    name : str, default="model"
        For C: the prefix of all names.

    Returns
    -------
    str or bytes
        What is in the file; bytes for ONNX.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = sx.datasets.load("lecture-000")
    >>> model = sx.Perceptron(shuffle=False).fit(X, y)
    >>> print(sx.export(model, to="sql", table="points"))  # doctest: +ELLIPSIS
    -- Written by separatrix 0.1.0 for DuckDB, PostgreSQL 12 and SQLite 3.35, or newer.
    -- Rows with missing values get NULL.
    -- Scores and prediction are the last columns; the table must not have columns of these names.
    SELECT scored.*,
      CASE WHEN scored."score" >= 0 THEN 1 WHEN scored."score" < 0 THEN -1 END AS "prediction"
    FROM (
      SELECT t.*,
        CASE WHEN ...
          THEN ((CAST(t."x0" AS DOUBLE PRECISION) * 3.0e0
            + CAST(t."x1" AS DOUBLE PRECISION) * -2.0e0)
            + 0.0e0) END
          AS "score"
      FROM "points" AS t
    ) AS scored
    <BLANKLINE>
    """
    target = target_of(path, to)
    content = target.write(scorer_of(model, unknown=unknown), table=table, name=name)
    if path is not None:
        _write(path, content, target)
    return content


def target_of(path: str | os.PathLike[str] | None, to: str | None) -> ExportTarget:
    """Return the target that ``to`` names, or else the ending of the path."""
    known = ", ".join(TARGETS)
    if to is not None:
        if to not in TARGETS:
            raise ValueError(f"to must be one of {known}; found {to!r}")
        return TARGETS[to]
    if path is None:
        raise ValueError(f"no export target given; choose one of {known}")
    ending = Path(path).suffix.lower()
    for target in TARGETS.values():
        if ending in target.endings:
            return target
    every = ", ".join(ending for target in TARGETS.values() for ending in target.endings)
    raise ValueError(f"{os.fspath(path)} ends in none of {every}; give the export target, one of {known}")


def script_beside(path: str | os.PathLike[str], target: ExportTarget) -> Path | None:
    """Return where the script of a target goes, or refuse the path; None without one, and for a device or pipe."""
    path = Path(path)
    if target.script is None:
        return None
    name = target.script[1]
    if path.name == name:
        raise ValueError(f"{path} is the name of the script that reads the model; choose another file")
    return path.with_name(name) if path.is_file() or not path.exists() else None


def _write(path: str | os.PathLike[str], content: str | bytes, target: ExportTarget) -> None:
    script, code = script_beside(path, target), ""
    if script is not None and target.script is not None:
        code = Path(__file__).with_name(target.script[0]).read_text(encoding="utf-8")
        if script.exists() and _OWN not in script.read_bytes():
            raise ValueError(f"{script} exists and was not written by separatrix; choose another folder")
    raw = content.encode("utf-8") if isinstance(content, str) else content
    if script is None:
        write_bytes(path, raw)
    else:
        write_together({Path(path): raw, script: code.encode("utf-8")})
