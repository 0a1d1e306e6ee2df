"""Provenance of the model: data, settings, preprocessing, versions and fingerprints."""

from __future__ import annotations

import platform
from typing import Any

from separatrix import __version__
from separatrix.stops import AnyOf
from separatrix.tables.preparation import LACKING, SCALING, Feature, Preparation
from separatrix.tables.report.blocks import (
    brief,
    counted,
    data,
    details,
    isolated,
    listed,
    number,
    paragraph,
    section,
    table,
)
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element

_COLUMNS = 60  # that are listed one by one
_LEVELS = 12
_NAMES = {
    "test": "test fraction",
    "epochs": "maximum epochs",
    "time_limit": "time limit (seconds)",
    "certify": "certificate limit (seconds)",
}
_SILENT = ("verbose", "n_jobs", "cache_size")  # parameters that do not change the model


def provenance(context: ReportContext) -> Element:
    """Return the section about where the model comes from."""
    return section(
        "provenance", "Provenance", _source(context), element("h3", "Settings"), _settings(context),
        element("h3", "Preprocessing"), _preprocessing(context.model.preparation),
        element("h3", "Versions and fingerprints"), _versions(context),
    )  # fmt: skip


def _source(context: ReportContext) -> Element:
    facts = context.facts
    rows = facts.rows
    classes = [f"{isolated(str(each.label))} {each.rows:,}" for each in facts.classes]
    parts: list[tuple[str, Content]] = [
        ("source", element("bdi", facts.source)),
        ("target", element("bdi", context.model.target)),
        ("rows", f"{rows.read:,} read, {rows.train:,} training, {rows.test:,} test, {rows.dropped:,} dropped"),
        ("classes of the training rows", listed(classes, 12)),
    ]  # fmt: skip
    if facts.columns.unused:
        parts.append(("unused columns", listed(facts.columns.unused, 12)))
    if facts.constant:
        parts.append(("constant columns, no effect", listed(facts.constant, 12)))
    if facts.missing:
        missing = [f"{isolated(column)} {count:,}" for column, count in facts.missing.items()]
        parts.append(("missing values", listed(missing, 12)))
    if facts.notes:
        parts.append(("notes", element("bdi", " ".join(facts.notes))))
    if context.model.weight is not None:
        parts.append(("sample weight", element("bdi", context.model.weight)))
    if facts.on_disk:
        parts.append(("memory", "rows were read from disk in each epoch"))
    if facts.seconds is not None:
        parts.append(("time", f"{facts.seconds:.3g} seconds"))
    return _definitions(parts)


def _settings(context: ReportContext) -> Element:
    estimator = context.model.estimator
    kernel = getattr(estimator, "_kernel", None)
    shown: list[tuple[str, Content]] = [
        (_NAMES.get(key, key), _plain(value))
        for key, value in vars(context.facts.settings).items()
        if key != "parameters" and value is not None
    ]
    for key, value in sorted(estimator.get_params().items()):
        if value is None or key in _SILENT:
            continue
        resolved = getattr(kernel, key, None) if isinstance(value, str) else None  # gamma="scale" is a number by then
        text = _plain(value) + (f", here {resolved:.6g}" if isinstance(resolved, float) else "")
        shown.append((f"parameter {key}", text))
    return _definitions(shown)


def _more(feature: Feature) -> str:
    """Return which features a column has besides its numbers or levels, and how it is written."""
    written = f", written as {feature.notation}" * bool(feature.notation)
    gap = ", missing as a level" if feature.role == "category" else ", and whether it is missing"
    return written + ", others pooled" * feature.pooled + gap * feature.gaps


def _plain(value: Any) -> str:
    if isinstance(value, AnyOf):
        return " or ".join(_plain(rule) for rule in value.rules)
    if isinstance(value, tuple | list):
        return ", ".join(_plain(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{isolated(str(key))}: {_plain(each)}" for key, each in value.items())
    return f"{value:g}" if isinstance(value, float) else brief(str(value), 200)


def _preprocessing(preparation: Preparation) -> list[Content]:
    scaling = SCALING[preparation.scale]
    if preparation.anonymous:
        return [paragraph(f"{counted(preparation.width, 'feature')} without names, {scaling}.")]
    rows: list[list[Content]] = []
    numbers = 0
    for feature in preparation.features[:_COLUMNS]:
        if feature.role == "number":
            shift, factor = float(preparation.shift[numbers]), float(preparation.factor[numbers])
            how = {
                "standard": f"(x {_added(-shift)}) / {number(factor, 6)}",
                "minmax": f"x \u00b7 {number(factor, 6)} {_added(shift)}",
                "none": "x",
            }[preparation.scale]
            rows.append([data(feature.name), f"number, {scaling}{_more(feature)}", how])
            numbers += 1
        elif feature.role == "date":
            rows.append([data(feature.name), f"date, {scaling}{_more(feature)}", ", ".join(feature.parts)])
        elif feature.role == "category":
            shown = ", ".join(brief(level) for level in feature.levels[:_LEVELS])
            more = f" and {len(feature.levels) - _LEVELS:,} more" if len(feature.levels) > _LEVELS else ""
            how = "target encoded" if feature.shares else "one-hot encoded"
            rows.append([data(feature.name), f"category, {how}{_more(feature)}", shown + more])
        else:
            how = "hashed" if feature.words is None else f"{len(feature.words):,} terms, tf-idf"
            rows.append([data(feature.name), "bag of words (unigrams and bigrams)", how])
    whole = table("Preprocessing of columns", ["column", "encoding", "values"], rows, texts=(2,))
    left = len(preparation.features) - _COLUMNS
    out: list[Content] = [paragraph(LACKING[preparation.missing])]
    out.append(details(f"{counted(len(rows), 'column')}", whole) if len(rows) > 12 else whole)
    if left > 0:
        out.append(paragraph(f"{left:,} more columns are not listed.", class_="note"))
    return out


def _added(value: float) -> str:
    sign = "\u2212" if value < 0 else "+"
    return f"{sign} {number(abs(value), 6)}"


def _versions(context: ReportContext) -> Element:
    import numpy
    import sklearn

    facts = context.facts
    parts: list[tuple[str, Content]] = [
        ("fitted with", f"separatrix {facts.separatrix}"),
        ("report written with", f"separatrix {__version__}, Python {platform.python_version()}, "
                                f"NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}"),
        ("fingerprint of the source", _code(facts.fingerprint)),
        ("fingerprint of the training rows", _code(facts.data)),
    ]  # fmt: skip
    return _definitions(parts)


def _code(value: str | None) -> Content:
    return "none" if value is None else element("code", value)


def _definitions(parts: list[tuple[str, Content]]) -> Element:
    return element("dl", [[element("dt", what), element("dd", value)] for what, value in parts], class_="facts")
