"""Which method works on a task, and when another takes over.

All work is counted in numbers that a product with the rows would read, never in seconds: every machine decides alike,
and a result does not depend on what else the machine does.

=========================  ====================================  ====================================================
what                       who works                             why
=========================  ====================================  ====================================================
log, squared hinge on      Newton's method with a Cholesky       five to nine iterations whatever C is; each costs the
dense rows, and a factor   factor of the Hessian; for the log    Gram matrix of the rows with curvature (squared
costs no more than         loss conjugate gradients with the     hinge: margin below 1) and d^3 / 6. The curvatures of
FIRST_TRY steps of         factor of an earlier Hessian, where   the log loss change little by little, so that a few
conjugate gradients        a factor costs FACTOR_ALWAYS steps    steps do with an earlier factor
squared hinge on sparse    coordinate ascent if ASCENT_EPOCHS    with a small C ascent arrives in a few epochs, each of
rows, few features         times the e-folds of the gap, and     which costs a fraction of a Gram matrix
                           the root of 1 + 2 C |x|^2, are fewer
                           epochs than Newton's method costs;
                           else that at once
log, otherwise             Newton's method with conjugate        products with the rows are all it needs; the factor
                           gradients                             takes over where they turn out to take longer
squared hinge, otherwise   coordinate ascent; Newton's method    on text with a small C ascent arrives in a few epochs,
                           with conjugate gradients as soon as   with a large C it crawls: its pace over the last looks
                           the work still ahead, at the pace     says how much is ahead. With more features than rows
                           of ascent, is more than               the dual is the smaller problem, and ascent stays
                           NEWTON_PASSES over the rows
hinge, few features        the interior-point method at once     about twenty iterations, each a Gram matrix; ascent
                                                                 would need thousands of epochs
hinge, otherwise           coordinate ascent; then the           the bounds settle first; what is left is smooth, and
                           interior-point method on the rows     ascent crawls there
                           that still move, or a Newton step
                           on those between the bounds
hinge without slack        coordinate ascent; the linear         ascent soon finds a plane, if one separates; if it
                           program whether a plane separates,    does not in PATIENCE epochs, that is decided first
                           where it is small; then as above
log, several classes       Newton's method with a factor of the  the Hessian has a row for each weight of each class: a
together                   Hessian, if it costs no more than     factor pays for few of them only, and a product with
                           JOINT_FIRST_TRY steps of conjugate    the rows serves all classes
                           gradients; else these
log and squared hinge,     descent over a table of the           the table costs nothing once it is there, but grows
L1 penalty                 products of all features, if they     with the square of the features; descent over columns
                           are few or it costs no more than      finds the few that are not zero, and a table of these
                           TABLE_EPOCHS of descent; else over    alone then finishes
                           columns, and over a table of the
                           features that are not zero as soon
                           as descent has cost as much
=========================  ====================================  ====================================================

The interior-point method stops where the gap is small enough. Only on the smallest tasks, such as those of a lecture,
it goes as far as rounding allows, because there that costs next to nothing.
"""

from __future__ import annotations

import math
from typing import Protocol

from separatrix.geometry.rows import Rows, is_sparse

FIRST_TRY = 12  # steps of conjugate gradients that a factor may cost, to be used at once
FACTOR_ALWAYS = 2.5  # steps that a factor may cost, to be made anew in each iteration
MOST_EQUATIONS = 5000  # of a factor in Newton's method
ASCENT_EPOCHS = 0.8  # of ascent on sparse rows, for each e-fold of the gap, where rows hardly disturb each other
NEWTON_ITERATIONS = 4  # typically
NEWTON_PASSES = 40  # over the rows, which Newton's method with conjugate gradients takes from where ascent has come to
NEWTON_SOON = 12  # part of that which is to have been spent on ascent before, so that its pace is known: one in so many
FLOPS_PER_TOUCH = 4.0  # of the Gram matrix, in the time in which a product with the rows reads one number
SPARSE_FLOPS_PER_TOUCH = 1.5
ASCENT_FLOPS_PER_TOUCH = 40.0  # of the interior-point method, in the time in which ascent reads one number
ASCENT_SPARSE_FLOPS_PER_TOUCH = 4.0
MOST_INTERIOR_EQUATIONS = 3000
INTERIOR_ITERATIONS = 25  # typically
SUBSPACE_PASSES = 40
INTERIOR_CHEAP = 120.0  # times all numbers: a price that is worth no waiting
INTERIOR_AGAIN = 8.0  # then for another try: part of the price to have been spent on ascent before, one in so many
INTERIOR_LATER = 2.0  # that part where the price is higher
HARD_TO_THE_END = 2e7  # numbers, without slack
PATIENCE = 16  # epochs of ascent without slack, before the linear program is solved
LARGEST_PROGRAM = 5_000_000  # stored numbers
JOINT_FIRST_TRY = 8  # steps of conjugate gradients that a factor of all classes may cost, to be used at once
JOINT_EQUATIONS = 3000
JOINT_FEW = 400  # weights
JOINT_AT_ONCE = 2e7  # operations that are too few to think about
JOINT_FLOPS_PER_TOUCH = 1.0  # of the Hessian, in the time in which a product with the rows reads a number for a class
TABLE_ALWAYS = 64  # features of which all products are always in one table
TABLE_FEW = 300  # of which they may be
TABLE_EPOCHS = 8  # of descent that the table of sparse rows may cost
TABLE_EQUATIONS = 3000
TABLE_SPARSE_FLOPS_PER_TOUCH = 3.0  # of the table, in the time in which descent reads one number
TABLE_FLOPS_PER_TOUCH = 12.0
TABLE_FACTOR = 16.0  # the cube of the features by this: factors of the table
ALONE = 200.0  # epochs of descent in one iteration, where there are more features than a table may have
TO_THE_END = 2e6  # numbers that are so few that the exact solution costs next to nothing


class Sized(Protocol):
    """A task, as far as its size goes."""

    @property
    def rows(self) -> Rows:
        """The examples."""

    @property
    def n(self) -> int:
        """How many examples there are."""

    def stored(self) -> int:
        """Return how many numbers the rows hold."""


def per_row(task: Sized) -> float:
    """Return how many numbers a row holds, its bias coordinate included."""
    return task.stored() / task.n + 1


def factor_price(task: Sized) -> float:
    """Return what a factor of the Hessian costs, in numbers that products with the rows could read instead."""
    d = task.rows.shape[1] + 1
    if d > MOST_EQUATIONS:
        return math.inf
    work = task.n * per_row(task) ** 2 / 2 + d**3 / 6
    return work / (SPARSE_FLOPS_PER_TOUCH if is_sparse(task.rows.values) else FLOPS_PER_TOUCH)


def step_price(task: Sized) -> float:
    """Return what a step of conjugate gradients costs: two products with the rows."""
    return 2.0 * (task.stored() + 4 * task.n)


def ascent_first(task: Sized, tightness: float, tol: float) -> bool:
    """Whether ascent is likely to come to a smooth loss's optimum before Newton's method would.

    ``tightness`` is the mean of ``2 C |x|^2``: what a step on one row undoes of its neighbours' steps.
    """
    if not is_sparse(task.rows.values):
        return not factor_at_once(task)
    epochs = ASCENT_EPOCHS * math.log(1.0 / max(tol, 1e-16)) * math.sqrt(1.0 + tightness)
    return epochs * task.stored() < _newton_price(task)


def _newton_price(task: Sized) -> float:
    """Return what Newton's method with a factor costs, in numbers that ascent could read, and write, instead."""
    return 0.5 * NEWTON_ITERATIONS * factor_price(task)


def factor_at_once(task: Sized) -> bool:
    """Whether Newton's equations are solved by a factor from the start."""
    return factor_price(task) <= FIRST_TRY * step_price(task)


def factor_always(task: Sized) -> bool:
    """Whether a factor of each Hessian is cheaper than the steps that an earlier one leaves."""
    return factor_price(task) <= FACTOR_ALWAYS * step_price(task)


def steps_of_factor(task: Sized) -> int:
    """Return how many steps of conjugate gradients a new factor costs."""
    return max(int(factor_price(task) / step_price(task)), 1)


def most_steps(task: Sized, most: int) -> int:
    """Return how many steps of conjugate gradients may be taken in one iteration before the factor takes over."""
    price = factor_price(task)
    return most if price == math.inf else min(most, max(int(2.0 * price / step_price(task)), FIRST_TRY))


def interior_price(task: Sized, rows: int) -> float:
    """Return what the interior-point method costs on this many rows, in numbers that ascent could read instead."""
    each, d = per_row(task), task.rows.shape[1] + 1
    if min(rows, d) > MOST_INTERIOR_EQUATIONS:
        return math.inf
    if d > rows:
        return INTERIOR_ITERATIONS * ((rows**3 / 3 + rows * each * 4) / ASCENT_FLOPS_PER_TOUCH + 2 * rows * each)
    pace = ASCENT_SPARSE_FLOPS_PER_TOUCH if is_sparse(task.rows.values) else ASCENT_FLOPS_PER_TOUCH
    factor = d**3 / 3 / ASCENT_FLOPS_PER_TOUCH
    return INTERIOR_ITERATIONS * (rows * each * each / 2 / pace + factor + 2 * rows * each)


def interior_next(task: Sized, price: float, ahead: float, touched: float, spent: float) -> bool:
    """Whether the interior-point method should take over from ascent, which has read ``touched`` numbers so far.

    ``ahead`` is the work still ahead of ascent at its pace, ``spent`` what has gone into earlier attempts.
    """
    if not price < 0.7 * ahead:
        return False
    if price < INTERIOR_CHEAP * task.stored():
        return spent <= 0.0 or price < INTERIOR_AGAIN * touched - spent
    return price < INTERIOR_LATER * touched - spent


def newton_next(task: Sized, ahead: float, touched: float) -> bool:
    """Whether Newton's method should take over from ascent, for a smooth loss.

    With more features than rows the dual is the smaller problem, and ascent with its own Newton steps is better.
    """
    price = min(NEWTON_PASSES * task.stored(), _newton_price(task))
    return fewer_features(task) and price < ahead and price < NEWTON_SOON * touched


def fewer_features(task: Sized) -> bool:
    """Whether the primal problem is the smaller one."""
    return task.rows.shape[1] < task.n


def program_next(task: Sized, epochs: int) -> bool:
    """Whether the linear program should say if a plane separates, where ascent has found none."""
    return epochs >= PATIENCE and task.stored() <= LARGEST_PROGRAM


def joint_factor_price(task: Sized, n_classes: int) -> float:
    """Return what a factor of all classes' Hessian costs, in numbers that products with the rows could read instead."""
    size = (task.rows.shape[1] + 1) * n_classes
    if size > JOINT_EQUATIONS:
        return math.inf
    work = task.n * size * size / 2 + size**3 / 6
    return 0.0 if size <= JOINT_FEW and work <= JOINT_AT_ONCE else work / JOINT_FLOPS_PER_TOUCH


def joint_step_price(task: Sized, n_classes: int) -> float:
    """Return what a step of conjugate gradients costs: two products with the rows, and some for each score."""
    return 2.0 * n_classes * (task.stored() + 8 * task.n)


def joint_factor_at_once(task: Sized, n_classes: int) -> bool:
    """Whether Newton's equations for several classes are solved by a factor from the start."""
    return joint_factor_price(task, n_classes) <= JOINT_FIRST_TRY * joint_step_price(task, n_classes)


def joint_most_steps(task: Sized, n_classes: int, most: int) -> int:
    """Return how many steps of conjugate gradients may be taken in one iteration before the factor takes over."""
    price = joint_factor_price(task, n_classes)
    step = joint_step_price(task, n_classes)
    return most if price == math.inf else min(most, max(int(2.0 * price / step), 4 * JOINT_FIRST_TRY))


def table_price(n: int, numbers: float, k: int, *, sparse: bool) -> float:
    """Return what the table of k columns costs that hold so many numbers, in numbers that descent could read."""
    if k > TABLE_EQUATIONS:
        return math.inf
    per_row = numbers / n
    products = n * per_row * per_row / (TABLE_SPARSE_FLOPS_PER_TOUCH if sparse else TABLE_FLOPS_PER_TOUCH)
    return products + k**3 / TABLE_FACTOR


def whole_table(width: int, stored: int, row_squares: float | None) -> bool:
    """Whether the products of all features are kept in one table: not if that costs many epochs of descent.

    ``row_squares`` is the sum of the squares of the sparse rows' numbers of entries; dense rows have None.
    """
    if width > TABLE_FEW:
        return False
    if width <= TABLE_ALWAYS or row_squares is None:
        return True
    return row_squares / TABLE_SPARSE_FLOPS_PER_TOUCH + width**3 / TABLE_FACTOR <= TABLE_EPOCHS * stored


def subspace_next(free: int, task: Sized, ahead: float) -> bool:
    """Whether a Newton step on the points between the bounds is worth a try."""
    return SUBSPACE_PASSES * free * per_row(task) < 0.5 * ahead


def remaining(seen: list[tuple[float, float]], goal: float) -> float:
    """Return how much more work it takes to the goal at the pace of the last looks (work, logarithm of the gap).

    Examples
    --------
    >>> remaining([(0.0, -1.0), (10.0, -2.0), (20.0, -3.0)], -5.0)
    20.0
    """
    if len(seen) < 3:
        return 0.0
    (first, high), (last, low) = seen[0], seen[-1]
    if low <= goal:
        return 0.0
    return (low - goal) * (last - first) / (high - low) if high > low else math.inf
