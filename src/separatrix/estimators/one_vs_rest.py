"""One-vs-rest: which yes-or-no questions a set of classes asks, and how they change when a class appears.

One class asks one question ("this class?"), two ask one ("the second class?"), more ask one each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.loop.state import Status


def predicted_codes(activations: Floats, n_classes: int, *, tie_is_positive: bool) -> NDArray[np.intp]:
    """Return the code of the class that each row's activations predict: by sign for two classes, by size for more."""
    if n_classes == 1:
        return np.zeros(len(activations), dtype=np.intp)
    if activations.ndim == 2:
        return np.asarray(activations.argmax(axis=1))
    positive = activations >= 0 if tie_is_positive else activations > 0
    return positive.astype(np.intp)


class Mirrored(Protocol):
    """Something that belongs to a question and can be turned round for the opposite one."""

    def mirrored(self) -> Any:
        """Return what belongs to the opposite question."""
        ...


Kept = TypeVar("Kept", bound=Mirrored)


def positives(n_classes: int) -> list[int]:
    """Return the codes of the classes that are asked about.

    Examples
    --------
    >>> positives(1), positives(2), positives(4)
    ([0], [1], [0, 1, 2, 3])
    """
    return [n_classes - 1] if n_classes <= 2 else list(range(n_classes))


def carry_over(kept: list[Kept], old: NDArray[Any], new: NDArray[Any], fresh: Callable[[int], Kept]) -> list[Kept]:
    """Return what belongs to the questions of the new classes, given what belonged to those of the old.

    A question that was not asked before but whose opposite was (two classes become three) gets the mirrored one.
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
    """A question's run that has ended."""

    @property
    def status(self) -> Status:
        """How it ended."""
        ...

    @property
    def n_epochs(self) -> int:
        """After how many epochs."""
        ...


def joint_status(solutions: Sequence[Ended], classes: NDArray[Any]) -> Status:
    """Return one status for all questions: the question's own, or a sentence that counts them."""
    if len(solutions) == 1:
        return solutions[0].status
    interrupted = any(solution.status.interrupted for solution in solutions)
    unfinished = [place for place, solution in enumerate(solutions) if not solution.status.converged]
    if not unfinished:
        last = max(solutions, key=lambda solution: solution.n_epochs)
        return Status(f"all {len(solutions)} classes ended: the last with {last.status}", True, interrupted)
    label = classes[unfinished[0] : unfinished[0] + 1].tolist()[0]
    how_many = f"{len(unfinished)} of {len(solutions)} classes did not converge"
    diverged = any(solution.status.diverged for solution in solutions)
    return Status(f"{how_many}; class {label!r}: {solutions[unfinished[0]].status}", False, interrupted, diverged)
