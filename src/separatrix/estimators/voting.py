"""The votes of a fitted model with the voted readout, for ``votes_``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from separatrix.loop.kernel_votes import Vote


def by_class(tasks: Sequence[Callable[[], tuple[Vote, ...]]]) -> tuple[Any, ...]:
    """Return the votes of the only task, or a tuple of them for each class; refuse a model that keeps none.

    An AttributeError, so that ``hasattr`` says whether a model has votes.
    """
    if not tasks:
        raise AttributeError("votes_ needs a model that was fitted with readout='voted'")
    votes = tuple(task() for task in tasks)
    return votes[0] if len(votes) == 1 else votes
