"""Target encoding: scikit-learn's numbers, cross-fitted in training, those of all training rows for new ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder

import separatrix as sx
from separatrix.tables.settings import MemoryBudget
from small_tables import fitted, matrix, predicted, trained_on, written

N = 400


def table(classes=2, gaps=False) -> pd.DataFrame:
    rng = np.random.default_rng(classes)
    city = rng.integers(0, 150, N)
    y = (city % classes + (rng.random(N) < 0.3)) % classes
    cells = [None if gaps and k % 11 == 3 else f"c{each:03}" for k, each in enumerate(city)]
    return pd.DataFrame({"x": rng.normal(size=N), "city": cells, "y": np.array(["p", "q", "r"])[y]})


def expected(data: pd.DataFrame) -> tuple[np.ndarray, TargetEncoder]:
    """Return the cross-fitted training rows of scikit-learn's own encoder, and that encoder."""
    encoder = TargetEncoder(cv=5, shuffle=True, random_state=0)
    return encoder.fit_transform(data[["city"]], data.y), encoder


@pytest.mark.filterwarnings("ignore:.TargetEncoder.shuffle:FutureWarning")
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_numbers_are_those_of_scikit_learns_encoder(classes, gaps):
    data = table(classes, gaps)
    steps = sx.TablePreparation(target_encode=["city"])
    first = steps.fit_transform(data[["x", "city"]], data.y)
    cross, encoder = expected(data)
    np.testing.assert_allclose(first[:, 1:], cross, rtol=1e-12)
    np.testing.assert_allclose(steps.transform(data)[:, 1:], encoder.transform(data[["city"]]), rtol=1e-12)
    assert not np.allclose(first[:, 1:], steps.transform(data)[:, 1:])
    shares = ["q"] if classes == 2 else ["p", "q", "r"]
    assert steps.get_feature_names_out().tolist() == ["x", *(f"city: share of {share}" for share in shares)]
    new = pd.DataFrame({"x": [0.0, 0.0], "city": ["nowhere", None]})
    unknown = new if gaps else new.assign(city=["nowhere", "elsewhere"])  # without gaps in fit, None is unknown too
    np.testing.assert_allclose(steps.transform(new)[:, 1:], encoder.transform(unknown[["city"]]), rtol=1e-12)


def test_a_model_is_trained_on_cross_fitted_rows_and_predicts_by_all(tmp_path):
    data = table()
    path = written(data, tmp_path / "t.csv")
    model = fitted(path, target_encode=("city",))
    steps = sx.TablePreparation(target_encode=["city"])
    X = steps.fit_transform(data[["x", "city"]], data.y)
    assert np.array_equal(model.estimator.coef_, clone(model.estimator).fit(X, data.y).coef_)
    assert np.array_equal(matrix(model, path), steps.transform(data))
    assert predicted(model, path)[0] == model.estimator.predict(steps.transform(data)).tolist()
    assert model.facts.notes == ("Target encoded (training rows by cross-fitting): city.",)
    assert model.facts.no_certificate == "encoded"
    sx.save(model, tmp_path / "t.sx")
    again = sx.load(tmp_path / "t.sx")
    assert np.array_equal(matrix(again, path), matrix(model, path))
    with pytest.raises(ValueError, match=r"target-encoded columns \(city\), .* cannot be read again"):
        trained_on(model, path)


def test_a_pipeline_does_not_see_the_labels_of_its_own_rows():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=N), "city": [f"c{k // 2}" for k in range(N)]})
    y = rng.integers(0, 2, N)  # noise: two rows a level would give it away
    pipeline = make_pipeline(sx.TablePreparation(target_encode=["city"], category=[]), sx.LogisticRegression())
    assert pipeline.fit(data, y)[-1].coef_[0, 1] < 1
    assert sx.LogisticRegression().fit(pipeline[0].transform(data), y).coef_[0, 1] > 5


def test_the_commands(run, tmp_path):
    written(table(), tmp_path / "t.csv")
    status, out, err = run(
        "fit", "t.csv", "--target", "y", "--target-encode", "city", "-o", "t.sx", "--report", "t.html"
    )
    assert status == 0, err
    assert "2 columns as 2 features: x, city." in out
    assert "Target encoded (training rows by cross-fitting): city." in out
    status, out, err = run("inspect", "t.sx")
    assert "Target encoded city: c000, c001" in out, err
    status, out, err = run("predict", "t.sx", "t.csv")
    assert (status, len(out.splitlines())) == (0, N + 1), err
    for to in ("sql", "c", "json", "onnx"):
        status, _, err = run("export", "t.sx", "--to", to, "-o", f"t.{to}")
        assert status == 2
        assert "column 'city' is target encoded, which cannot be exported; fit without --target-encode city" in err
    status, out, err = run("compare", "t.csv", "--target", "y", "--target-encode", "city", "--models", "svm,tree")
    assert status == 0, err
    assert "; 2 features, 2 classes." in out


def test_an_interrupted_fit_resumes_on_the_same_rows(run, tmp_path):
    written(table(), tmp_path / "t.csv")
    options = ("--target", "y", "--target-encode", "city", "--model", "perceptron", "--calibrate", "none")
    assert run("fit", "t.csv", *options, "--epochs", "3", "-o", "t.sx")[0] == 0
    status, _, err = run("fit", "t.csv", "--resume", "t.sx", "--epochs", "6")
    assert status == 0, err
    assert run("fit", "t.csv", *options, "--epochs", "6", "-o", "u.sx")[0] == 0
    first, second = sx.load(tmp_path / "t.sx"), sx.load(tmp_path / "u.sx")
    assert np.array_equal(first.estimator.coef_, second.estimator.coef_)


def test_what_cannot_be_target_encoded_is_refused(tmp_path):
    data = table(gaps=True)
    path = written(data, tmp_path / "t.csv")
    with pytest.raises(ValueError, match="'city' is both in --category and in --target-encode"):
        fitted(path, target_encode=("city",), category=("city",))
    with pytest.raises(ValueError, match="no column 'town', which --target-encode names"):
        fitted(path, target_encode=("town",))
    with pytest.raises(ValueError, match="--target-encode names 'y', which is the target"):
        fitted(path, target_encode=("y",))
    with pytest.raises(ValueError, match="--target-encode needs all rows in memory"):
        fitted(path, target_encode=("city",), budget=MemoryBudget(cache=tmp_path / "cache"))
    with pytest.raises(ValueError, match="target_encode needs the label of each row, y; found none"):
        sx.TablePreparation(target_encode=["city"]).fit(data)
    with pytest.raises(ValueError, match=r"found 400 for 36[0-9] rows without missing values"):
        sx.TablePreparation(target_encode=["city"], missing="drop").fit(data[["x", "city"]], data.y)
