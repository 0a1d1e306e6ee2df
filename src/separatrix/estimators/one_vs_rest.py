"""One-vs-rest: the binary tasks of a set of classes, and how they change when a class is added.

One class is one task ("this class?"), two are one ("the second class?"), more are one each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.device_rows import namespace, on_device, to_numpy
from separatrix.geometry.rows import Floats
from separatrix.loop.state import Status


def predicted_codes(activations: Floats, n_classes: int, *, tie_is_positive: bool) -> NDArray[np.intp]:
    """Return the code of the class that each row's activations predict: by sign for two classes, by size for more."""
    if n_classes == 1:
        return np.zeros(len(activations), dtype=np.intp)
    if on_device(activations):
        return cast(NDArray[np.intp], _codes_on_device(activations, tie_is_positive=tie_is_positive))
    if activations.ndim == 2:
        return np.asarray(activations.argmax(axis=1))
    positive = activations >= 0 if tie_is_positive else activations > 0
    return positive.astype(np.intp)


def _codes_on_device(activations: Any, *, tie_is_positive: bool) -> Any:
    xp = namespace(activations)
    if activations.ndim == 2:
        return xp.argmax(activations, axis=1)
    return xp.astype(activations >= 0 if tie_is_positive else activations > 0, xp.int64)


def codes_as_labels(codes: Any, classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels of codes: beside them on their device if they are numbers, else in memory."""
    if not on_device(codes):
        return np.asarray(classes[codes])
    if classes.dtype.kind not in "iufb":
        return np.asarray(classes[to_numpy(codes)])
    xp = namespace(codes)
    return cast(NDArray[Any], xp.take(xp.asarray(classes, device=codes.device), codes))


class Mirrored(Protocol):
    """Something that belongs to a task and can be mirrored for the opposite one."""

    def mirrored(self) -> Any:
        """Return what belongs to the opposite task."""
        ...


Kept = TypeVar("Kept", bound=Mirrored)


def positives(n_classes: int) -> list[int]:
    """Return the codes of the classes that have a task.

    Examples
    --------
    >>> positives(1), positives(2), positives(4)
    ([0], [1], [0, 1, 2, 3])
    """
    return [n_classes - 1] if n_classes <= 2 else list(range(n_classes))


def carry_over(kept: list[Kept], old: NDArray[Any], new: NDArray[Any], fresh: Callable[[int], Kept]) -> list[Kept]:
    """Return what belongs to the tasks of the new classes, given what belonged to those of the old.

    A task that is new but whose opposite is not (two classes become three) gets the mirrored one.
    """
    known: dict[Any, Kept] = {old[code]: item for code, item in zip(positives(len(old)), kept, strict=True)}
    if len(old) == 2:
        known[old[0]] = kept[0].mirrored()
    items = []
    for code in positives(len(new)):
        if new[code] in known:
            items.append(known[new[code]])
        elif len(new) == 2 and new[1 - code] in known:
            items.append(known[new[1 - code]].mirrored())
        else:
            items.append(fresh(code))
    return items


class Ended(Protocol):
    """A task's run that has ended."""

    @property
    def status(self) -> Status:
        """How it ended."""
        ...

    @property
    def n_epochs(self) -> int:
        """After how many epochs."""
        ...


def joint_status(solutions: Sequence[Ended], classes: NDArray[Any]) -> Status:
    """Return one status for all tasks: that of the only one, of the slowest, or of the first that did not converge.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Run = namedtuple("Run", "status n_epochs")
    >>> runs = [Run(Status(f"converged: no mistakes (epoch {n})", True), n) for n in (9, 16, 12)]
    >>> str(joint_status(runs, np.array(["a", "b", "c"])))
    'converged: no mistakes (slowest of 3 one-vs-rest problems: epoch 16)'
    """
    if len(solutions) == 1:
        return solutions[0].status
    problems = f"{len(solutions)} one-vs-rest problems"
    interrupted = any(solution.status.interrupted for solution in solutions)
    unfinished = [index for index, solution in enumerate(solutions) if not solution.status.converged]
    if not unfinished:
        slowest = max(solutions, key=lambda solution: solution.n_epochs)
        what = _detail(slowest.status).removesuffix(f" (epoch {slowest.n_epochs})")
        text = f"converged: {what} (slowest of {problems}: epoch {slowest.n_epochs})"
        if what.startswith("converged"):  # a solver that says how
            text = f"{what} (slowest of {problems})"
        return Status(text, True, interrupted)
    label = classes[unfinished[0] : unfinished[0] + 1].tolist()[0]
    first = solutions[unfinished[0]].status
    diverged = any(solution.status.diverged for solution in solutions)
    word = "diverged" if first.diverged else "interrupted" if first.text.startswith("interrupted") else "stopped"
    text = f"{word}: {len(unfinished)} of {problems} did not converge; class {label!r}: {_detail(first)}"
    return Status(text, False, interrupted, diverged)


def _detail(status: Status) -> str:
    """Return the sentence without its first word, which says how the run ended."""
    word, _, detail = status.text.partition(": ")
    return detail if word in ("converged", "stopped", "interrupted", "diverged") else status.text
