"""The export targets: what each is called, which file endings it has, and what it cannot express.

A new target is a module with a function that takes a :class:`~separatrix.tables.export.scorer.Scorer`, and one entry in
``TARGETS``. ``separatrix.export`` and the command line read this table; nothing is imported before it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separatrix.tables.export.scorer import Scorer


@dataclass(frozen=True)
class ExportTarget:
    """A language or format that models are exported to.

    Parameters
    ----------
    name : str
        Its name in ``to`` and ``--to``.
    function : str
        The function that writes it, as ``module:function`` below ``separatrix.tables.export``.
    endings : tuple of str
        The file endings that stand for it; the first is the default.
    about : str
        What it is, for the help.
    option : str, optional
        The keyword of :func:`separatrix.export` that is passed on to the function.
    nonlinear : bool
        Whether it can express kernels and votes.
    texts : bool
        Whether it can express bag-of-words columns.
    binary : bool
        Whether it is bytes.
    script : tuple of str, optional
        A file of this package and the name under which it is written beside the export.
    """

    name: str
    function: str
    endings: tuple[str, ...]
    about: str
    option: str | None = None
    nonlinear: bool = True
    texts: bool = False
    binary: bool = False
    script: tuple[str, str] | None = None

    def write(self, scorer: Scorer, **options: str) -> str | bytes:
        """Return the model in this form, or say what it cannot express and which targets can."""
        from separatrix.tables.export.scorer import KernelExpansion, Voted

        if isinstance(scorer.decision, KernelExpansion | Voted) and not self.nonlinear:
            what = "votes" if isinstance(scorer.decision, Voted) else "kernels"
            raise ValueError(
                f"a {scorer.kind} with {what} cannot be exported to {self.name}; use --to "
                f"{_either(lambda target: target.nonlinear)}, or fit a linear model"
            )
        if (columns := scorer.role("text")) and not self.texts:
            raise ValueError(
                f"column {columns[0].name!r} is a bag of words, which cannot be exported to {self.name}; use --to "
                f"{_either(lambda target: target.texts)}"
            )
        module, _, function = self.function.partition(":")
        made = getattr(import_module(f"separatrix.tables.export.{module}"), function)
        content: str | bytes = made(scorer) if self.option is None else made(scorer, options[self.option])
        return content


TARGETS = {
    target.name: target
    for target in (
        ExportTarget("onnx", "onnx_graph:as_onnx", (".onnx",), "a graph for any ONNX runtime", binary=True),
        ExportTarget(
            "sql", "sql:as_sql", (".sql",), "a SELECT for DuckDB, PostgreSQL and SQLite (linear models and networks)",
            option="table", nonlinear=False,
        ),
        ExportTarget("c", "c_header:as_c", (".h", ".hpp", ".c"), "a C header without dependencies", option="name"),
        ExportTarget(
            "json", "json_scorer:as_json", (".json",), "JSON for separatrix.js, written beside it; also bag of words",
            texts=True, script=("scorer.js", "separatrix.js"),
        ),
    )
}  # fmt: skip


def _either(can: Callable[[ExportTarget], bool]) -> str:
    *most, last = [target.name for target in TARGETS.values() if can(target)]
    return f"{', '.join(most)} or {last}" if most else last
