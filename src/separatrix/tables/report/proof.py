"""The certificate of a report: what is proved about the rows that the model was learned from, and what is not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.multiclass import HEAD, Certificates
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.subject import Subject, brief, data, details, isolated, number, paragraph, section, table

_SHORT = {
    "strict": ("yes, proved", "good"), "weak": ("only just", None), "none": ("no, proved", "bad"),
    None: ("not decided", None),
}  # fmt: skip


# Why there is no certificate, by what fit and update note of it: a word or two, and a sentence.
_LACKING = {
    "off": ("not asked", "the search for a proof was switched off"),
    "classes": ("not tried", "fit looks for no proof where there are so many classes"),
    "size": ("not kept", "the proof was too large for the model file"),
    "interrupted": ("not finished", "the run was interrupted before there was a proof"),
    "disk": ("not tried", "the rows were learned from disk, where fit looks for no proof"),
    "updated": ("no longer known", "the model has learned since"),
}

_RIGOROUS = (
    "The gap is computed anew from the rows, and all rounding is added to it: it may be larger than the one by which "
    "the solver decided to stop."
)
_FEW = 6  # proofs that are listed openly


def _lacking(facts: dict[str, Any]) -> tuple[str, str]:
    """Return why a model has no certificate."""
    return _LACKING.get(facts.get("uncertified", ""), ("not known", "the model file holds no proof"))


def short_verdict(subject: Subject) -> tuple[str, str | None, str]:
    """Return whether planes separate the classes in a word or two, how it is coloured, and what it is about."""
    certificate = subject.certificate
    if certificate is None:
        word, why = _lacking(subject.facts)
        return word, None, why
    return *_word(certificate), "for the rows learned from"


def _word(certificate: Certificate | Certificates) -> tuple[str, str | None]:
    if isinstance(certificate, Certificate):
        return _SHORT[certificate.separable]
    found = [each.separable for each in certificate.rest.values()]
    strict = found.count("strict")
    if strict == len(found):
        return _SHORT["strict"]
    if "none" in found or "weak" in found or strict:
        return f"{strict} of {len(found)} classes", None
    return _SHORT[None]


def verdict(subject: Subject) -> str:
    """Return whether planes separate the classes in a sentence for anyone."""
    certificate = subject.certificate
    if certificate is None:
        word, why = _lacking(subject.facts)
        known = "is no longer known" if word == "no longer known" else "is not known"
        return f"Whether planes can tell the classes apart without a mistake {known}: {why}."
    if isinstance(certificate, Certificate):
        return {
            "strict": "A flat plane can tell the two classes apart without one mistake on the rows that it learned "
            "from; this is proved.",
            "weak": "A flat plane can just about part the two classes, with rows of both on the plane itself; this is "
            "proved, and so is that none does better.",
            "none": "No flat plane tells the two classes apart without a mistake on the rows that it learned from; "
            "this is proved, so that some mistakes are not the model's fault.",
            None: "Whether a flat plane can tell the two classes apart without a mistake was not decided in the time "
            "there was.",
        }[certificate.separable]
    found = [each.separable for each in certificate.rest.values()]
    strict, k = found.count("strict"), len(found)
    if strict == k:
        return (
            "Flat planes can tell each class from all others without one mistake on the rows that it learned from; "
            "this is proved."
        )
    if strict == 0 and None not in found:
        return (
            f"None of the {k} classes can be told from all others by a flat plane without one mistake; this is proved."
        )
    if set(found) == {None}:
        return (
            "Whether a flat plane can tell a class from all others without a mistake was not decided for any of the "
            f"{k} classes in the time there was."
        )
    rest = "for the others it is proved that none does" if None not in found else "the others are not, or not decided"
    some = strict or "none"
    return f"Of the {k} classes, {some} can be told from all others by a flat plane without one mistake; {rest}."


def proof(subject: Subject) -> Element:
    """Return the section about the certificate."""
    found = subject.certificate
    if found is None:
        why = _lacking(subject.facts)[1]
        content: Content = [
            paragraph(f"The model holds no certificate: {why}."),
            paragraph(element("code", "separatrix certify MODEL SOURCE"), " looks for one anew."),
        ]
    else:
        content = [_claims(found), _meaning(found), _words(found)]
    return section("certificate", "What is proved", content, _objective(subject))


def _claims(found: Certificate | Certificates) -> list[Content]:
    if isinstance(found, Certificates):
        facts: list[list[Content]] = [[_named(each.names, each), *each.facts()] for each in found.all]
        k = len(found.rest)
        if len(facts) <= 2 * _FEW:
            return [table("Each class against the others, and each pair of classes", HEAD, facts)]
        pairs = table("Each pair of classes", HEAD, facts[k:])
        return [
            table("Each class against the others", HEAD, facts[:k]),
            details(f"The {len(facts) - k} pairs of classes", pairs, class_="many"),
        ]
    rows = [row for row in found.details() if not row[0].startswith(" ")]
    labels = {repr(label) for label in (found.positive, found.negative)}
    caption = re.sub("|".join(map(re.escape, labels)), lambda label: isolated(brief(label[0])), found.headline())
    return [table(caption, ["claim", "proved"], rows)]


def _meaning(found: Certificate | Certificates) -> list[Content]:
    every = [found] if isinstance(found, Certificate) else list(found.rest.values())
    verdicts = {each.separable for each in every}
    proved = []
    if "strict" in verdicts:
        proved.append(
            "Strictly separable: there is a plane with every one of these rows on its own side. The largest margin, "
            "the distance that the best such plane keeps from the nearest row, lies between the two numbers given."
        )
        proved.append(
            "The mistake bound: a perceptron that starts at zero makes at most so many mistakes on these rows before "
            "it makes none, in whatever order it meets them."
        )
    if "weak" in verdicts:
        proved.append("Weakly separable: a plane has no row on its wrong side, but every such plane touches some rows.")
    if "none" in verdicts:
        proved.append(
            "Not separable: whatever plane is drawn, at least one of these rows lies on its wrong side. No linear "
            "model gets all of them right; other columns, or a model that is not linear, might."
        )
    if None in verdicts:
        proved.append("Not decided: the search ended before it found a proof either way.")
    limits = [
        "It is about the rows that the model was learned from, with their numbers scaled as the model scales them. It "
        "says nothing about other rows: for those, the held-out rows speak.",
        "It is about all planes, not about the one that this model found.",
    ]
    crowded = [each for each in every if each.capacity.n <= each.capacity.dimension]
    if crowded:
        limits.append(
            "There are so few rows for so many numbers that planes separate almost any labels of them; that these are "
            "separable says little about the classes."
        )
    return [
        element("h3", "What this proves"),
        element("ul", [element("li", text) for text in proved], class_="plain"),
        element("h3", "What it does not prove"),
        element("ul", [element("li", text) for text in limits], class_="plain"),
        paragraph(
            "The proof does not trust whoever found it: when the model was fitted, each claim was computed again "
            "from the rows, in arithmetic that accounts for rounding. Rows that it names are those learned from, "
            "counted from 0; the lists of rows on this page count those of the source, from 1. This page repeats the "
            "claims; ",
            element("code", "separatrix certify MODEL SOURCE"), " proves them anew.", class_="note",
        ),
    ]  # fmt: skip


def _words(found: Certificate | Certificates) -> list[Content]:
    every = [found] if isinstance(found, Certificate) else list(found.all)
    if len(every) == 1:
        return [details("The proof in words", _paragraphs(every[0]))]
    told = [details(["The proof in words: ", _named(each.names, each)], _paragraphs(each)) for each in every]
    return [details(f"All {len(told)} proofs in words", told, class_="many")] if len(told) > _FEW else [told]


def _paragraphs(each: Certificate) -> list[Content]:
    out: list[Content] = []
    for part in each.explain().split("\n\n"):
        first, *lines = part.split("\n")
        out.append(paragraph(_named(first, each)))
        if lines:
            out.append(element("ul", [element("li", _named(line.strip(), each)) for line in lines], class_="plain"))
    return out


def _named(text: str, each: Certificate) -> list[Content]:
    """Return a sentence of a certificate with each label by itself, so that it turns no other word of it."""
    labels = [repr(label) for label in (each.positive, each.negative) if isinstance(label, str)]
    if not labels:
        return [text]
    parts = re.split("|".join(f"({re.escape(label)})" for label in sorted(labels, key=len, reverse=True)), text)
    return [data(part) if part in labels else part for part in parts if part]


def _objective(subject: Subject) -> list[Content]:
    """Return how far a support vector machine is from the best that there is."""
    estimator = subject.model.estimator
    gaps = getattr(estimator, "duality_gap_", None)
    values = getattr(estimator, "objective_", None)
    if gaps is None or values is None or subject.facts.get("updates"):
        return []
    gap, value = np.atleast_1d(gaps), np.atleast_1d(values)
    if not np.isfinite(value).all():
        return []
    names = subject.labels if len(gap) == len(subject.labels) else ["the model"]
    rows: list[list[Content]] = [
        [
            data(each),
            number(float(value[k]), 6),
            f"{float(gap[k]):.2g}",
            f"{float(gap[k] / value[k]) if value[k] else 0.0:.2g}",
        ]
        for k, each in enumerate(names[: len(gap)])
    ]
    return [
        element("h3", "How near the optimum it is"),
        paragraph(
            "A support vector machine minimises an objective: wide margins, few rows on the wrong side. A second "
            "problem, the dual, bounds it from below, so that the gap between the two says how far from the best this "
            "model can be at most. ", _RIGOROUS if subject.kind == "svm" else None,
        ),
        table(
            "Objective and duality gap", ["machine", "objective", "at most above the best", "as a part of it"], rows,
            numbers=(1, 2, 3),
        ),
    ]  # fmt: skip
