"""One function to write a model for another place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from separatrix.files import write_bytes, write_text
from separatrix.tables.export.scorer import scorer_of

TARGETS = {"onnx": (".onnx",), "sql": (".sql",), "c": (".h", ".hpp", ".c"), "json": (".json",)}
SCORER = "separatrix.js"  # what reads the JSON in a browser


def export(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    to: str | None = None,
    unknown: str = "null",
    table: str = "data",
    name: str = "model",
) -> str | bytes:
    """Return a fitted model in a form that runs without Python, and write it to a file if one is named.

    What is done to the columns (scaling, categories, filled gaps) is part of it, and its labels are those of
    ``predict``. A row that lacks a value, or holds an infinite one, has no answer: NULL in SQL, -1 in C, null in
    JavaScript; in ONNX its scores are NaN and the model's metadata say what its label is.

    Numbers are doubles everywhere, and dense rows of linear and voted models are added in the package's own order, so
    that ties fall alike. Sparse rows (many categories, libsvm) are so in C and JavaScript. Elsewhere, and with kernels
    and networks, a score within rounding of a tie can fall on the other side.

    Parameters
    ----------
    model : model of a table, estimator or pipeline
        What ``separatrix fit`` wrote (``sx.load``), a classifier of this package, a linear classifier of scikit-learn,
        or a pipeline of scalers that ends in one.
    path : path, optional
        The file to write. With ``to="json"``, ``separatrix.js``, which reads it, is written beside it.
    to : {"onnx", "sql", "c", "json"}, optional
        The form; by default the one that the path's ending names. "onnx": a graph of operator set 13, which needs the
        extra ``onnx`` to be written. "sql": one SELECT for DuckDB, PostgreSQL and SQLite (linear models and
        networks). "c": a header without dependencies. "json": for ``separatrix.js``; the only one that reads words.
    unknown : {"null", "zero"}, default="null"
        Whether a row with a category that the model was not trained on has no answer, or that category counts as none.
    table : str, default="data"
        For SQL: the table's name.
    name : str, default="model"
        For C: how names begin.

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
    -- Rows that lack a value get NULL.
    -- The scores and the prediction are added as the last columns; the table must have none of their names itself.
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
    form = form_of(path, to)
    scorer = scorer_of(model, unknown=unknown)
    content: str | bytes
    if form == "onnx":
        from separatrix.tables.export.onnx_graph import as_onnx

        content = as_onnx(scorer)
    elif form == "sql":
        from separatrix.tables.export.sql import as_sql

        content = as_sql(scorer, table)
    elif form == "c":
        from separatrix.tables.export.c_header import as_c

        content = as_c(scorer, name)
    else:
        from separatrix.tables.export.json_scorer import as_json

        content = as_json(scorer)
    if path is not None:
        _write(path, content, with_script=form == "json")
    return content


def form_of(path: str | os.PathLike[str] | None, to: str | None) -> str:
    """Return what a model is written as: what is asked for, or what the path's ending names."""
    known = ", ".join(TARGETS)
    if to is not None:
        if to not in TARGETS:
            raise ValueError(f"to must be one of {known}; found {to!r}")
        return to
    if path is None:
        raise ValueError(f"say what to export to, one of {known}")
    ending = Path(path).suffix.lower()
    for form, endings in TARGETS.items():
        if ending in endings:
            return form
    every = ", ".join(ending for endings in TARGETS.values() for ending in endings)
    raise ValueError(f"{os.fspath(path)} ends in none of {every}; say what to export to, one of {known}")


def script_beside(path: str | os.PathLike[str]) -> Path | None:
    """Return where the script that reads a JSON file goes, or refuse the path; None for a device or pipe."""
    path = Path(path)
    if path.name == SCORER:
        raise ValueError(f"{path} cannot hold the model: {SCORER} is the script that reads it; name another file")
    return path.with_name(SCORER) if path.is_file() or not path.exists() else None


def _write(path: str | os.PathLike[str], content: str | bytes, *, with_script: bool) -> None:
    script, code = None, ""
    if with_script:
        from separatrix.tables.export.json_scorer import javascript

        script, code = script_beside(path), javascript()
        first = code.partition("\n")[0].encode()
        if script is not None and script.exists() and not script.read_bytes().startswith(first):
            raise ValueError(
                f"{script} is there already and is not the script that reads the model; name another folder"
            )
    if isinstance(content, str):
        write_text(path, content)
    else:
        write_bytes(path, content)
    if script is not None:
        write_text(script, code)
