"""The classes that a model file may hold, by the name under which it has them.

Each room of the package lists its own in a module ``stored``, a dictionary ``STORED`` of :class:`Stored` entries, which
are found here by discovery. They name a module and a class and import neither: a class is imported once a file names
it. A dataclass or named tuple is kept field by field and built by its own constructor, an estimator with all its
attributes, anything else with the attributes listed. What an object must be like, its method ``validate`` says.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import os
import pkgutil
from collections.abc import Callable
from typing import Any

from separatrix.models.codec import RefusedError

Parts = dict[str, Any]

_ROUTING = "_metadata_request"  # of scikit-learn: who gets fit's weights


@dataclasses.dataclass(frozen=True)
class Stored:
    """One class: where it is, and what is special about it.

    Parameters
    ----------
    module : str
        From where it is imported, once it is needed.
    attributes : tuple of str
        Those of a class that is neither dataclass, named tuple nor estimator.
    unkept : dict
        Attributes that are not written, and what they are instead in what is read.
    transient : tuple of str
        Attributes of an estimator that are neither written nor read: data, caches.
    pack, unpack : callable, optional
        Change the parts before they are written, and back.
    old_names : tuple of str
        Names under which files written before have this class.
    old_fields : dict
        Names that fields had in files written before, and their names now.
    defaults : dict
        Fields that files written before lack, and what they are then.
    upgrade : callable, optional
        Changes what an older package wrote: of the parts of an object, to the name of its class now and its parts.
    validate : callable, optional
        For a class without a method ``validate``: raises ValueError for an object that cannot be meant.
    model : bool
        Whether it can be saved by itself.
    estimator : bool
        Whether it can be the last step of a pipeline too.
    """

    module: str
    attributes: tuple[str, ...] = ()
    unkept: dict[str, Any] = dataclasses.field(default_factory=dict)
    transient: tuple[str, ...] = ()
    pack: Callable[[Parts], Parts] | None = None
    unpack: Callable[[Parts], Parts] | None = None
    old_names: tuple[str, ...] = ()
    old_fields: dict[str, str] = dataclasses.field(default_factory=dict)
    defaults: dict[str, Any] = dataclasses.field(default_factory=dict)
    upgrade: Callable[[Parts], tuple[str, Parts]] | None = None
    validate: Callable[[Any], None] | None = None
    model: bool = False
    estimator: bool = False

    @property
    def foreign(self) -> bool:
        """Whether it is a class of scikit-learn."""
        return self.module.startswith("sklearn.")


@functools.cache
def stored_classes() -> dict[str, Stored]:
    """Return all entries by name: those of the rooms, then those of scikit-learn."""
    import separatrix
    from separatrix.models.sklearn_steps import STORED

    entries: dict[str, Stored] = {}
    for folder in pkgutil.iter_modules(separatrix.__path__):
        paths = [os.path.join(path, folder.name) for path in separatrix.__path__]
        if folder.ispkg and any(part.name == "stored" for part in pkgutil.iter_modules(paths)):
            entries |= importlib.import_module(f"separatrix.{folder.name}.stored").STORED
    return entries | STORED


@functools.cache
def _names_now() -> dict[str, str]:
    return {old: name for name, entry in stored_classes().items() for old in entry.old_names}


def estimator_names() -> tuple[str, ...]:
    """Return the names of the package's estimators, sorted."""
    return tuple(sorted(name for name, entry in stored_classes().items() if entry.estimator))


class Registry:
    """Takes objects of the stored classes apart and puts them together; ``seen`` are the names that it met."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    @property
    def foreign(self) -> bool:
        """Whether classes of scikit-learn were among them."""
        return any(stored_classes()[name].foreign for name in self.seen)

    def name_of(self, kind: type) -> str | None:
        """Return the name under which this class is written, None if it is not."""
        base: str = getattr(kind, "stored_as", "")  # of classes that are written as their base class
        if base in stored_classes() and issubclass(kind, _class(base)):
            return base
        name = kind.__name__
        return name if name in stored_classes() and _class(name) is kind else None

    def take_apart(self, name: str, value: Any, where: str) -> Parts:
        """Return the parts of an object, checked."""
        entry, kind = stored_classes()[name], _class(name)
        self.seen.add(name)
        _validate(entry, value)
        if dataclasses.is_dataclass(kind):
            parts = {each.name: getattr(value, each.name) for each in dataclasses.fields(kind)}
        elif hasattr(kind, "_fields"):
            parts = value._asdict()
        elif entry.attributes:
            parts = {attribute: getattr(value, attribute) for attribute in entry.attributes}
        else:
            parts = {key: part for key, part in vars(value).items() if not _is_transient(entry, key)}
            parts = _with_seed(parts, where or name)
        parts = {key: part for key, part in parts.items() if key not in entry.unkept}
        return parts if entry.pack is None else entry.pack(parts)

    def put_together(self, name: str, parts: Parts) -> Any:
        """Return the object with these parts, or refuse them."""
        name = _names_now().get(name, name)
        entry = stored_classes().get(name)
        if entry is None:
            raise RefusedError(f"it holds an object of the unknown class {name!r:.60}")
        if entry.upgrade is not None:
            name, parts = entry.upgrade(parts)
            entry = stored_classes()[name]
        self.seen.add(name)
        kind = _class(name)
        parts = _renamed(name, parts, entry.old_fields)
        parts |= {key: part for key, part in entry.defaults.items() if key not in parts}
        parts = {**(parts if entry.unpack is None else entry.unpack(parts)), **entry.unkept}
        fields = [each.name for each in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else None
        fields = list(getattr(kind, "_fields", ())) or fields
        if fields is not None:
            _expect(name, parts, fields)
            value = kind(**parts)
        else:
            if entry.attributes:
                _expect(name, parts, [*entry.attributes, *entry.unkept])
            elif any(not _harmless(entry, kind, key) for key in parts):
                raise RefusedError(f"its {name} has an attribute that cannot be")
            value = object.__new__(kind)
            vars(value).update(parts)
        _validate(entry, value)
        return value


def _class(name: str) -> Any:
    return getattr(importlib.import_module(stored_classes()[name].module), name)


def _validate(entry: Stored, value: Any) -> None:
    if entry.validate is not None:
        entry.validate(value)
    elif not entry.foreign and hasattr(type(value), "validate"):
        value.validate()


def _renamed(name: str, parts: Parts, old_fields: dict[str, str]) -> Parts:
    renamed = {old_fields.get(key, key): part for key, part in parts.items()}
    if len(renamed) != len(parts):
        raise RefusedError(f"its {name} has a field twice, under its old and its new name")
    return renamed


def _expect(name: str, parts: Parts, fields: list[str]) -> None:
    if set(parts) != set(fields):
        odd = sorted(set(parts) ^ set(fields))[0]
        raise RefusedError(f"its {name} has a field too many or too few: {odd!r:.60}")


def _is_transient(entry: Stored, name: str) -> bool:
    return name in entry.transient or name == _ROUTING or "callback" in name


def _harmless(entry: Stored, kind: Any, name: str) -> bool:
    """Whether an estimator may have this attribute: it must not take the place of one of its class.

    That would be a method, or what a method goes by, such as the constraints on parameters. Only parameters may have a
    default there.
    """
    plain = name.isidentifier() and not name.startswith("__") and not _is_transient(entry, name)
    own = name in kind._get_param_names() and not callable(getattr(kind, name, None))
    return plain and (own or not hasattr(kind, name))


def _with_seed(parts: Parts, where: str) -> Parts:
    """Keep the seed that was drawn from a generator, in its place."""
    if hasattr(parts.get("random_state"), "random_sample"):
        if "_run_seed" not in parts:
            raise RefusedError(
                f"random_state of {where} is a generator, which a model file cannot keep: give it a whole number"
            )
        return {**parts, "random_state": parts["_run_seed"]}
    return parts
