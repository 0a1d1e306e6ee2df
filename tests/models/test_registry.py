"""Which classes a model file may hold: the rooms say so, and old names and fields are read."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix
from separatrix.models.codec import RefusedError
from separatrix.models.registry import Registry, Stored, estimator_names, stored_classes
from separatrix.stops import Epoch, MaxEpochs

CLASSES = stored_classes()


@pytest.mark.parametrize("name", CLASSES)
def test_every_entry_names_a_class(name):
    kind = getattr(importlib.import_module(CLASSES[name].module), name)
    assert kind.__name__ == name
    assert Registry().name_of(kind) == name
    if CLASSES[name].attributes and not CLASSES[name].foreign:
        assert hasattr(kind, "validate")


def test_every_estimator_of_the_package_can_be_saved():
    assert set(separatrix.estimators.__all__) == set(estimator_names())
    assert all(hasattr(getattr(separatrix, name), "validate") for name in estimator_names())


def test_the_room_of_model_files_names_no_other():
    rooms = {path.parent.name for path in Path(separatrix.__file__).parent.glob("*/__init__.py")} - {"models"}
    for path in (Path(separatrix.__file__).parent / "models").glob("*.py"):
        named = re.findall(r"separatrix\.(\w+)", path.read_text())
        assert not rooms & set(named), path
    assert {entry.module.split(".")[1] for entry in CLASSES.values() if not entry.foreign} <= rooms | {
        "stops",
        "observers",
    }


def test_the_list_of_classes_imports_none_of_scikit_learns_steps():
    code = (
        "import sys, separatrix.models.registry as r; r.stored_classes();"
        "print([m for m in sys.modules if m in ('sklearn.compose', 'sklearn.impute', 'separatrix.tables.model')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_old_names_and_fields_are_read(monkeypatch):
    entry = Stored("separatrix.stops", old_names=("Lap",), old_fields={"mean": "mean_loss"})
    monkeypatch.setitem(CLASSES, "Epoch", entry)
    monkeypatch.setattr("separatrix.models.registry._names_now", lambda: {"Lap": "Epoch"})
    fields = vars(Epoch(1, 2, 3, 0.5, 0.1))
    old = {**fields, "mean": 0.25}
    del old["mean_loss"]
    assert Registry().put_together("Lap", old) == Epoch(1, 2, 3, 0.5, 0.1, mean_loss=0.25)
    assert Registry().put_together("Epoch", fields) == Epoch(1, 2, 3, 0.5, 0.1)
    with pytest.raises(RefusedError, match="its Epoch has a field twice, under its old and its new name"):
        Registry().put_together("Lap", {**fields, "mean": 0.25})
    assert Registry().name_of(Epoch) == "Epoch"


def test_a_class_can_be_written_as_its_base_class():
    class Few(MaxEpochs):
        stored_as = "MaxEpochs"

    class Stranger:
        stored_as = "MaxEpochs"

    assert Registry().name_of(Few) == "MaxEpochs"
    assert Registry().name_of(Stranger) is None
