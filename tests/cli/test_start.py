"""How a command starts: what it imports, and the stand-ins for scikit-learn's base classes in its process."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import separatrix as sx

HEAVY = {"sklearn", "scipy.stats", "pandas", "polars", "matplotlib", "joblib"}
_RUN = """
import json, sys
from separatrix.cli import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print(json.dumps(sorted(sys.modules)))
"""


def run(code, *arguments, cwd):
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, timeout=120
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("start")
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 2))
    lines = [
        f"{a:.4f},{'' if k % 9 == 0 else f'{b:.4f}'},{'uvw'[k % 3]},{'yes' if a + b > 0 else 'no'}"
        for k, (a, b) in enumerate(x)
    ]
    (path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    dated = [f"2024-{k % 12 + 1:02}-{k % 28 + 1:02},{line}" for k, line in enumerate(lines)]
    (path / "dated.csv").write_text("\n".join(["day,a,b,c,y", *dated]) + "\n")
    run(_RUN, "fit", "t.csv", "--target", "y", "-o", "m.sx", cwd=path)
    return path


@pytest.mark.parametrize(
    "command",
    [
        "--help",
        "fit t.csv --target y -o other.sx",
        "fit dated.csv --target y -o dated.sx",
        "predict m.sx t.csv",
        "predict m.sx t.csv --proba --keep a -o p.csv",
        "evaluate m.sx t.csv",
        "inspect m.sx",
    ],
)
def test_a_command_of_a_linear_model_imports_no_heavy_library(folder, command):
    loaded = set(json.loads(run(_RUN, *command.split(), cwd=folder).splitlines()[-1]))
    assert not HEAVY & loaded


def test_fit_imports_its_own_command_and_only_what_plain_rows_need(folder):
    shown = run(_RUN, "fit", "t.csv", "--target", "y", "-o", "other.sx", cwd=folder)
    loaded = set(json.loads(shown.splitlines()[-1]))
    assert "separatrix.cli.fit" in loaded
    assert not {"pyarrow", "scipy", "duckdb", "pydantic", "logging", "concurrent.futures"} & loaded
    assert not {"separatrix.cli.certify", "separatrix.cli.compare", "separatrix.cli.trace"} & loaded
    assert len(loaded) < 600


_STAND_INS = """
import sys
import separatrix
separatrix._is_command = True
import separatrix as sx
import numpy as np
assert "sklearn" not in sys.modules
models = [sx.Perceptron(), sx.LinearSVM(C=2.0), sx.LogisticRegression(), sx.Neuron(), sx.OnlineSVM()]
assert "sklearn" not in sys.modules
print([sorted(each.get_params()) for each in models])
print(models)
"""


def test_the_stand_ins_have_the_parameters_and_texts_of_scikit_learns(folder):
    real = _STAND_INS.replace("separatrix._is_command = True", "").replace('assert "sklearn" not in sys.modules', "")
    assert run(_STAND_INS, cwd=folder) == run(real, cwd=folder)


def test_a_stand_in_sets_and_refuses_parameters_as_scikit_learn_does(folder):
    code = _STAND_INS + (
        "each = models[1].set_params(C=3.0)\n"
        "assert each is models[1] and each.get_params()['C'] == 3.0\n"
        "try: each.set_params(c=1)\n"
        "except ValueError as problem: print(problem)\n"
        "try: each.predict(np.zeros((1, 2)))\n"
        "except (ValueError, AttributeError) as problem: print(problem)\n"
        "X, y = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 2.0], [3.0, 1.0]]), [0, 1, 0, 1]\n"
        "try: each.fit(X, y).predict(np.zeros((1, 3)))\n"
        "except ValueError as problem: print(problem)\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import StandardScaler\n"
        "print(make_pipeline(StandardScaler(), sx.Perceptron()).fit(X, y).predict(X).tolist())\n"
    )
    lines = run(code, cwd=folder).splitlines()
    assert lines[2].startswith("Invalid parameter 'c' for estimator LinearSVM(C=3.0)")
    assert "not fitted yet" in lines[3]
    assert lines[4] == "X has 3 features, but LinearSVM is expecting 2 features as input"
    assert lines[5] == "[0, 1, 0, 1]"


def test_a_model_of_the_command_is_the_one_that_python_fits(folder):
    model = sx.load(folder / "m.sx")
    printed = run(_RUN, "predict", "m.sx", "t.csv", cwd=folder).splitlines()[1:-1]
    import pyarrow.csv

    assert [line.split(",")[-1] for line in printed] == list(model.predict(pyarrow.csv.read_csv(folder / "t.csv")))
