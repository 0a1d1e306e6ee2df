"""The top of a report: what the model predicts, its test accuracy, and whether the classes are linearly separable."""

from __future__ import annotations

from separatrix.tables.decision_lines import decision_lines
from separatrix.tables.kinds import MODELS
from separatrix.tables.report.blocks import brief, counted, data, isolated, listed, name, paragraph
from separatrix.tables.report.certificate import short_verdict, verdict
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.scores import Scores

_DASH = "\u2013"


def title(context: ReportContext) -> str:
    """Return the title of the page."""
    return f"Predicting {context.model.target} from {context.facts.source}"


def overview(context: ReportContext) -> Element:
    """Return the summary in plain words, and its figures."""
    return element(
        "header",
        element("h1", "Predicting ", data(context.model.target), " from ", data(context.facts.source)),
        paragraph(_model(context), class_="lead"),
        paragraph(_quality(context)),
        *(paragraph(isolated(line)) for line in decision_lines(context.model)),
        paragraph(verdict(context), " ", _ending(context)),
        *(paragraph(isolated(note), class_="note") for note in context.facts.notes),
        _about_rows(context),
        _figures(context),
    )


def _model(context: ReportContext) -> list[Content]:
    facts, labels = context.facts, context.labels
    used = facts.columns.used
    inputs = counted(len(used), "column") if used else counted(facts.columns.numbers, "feature")
    kind = MODELS[facts.settings.model].title
    article = "An" if kind[0] in "aeiou" else "A"
    parts: list[Content] = [
        f"{article} {kind} that predicts ", name(context.model.target), " (", listed(labels, last="or"),
        f") from {inputs}. It was trained on {counted(facts.rows.train, 'row')} of ", data(facts.source),
    ]  # fmt: skip
    if dropped := facts.rows.dropped:
        parts.append(f"; {dropped:,} of {counted(facts.rows.read, 'row')} with missing values were dropped")
    if facts.imputed:
        counts = [f"{isolated(column)} {count:,}" for column, count in facts.imputed.items()]
        parts += ["; missing values imputed: ", *listed(counts, 6)]
    parts.append(".")
    for change in facts.updates:
        parts += [f" It was later updated with {counted(change.rows, 'row')} of ", data(change.source), "."]
    return parts


def _quality(context: ReportContext) -> list[Content]:
    facts, scores, inspected = context.facts, context.facts.test, context.inspected
    if scores is not None:
        low, high = scores.interval()
        text = (
            f"{' '.join(scores.sentences('Test', _DASH))} The test set was not used for training, so the accuracy on "
            "new rows of the same kind is likely to lie in this interval"
        )
        if low <= scores.baseline <= high:
            text += "; it is not significantly better than always predicting the majority class"
        elif high < scores.baseline:
            text += "; it is worse than always predicting the majority class"
        return [text + ".", *_weakest(context, scores)]
    unknown = "the accuracy on new rows is unknown"
    why = f"The model was updated after its test, so {unknown}." if facts.updates else f"Without a test set, {unknown}."
    if inspected is not None and inspected.confusion.n and not inspected.trained_on:
        scored = inspected.confusion
        return [
            "Accuracy on ", data(inspected.source), f": {scored.accuracy:.1%} ({scored.correct:,} of {scored.n:,}). "
            "Some or all of these rows may be training rows, so this says little about new rows. ", why,
        ]  # fmt: skip
    return [why]


def _weakest(context: ReportContext, scores: Scores) -> list[Content]:
    """Return the class of lowest recall in a sentence, and what to remark about the scores."""
    out: list[Content] = []
    if scores.correct < scores.n:
        code = scores.weakest(1)[0]
        recall = scores.by_class()[code].recall or 0.0
        out += [" The weakest class is ", name(context.labels[code]), f", with a recall of {recall:.1%}."]
    remark = scores.remark()
    return out if remark is None else [*out, " ", element("strong", remark)]


def _ending(context: ReportContext) -> str:
    facts = context.facts
    if facts.updates:
        return f"Last update: {facts.status}."
    if facts.interrupted:
        return f"Training was interrupted ({facts.status})."
    return f"Training: {facts.status}."


def _about_rows(context: ReportContext) -> Element | None:
    facts, inspected = context.facts, context.inspected
    if inspected is None:
        return paragraph(
            "This report was made from the model file alone. ", element("code", "separatrix report MODEL SOURCE"),
            " also shows the rows of a source: margins, the decision boundary, the least certain predictions and the "
            "worst errors.", class_="note",
        )  # fmt: skip
    shows: list[Content] = ["The rows in this report are those of ", data(inspected.source)]
    if inspected.trained_on:
        both = ", training and test rows" if facts.rows.test else ""
        return paragraph(shows, f", on which the model was fitted{both}.", class_="note")
    if facts.updates:
        return paragraph(
            shows, ". The model was updated after it was fitted; whether it was trained on these rows is unknown.",
            class_="note",
        )  # fmt: skip
    if inspected.trained_on is None:
        return paragraph(shows, "; whether the model was fitted on them is unknown.", class_="note")
    return paragraph(
        element("strong", "Another source. "), shows, ". The model was fitted on ", data(facts.source), ": another "
        "source or query, or a file that has changed since. Some or all of these rows may still be training rows. The "
        "certificate and the test accuracy are about the data of the fit.", class_="note",
    )  # fmt: skip


def _figures(context: ReportContext) -> Element:
    facts, scores, inspected = context.facts, context.facts.test, context.inspected
    cards: list[tuple[str, str, str, str | None]] = []
    if scores is not None:
        low, high = scores.interval()
        cards.append(("test accuracy", f"{scores.accuracy:.1%}", f"95% CI {100 * low:.1f}\u2013{high:.1%}", None))
        cards.append(("majority class", f"{scores.baseline:.1%}", "always predicting the most frequent class", None))
        balanced = ("test balanced accuracy", f"{scores.balanced_accuracy:.3f}", "mean recall of the classes", None)
        auc = scores.value("roc_auc")
        ranked = [] if auc is None else [("test ROC AUC", f"{auc:.3f}", "how well the scores rank rows", None)]
        cards = [balanced, *ranked, *cards] if scores.imbalanced else [*cards, balanced, *ranked]
    if inspected is not None and inspected.confusion.n and not inspected.trained_on:
        share = f"{inspected.confusion.accuracy:.1%}"
        says = f"{counted(inspected.confusion.n, 'labelled row')}; some may be training rows"
        cards.append((f"accuracy on {isolated(brief(inspected.source))}", share, says, None))
    word, colour, about = short_verdict(context)
    cards.append(("linearly separable", word, about, colour))
    state, colour = _state(context)
    accuracy = facts.training_accuracy
    cards.append(("training", state, "" if accuracy is None else f"training accuracy {accuracy:.1%}", colour))
    return element("dl", [_card(*card) for card in cards], class_="figures")


def _state(context: ReportContext) -> tuple[str, str | None]:
    """Return how training ended in a word or two, and its colour."""
    facts = context.facts
    if facts.updates:
        return "updated", None
    if facts.interrupted:
        return "interrupted", "bad"
    if getattr(context.model.estimator.status_, "diverged", False):
        return "diverged", "bad"
    return ("converged", "good") if facts.converged else ("not converged", None)


def _card(what: str, figure: str, says: str, colour: str | None) -> Element:
    big = "big" if colour is None else f"big {colour}"
    return element(
        "div",
        element("dt", what),
        element("dd", figure, class_=big),
        element("dd", says, class_="small") if says else None,
    )
