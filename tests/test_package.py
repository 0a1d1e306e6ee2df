"""The package as a whole: its public names, what importing it loads, its README."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path

import separatrix as sx

ROOT = Path(__file__).parent.parent


def test_the_public_names_are_these():
    assert sx.__all__ == sorted([
        "ALMA",
        "AROW",
        "NHERD",
        "ROMMA",
        "SCW",
        "Ball",
        "Certificate",
        "Certificates",
        "Conditions",
        "Descent",
        "KernelPerceptron",
        "KernelSVM",
        "Labellings",
        "LinearSVM",
        "LogisticRegression",
        "Network",
        "Neuron",
        "OnlineSVM",
        "PassiveAggressive",
        "Perceptron",
        "Plane",
        "Problem",
        "RegularisationPath",
        "SecondOrderPerceptron",
        "Stream",
        "TablePreparation",
        "Trace",
        "Tuning",
        "certify",
        "datasets",
        "descend",
        "enclosing_ball",
        "exercise",
        "export",
        "importance",
        "kkt",
        "labellings",
        "load",
        "observers",
        "original_units",
        "path",
        "rules",
        "save",
        "solve",
        "stops",
        "stream",
        "trace",
        "tune",
    ])  # fmt: skip
    assert all(getattr(sx, name) is not None for name in sx.__all__)
    assert set(sx.__all__) <= set(dir(sx))
    assert sx.plots.__name__ == "separatrix.plots"
    assert "plots" in dir(sx)
    assert callable(sx.trace)
    assert callable(sx.solve)


def loaded_by(code):
    script = f"import sys, json; {code}; print(json.dumps(sorted({{name.split('.')[0] for name in sys.modules}})))"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_importing_the_package_loads_numpy_at_most():
    heavy = {
        "scipy", "sklearn", "pandas", "polars", "matplotlib", "rich", "typer", "joblib", "safetensors", "duckdb",
        "pyarrow",
    }  # fmt: skip
    assert not heavy & loaded_by("import separatrix")
    assert not heavy & loaded_by(
        "import separatrix as sx; sx.solve, sx.trace, sx.datasets, sx.observers, sx.save, sx.load"
    )
    assert not {"scipy", "sklearn", "pandas"} & loaded_by("import separatrix.cli.app")


def test_an_unknown_name_is_an_attribute_error():
    ran = subprocess.run(
        [sys.executable, "-c", "import separatrix; separatrix.nothing"], capture_output=True, text=True, timeout=120
    )
    assert "module 'separatrix' has no attribute 'nothing'" in ran.stderr


def test_the_readmes_examples_run():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        test = parser.get_doctest(block, names, f"README block {number}", "README.md", 0)
        assert test.examples
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.failures == 0


def test_versions_agree():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{sx.__version__}"' in project
    assert f"## {sx.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
