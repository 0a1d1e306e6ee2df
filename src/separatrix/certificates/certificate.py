"""The certificate: a verdict on two classes, the numbers that belong to it, and the witness that proves them."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from separatrix.certificates import words
from separatrix.certificates.data import Data, binary_data, read
from separatrix.certificates.fields import (
    DATA,
    VERSION,
    count,
    expect_fields,
    expect_format,
    finite,
    label,
    listed,
    parse,
    real,
    written,
)
from separatrix.certificates.proving import OUTWARD, NotFiniteError, ProvedBounds, prove, prove_exactly, useful
from separatrix.certificates.witness import Witness
from separatrix.text import html_table, times

_FIELDS = (
    "format", "version", "separable", "margin", "radius", "mistake_bound", "capacity", "positive", "negative",
    "fit_intercept", "contradictions", "n_contradictions", "data", "witness",
)  # fmt: skip


_FEW = 16  # points whose labellings are counted one by one


class Bracket(NamedTuple):
    """The largest margin that any plane has lies between these; 0 and 0 when no plane has any."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Capacity:
    """How many points can always be separated, and how many there are.

    Attributes
    ----------
    n, d : int
        Rows and features.
    dimension : int
        d + 1 (without an intercept d): the VC dimension of planes (Lecture 003). Every labelling of this many
        points in general position can be separated.
    """

    n: int
    d: int
    dimension: int

    @classmethod
    def of(cls, n: int, d: int, fit_intercept: bool) -> Capacity:
        """Return the capacity of planes for n points of d features."""
        return cls(n, d, d + 1 if fit_intercept else d)

    @property
    def chance(self) -> float:
        """The part of all labellings of n points in general position that some plane separates (Cover 1965)."""
        from scipy.special import bdtr

        return float(bdtr(self.dimension - 1, self.n - 1, 0.5)) if self.n > self.dimension else 1.0

    def __str__(self) -> str:
        points = f"{times(self.n, 'point')} in {times(self.d, 'dimension')}"
        always = f"planes separate every labelling of {times(self.dimension, 'point')} in general position"
        if self.n <= self.dimension:
            return f"{points}: {always}, so separability says nothing here"
        if self.n <= _FEW:
            return f"{points}: {always}, and {round(self.chance * 2**self.n)} of the {2**self.n} labellings of {self.n}"
        odds = f"one in {1.0 / self.chance:,.3g}" if self.chance >= 1e-300 else "almost none"
        return f"{points}: {always}, and {odds} of all labellings of {self.n}"


class MistakeBoundForm(NamedTuple):
    """The mistake bound as one lecture writes it."""

    lecture: str
    formula: str
    numbers: str
    value: float


@dataclass(frozen=True)
class Check:
    """The result of :meth:`separatrix.Certificate.verify`: true if every claim holds."""

    problems: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.problems

    def __str__(self) -> str:
        return "verified: every claim holds" if not self.problems else "rejected: " + "; ".join(self.problems)


@dataclass(frozen=True)
class Certificate:
    """A verdict on whether a plane separates two classes, with its proof. Made by :func:`separatrix.certify`.

    Attributes
    ----------
    separable : {"strict", "weak", "none"} or None
        "strict": some plane has every row on its correct side. "weak": no such plane, but one with every row on its
        correct side or on the plane itself, and at least one off it (quasi-complete separation). "none": not even
        that. None: not decided; the margin says how far it got.
    margin : Bracket
        ``margin.lower`` and ``margin.upper``: proved bounds on the largest distance from a plane to the nearest row.
    radius : float
        R, the length of the longest row, with the bias as a coordinate fixed to 1.
    mistake_bound : float
        The perceptron, started at zero, makes at most ``(R / gamma)^2`` mistakes; infinite when none is proved.
    capacity : Capacity
        Rows, features, and the VC dimension.
    witness : Witness
        The plane, and the rows with weights, that prove the above.
    positive, negative : label
        The two classes; ``negative`` is None when it is all others.
    fit_intercept : bool
        Whether planes may miss the origin.
    contradictions : tuple of pairs
        Identical rows with different labels, the first hundred pairs; ``n_contradictions`` counts all.
    data : str
        A key of the rows and labels that this is about.
    history : tuple
        How the search went: seconds, lower and upper bound of each look, the last as proved. Not part of the proof.
    """

    separable: str | None
    margin: Bracket
    radius: float
    mistake_bound: float
    capacity: Capacity
    witness: Witness
    positive: Any
    negative: Any
    fit_intercept: bool
    contradictions: tuple[tuple[int, int], ...]
    n_contradictions: int
    data: str
    history: tuple[tuple[float, float, float], ...] = field(default=(), compare=False, repr=False)

    # ------------------------------------------------------------------------------------------ made and checked

    @classmethod
    def of(cls, data: Data, witness: Witness, proof: ProvedBounds) -> Certificate:
        """Return the certificate of what this witness proves."""
        n_pairs, pairs = (0, ()) if proof.separable == "strict" else data.contradictions
        return cls(
            proof.separable,
            Bracket(proof.lower * (1.0 - OUTWARD), proof.upper * (1.0 + OUTWARD)),
            proof.radius(1.0 if data.free else 0.0) * (1.0 + OUTWARD),
            proof.mistakes(1.0 if data.free else 0.0) * (1.0 + 8.0 * OUTWARD),
            Capacity.of(data.n, data.d, data.free),
            useful(witness, proof),
            data.positive,
            data.negative,
            data.free,
            pairs,
            n_pairs,
            data.key,
        )

    def with_history(self, history: tuple[tuple[float, float, float], ...]) -> Certificate:
        """Return the same with the bracket over time: seconds, lower and upper bound of each look."""
        return replace(self, history=history)

    def verify(self, X: Any, y: Any) -> Check:
        """Prove every claim again from the data and the witness alone.

        Parameters
        ----------
        X, y
            The data, as they were given to ``certify``; dense or sparse, float32 or float64 make no difference.

        Returns
        -------
        Check
            True if all holds; ``str(check)`` says what does not.
        """
        return self.verify_rows(*read(X, y, finite=False))

    def verify_rows(self, rows: Any, classes: Any, codes: Any) -> Check:
        """Do the same with data that have been read."""
        labels = classes.tolist()
        positive, negative = _place(self.positive, labels), _place(self.negative, labels)
        if positive is None or (self.negative is not None and negative is None):
            seen = ", ".join(repr(each) for each in labels[:8]) + (", ..." if len(labels) > 8 else "")
            return Check((f"the labels are {seen}; the certificate is about {self.names:.200}",))
        intercept: Any = self.fit_intercept  # from a file it may be anything
        if not isinstance(intercept, bool):
            return Check((f"fit_intercept must be True or False; it is {intercept!r:.60}",))
        if positive == negative or (negative is None and len(labels) <= 2):
            return Check(("the certificate names one class twice, or the rest of two classes",))
        return self._check(binary_data(rows, classes, codes, self.fit_intercept, positive, negative))

    def _check(self, data: Data) -> Check:
        capacity = Capacity.of(data.n, data.d, data.free)
        if self.data != data.key or self.capacity != capacity:
            return Check(("the data differ from those of the certificate",))
        points = self.witness.points
        if points is not None and data.places(points.rows) is None:
            return Check(("witness.points names a row that does not exist, or a row twice",))
        try:
            proof = loosest = prove(data, self.witness)
            problems = self._wrong(proof, loosest)
            if problems:  # with other roundings they may be none
                proof, loosest = prove_exactly(data, self.witness)
                problems = self._wrong(proof, loosest)
        except NotFiniteError as problem:
            return Check((str(problem),))
        n_pairs, pairs = (0, ()) if proof.separable == "strict" else data.contradictions
        if (self.n_contradictions, self.contradictions) != (n_pairs, pairs):
            problems.append(f"contradictions do not match the data, which have {n_pairs}")
        return Check(tuple(problems))

    def _wrong(self, proof: ProvedBounds, loosest: ProvedBounds) -> list[str]:
        """Return what is not as the witness proves it; it may be a little weaker than the loosest of two proofs."""
        problems = []
        if self.separable != proof.separable:
            problems.append(f"separable is given as {self.separable!r:.60}; its witness proves {proof.separable!r}")
        needed = useful(self.witness, proof)
        problems += [
            f"witness.{name} proves nothing"
            for name in ("plane", "points")
            if getattr(needed, name) is not getattr(self.witness, name)
        ]
        if self.margin.lower > self.margin.upper:
            problems.append("margin.lower is above margin.upper")
        constant = 1.0 if self.fit_intercept else 0.0
        claims = (
            ("margin.lower", self.margin.lower, proof.lower, loosest.lower, -1.0),
            ("margin.upper", self.margin.upper, proof.upper, loosest.upper, 1.0),
            ("radius", self.radius, proof.radius(constant), loosest.radius(constant), 1.0),
            ("mistake_bound", self.mistake_bound, proof.mistakes(constant), loosest.mistakes(constant), 1.0),
        )
        for name, claimed, proved, weakest, outward in claims:
            beyond = weakest * (1.0 + outward * 32.0 * OUTWARD)
            if not min(proved, beyond) <= claimed <= max(proved, beyond):
                problems.append(f"{name} is given as {claimed:.17g}; its witness proves {proved:.17g}")
        return problems

    # ------------------------------------------------------------------------------------------ in words

    @property
    def mistake_forms(self) -> tuple[MistakeBoundForm, ...]:
        """The mistake bound as Lectures 000, 001 and 003 write it, one theorem in three notations."""
        value = self.mistake_bound
        if not 0 < value < math.inf or math.isinf(self.radius * self.radius):
            return ()
        gamma = self.radius / math.sqrt(value)
        beta, unit = self.radius * self.radius, 1.0 / math.sqrt(value)
        return (
            MistakeBoundForm("Lecture 000", "beta |w|^2 / alpha^2", f"{beta:.4g} * 1 / {gamma:.4g}^2", value),
            MistakeBoundForm("Lecture 001", "1 / gamma^2, the longest row scaled to 1", f"1 / {unit:.4g}^2", value),
            MistakeBoundForm("Lecture 003", "(beta^2 / m^2) |a|^2", f"({beta:.4g} / {gamma:.4g}^2) * 1", value),
        )

    @property
    def names(self) -> str:
        """The two classes by name."""
        if self.negative is None:
            return f"{self.positive!r} vs the rest"
        return f"{self.negative!r} vs {self.positive!r}"

    def __str__(self) -> str:
        return words.headline(self)

    def explain(self) -> str:
        """Return the proof in words, with its numbers."""
        return words.explanation(self)

    def headline(self) -> str:
        """Return the verdict in a sentence."""
        return f"{self}."

    def details(self) -> list[list[str]]:
        """Return each claim and what was proved of it, in short."""
        return words.details(self)

    def facts(self) -> list[str]:
        """Return verdict, margin and mistake bound in short."""
        return [words.VERDICTS[self.separable], words.margin(self), words.mistakes(self)]

    def _repr_html_(self) -> str:
        table = html_table(["claim", "proved"], self.details())
        return f"<p>{html.escape(self.headline())}</p>\n{table}"

    # ------------------------------------------------------------------------------------------ as a file

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {
            "format": DATA,
            "version": VERSION,
            "separable": self.separable,
            "margin": {"lower": self.margin.lower, "upper": finite(self.margin.upper)},
            "radius": finite(self.radius),
            "mistake_bound": finite(self.mistake_bound),
            "capacity": dict(vars(self.capacity)),
            "positive": self.positive,
            "negative": self.negative,
            "fit_intercept": self.fit_intercept,
            "contradictions": [list(pair) for pair in self.contradictions],
            "n_contradictions": self.n_contradictions,
            "data": self.data,
            "witness": self.witness.to_dict(),
        }

    def to_json(self) -> str:
        """Return the certificate as JSON text; floats come back to the same bits, whole numbers are text."""
        return written(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read what :meth:`to_json` wrote. Nothing in it is run, and nothing is believed before ``verify``."""
        return cls.from_dict(parse(text))

    @classmethod
    def from_dict(cls, tree: Any) -> Certificate:
        """Return the certificate that :meth:`to_dict` wrote, or refuse what is none."""
        expect_format(tree, DATA)
        fields = expect_fields(tree, "the certificate", _FIELDS)
        if fields["separable"] is not None and fields["separable"] not in list(words.VERDICTS):
            raise ValueError(f"separable must be 'strict', 'weak', 'none' or null; found {fields['separable']!r:.60}")
        margin = expect_fields(fields["margin"], "margin", ("lower", "upper"))
        capacity = expect_fields(fields["capacity"], "capacity", ("n", "d", "dimension"))
        if not isinstance(fields["fit_intercept"], bool):
            raise ValueError(f"fit_intercept must be true or false; found {fields['fit_intercept']!r:.60}")
        if not isinstance(fields["data"], str):
            raise ValueError(f"data must be a key in hexadecimal digits; found {fields['data']!r:.60}")
        pairs = listed(fields["contradictions"], "contradictions")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise ValueError("contradictions must be a list of pairs of rows")
        return cls(
            fields["separable"],
            Bracket(real(margin["lower"], "margin.lower"), real(margin["upper"], "margin.upper", infinite=True)),
            real(fields["radius"], "radius", infinite=True),
            real(fields["mistake_bound"], "mistake_bound", infinite=True),
            Capacity(*(count(capacity[name], f"capacity.{name}") for name in ("n", "d", "dimension"))),
            Witness.from_dict(fields["witness"]),
            label(fields["positive"], "positive"),
            None if fields["negative"] is None else label(fields["negative"], "negative"),
            fields["fit_intercept"],
            tuple((count(a, "contradictions"), count(b, "contradictions")) for a, b in pairs),
            count(fields["n_contradictions"], "n_contradictions"),
            fields["data"],
        )


def _place(name: Any, labels: list[Any]) -> int | None:
    """Return where a label stands among those of the data: 1 and 1.0 are one label, 1 and True are two."""
    same = (k for k, each in enumerate(labels) if each == name and isinstance(each, bool) == isinstance(name, bool))
    return next(same, None)
