"""The certificate in a report: what is proved about the training rows, and what is not."""

from __future__ import annotations

import re

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.multiclass import HEAD, Certificates
from separatrix.tables.preparation import FEATURES
from separatrix.tables.report.blocks import brief, data, details, isolated, number, paragraph, section, table
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element

_SHORT = {
    "strict": ("yes, proved", "good"), "weak": ("weakly, proved", None), "none": ("no, proved", "bad"),
    None: ("undecided", None),
}  # fmt: skip


# Why there is no certificate, by what fit and update record: a word or two, and a sentence.
_UNCERTIFIED = {
    "off": ("not requested", "certification was turned off"),
    "classes": ("not tried", "there are too many classes"),
    "size": ("not kept", "the certificate was too large for the model file"),
    "interrupted": ("not finished", "the run was interrupted before certification"),
    "disk": ("not tried", "the rows were on disk, where fit does not certify"),
    "encoded": ("not tried", "target-encoded training rows are cross-fitted, so nobody could verify a certificate"),
    "updated": ("no longer known", "the model was updated after the fit"),
}

_MINIMISED = {
    False: "An SVM minimises an objective that trades a wide margin against training errors.",
    True: "Logistic regression minimises an objective that trades small weights against the log loss of training rows.",
}
_RIGOROUS = (
    "The gap is recomputed from the rows and includes all rounding errors, so it may be larger than the gap at which "
    "the solver stopped."
)
_FEW = 6  # proofs that are not folded


def _uncertified(context: ReportContext) -> tuple[str, str]:
    """Return why a model has no certificate."""
    return _UNCERTIFIED.get(context.facts.no_certificate, ("unknown", "the model file has none"))


def short_verdict(context: ReportContext) -> tuple[str, str | None, str]:
    """Return whether the classes are linearly separable in a word or two, its colour, and what it is about."""
    certificate = context.certificate
    if certificate is None:
        word, why = _uncertified(context)
        return word, None, why
    return *_word(certificate), "training rows"


def _word(certificate: Certificate | Certificates) -> tuple[str, str | None]:
    if isinstance(certificate, Certificate):
        return _SHORT[certificate.separable]
    verdicts = [each.separable for each in certificate.rest.values()]
    strict = verdicts.count("strict")
    if strict == len(verdicts):
        return _SHORT["strict"]
    if "none" in verdicts or "weak" in verdicts or strict:
        return f"{strict} of {len(verdicts)} classes", None
    return _SHORT[None]


def verdict(context: ReportContext) -> str:
    """Return whether the classes are linearly separable, in a sentence."""
    certificate = context.certificate
    if certificate is None:
        known = "no longer known" if context.facts.updates else "not known"
        return f"Linear separability is {known}: {_uncertified(context)[1]}."
    if isinstance(certificate, Certificate):
        return {
            "strict": "The two classes are linearly separable on the training rows (proved): some plane has each class "
            "entirely on its own side.",
            "weak": "The two classes are weakly separable on the training rows (proved): some plane has no row on its "
            "wrong side, but every such plane touches rows of both classes.",
            "none": "The two classes are not linearly separable on the training rows (proved): every plane "
            "misclassifies at least one row.",
            None: "Linear separability was not decided within the time limit.",
        }[certificate.separable]
    verdicts = [each.separable for each in certificate.rest.values()]
    strict, k = verdicts.count("strict"), len(verdicts)
    if strict == k:
        return (
            "Each class is linearly separable from all others on the training rows (proved): some plane has the class "
            "entirely on its own side."
        )
    if strict == 0 and None not in verdicts:
        return f"None of the {k} classes is linearly separable from all others on the training rows (proved)."
    if set(verdicts) == {None}:
        return f"Linear separability was not decided within the time limit for any of the {k} classes."
    rest = "the others are not" if None not in verdicts else "the others are not, or undecided"
    return (
        f"{strict or 'None'} of {k} classes {'is' if strict < 2 else 'are'} linearly separable from all others; {rest}."
    )


def certificate(context: ReportContext) -> Element:
    """Return the section about the certificate."""
    proved = context.certificate
    if proved is None:
        content: Content = [
            paragraph(f"The model has no certificate: {_uncertified(context)[1]}."),
            paragraph(element("code", "separatrix certify MODEL SOURCE"), " computes one."),
        ]
    else:
        features = FEATURES[context.model.preparation.scale]
        content = [_claims(proved, features), _meaning(proved, features), _words(proved)]
    return section("certificate", "Linear separability", content, _objective(context))


def _claims(proved: Certificate | Certificates, features: str) -> list[Content]:
    if isinstance(proved, Certificates):
        facts: list[list[Content]] = [[_named(each.names, each), *each.facts()] for each in proved.all]
        k = len(proved.rest)
        if len(facts) <= 2 * _FEW:
            return [table(f"Each class against the others, and each pair of classes ({features}; proved)", HEAD, facts)]
        pairs = table(f"Each pair of classes ({features}; proved)", HEAD, facts[k:])
        return [
            table(f"Each class against the others ({features}; proved)", HEAD, facts[:k]),
            details(f"The {len(facts) - k} pairs of classes", pairs, class_="many"),
        ]
    rows = [row for row in proved.details() if not row[0].startswith(" ")]
    labels = {repr(label) for label in (proved.positive, proved.negative)}
    caption = re.sub("|".join(map(re.escape, labels)), lambda label: isolated(brief(label[0])), proved.headline())
    return [table(caption, ["claim", "proved"], rows)]


def _meaning(certificate: Certificate | Certificates, features: str) -> list[Content]:
    every = [certificate] if isinstance(certificate, Certificate) else list(certificate.rest.values())
    verdicts = {each.separable for each in every}
    proved = []
    if "strict" in verdicts:
        proved.append(
            "Strictly separable: some plane has all rows of each class on their own side. The largest margin, the "
            "distance of the best such plane from the nearest row, lies between the two numbers given."
        )
        proved.append(
            "Mistake bound: a perceptron that starts at zero makes at most this many mistakes on these rows, in any "
            "order, before it makes none."
        )
    if "weak" in verdicts:
        proved.append(
            "Weakly separable: some plane has no row on its wrong side, but every such plane touches some rows."
        )
    if "none" in verdicts:
        proved.append(
            "Not separable: every plane has at least one row on its wrong side. No linear model classifies all of them "
            "correctly; other features or a nonlinear model might."
        )
    if None in verdicts:
        proved.append("Undecided: the time limit was reached before a proof was found either way.")
    limits = [
        f"The certificate is about the training rows in {features}. It says nothing about other rows; the test "
        "accuracy does.",
        "It is about all planes, not about the plane of this model.",
    ]
    crowded = [each for each in every if each.capacity.n <= each.capacity.dimension]
    if crowded:
        limits.append(
            "There are no more rows than features, so planes separate almost any labelling of the rows; separability "
            "says little about the classes."
        )
    return [
        element("h3", "What this proves"),
        element("ul", [element("li", text) for text in proved], class_="plain"),
        element("h3", "What it does not prove"),
        element("ul", [element("li", text) for text in limits], class_="plain"),
        paragraph(
            "The proof does not trust the solver: each claim was checked against the rows with rigorous error bounds "
            "when the model was fitted. Its row numbers are those of the training rows, from 0; the lists of rows in "
            "this report count the rows of the source, from 1. ",
            element("code", "separatrix certify MODEL SOURCE"), " proves the claims again.", class_="note",
        ),
    ]  # fmt: skip


def _words(certificate: Certificate | Certificates) -> list[Content]:
    every = [certificate] if isinstance(certificate, Certificate) else list(certificate.all)
    if len(every) == 1:
        return [details("The proof in words", _paragraphs(every[0]))]
    proofs = [details(["The proof in words: ", _named(each.names, each)], _paragraphs(each)) for each in every]
    return [details(f"All {len(proofs)} proofs in words", proofs, class_="many")] if len(proofs) > _FEW else [proofs]


def _paragraphs(each: Certificate) -> list[Content]:
    out: list[Content] = []
    for part in each.explain().split("\n\n"):
        first, *lines = part.split("\n")
        out.append(paragraph(_named(first, each)))
        if lines:
            out.append(element("ul", [element("li", _named(line.strip(), each)) for line in lines], class_="plain"))
    return out


def _named(text: str, each: Certificate) -> list[Content]:
    """Return a sentence of a certificate with isolated labels, so that right-to-left ones affect no other word."""
    labels = [repr(label) for label in (each.positive, each.negative) if isinstance(label, str)]
    if not labels:
        return [text]
    parts = re.split("|".join(f"({re.escape(label)})" for label in sorted(labels, key=len, reverse=True)), text)
    return [data(part) if part in labels else part for part in parts if part]


def _objective(context: ReportContext) -> list[Content]:
    """Return the duality gap of an SVM."""
    estimator = context.model.estimator
    gaps = getattr(estimator, "duality_gap_", None)
    values = getattr(estimator, "objective_", None)
    if gaps is None or values is None or context.facts.updates:
        return []
    gap, value = np.atleast_1d(gaps), np.atleast_1d(values)
    if not np.isfinite(value).all():
        return []
    names = context.labels if len(gap) == len(context.labels) else ["the model"]
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
        element("h3", "Duality gap"),
        paragraph(
            f"{_MINIMISED[context.facts.settings.model == 'logistic']} The dual problem bounds "
            "it from below, and the duality gap bounds the distance of this model from the optimum. ",
            _RIGOROUS if context.facts.settings.model == "svm" else None,
        ),
        table(
            "Objective and duality gap", ["problem", "objective", "duality gap", "relative gap"], rows,
            numbers=(1, 2, 3),
        ),
    ]  # fmt: skip
