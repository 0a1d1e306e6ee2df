"""Many levels: the frequent ones one-hot encoded, the others pooled, as by scikit-learn's OneHotEncoder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

import separatrix as sx
from separatrix.tables.disk import rowfile
from separatrix.tables.settings import MemoryBudget
from small_tables import fitted, matrix, predicted, trained_on, written


def towns(n: int = 6000, levels: int = 1000, seed: int = 0, gaps: bool = False) -> pd.DataFrame:
    """Return a column of many towns, some far more frequent than others, and one of numbers."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(rng.zipf(1.3, n) - 1, levels - 1)
    ranks[:levels] = rng.permutation(levels)  # each is there
    names = np.array([f"town {k:04}" for k in rng.permutation(levels)], dtype=object)
    data = pd.DataFrame({"town": names[ranks], "x": rng.normal(size=n).round(3)})
    data["y"] = np.where(data.x + (ranks % 3) > 1, "p", "q")
    if gaps:
        data.loc[rng.random(n) < 0.05, "town"] = None
    return data


def encoded(data: pd.DataFrame, most: int) -> tuple[np.ndarray, list[str]]:
    """Return what scikit-learn makes of the towns, columns sorted by name with the pooled ones last, and the names."""
    encoder = OneHotEncoder(max_categories=most + 1, handle_unknown="infrequent_if_exist", sparse_output=False)
    cells = data[["town"]].dropna()
    encoder.fit(cells)
    names = [str(name).removeprefix("town_") for name in encoder.get_feature_names_out(["town"])]
    X = np.zeros((len(data), len(names)))
    X[data.town.notna().to_numpy()] = encoder.transform(cells)
    return X, names


@pytest.mark.parametrize("levels", [102, 150, 1000])
@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_more_than_100_levels_are_pooled_as_by_scikit_learn(levels, kind, tmp_path):
    data = towns(levels=levels)
    source = written(data, tmp_path / "t.csv") if kind == "csv" else data
    model = fitted(source)
    expected, names = encoded(data, 100)
    assert names[-1] == "infrequent_sklearn"
    feature = model.preparation.role("category")[0]
    assert list(feature.levels) == names[:-1]
    assert model.preparation.names == ["x", *(f"town={name}" for name in names[:-1]), "town=(other)"]
    X = matrix(model, source)
    assert np.array_equal(X[:, 1:], expected)
    assert np.array_equal(trained_on(model, source), X)
    different = data.town.nunique()
    assert model.facts.notes == (f"Rare levels pooled: town ({different - 100} of {different:,}).",)


def test_up_to_100_levels_are_all_kept_and_max_levels_is_another_number(tmp_path):
    data = towns(levels=100)
    assert data.town.nunique() == 100
    source = written(data, tmp_path / "t.csv")
    assert len(fitted(source).preparation.role("category")[0].levels) == 100
    assert not fitted(source).preparation.role("category")[0].pooled
    few = fitted(source, max_levels=7)
    expected, names = encoded(data, 7)
    assert list(few.preparation.role("category")[0].levels) == names[:-1]
    assert np.array_equal(matrix(few, source)[:, 1:], expected)


def test_a_missing_level_is_not_pooled(tmp_path):
    data = towns(gaps=True)
    source = written(data, tmp_path / "t.csv")
    model = fitted(source)
    expected, _ = encoded(data, 100)
    assert model.preparation.names[-2:] == ["town=(other)", "town=(missing)"]
    X = matrix(model, source)
    assert np.array_equal(X[:, 1:-1], expected)
    assert X[:, -1].tolist() == data.town.isna().tolist()


def test_a_level_never_seen_is_one_of_the_pooled_whatever_unknown_says(tmp_path):
    data = towns()
    source = written(data, tmp_path / "t.csv")
    model = fitted(source)
    rare = next(name for name in data.town if name not in model.preparation.role("category")[0].levels)
    new = written({"town": ["Atlantis", rare], "x": [0.5, 0.5], "y": ["p", "q"]}, tmp_path / "new.csv")
    X = matrix(model, new)
    assert np.array_equal(X[0], X[1])
    assert X[0, model.preparation.names.index("town=(other)")] == 1
    for unknown in ("zero", "null", "fail"):
        labels, counts = predicted(model, new, unknown=unknown)
        assert labels[0] == labels[1] is not None
        assert (counts.unknown, counts.incomplete) == ({}, 0)


def test_on_disk_the_same_levels_are_pooled(tmp_path, monkeypatch):
    monkeypatch.setattr(rowfile, "GROUP", 1 << 14)
    source = written(towns(gaps=True), tmp_path / "t.csv")
    memory, disk = fitted(source), fitted(source, budget=MemoryBudget(memory=100_000))
    assert disk.facts.on_disk
    assert disk.preparation.names == memory.preparation.names
    assert disk.facts.notes == memory.facts.notes
    np.testing.assert_allclose(matrix(disk, source), matrix(memory, source), rtol=1e-12, atol=1e-12)


def test_levels_are_counted_in_the_training_rows_alone(tmp_path, run):
    """The most frequent of all rows need not be those of the training rows; scikit-learn would see only these."""
    from sklearn.model_selection import train_test_split

    from separatrix import load

    data = towns(1500, 300)
    written(data, tmp_path / "t.csv")
    assert run("fit", "t.csv", "--target", "y", "--certify", 0, "--max-levels", 20, "--epochs", 1)[0] == 0
    train, _ = train_test_split(np.arange(1500), test_size=0.2, random_state=0, stratify=data.y)
    learned = data.iloc[np.sort(train)]
    _, names = encoded(learned, 20)
    found = load("t.sx").preparation.role("category")[0].levels
    counts = learned.town.value_counts()
    least = min(counts[name] for name in names[:-1])
    sure = {name for name in names[:-1] if counts[name] > least}  # of equally frequent ones, any may be kept
    assert len(found) == 20
    assert sure <= set(found)
    assert min(counts[name] for name in found) == least


def test_a_column_whose_values_are_nearly_all_pooled_is_named_in_a_warning(tmp_path):
    n = 3000
    rng = np.random.default_rng(0)
    codes = [f"{rng.integers(10**6):06}x" for _ in range(n // 2)] * 2
    data = {"some code": codes, "x": rng.normal(size=n), "y": rng.choice(["p", "q"], n)}
    source = written(data, tmp_path / "t.csv")
    (warning,) = [note for note in fitted(source).facts.notes if note.startswith("Warning")]
    assert warning == (
        "Warning: column 'some code': 2,792 of 3,000 values are rare levels and pooled, so little is left of it: write "
        "its values as numbers or dates if they are such, use --target-encode 'some code' or a higher --max-levels, or "
        "leave it out with --exclude 'some code'."
    )
    for more in ({"target_encode": ("some code",)}, {"max_levels": 1500}, {"exclude": ("some code",)}):
        assert not any(note.startswith("Warning") for note in fitted(source, **more).facts.notes)
    steps = sx.TablePreparation().fit(pd.DataFrame(data).drop(columns="y"))
    assert warning in steps.notes_
