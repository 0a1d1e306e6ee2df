"""A model of a table as an object: how it shows itself, and in scikit-learn's hands."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.base import clone

from separatrix.models.model_file import load, save
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import Settings
from separatrix.tables.sources.opening import open_source


def wide_model(folder):
    random = np.random.default_rng(0)
    data = pd.DataFrame({f"x{k}": random.normal(size=60) for k in range(40)})
    data["city"] = [f"city {k % 20}\x1b[31m" for k in range(60)]
    data["class"] = [f"<b>{'long' * 40}{k % 30}</b>" for k in range(60)]
    data.to_csv(folder / "t.csv", index=False)
    with open_source(str(folder / "t.csv")) as source:
        save(fit(source, ColumnOptions("class"), Settings(certify=0, test=0, epochs=1)).model, folder / "m.sx")
    return load(folder / "m.sx"), data


def test_a_model_shows_itself_in_one_line_and_as_html(tmp_path):
    model, _ = wide_model(tmp_path)
    text = repr(model)
    start = "<TableModel: Perceptron, target 'class', 41 columns as 60 features, classes 30 ("
    assert text.startswith(start)
    assert text.endswith(" and 27 more)>")
    assert len(text) < 500
    assert text.isprintable()
    page = model._repr_html_()
    assert "&lt;b&gt;long" in page
    assert "<b>long" not in page


def test_clone_keeps_a_model_as_it_is_fitted(tmp_path):
    model, data = wide_model(tmp_path)
    assert (clone(model).predict(data) == model.predict(data)).all()
