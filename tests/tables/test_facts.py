"""Facts about a model: JSON and back, files of version 0.1, and damage that is refused in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

from separatrix.tables.facts import ClassCount, ColumnUse, Facts, RowCounts, TrainingProgress, UpdateRecord
from separatrix.tables.scores import Scores


def whole():
    return Facts(
        separatrix="0.1.0", source="t.csv", rows=RowCounts(10, 1, 7, 2), columns=ColumnUse(("a", "b"), ("c",), 3),
        classes=(ClassCount("p", 4), ClassCount("q", 3)), missing={"a": 1}, constant=("b",), status="converged",
        progress=TrainingProgress(2, 1, 5), mistakes=(4, 3), test=Scores(np.array([[1, 0], [1, 0]]), 0),
        updates=(UpdateRecord("u.csv", 3, 1),), seconds=0.5,
    )  # fmt: skip


def test_facts_come_back_from_json():
    facts = whole()
    again = Facts.from_dict(json.loads(json.dumps(facts.to_dict())))
    assert again.to_dict() == facts.to_dict()
    assert again.test.correct == 1


@pytest.mark.parametrize(
    "change",
    [
        {"rows": {"read": "x"}}, {"rows": {"read": -1}}, {"columns": {"used": 5}}, {"columns": {"used": [1]}},
        {"missing": {"a": "x"}}, {"progress": {"epoch": 0, "group": -1, "mistakes": 0}}, {"progress": {"epoch": None}},
        {"progress": {"place": 1}}, {"updates": [{"source": "u", "rows": 1.5, "mistakes": 0}]},
        {"classes": [{"label": 1}]},
        {"test": {"confusion": [[0, 0], [0, 0]], "baseline": 1}}, {"test": {"confusion": [[1]], "baseline": 1}},
        {"test": {"confusion": [[10**30]], "baseline": 1}}, {"test": {"confusion": [["a"]], "baseline": 1}},
        {"settings": {"model": "no such"}}, {"options": {"nonsense": 1}}, {"status": 5}, {"mistakes": ["x"]},
    ],
    ids=str,
)  # fmt: skip
def test_damaged_facts_are_refused(change):
    with pytest.raises(ValueError):  # noqa: PT011
        Facts.from_dict({**whole().to_dict(), **change})


def test_facts_of_version_0_1_are_read():
    old = {
        "separatrix": "0.1.0", "source": "t.csv", "asked": {"target": "y", "features": ["a"]},
        "settings": {"model": "svm", "parameters": {"solver": "online"}}, "rows": {"read": 4, "dropped": 0},
        "held_out": {"rows": 2, "right": 1, "confusion": [[1, 0], [1, 0]], "baseline": 0.5},
        "place": {"epoch": 3, "group": 0, "mistakes": 0}, "uncertified": "disk", "on_disk": True,
    }  # fmt: skip
    facts = Facts.from_dict(old)
    assert (facts.settings.model, facts.settings.parameters) == ("online-svm", {})
    assert facts.options.features == ("a",)
    assert (facts.test.correct, facts.progress.epoch, facts.no_certificate) == (1, 3, "disk")
