"""Whatever is changed in a certificate, it is refused or rejected, or what it claims is still true.

Every leaf of the JSON of every kind of certificate is changed in many ways, left out and doubled. What is then still
accepted must pass an oracle of its own, in fractions, which shares no code with the package.
"""

from __future__ import annotations

import copy
import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import separatrix as sx
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.data import binary_data, read
from separatrix.certificates.model import all_to_json
from separatrix.certificates.multiclass import from_json
from separatrix.certificates.proving import prove
from separatrix.certificates.witness import WeightedRows, Witness

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# ------------------------------------------------------------------------------------------------ the oracle


def number(value):
    """A number of a witness as a fraction: whole numbers are text."""
    return Fraction(int(value, 0)) if isinstance(value, str) else Fraction(value)


class Oracle:
    """What is true of two classes, known by hand (verdict, square of the largest margin) or counted in fractions."""

    def __init__(self, X, y, positive, negative, free, verdict, square):
        keep = [k for k, label in enumerate(y) if negative is None or label in (positive, negative)]
        self.rows = {k: [Fraction(value) for value in X[k]] for k in keep}
        self.signs = {k: 1 if y[k] == positive else -1 for k in keep}
        self.labels, self.free, self.verdict, self.square = (positive, negative), free, verdict, Fraction(square)

    def holds(self, claims, original):
        """Whether every claim of the file is true."""
        n, d = len(self.rows), len(next(iter(self.rows.values())))
        assert claims["format"] == original["format"]
        assert claims["version"] == original["version"]
        assert claims["data"] == original["data"]
        assert [claims["positive"], claims["negative"]] == list(self.labels)
        for name, label in zip(("positive", "negative"), self.labels, strict=True):  # 1.0 is 1, and True is not
            assert isinstance(claims[name], bool) == isinstance(label, bool)
        assert claims["fit_intercept"] is self.free
        assert claims["capacity"] == {"n": n, "d": d, "dimension": d + self.free}
        assert claims["separable"] in (None, self.verdict)
        lower, upper = claims["margin"]["lower"], claims["margin"]["upper"]
        assert Fraction(lower) >= 0
        assert Fraction(lower) ** 2 <= self.square
        assert upper is None or Fraction(upper) ** 2 >= self.square
        assert self.verdict == "strict" or claims["separable"] is None or upper == 0
        longest = max(sum(value**2 for value in row) for row in self.rows.values()) + self.free
        assert longest <= Fraction(claims["radius"]) ** 2 <= longest * Fraction(1 + 1e-6)
        self.contradictions_hold(claims)
        self.plane_holds(claims, longest)
        self.points_hold(claims["witness"]["points"], upper)

    def contradictions_hold(self, claims):
        points = {}
        for k, row in self.rows.items():
            points.setdefault(tuple(row), {}).setdefault(self.signs[k], k)
        pairs = sorted(sorted(firsts.values()) for firsts in points.values() if len(firsts) == 2)
        if claims["separable"] == "strict":
            assert not pairs
        assert claims["contradictions"] == pairs
        assert claims["n_contradictions"] == len(pairs)

    def plane_holds(self, claims, longest):
        plane, most = claims["witness"]["plane"], claims["mistake_bound"]
        if plane is None:
            assert claims["separable"] not in ("strict", "weak")
            assert most is None
            assert claims["margin"]["lower"] == 0
            return
        w, b = [number(value) for value in plane["weights"]], number(plane["bias"])
        assert self.free or b == 0
        sides = [self.signs[k] * (sum(p * q for p, q in zip(w, row, strict=True)) + b) for k, row in self.rows.items()]
        assert min(sides) > 0 if claims["separable"] == "strict" else min(sides) == 0 < max(sides)
        if claims["separable"] == "strict":
            square = sum(value**2 for value in w)
            assert Fraction(claims["margin"]["lower"]) ** 2 <= min(sides) ** 2 / square
            assert most is None or Fraction(most) >= longest * (square + b**2) / min(sides) ** 2

    def points_hold(self, points, upper):
        if points is None:
            assert upper is None
            return
        assert len(set(points["rows"])) == len(points["rows"]) == len(points["weights"])
        weights = dict(zip(points["rows"], map(number, points["weights"]), strict=True))
        assert min(weights.values()) > 0
        d = len(next(iter(self.rows.values())))

        def mean(sign):
            own = {k: weight for k, weight in weights.items() if sign in (0, self.signs[k])}
            total = sum(own.values())
            return [
                sum(weight * (self.signs[k] if sign == 0 else 1) * self.rows[k][j] for k, weight in own.items()) / total
                for j in range(d)
            ]

        vector = [(p - q) / 2 for p, q in zip(mean(1), mean(-1), strict=True)] if self.free else mean(0)
        assert sum(value**2 for value in vector) <= Fraction(upper) ** 2
        if isinstance(points["weights"][0], str):
            assert upper == 0
            assert not self.free or sum(self.signs[k] * weight for k, weight in weights.items()) == 0


# ------------------------------------------------------------------------------------------------ the changes


def leaves(node, path=()):
    """Yield the place of every leaf, and of every list."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*path, key))
    if not isinstance(node, dict):
        yield path


def others(value):
    """Yield other values, some of them hardly different."""
    yield from (None, True, False, 0, -1, 1, 0.0, 0.5, -0.0, 1e308, 2**53 + 1, "", "x", "1", "strict", "weak", "none")
    yield from ([], {}, [value], {"value": value}, str(value))
    if isinstance(value, str):
        yield from (value + " ", value.upper(), value[::-1], value[:-1])
        if value.lstrip("-").isdigit():
            whole = int(value)
            yield from (str(whole + 1), str(whole - 1), str(2 * whole), str(-whole), hex(whole), whole, float(whole))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from (value + 1, value - 1, 2 * value, value / 2, -value, float(value), int(value))
        for part in (1e-15, 1e-12, 1e-9, 1e-8, 1e-7, 1e-5, 1e-2):
            yield from (value * (1 + part), value * (1 - part))
    elif isinstance(value, list):
        yield from (value[::-1], value[1:], value[:-1], value * 2, [*value, *value[:1]], [*value, 0], [0, *value])


def at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def changed(tree, among=None):
    """Yield a text for every change of every leaf."""
    for path in among or list(leaves(tree)):
        if not path:
            continue
        *before, last = path
        value = at(tree, path)
        holder = at(tree, before)
        for other in others(value):
            if type(other) is type(value) and (other == value and repr(other) == repr(value)):
                continue
            forged = copy.deepcopy(tree)
            at(forged, before)[last] = other
            yield json.dumps(forged)
            if isinstance(holder, dict):  # the forged one first and last: readers differ in which they keep
                for fields in ({f"@{last}": other, **holder}, {**holder, f"@{last}": other}):
                    yield doubled(tree, before, fields)
        forged = copy.deepcopy(tree)
        del at(forged, before)[last]
        yield json.dumps(forged)
        if isinstance(holder, dict):
            yield doubled(tree, before, {**holder, f"@{last}": value})
            forged = copy.deepcopy(tree)
            at(forged, before)["note"] = value
            yield json.dumps(forged)


def understood(text):
    """What a reader finds in an accepted text; with a field twice, readers would differ."""

    def once(pairs):
        assert len({name for name, _ in pairs}) == len(pairs)
        return dict(pairs)

    return json.loads(text, object_pairs_hook=once)


def doubled(tree, path, fields):
    """Return the text with an object whose fields that begin with @ stand there twice."""
    forged = copy.deepcopy(tree)
    if not path:
        forged = fields
    else:
        at(forged, path[:-1])[path[-1]] = fields
    return json.dumps(forged).replace('"@', '"')


def accepted(text, X, y):
    """Whether the text is read and verified; what is not read gets one line."""
    try:
        claims = from_json(text)
    except ValueError as problem:
        assert "\n" not in str(problem)  # noqa: PT017
        return False
    return bool(claims.verify(X, y))


# ------------------------------------------------------------------------------------------------ the cases

TOUCHING = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]], [0, 0, 1, 1]
ALIKE = [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], ["a", "a", "b", "b", "b"]
THROUGH = [[2.0, 1.0], [3.0, -1.0], [-2.0, 1.0], [-4.0, 0.0]], [True, True, False, False]
CORNERS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
LINE = [[0.0], [1.0], [4.0], [5.0], [8.0], [9.0]], ["a", "a", "b", "b", "c", "c"]

CASES = {
    "strict": (CORNERS, [0, 0, 0, 1], True, "strict", Fraction(1, 8)),
    "weak": (*TOUCHING, True, "weak", 0),
    "none": (CORNERS, [0, 1, 1, 0], True, "none", 0),
    "contradictions": (*ALIKE, True, "weak", 0),
    "through the origin": (*THROUGH, False, "strict", 4),
    "not decided": (CORNERS, [0, 0, 0, 1], True, "strict", Fraction(1, 8)),
}


def certified(name):
    X, y, free, verdict, square = CASES[name]
    oracle = Oracle(X, y, sorted(set(y))[1], sorted(set(y))[0], free, verdict, square)
    if name != "not decided":
        return X, y, sx.certify(X, y, fit_intercept=free), oracle
    data = binary_data(*read(X, y), True, 1, 0)
    witness = Witness(None, WeightedRows((1, 2, 3), (0.25, 0.25, 0.5)))
    return X, y, Certificate.of(data, witness, prove(data, witness)), oracle


@pytest.mark.parametrize("name", CASES)
def test_no_change_of_a_leaf_makes_a_false_claim_pass(name):
    X, y, certificate, oracle = certified(name)
    tree = json.loads(certificate.to_json())
    assert certificate.separable == (None if name == "not decided" else oracle.verdict)
    assert accepted(json.dumps(tree), X, y)
    oracle.holds(tree, tree)
    tried = passed = 0
    for text in changed(tree):
        tried += 1
        if accepted(text, X, y):
            passed += 1
            oracle.holds(understood(text), tree)
    assert tried > 1000
    assert passed < tried / 20


def test_the_oracle_sees_false_claims():
    X, y, certificate, oracle = certified("strict")
    tree = json.loads(certificate.to_json())
    for path, value in (
        (("separable",), "weak"),
        (("margin", "lower"), 0.36),
        (("margin", "upper"), 0.35),
        (("radius",), 1.7),
        (("mistake_bound",), 20.0),
        (("n_contradictions",), 1),
        (("positive",), True),
        (("witness", "plane", "bias"), 0.0),
        (("witness", "points"), None),
    ):
        forged = copy.deepcopy(tree)
        at(forged, path[:-1])[path[-1]] = value
        assert not accepted(json.dumps(forged), X, y)
        with pytest.raises(AssertionError):
            oracle.holds(forged, tree)


# ------------------------------------------------------------------------------------------------ several classes


@pytest.fixture(scope="module")
def several():
    X, y = LINE
    tree = json.loads(sx.certify(X, y).to_json())
    middle = ("none", 0)
    oracles = [
        Oracle(X, y, name, None, True, *(middle if name == "b" else ("strict", Fraction(9, 4)))) for name in "abc"
    ]
    for a, b in combinations("abc", 2):
        oracles.append(Oracle(X, y, b, a, True, "strict", Fraction(49, 4) if a + b == "ac" else Fraction(9, 4)))
    return X, y, tree, oracles


def all_hold(tree, original, oracles):
    assert [len(tree[name]) for name in ("rest", "pairs")] == [3, 3]
    assert {name: tree[name] for name in ("format", "version")} == {
        name: original[name] for name in ("format", "version")
    }
    for claims, before, oracle in zip(
        tree["rest"] + tree["pairs"], original["rest"] + original["pairs"], oracles, strict=True
    ):
        oracle.holds(claims, before)


@pytest.mark.parametrize("entry", [("rest", 0), ("rest", 1), ("pairs", 2)], ids=str)
def test_no_change_of_one_of_several_certificates_makes_a_false_claim_pass(several, entry):
    X, y, tree, oracles = several
    all_hold(tree, tree, oracles)
    among = [path for path in leaves(tree) if path[:2] == entry]
    for text in changed(tree, among[:: 1 if entry == ("rest", 1) else 2]):
        if accepted(text, X, y):
            all_hold(understood(text), tree, oracles)


def test_entries_that_are_doubled_missing_moved_or_of_no_class_are_refused(several):
    X, y, tree, _ = several
    assert accepted(json.dumps(tree), X, y)
    for name in ("rest", "pairs"):
        other = "pairs" if name == "rest" else "rest"
        for k in range(3):
            entry = tree[name][k]
            false = {**entry, "separable": "none" if entry["separable"] == "strict" else "strict"}
            unknown, half = {**entry, "positive": "d"}, {**entry, "positive": 1}
            for lists in (
                {name: [*tree[name], entry]},
                {name: [entry, *tree[name]]},
                {name: [false, *tree[name]]},
                {name: [*tree[name], false]},
                {name: [*tree[name][:k], false, *tree[name][k:]]},
                {name: [*tree[name], unknown]},
                {name: [*tree[name], half]},
                {name: tree[name][:k] + tree[name][k + 1 :]},
                {name: tree[name][::-1]},
                {name: [*tree[name][:k], tree[other][k], *tree[name][k + 1 :]]},
                {other: [*tree[other], entry]},
                {name: []},
                {name: {}},
                {name: {str(k): each for k, each in enumerate(tree[name])}},
                {name: None},
                {"more": tree[name]},
            ):
                assert not accepted(json.dumps({**tree, **lists}), X, y), (name, k, list(lists))
        for fields in ({f"@{name}": [], **tree}, {**tree, f"@{name}": tree[name]}):
            with pytest.raises(ValueError, match=f"the field '{name}' twice"):
                from_json(doubled(tree, (), fields))
    with pytest.raises(ValueError, match="rest has two certificates of 'a' vs the rest"):
        from_json(json.dumps({**tree, "rest": [tree["rest"][0], *tree["rest"]]}))


# ------------------------------------------------------------------------------------------------ of models


@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(),
        sx.Perceptron(readout="averaged"),
        sx.Perceptron(readout="voted"),
        sx.Neuron(max_iter=3),
        sx.LinearSVM(),
        sx.OnlineSVM(max_iter=3),
        sx.AROW(covariance="full", max_iter=3),
        sx.SCW(max_iter=3),
        sx.ROMMA(max_iter=3),
        sx.ALMA(max_iter=3),
        sx.SecondOrderPerceptron(covariance="full", max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_certificate_of_a_model_is_never_taken_for_one_of_data(model, classes):
    X, y = np.array(LINE[0][: 2 * classes]), LINE[1][: 2 * classes]
    certificate = model.fit(X, y).certificate_
    text = all_to_json(certificate) if isinstance(certificate, dict) else certificate.to_json()
    with pytest.raises(ValueError, match="certificate"):
        from_json(text)
    tree = json.loads(text)
    claims = tree[0] if classes > 2 else tree
    for text in changed(claims, [path for path in leaves(claims) if path[0] != "data"]):
        assert not accepted(text, X, y)
    for kind in ("separatrix certificate", "separatrix certificates of several classes"):
        assert not accepted(json.dumps({**claims, "format": kind}), X, y)


def test_a_claim_that_no_witness_backs_is_rejected():
    X, y, certificate, _ = certified("none")
    tree = json.loads(certificate.to_json())
    tree["witness"]["plane"] = {"weights": ["1", "0"], "bias": "0"}
    assert str(from_json(json.dumps(tree)).verify(X, y)) == "rejected: witness.plane proves nothing"
    X, y, certificate, _ = certified("strict")
    tree = json.loads(certificate.to_json())
    tree["margin"]["upper"], tree["witness"]["points"] = None, {"rows": [3], "weights": [1.0]}
    assert str(from_json(json.dumps(tree)).verify(X, y)) == "rejected: witness.points proves nothing"
    assert math.isinf(from_json(json.dumps(tree)).margin.upper)
