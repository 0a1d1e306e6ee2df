"""The first words of a report: what was learned, how good it is, and whether it could be better, for anyone."""

from __future__ import annotations

from separatrix.tables.kinds import TITLES
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.proof import short_verdict, verdict
from separatrix.tables.report.subject import Subject, brief, counted, data, isolated, listed, name, paragraph


def title(subject: Subject) -> str:
    """Return the title of the page."""
    return f"{subject.model.target}: what was learned from {subject.facts['source']}"


def overview(subject: Subject) -> Element:
    """Return the summary in plain words, and its figures."""
    return element(
        "header",
        element("h1", data(subject.model.target), ": what was learned from ", data(subject.facts["source"])),
        paragraph(_learned(subject), class_="lead"),
        paragraph(_quality(subject)),
        paragraph(verdict(subject), " ", _ending(subject)),
        _about_rows(subject),
        _figures(subject),
    )


def _learned(subject: Subject) -> list[Content]:
    facts, labels = subject.facts, subject.labels
    used, numbers = facts["columns"]["used"], facts["columns"]["numbers"]
    from_what = f"{counted(len(used), 'column')}" if used else f"{counted(numbers, 'number')}"
    kind = TITLES[subject.kind]
    article = "an" if kind[0] in "aeiou" else "a"
    rows = facts["rows"]
    parts: list[Content] = [
        f"This is {article} {kind}. From {from_what} of a row it answers which ", name(subject.model.target),
        " the row has: ", listed(labels, last="or"), f". It learned from {counted(rows['train'], 'row')} of ",
        data(facts["source"]),
    ]  # fmt: skip
    if rows["dropped"]:
        lack = "lacks" if rows["dropped"] == 1 else "lack"
        parts.append(f"; {rows['dropped']:,} of its {rows['read']:,} rows {lack} a value and were left out")
    parts.append(".")
    for change in facts.get("updates", []):
        parts += [f" Later it was taught {counted(change['rows'], 'row')} of ", data(change["source"]), "."]
    return parts


def _quality(subject: Subject) -> list[Content]:
    facts, held, seen = subject.facts, subject.facts.get("held_out"), subject.seen
    if held is not None:
        low, high = held["interval"]
        text = (
            f"Asked about {counted(held['rows'], 'row')} that it had not seen, it was right about {held['right']:,} "
            f"({held['accuracy']:.1%}). On new rows of the same kind it will be right, with 95% confidence, for a "
            f"share between {low:.1%} and {high:.1%}. Always naming the commonest class would have been right for "
            f"{held['baseline']:.1%}"
        )
        if low <= held["baseline"] <= high:
            text += ", so that these rows do not show that it does better than that"
        elif high < held["baseline"]:
            text += ", which is better than this model"
        return [text + "."]
    unknown = "how well it does on rows that it has not seen is not known"
    if facts.get("updates"):
        why = f"It has learned since it was fitted, so that {unknown}."
    else:
        why = f"No rows were held out, so {unknown}."
    if seen is not None and seen.confusion.n and not seen.trained_on:
        return [
            "Of the rows of ", data(seen.source), f", it is right about {seen.confusion.right:,} of "
            f"{seen.confusion.n:,} ({seen.confusion.accuracy:.1%}). It may have learned from some of them or from all, "
            "and then this says little about new rows. ", why,
        ]  # fmt: skip
    return [why]


def _ending(subject: Subject) -> str:
    facts = subject.facts
    status = str(facts["status"])
    if facts.get("updates"):
        return f"The last thing it did: {status}."
    if facts.get("interrupted"):
        return f"Learning was interrupted, and this is the model so far ({status})."
    if facts.get("converged"):
        return f"Learning came to its end ({status})."
    return f"Learning stopped before it came to an end of its own ({status})."


def _about_rows(subject: Subject) -> Element | None:
    seen = subject.seen
    if seen is None:
        return paragraph(
            "This page was made from the model alone. With ", element("code", "separatrix report MODEL SOURCE"),
            " it also shows the rows of a source: their margins, the boundary among them, the nearest rows and the "
            "worst mistakes.", class_="note",
        )  # fmt: skip
    if seen.trained_on:
        held = subject.facts["rows"]["test"]
        both = ", both those that it learned from and those held out" if held else ""
        return paragraph(
            "Where this page shows rows, they are those of ", data(seen.source),
            f", to which the model was fitted{both}.", class_="note",
        )  # fmt: skip
    shows: list[Content] = ["Where this page shows rows, they are those of ", data(seen.source)]
    if subject.facts.get("updates"):
        return paragraph(
            shows, ". The model was updated after it was fitted, and whether it has learned from these rows, when it "
            "was fitted or later, cannot be told.", class_="note",
        )  # fmt: skip
    if seen.trained_on is None:
        return paragraph(shows, "; whether the model was fitted to them cannot be told.", class_="note")
    return paragraph(
        element("strong", "Another source. "), shows, ". As a whole this is not what the model was fitted to (",
        data(subject.facts["source"]), "): another source or query, or a file that has changed since. Some of its "
        "rows, or all, may still be among those learned from. The certificate and the held-out rows are about what "
        "it was fitted to.", class_="note",
    )  # fmt: skip


def _figures(subject: Subject) -> Element:
    facts, held, seen = subject.facts, subject.facts.get("held_out"), subject.seen
    cards: list[tuple[str, str, str, str | None]] = []
    if held is not None:
        low, high = held["interval"]
        cards.append(
            ("right on held-out rows", f"{held['accuracy']:.1%}", f"95% confidence: {low:.1%} to {high:.1%}", None)
        )
        cards.append(("commonest class alone", f"{held['baseline']:.1%}", "what any model should beat", None))
    if seen is not None and seen.confusion.n and not seen.trained_on:
        share = f"{seen.confusion.accuracy:.1%}"
        told = f"of {seen.confusion.n:,} with a label; some may have been learned from"
        cards.append((f"right on rows of {isolated(brief(seen.source))}", share, told, None))
    word, colour, about = short_verdict(subject)
    cards.append(("classes separable by planes?", word, about, colour))
    state, colour = _state(subject)
    accuracy = facts.get("training_accuracy")
    right = "" if accuracy is None else f"right on {accuracy:.1%} of the rows learned from"
    cards.append(("learning", state, right, colour))
    return element("dl", [_card(*card) for card in cards], class_="figures")


def _state(subject: Subject) -> tuple[str, str | None]:
    """Return how learning ended in a word or two, and how it is coloured."""
    facts = subject.facts
    if facts.get("updates"):
        return "updated", None
    if facts.get("interrupted"):
        return "interrupted", "bad"
    if getattr(subject.model.estimator.status_, "diverged", False):
        return "diverged", "bad"
    return ("finished", "good") if facts.get("converged") else ("reached its limit", None)


def _card(what: str, figure: str, says: str, colour: str | None) -> Element:
    big = "big" if colour is None else f"big {colour}"
    return element(
        "div",
        element("dt", what),
        element("dd", figure, class_=big),
        element("dd", says, class_="small") if says else None,
    )
