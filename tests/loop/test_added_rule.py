"""docs/add_a_rule.md followed to the letter: its rule, the C++ struct, compiled, its estimator, and their lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from separatrix import _core
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import Hinged, Update
from separatrix.stops import MaxEpochs

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "add_a_rule.md").read_text(encoding="utf-8")
MAIN = r"""
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core.hpp"
#include "descent.hpp"
#include "dual.hpp"
#include "exact.hpp"
#include "margin.hpp"
#include "multinomial.hpp"
#include "newton.hpp"

namespace sx::added {
extern const Kernels kernels;
extern const DualKernels dual_kernels;
extern const MarginKernels margin_kernels;
extern const ExactKernels exact_kernels;
extern const DescentKernels descent_kernels;
extern const MultinomialKernels multinomial_kernels;
extern const NewtonKernels newton_kernels;
const DualKernels dual_kernels{};  // which no rule needs
const MarginKernels margin_kernels{};
const ExactKernels exact_kernels{};
const DescentKernels descent_kernels{};
const MultinomialKernels multinomial_kernels{};
const NewtonKernels newton_kernels{};
}  // namespace sx::added

// Reads n, d, eta, epochs and the rows, each after its class, and runs the rule of the name given; prints the bias, the
// number of updates and the weights.
int main(int, char** arguments) {
    using namespace sx;
    const Kernels& core = added::kernels;
    long n, d, epochs;
    double eta;
    if (scanf("%ld %ld %lf %ld", &n, &d, &eta, &epochs) != 4) return 1;
    double* x = static_cast<double*>(calloc(n * d, sizeof(double)));
    int32_t* codes = static_cast<int32_t*>(calloc(n, sizeof(int32_t)));
    for (long i = 0; i < n; ++i) {
        if (scanf("%d", codes + i) != 1) return 1;
        for (long j = 0; j < d; ++j) {
            if (scanf("%lf", x + i * d + j) != 1) return 1;
        }
    }
    Rule rule{-1, {eta}};
    for (int k = 0; k < core.n_rules; ++k) {
        if (strcmp(core.rules[k].name, arguments[1]) == 0) rule.number = k;
    }
    if (rule.number < 0 || core.rules[rule.number].refuse(rule.parameters)) return 2;
    double real[real_slots] = {};
    real[scale] = real[rate] = real[epoch_loss_factor] = 1.0;
    int64_t count[count_slots] = {};
    BinaryTask task{};
    task.w = static_cast<double*>(calloc(d, sizeof(double)));
    task.real = real;
    task.count = count;
    task.positive = 1;
    task.tie_is_mistake[0] = task.tie_is_mistake[1] = true;
    const Matrix X{Layout::dense, Value::f64, Index::i32, x, nullptr, nullptr, n, d, d};
    double clock = 0.0;
    for (long epoch = 0; epoch < epochs; ++epoch) {
        Pass pass{codes, nullptr, nullptr, nullptr, 0, n, n, 1.0, clock, nullptr};
        if (core.visit(X, pass, rule, &task, 1) != all_good) return 3;
        clock = pass.clock;
    }
    printf("%.17g %lld\n", real[bias], static_cast<long long>(count[updates]));
    for (long j = 0; j < d; ++j) printf("%.17g\n", task.w[j]);
    return 0;
}
"""
# A rule that reads n, which none of the package does: shorter steps the longer the weights, and half of them at each.
NORMED = """
struct Normed : BelowOne {
    static constexpr const char* name = "normed";
    static constexpr bool kShrinks = true, kNorm = true, kFolds = false;
    SX_PARAMETERS("eta");
    double eta;

    explicit Normed(const double* p) : eta(p[0]) {}
    SX_HOT Update step(const Loss& at, double, double n, const Time&) const {
        return at.margin < 1.0 ? Update{0.5, eta / (1.0 + n)} : Update{1.0, 0.0};
    }
};
"""


@dataclass(frozen=True)
class Normed(Hinged):
    eta: float = 1.0
    alpha: ClassVar[float] = 0.0
    name: ClassVar[str] = "normed"
    rate_name: ClassVar[str] = "eta"
    remedy: ClassVar[str] = "nothing"

    def step(self, m, q, a, n, t):
        return Update(0.5, self.eta / (1.0 + n)) if m < 1 else Update(1, 0)


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture
def compiler():
    name = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if name is None:
        if os.environ.get("SEPARATRIX_TEST_EXPORTS") == "required":
            pytest.fail("no C++ compiler")
        pytest.skip("no C++ compiler")
    return name


@pytest.fixture
def relaxation():
    """The rule of the page's Python file."""
    (file,) = [block for block in blocks("python") if block.startswith("# src/separatrix/rules/relaxation.py")]
    module = type(sys)("relaxation")
    sys.modules["relaxation"] = module  # where dataclasses look for its names
    exec(compile(file, "relaxation.py", "exec"), module.__dict__)
    yield module.__dict__["Relaxation"]
    del sys.modules["relaxation"]


@pytest.mark.skipif(sys.platform == "win32", reason="the command line is that of g++ and clang++")
def test_one_python_file_one_struct_and_one_name_make_a_compiled_rule(tmp_path, compiler, relaxation):
    (struct,) = blocks("cpp")
    core = tmp_path / "core"
    shutil.copytree(ROOT / "src" / "_core", core)
    rules = (core / "rules.hpp").read_text(encoding="utf-8")
    listed = re.search(r"using Rules = List<(.*?)>;", rules, flags=re.DOTALL)
    assert listed is not None
    place = rules.index("template <class... R>\nstruct List")
    rules = rules[:place] + struct + NORMED + rules[place:]
    rules = rules.replace(listed[0], f"using Rules = List<{listed[1]}, Relaxation, Normed>;")
    (core / "rules.hpp").write_text(rules, encoding="utf-8")
    (core / "main.cpp").write_text(MAIN, encoding="utf-8")
    options = ["-std=c++20", "-O0", "-ffp-contract=off", "-fno-math-errno", "-DSX_BUILD=added"]
    built = subprocess.run(
        [compiler, *options, "kernels.cpp", "main.cpp", "-o", "added"], cwd=core, capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    y = (X @ rng.standard_normal(5) + 0.7 * rng.standard_normal(60) > 0).astype(int)
    rows = "\n".join(f"{label} " + " ".join(repr(float(v)) for v in x) for x, label in zip(X, y, strict=True))
    for rule in (relaxation(eta=0.75), Normed(eta=0.75)):
        expected = solve(Problem(X, y), rule, engine="reference", stop=MaxEpochs(4))
        ran = subprocess.run(
            ["./added", rule.name], cwd=core, input=f"60 5 0.75 4\n{rows}\n", capture_output=True, text=True, check=True
        )
        bias, updates, *weights = (float(word) for word in ran.stdout.split())
        assert updates == expected.n_updates > 10
        np.testing.assert_allclose([*weights, bias], [*expected.weights, expected.bias], rtol=1e-10)


RUN = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "Redirecting" not in type(each).__name__]  # of editable installs
import separatrix as sx
assert sx.__file__.startswith(sys.argv[1]), sx.__file__
from separatrix.cli import main
"""
TRACED = """
print(sx.trace([[1, 1], [-1, 0]], [1, -1], rule="relaxation").weights)
sys.argv = ["separatrix", "trace", "and", "--rule", "relaxation", "--max-iter", "1"]
main()
"""
FITTED = """
from sklearn.base import clone
assert repr(clone(sx.RelaxedPerceptron(eta=0.5))) == "RelaxedPerceptron(eta=0.5)"
assert "RelaxedPerceptron" in sx.__all__
sys.argv = ["separatrix", "fit", "penguins", "--target", "species", "--model", "relaxed", "-o", "m.sx"]
try:
    main()
except SystemExit as ended:
    assert not ended.code
print(type(sx.load("m.sx").estimator).__name__)
"""
KERNEL = 'kernel: ClassVar[str] = "threshold"'


@pytest.fixture
def package(tmp_path):
    """A copy of the package with the rule of the page and its line."""
    copied = tmp_path / "separatrix"
    shutil.copytree(ROOT / "src" / "separatrix", copied, ignore=shutil.ignore_patterns("__pycache__", "_core*.so"))
    (copied / Path(_core.__file__).name).symlink_to(_core.__file__)
    add_file(copied, "rules", "relaxation")
    add_line(copied / "rules" / "__init__.py", "\nRULES: ", "\nfrom separatrix.rules.relaxation import Relaxation\n")
    add_line(copied / "rules" / "__init__.py", "        SCW2, NHERD", "        Relaxation,\n")
    return copied


def add_file(package, room, name):
    (file,) = [block for block in blocks("python") if block.startswith(f"# src/separatrix/{room}/{name}.py")]
    (package / room / f"{name}.py").write_text(file, encoding="utf-8")


def add_line(path, place, line):
    """Add a line before a place in a list."""
    before, found, after = path.read_text(encoding="utf-8").partition(place)
    assert found
    path.write_text(before + line + found + after, encoding="utf-8")


def ran_in(package, code):
    """Return what code prints that runs with a copy of the package."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", RUN + code, str(package.parent)]
    ran = subprocess.run(command, cwd=package.parent, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def test_one_line_in_the_package_makes_a_rule_known_to_traces_and_the_command_line(package):
    weights, *table = ran_in(package, TRACED)
    assert weights == "(Fraction(5, 6), Fraction(1, 3))"
    assert any("new weight" in line for line in table)


def test_one_more_file_its_name_and_a_line_make_an_estimator_and_a_model_of_the_command_line(package):
    add_file(package, "estimators", "relaxed_perceptron")
    rule = package / "rules" / "relaxation.py"  # the core is as it was: there the perceptron stands in
    rule.write_text(rule.read_text(encoding="utf-8").replace('kernel: ClassVar[str] = "relaxation"', KERNEL), "utf-8")
    listed, name = package / "estimators" / "__init__.py", "RelaxedPerceptron"
    add_line(listed, "\n__all__", f"    from separatrix.estimators.relaxed_perceptron import {name}\n")
    add_line(listed, '    "SecondOrderPerceptron",', f'    "{name}",\n')
    (line,) = [line for line in PAGE.splitlines(keepends=True) if line.startswith('    "relaxed": ')]
    add_line(package / "tables" / "kinds.py", '    "sop": ', line)
    assert ran_in(package, FITTED)[-1] == name
