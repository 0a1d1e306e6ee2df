"""Several classes: one certificate for each class against the rest, and one for each pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

from separatrix.certificates.certificate import Certificate, Check
from separatrix.certificates.data import read
from separatrix.certificates.fields import (
    CLASSES,
    VERSION,
    expect_fields,
    expect_format,
    listed,
    parse,
    written,
)
from separatrix.text import html_table, markdown

HEAD = ["classes", "verdict", "largest margin", "mistake bound"]


@dataclass(frozen=True)
class Certificates:
    """What :func:`separatrix.certify` gives for more than two classes.

    Attributes
    ----------
    rest : dict
        For each class, the certificate of that class against all others.
    pairs : dict
        For each pair of classes ``(a, b)``, in sorted order, the certificate of the two, rows of other classes left
        out. Row numbers are those of the whole table.
    """

    rest: dict[Any, Certificate]
    pairs: dict[tuple[Any, Any], Certificate]

    @property
    def all(self) -> tuple[Certificate, ...]:
        """All certificates, the classes first."""
        return (*self.rest.values(), *self.pairs.values())

    def verify(self, X: Any, y: Any) -> Check:
        """Prove every claim of every certificate again; see :meth:`separatrix.Certificate.verify`."""
        rows, classes, codes = read(X, y, finite=False)
        labels = classes.tolist()
        rest = all(each.positive == name and each.negative is None for name, each in self.rest.items())
        pairs = all((each.negative, each.positive) == names for names, each in self.pairs.items())
        if not (rest and pairs and list(self.rest) == labels and list(self.pairs) == list(combinations(labels, 2))):
            return Check(("there must be exactly one certificate for each class of y and one for each pair",))
        problems = []
        for certificate in self.all:
            check = certificate.verify_rows(rows, classes, codes)
            problems += [f"{certificate.names}: {problem}" for problem in check.problems]
        return Check(tuple(problems))

    def facts(self) -> list[list[str]]:
        """Return one line for each certificate: classes, verdict, margin and mistake bound in short."""
        return [[certificate.names, *certificate.facts()] for certificate in self.all]

    def __str__(self) -> str:
        return markdown(HEAD, self.facts())

    def explain(self) -> str:
        """Return all proofs in words."""
        return "\n\n".join(certificate.explain() for certificate in self.all)

    def _repr_html_(self) -> str:
        return html_table(HEAD, self.facts())

    def to_json(self) -> str:
        """Return all certificates as JSON text."""
        tree = {
            "format": CLASSES,
            "version": VERSION,
            "rest": [certificate.to_dict() for certificate in self.rest.values()],
            "pairs": [certificate.to_dict() for certificate in self.pairs.values()],
        }
        return written(tree)

    @classmethod
    def from_json(cls, text: str) -> Certificates:
        """Read what :meth:`to_json` wrote; nothing in it is run, and nothing is believed before ``verify``."""
        tree = parse(text)
        expect_format(tree, CLASSES)
        fields = expect_fields(tree, "the certificate", ("format", "version", "rest", "pairs"))
        rest, pairs = (
            [Certificate.from_dict(each) for each in listed(fields[name], name)] for name in ("rest", "pairs")
        )
        return cls(
            _by_name("rest", [(each.positive, each) for each in rest]),
            _by_name("pairs", [((each.negative, each.positive), each) for each in pairs]),
        )


def _by_name(what: str, entries: list[tuple[Any, Certificate]]) -> dict[Any, Certificate]:
    """Return the certificates by name; a second one of the same name would hide the first from every check."""
    by_name: dict[Any, Certificate] = {}
    for name, certificate in entries:
        if name in by_name:
            raise ValueError(f"{what} has two certificates of {certificate.names:.60}; one of each was expected")
        by_name[name] = certificate
    return by_name


def from_json(text: str) -> Certificate | Certificates:
    """Read a certificate of either kind."""
    tree = parse(text)
    if isinstance(tree, dict) and tree.get("format") == CLASSES:
        return Certificates.from_json(text)
    return Certificate.from_json(text)
