"""Stop rules as text: the grammar of the command line, which ``stop="..."`` reads in Python too."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from separatrix.rules.losses import LOSSES
from separatrix.stops.base import Stop
from separatrix.stops.rules import HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoMistakes, NoProgress, TimeLimit


class _Form(NamedTuple):
    """How a rule is written: its name, its numbers, and whether a loss and a schedule may follow."""

    name: str
    sign: str
    arguments: tuple[str, ...]
    least: int  # how many of them are needed
    watches: bool
    make: Callable[..., Stop]

    @property
    def shown(self) -> str:
        """The form, for messages and help."""
        needed = ",".join(self.arguments[: self.least])
        left = ",".join(self.arguments[self.least :])
        if not left:
            return f"{self.name}{self.sign if needed else ''}{needed}"
        return f"{self.name}[{self.sign}{left}]" if not needed else f"{self.name}{self.sign}{needed}[,{left}]"


def _flat(patience: Any = 5, change: Any = 0.0, **more: Any) -> Stop:
    return LossFlat(change, patience, **more)


_FORMS = {
    form.name: form
    for form in (
        _Form("no-mistakes", "", (), 0, False, NoMistakes),
        _Form("epochs", ":", ("N",), 1, False, MaxEpochs),
        _Form("time", ":", ("SECONDS",), 1, False, TimeLimit),
        _Form("loss", "<=", ("VALUE",), 1, True, LossAtMost),
        _Form("flat", ":", ("PATIENCE", "CHANGE"), 0, True, _flat),
        _Form("no-progress", ":", ("TOL", "PATIENCE"), 0, False, NoProgress),
        _Form("validation", ":", ("FRACTION", "PATIENCE"), 0, False, HeldOutFlat),
    )
}
_WHOLE = ("N", "PATIENCE", "EVERY")
_RULE = re.compile(
    r"(?P<name>[^\s:<=@/]*)\s*(?P<sign><=|:|=|<|)\s*(?P<arguments>[^@/]*)(?P<loss>@[^/]*|)(?P<every>/.*|)", re.DOTALL
)
FORMS = ", ".join(form.shown for form in _FORMS.values())
SCHEDULE = "loss and flat may end in @LOSS and /EVERY, as in loss<=0.1@hinge/2"


def parse(text: str) -> Stop:
    """Return the stop rule that a text stands for.

    Rules are joined with ``|``; the first that applies ends the run.

    ====================================  ======================
    ``no-mistakes``                       :class:`NoMistakes`
    ``epochs:N``                          :class:`MaxEpochs`
    ``time:SECONDS``                      :class:`TimeLimit`
    ``loss<=VALUE``                       :class:`LossAtMost`
    ``flat[:PATIENCE,CHANGE]``            :class:`LossFlat`
    ``no-progress[:TOL,PATIENCE]``        :class:`NoProgress`
    ``validation[:FRACTION,PATIENCE]``    :class:`HeldOutFlat`
    ====================================  ======================

    Numbers in brackets may be left out, the last first. ``loss`` and ``flat`` are about the number of training errors;
    ``@LOSS`` names another loss of ``separatrix.rules.losses``, and ``/EVERY`` has it computed only every so many
    epochs: ``loss<=0.1@hinge/2``.

    Parameters
    ----------
    text : str
        One rule or several.

    Returns
    -------
    Stop
        The rule.

    Examples
    --------
    >>> parse("no-mistakes | time:10").parts
    (NoMistakes(), TimeLimit(seconds=10.0))
    >>> parse("loss<=0.1@hinge/2")
    LossAtMost(value=0.1, every=2, loss='hinge')
    """
    if not isinstance(text, str):
        raise TypeError(f"a stop rule must be text such as 'no-mistakes | time:10'; found {text!r}")
    return functools.reduce(operator.or_, [_rule(part.strip()) for part in text.split("|")])


def as_stop(stop: Any) -> Stop | None:
    """Return the stop rule that an estimator was given, as one or as text; refuse anything else."""
    if stop is None or isinstance(stop, Stop):
        return stop
    if isinstance(stop, str):
        return parse(stop)
    raise TypeError(f"stop must be a stop rule such as NoMistakes() | TimeLimit(10), or its text; found {stop!r}")


def _rule(part: str) -> Stop:
    match = _RULE.fullmatch(part)
    form = None if match is None else _FORMS.get(match["name"])
    if match is None or form is None:
        raise ValueError(f"{part!r} is not a stop rule; accepted are {FORMS}, joined with |; {SCHEDULE}")
    given = [cell.strip() for cell in match["arguments"].split(",")] if match["arguments"].strip() else []
    right_sign = match["sign"] == form.sign if given else not match["sign"]
    if not right_sign or not form.least <= len(given) <= len(form.arguments):
        raise ValueError(f"the stop rule {part!r} must be written {form.shown}")
    more: dict[str, Any] = {}
    for name, mark in (("loss", "@LOSS"), ("every", "/EVERY")):
        if not match[name]:
            continue
        if not form.watches:
            raise ValueError(
                f"in the stop rule {part!r}, {match[name]!r} has no meaning: only loss and flat take {mark}"
            )
        more[name] = match[name][1:].strip()
    if "every" in more:
        more["every"] = _number(part, "EVERY", more["every"])
    if "loss" in more and more["loss"] not in LOSSES:
        raise ValueError(
            f"in the stop rule {part!r}, the loss must be one of {', '.join(LOSSES)}; found {more['loss']!r}"
        )
    values = [_number(part, name, cell) for name, cell in zip(form.arguments, given, strict=False)]
    try:
        return form.make(*values, **more)
    except ValueError as problem:
        raise ValueError(f"in the stop rule {part!r}, {problem}") from None


def _number(part: str, name: str, cell: str) -> float | int:
    try:
        return int(cell) if name in _WHOLE else float(cell)
    except ValueError:
        kind = "a whole number" if name in _WHOLE else "a number"
        raise ValueError(f"in the stop rule {part!r}, {name} must be {kind}; found {cell!r}") from None
