"""``sx.trace``: run a rule step by step, in the lectures' notation.

The run itself is here; the :class:`Trace` that it gives is in trace_run.py, its table in trace_columns.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.geometry.rows import Rows, column_names, frame_columns, is_sparse
from separatrix.insight.trace_constant import Root, ball_constant
from separatrix.insight.trace_proof import Proof, examples, separator
from separatrix.insight.trace_rows import Setting
from separatrix.insight.trace_run import Trace
from separatrix.insight.trace_view import TraceView, plain
from separatrix.loop.engines import Step
from separatrix.loop.problem import Problem, as_exact
from separatrix.loop.solve import new_state, solve
from separatrix.observers import StepRecorder
from separatrix.rules import RULES, Downhill, Number
from separatrix.rules.scw import confidence_quantile
from separatrix.stops import MaxEpochs, NoMistakes
from separatrix.text import listed

__all__ = ["Trace", "trace"]

_LONGEST = 13_288  # bits of 4,000 digits; Python prints at most 4,300


def trace(
    X: Any,
    y: Any,
    *,
    rule: str = "perceptron",
    start: Any = None,
    eta0: Any = 1,
    margin: Any = 1,
    lam: Any = 1,
    C: Any = 1,
    r: Any = 1,
    eta: float = 0.9,
    covariance: str = "diagonal",
    a: Any = 1,
    alpha: Any = 0.9,
    boundary: str = "mistake",
    order: str = "cyclic",
    batch: int | str = 1,
    positive: Any = None,
    fit_intercept: bool = True,
    bias_constant: Any = 1,
    max_iter: int = 100,
    readout: str = "last",
    exact: bool | None = None,
    proof: Any = None,
    random_state: int | None = None,
    **view: Any,
) -> Trace:
    """Run a rule step by step on a small two-class data set and keep every step.

    Parameters
    ----------
    X : table of numbers
        The patterns. Fractions and integers stay exact; a float stands for the decimal that it prints as.
    y : sequence
        Their labels, two distinct ones; the larger is the positive class.
    rule : {"perceptron", "margin_perceptron", "sigmoid_neuron", "logistic_neuron", "online_hinge", "pegasos", "pa", \
            "pa1", "pa2", "arow", "scw1", "scw2", "nherd", "romma", "aggressive_romma", "sop", "alma"}
        What to do with each pattern. "online_hinge" and "pegasos" shrink the weights at every pattern; for them, the
        passive-aggressive rules ("pa", "pa1", "pa2"), "arow", "nherd" and "aggressive_romma" an update is a step for a
        margin below 1, for "scw1" and "scw2" one for too little confidence, for "alma" one for a margin that is too
        narrow so far.
    start : (weights, bias), sequence of numbers, "zeros" or "uniform", default="zeros"
        Where to start. Numbers that are not in a pair stand in the order of the view: augmented, the bias first;
        otherwise the weights and then the bias or theta. "uniform" draws from [-1, 1] (Lecture 004), in exact runs
        numbers of four decimals.
    eta0 : number, default=1
        The learning rate; the online hinge's gamma. The rules after it have none.
    margin : number, default=1
        The margin that the margin perceptron wants exceeded.
    lam : number, default=1
        The strength of Pegasos's penalty.
    C : number, default=1
        The C of "pa1", "pa2", "scw1", "scw2" and "nherd".
    r : number, default=1
        The r of "arow".
    eta : float, default=0.9
        The confidence that "scw1" and "scw2" ask for.
    covariance : {"diagonal", "full"}
        The form of the spread that "arow", "scw1", "scw2", "nherd" and "sop" keep of the weights.
    a : number, default=1
        The a of "sop", the second-order perceptron.
    alpha : number, default=0.9
        The alpha of "alma".
    boundary : {"mistake", "correct", "positive", "negative"}
        What a tie is; Lecture 004's neuron is "negative".
    order : {"cyclic", "shuffled", "random"}
        As the rows stand, shuffled anew each epoch, or drawn with replacement (Lectures 002 and 003), as many in an
        epoch as there are.
    batch : int or "all", default=1
        Examples whose steps are computed with the same weights and averaged; the table has one row for each such fold
        (Lecture 002).
    positive : label, optional
        The positive class; all other labels are the negative class, also where there are more than two.
    fit_intercept : bool, default=True
        With a bias, or a plane through the origin.
    bias_constant : number or "ball", default=1
        The constant K that stands for the bias as one more coordinate, so the bias moves by ``eta0 * y * K**2``; "ball"
        is the radius of the smallest ball that holds the patterns (Lecture 003).
    max_iter : int, default=100
        The most epochs. Rules that walk down a loss run them all.
    readout : {"last", "averaged", "voted", "pocket"}
        What ``trace.weights`` and ``trace.bias`` are at the end.
    exact : bool, optional
        Compute with integers and fractions, or with floats. By default exactly where the rule can: the exponentials
        of neurons and the roots of "scw1", "scw2" and "alma" cannot. The fractions of rules that divide by sums of
        squares, such as "arow", double their digits with every update: with more than 4,000 digits an exact run is
        refused, and a run by default is computed with floats, as its ``note`` says.
    proof : (weights, bias), sequence of numbers or "auto", optional
        A plane w* that separates the classes, given as a start is: the table then has both sides of the convergence
        theorem (Lecture 000). "auto" takes the plane of :func:`separatrix.certify`.
    random_state : int, default=None
        Seed of shuffled and random orders and of a uniform start; None is 0, so that a table can be printed again.
    **view
        View options, how tables are written: ``augmented``, ``flipped``, ``labels``, ``threshold``, ``decimals``,
        ``digits``, ``dual``, ``columns``; see :class:`separatrix.insight.trace_view.TraceView`.

    Returns
    -------
    Trace
        The steps; prints as Markdown, LaTeX, HTML, CSV or a DataFrame.

    Examples
    --------
    >>> run = trace([[1, 1], [-1, 0]], [1, -1], augmented=True, flipped=True)
    >>> print(run.to_markdown())
    | epoch | example | adjusted pattern | weight applied | w x | update? | new weight |
    |-------|---------|------------------|----------------|-----|---------|------------|
    | 1     | 1       | (1, 1, 1)        | (0, 0, 0)      | 0   | Yes     | (1, 1, 1)  |
    | 1     | 2       | (-1, 1, 0)       | (1, 1, 1)      | 0   | Yes     | (0, 2, 1)  |
    | 2     | 1       | (1, 1, 1)        | (0, 2, 1)      | 3   | No      | (0, 2, 1)  |
    | 2     | 2       | (-1, 1, 0)       | (0, 2, 1)      | 2   | No      | (0, 2, 1)  |

    The same run in dual form, with the margin of each pattern before and after its step:

    >>> print(run.show(augmented=False, flipped=False, dual=True, columns=("margin", "margin-after")).to_markdown())
    | epoch | example | pattern | y  | alpha applied | b | a  | margin | update? | new alpha | new b | margin after |
    |-------|---------|---------|----|---------------|---|----|--------|---------|-----------|-------|--------------|
    | 1     | 1       | (1, 1)  | 1  | (0, 0)        | 0 | 0  | 0      | Yes     | (1, 0)    | 1     | 3            |
    | 1     | 2       | (-1, 0) | -1 | (1, 0)        | 1 | 0  | 0      | Yes     | (1, 1)    | 0     | 2            |
    | 2     | 1       | (1, 1)  | 1  | (1, 1)        | 0 | 3  | 3      | No      | (1, 1)    | 0     | 3            |
    | 2     | 2       | (-1, 0) | -1 | (1, 1)        | 0 | -2 | 2      | No      | (1, 1)    | 0     | 2            |
    """
    asked = dict(locals())
    if rule not in RULES:
        raise ValueError(f"rule must be one of {', '.join(RULES)}; found {rule!r}")
    downhill = issubclass(RULES[rule], Downhill)
    rational = not downhill or RULES[rule]().exact
    if exact and not rational:
        raise ValueError(f"rule {rule!r} cannot be computed exactly: use exact=False")
    by_default, exact = exact is None, rational if exact is None else exact
    unknown = set(view) - {each.name for each in fields(TraceView)}
    if unknown:
        accepted = ", ".join(each.name for each in fields(TraceView))
        raise TypeError(f"trace has no option {min(unknown)!r}; its view options are {accepted}")
    chosen_view = TraceView(**view)
    problem = Problem.from_exact(_table(X), y) if exact else Problem(X, y)
    problem.bias = _bias_constant(problem, bias_constant) if fit_intercept else 0
    labels = problem.classes[problem.codes].tolist()
    if positive is not None:
        _against_the_rest(problem, positive)
    elif len(problem.classes) > 2:
        names = listed([str(label) for label in problem.classes.tolist()])
        raise ValueError(f"a trace has two classes; found {len(problem.classes)} ({names}): name the positive one")
    numbers = {"eta": eta0, "gamma": eta0, "margin": margin, "lam": lam, "C": C, "r": r, "a": a, "part": alpha}
    known = {each.name for each in fields(RULES[rule])}
    options: dict[str, Any] = {
        name: as_exact(value) if exact else float(as_exact(value)) for name, value in numbers.items() if name in known
    }
    if "covariance" in known:
        options["covariance"] = covariance
        if exact and covariance == "full" and isinstance(problem.bias, Root):
            raise ValueError("with covariance='full' and bias_constant='ball' the run is not exact: use exact=False")
    if "phi" in known:
        options["phi"] = confidence_quantile(eta)
    made = RULES[rule](**options)
    recorder = _ExactRecorder() if exact else StepRecorder()
    seed = 0 if random_state is None else int(random_state)
    start = _plane("the start", "zeros" if start is None else start, chosen_view, problem)
    state = new_state(problem, 1, start, readout=readout, seed=seed)
    if exact and isinstance(start, str):  # numbers that a person can compute with
        drawn = [round(value, 4) for value in (*state.weights.tolist(), state.bias)]
        state = new_state(problem, 1, (drawn[:-1], drawn[-1]), readout=readout, seed=seed)
    began = tuple(plain(value) for value in state.weights.tolist()), plain(state.bias)
    if proof is not None:
        chosen_view = TraceView(**{**view, "columns": (*chosen_view.columns, "proof")})
    elif "proof" in chosen_view.columns:
        proof = "auto"
    setting = Setting(made, boundary, batch, readout, plain(problem.bias), problem.classes.tolist(), labels)
    if proof is not None and setting.has_proof:
        setting = replace(setting, proof=_proof(proof, chosen_view, problem, made, began))
    setting.check(chosen_view, began)
    try:
        solution = solve(
            problem,
            made,
            engine="reference",
            stop=MaxEpochs(max_iter) if downhill else NoMistakes() | MaxEpochs(max_iter),
            readout=readout,
            boundary=boundary,
            order=order,
            batch_size=batch,
            start=state,
            seed=seed,
            observers=[recorder],
        )
    except LongFractionsError as error:
        if not by_default:
            raise
        del asked["view"]
        run = trace(**{**asked, **view, "exact": False})
        run.note = f"computed with floats, since {error.cause}"
        if error.epochs:
            run.note += f"; max_iter={error.epochs} shows fractions"
        return run
    if solution.status.interrupted:
        raise KeyboardInterrupt
    return Trace(recorder.steps, began, solution, setting, chosen_view)


class LongFractionsError(ValueError):
    """The fractions of a run have too many digits; ``epochs`` is how many epochs had fewer."""

    def __init__(self, example: int, epoch: int) -> None:
        self.cause = f"the fractions have more than 4,000 digits after example {example} (epoch {epoch})"
        self.epochs = epoch - 1
        super().__init__(f"{self.cause}: use exact=False{f' or max_iter={self.epochs}' if self.epochs else ''}")


class _ExactRecorder(StepRecorder):
    """Keeps the steps of an exact run, and ends it when its fractions grow without end."""

    def on_step(self, step: Step) -> None:
        """Keep the step."""
        super().on_step(step)
        for value in (*step.weights, step.bias):
            size = max(abs(value.numerator), value.denominator) if isinstance(value, int | Fraction) else 0
            if size.bit_length() > _LONGEST:
                raise LongFractionsError(len(self.steps), step.epoch)


def _bias_constant(problem: Problem, constant: Any) -> Number:
    """Return K."""
    if isinstance(constant, str) and constant == "ball":
        return ball_constant(examples(problem), exact=problem.exact)
    try:
        value = as_exact(constant)
    except ValueError:
        value = 0
    if not 0 < value < 1e150:
        raise ValueError(f"bias_constant must be 'ball' or a positive number below 1e150; found {constant!r}")
    return value if problem.exact else float(value)


def _against_the_rest(problem: Problem, positive: Any) -> None:
    """Make one label the positive class of a problem, and all others the negative one."""
    classes = problem.classes.tolist()
    codes = [code for code, label in enumerate(classes) if _same(label, positive)]
    if not codes:
        raise ValueError(f"positive must be a label; found {positive!r}; the labels are {listed(map(str, classes))}")
    if len(classes) < 2:
        return  # as without it: two classes are needed
    others = [label for code, label in enumerate(classes) if code != codes[0]]
    pair = np.empty(2, dtype=object)
    pair[:] = [others[0] if len(others) == 1 else f"not {classes[codes[0]]}", classes[codes[0]]]
    problem.classes, problem.codes = pair, (problem.codes == codes[0]).astype(np.int32)


def _same(label: Any, given: Any) -> bool:
    """Return whether a person means this label; 1 and 1.0 are the same, also as text."""
    try:
        return bool(label == given) or str(label) == str(given) or as_exact(label) == as_exact(given)
    except ValueError:
        return False


def _plane(what: str, given: Any, view: TraceView, problem: Problem) -> Any:
    """Return (weights, bias) for numbers in the order of the view, and anything else as it is."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        return given
    if any(isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) for value in given):
        return given
    return view.plane(list(given), problem.d, plain(problem.bias), what)


def _proof(given: Any, view: TraceView, problem: Problem, rule: Any, start: Any) -> Proof:
    """Return the numbers of the convergence theorem for a given w*, or one that is found."""
    if isinstance(given, str):
        if given != "auto":
            raise ValueError(
                f"proof must be 'auto', (weights, bias) or numbers in the order of the view; found {given!r}"
            )
        weights, bias = separator(problem)
    else:
        try:
            weights, bias = _plane("the w* of the proof", given, view, problem)
            weights, bias = [as_exact(value) for value in weights], as_exact(bias)
        except TypeError:
            raise ValueError(f"proof must be 'auto', (weights, bias) or numbers; found {given!r}") from None
        if len(weights) != problem.d:
            raise ValueError(f"the w* of the proof needs {problem.d} weights; found {len(weights)}")
        if bias and not problem.bias:
            raise ValueError("the w* of the proof has a bias, and the run has none")
    return Proof.of(problem, weights, bias, rule.eta, start)


def _table(X: Any) -> Any:
    """Return X as rows of numbers that still are what they were: frames and sparse matrices opened, the rest as is."""
    if column_names(X) is not None:
        return list(
            zip(*(column.tolist() if column.dtype == object else column for column in frame_columns(X)), strict=True)
        )
    if is_sparse(X):
        return Rows(X).values.toarray()
    if not isinstance(X, list | tuple) or any(not isinstance(row, list | tuple) for row in X):
        values = np.asarray(X, dtype=None if isinstance(X, np.ndarray) else object)
        if values.ndim != 2 or 0 in values.shape:
            Rows(values)  # says what is wrong with it
        return values
    if not X or not X[0]:
        Rows(np.empty((len(X), 0)))
    return X
