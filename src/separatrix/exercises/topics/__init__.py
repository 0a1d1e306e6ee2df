"""The topics, one file each; a new file here with a ``TOPIC`` is a new topic everywhere."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from separatrix.exercises.topic import Topic


@cache
def topics() -> dict[str, Topic]:
    """Return all topics by name, sorted.

    Examples
    --------
    >>> "trace" in topics()
    True
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    found = [importlib.import_module(f"{__name__}.{name}").TOPIC for name in names]
    return {topic.name: topic for topic in found}
