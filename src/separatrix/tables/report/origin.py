"""Where the model comes from: settings, what is done to each column, versions and fingerprints."""

from __future__ import annotations

import platform
from typing import Any

from separatrix import __version__
from separatrix.stops import AnyOf
from separatrix.tables.preparation import LACKING, SCALING, Preparation
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.subject import (
    Subject,
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

_COLUMNS = 60  # that are listed one by one
_LEVELS = 12
_NAMES = {
    "test": "share of rows held out",
    "epochs": "most epochs",
    "time_limit": "most seconds of learning",
    "certify": "seconds to look for a proof",
}
_SILENT = ("verbose", "n_jobs", "cache_size")  # parameters that change no model


def origin(subject: Subject) -> Element:
    """Return the section about where the model comes from."""
    return section(
        "origin", "Where it comes from", _source(subject), element("h3", "Settings"), _settings(subject),
        element("h3", "What is done to each column"), _preparation(subject.model.preparation),
        element("h3", "Versions and fingerprints"), _versions(subject),
    )  # fmt: skip


def _source(subject: Subject) -> Element:
    facts = subject.facts
    rows, columns = facts["rows"], facts["columns"]
    classes = [f"{isolated(str(each['label']))} {each['rows']:,}" for each in facts["classes"]]
    parts: list[tuple[str, Content]] = [
        ("source", element("bdi", str(facts["source"]))),
        ("target", element("bdi", subject.model.target)),
        ("rows", f"{rows['read']:,} read, {rows['train']:,} learned from, {rows['test']:,} held out, "
                 f"{rows['dropped']:,} left out"),
("classes in the rows learned from", listed(classes, 12)),
    ]  # fmt: skip
    if columns["unused"]:
        parts.append(("columns not used", listed(columns["unused"], 12)))
    if facts.get("constant"):
        parts.append(("constant columns", listed(facts["constant"], 12)))
    if facts.get("missing"):
        lacking = [f"{isolated(column)} {count:,}" for column, count in facts["missing"].items()]
        parts.append(("missing values", listed(lacking, 12)))
    if subject.model.weight is not None:
        parts.append(("how often a row counts", element("bdi", subject.model.weight)))
    if facts.get("on_disk"):
        parts.append(("memory", "the rows were learned from disk"))
    if facts.get("seconds") is not None:
        parts.append(("time", f"{facts['seconds']:.3g} seconds"))
    return _facts(parts)


def _settings(subject: Subject) -> Element:
    settings: dict[str, Any] = subject.facts["settings"]
    estimator = subject.model.estimator
    kernel = getattr(estimator, "_kernel", None)
    shown: list[tuple[str, Content]] = [
        (_NAMES.get(key, key), _plain(value))
        for key, value in settings.items()
        if key != "parameters" and value is not None
    ]
    for key, value in sorted(estimator.get_params().items()):
        if value is None or key in _SILENT:
            continue
        found = getattr(kernel, key, None) if isinstance(value, str) else None  # gamma="scale" is a number by then
        told = _plain(value) + (f", here {found:.6g}" if isinstance(found, float) else "")
        shown.append((f"parameter {key}", told))
    return _facts(shown)


def _plain(value: Any) -> str:
    if isinstance(value, AnyOf):
        return " or ".join(_plain(rule) for rule in value.rules)
    if isinstance(value, tuple | list):
        return ", ".join(_plain(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{isolated(str(key))}: {_plain(each)}" for key, each in value.items())
    return f"{value:g}" if isinstance(value, float) else brief(str(value), 200)


def _preparation(preparation: Preparation) -> list[Content]:
    scaling = SCALING[preparation.scale]
    if preparation.anonymous:
        return [paragraph(f"{counted(preparation.width, 'number')} without names, {scaling}.")]
    rows: list[list[Content]] = []
    numbers = 0
    for feature in preparation.features[:_COLUMNS]:
        if feature.role == "number":
            shift, factor = float(preparation.shift[numbers]), float(preparation.factor[numbers])
            how = {
                "standard": f"(x {_added(-shift)}) / {number(factor, 6)}",
                "minmax": f"x \u00b7 {number(factor, 6)} {_added(shift)}",
                "none": "as it is",
            }[preparation.scale]
            rows.append([data(feature.name), f"number, {scaling.replace('taken as they are', 'not scaled')}", how])
            numbers += 1
        elif feature.role == "category":
            shown = ", ".join(brief(level) for level in feature.levels[:_LEVELS])
            more = f" and {len(feature.levels) - _LEVELS:,} more" if len(feature.levels) > _LEVELS else ""
            rows.append([data(feature.name), "one number, 0 or 1, for each value", shown + more])
        else:
            how = "hashed" if feature.words is None else f"{len(feature.words):,} of them, weighed by rarity"
            rows.append([data(feature.name), "words and pairs of words", how])
    whole = table("Columns and what becomes of them", ["column", "becomes", "how"], rows, texts=(2,))
    left = len(preparation.features) - _COLUMNS
    out: list[Content] = [paragraph(LACKING[preparation.missing])]
    out.append(details(f"{counted(len(rows), 'column')}", whole) if len(rows) > 12 else whole)
    if left > 0:
        out.append(paragraph(f"{left:,} more columns are not listed.", class_="note"))
    return out


def _added(value: float) -> str:
    sign = "\u2212" if value < 0 else "+"
    return f"{sign} {number(abs(value), 6)}"


def _versions(subject: Subject) -> Element:
    import numpy
    import sklearn

    facts = subject.facts
    parts: list[tuple[str, Content]] = [
        ("fitted with", f"separatrix {facts['separatrix']}"),
        ("report made with", f"separatrix {__version__}, Python {platform.python_version()}, "
                             f"NumPy {numpy.__version__}, scikit-learn {sklearn.__version__}"),
        ("fingerprint of the source", _code(facts.get("fingerprint"))),
        ("fingerprint of the rows learned from", _code(facts.get("data"))),
    ]  # fmt: skip
    return _facts(parts)


def _code(value: Any) -> Content:
    return "none" if value is None else element("code", str(value))


def _facts(parts: list[tuple[str, Content]]) -> Element:
    return element("dl", [[element("dt", what), element("dd", value)] for what, value in parts], class_="facts")
