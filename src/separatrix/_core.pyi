"""The compiled loops of separatrix; every argument is checked. Leave a Matrix's arrays alone while it is in use."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

def builds() -> list[str]: ...
def build() -> str: ...
def use_build(name: str) -> None: ...
def leak_warnings(on: bool) -> None: ...

class Matrix:
    @property
    def canonical(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, int]: ...

def dense(X: NDArray[Any]) -> Matrix: ...
def csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], cols: int) -> Matrix: ...

class BinaryTask:
    def __init__(
        self,
        w: NDArray[np.float64],
        real: NDArray[np.float64],
        count: NDArray[np.int64],
        average_correction: NDArray[np.float64] | None,
        pocket: NDArray[np.float64] | None,
        positive: int,
        tie_is_mistake: tuple[bool, bool],
        vote: bool,
        spread: NDArray[np.float64] | None = None,
    ) -> None: ...
    def take_votes(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...

class JointTask:
    def __init__(
        self,
        w: NDArray[np.float64],
        biases: NDArray[np.float64],
        real: NDArray[np.float64],
        count: NDArray[np.int64],
        average_correction: NDArray[np.float64] | None,
        pocket: NDArray[np.float64] | None,
        tie_is_mistake: tuple[bool, bool],
    ) -> None: ...

JOINT_BIAS_ROWS: int

class Examples:
    def __init__(
        self,
        codes: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        order: NDArray[np.uint32] | None,
        shares: NDArray[np.float64] | None = None,
    ) -> None: ...

class Rule:
    def __init__(self, name: str, parameters: list[float]) -> None: ...

REAL_SLOTS: tuple[str, ...]
BUDGET_REAL_SLOTS: tuple[str, ...]
BUDGET_COUNT_SLOTS: tuple[str, ...]
COPIES: int
FORGETS: tuple[str, ...]
COUNT_SLOTS: tuple[str, ...]

RULES: dict[str, dict[str, Any]]

def visit(
    X: Matrix,
    examples: Examples,
    begin: int,
    end: int,
    tasks: list[BinaryTask],
    rule: Rule,
    bias_square: float,
    clock: float,
    fold_size: int,
    edges: NDArray[np.int64] | None,
    lengths: NDArray[np.float32] | None,
    n_jobs: int,
) -> tuple[int, float]: ...
def tally(
    X: Matrix, examples: Examples, begin: int, end: int, task: BinaryTask, smooth: bool
) -> tuple[int, float, float, float, float, float, float]: ...
def visit_joint(
    X: Matrix,
    examples: Examples,
    begin: int,
    end: int,
    task: JointTask,
    rule: Rule,
    bias_square: float,
    clock: float,
) -> tuple[int, float]: ...
def tally_joint(
    X: Matrix, examples: Examples, begin: int, end: int, task: JointTask, smooth: bool
) -> tuple[int, float, float, float, float, float, float]: ...
def decide(X: Matrix, w: NDArray[np.float64], bias: NDArray[np.float64], n_jobs: int) -> NDArray[np.float64]: ...
def square_norms(X: Matrix) -> NDArray[np.float64]: ...
def first_bad_row(X: Matrix, begin: int, end: int) -> int: ...

class Shuffler:
    def __init__(self, X: Matrix, examples: Examples, seed: int, first: int) -> None: ...
    def epoch(self, seed: int, epoch: int) -> NDArray[np.uint32]: ...

def exponentials(
    products: NDArray[np.float32],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    gamma: float,
    store: NDArray[np.float32],
    slots: NDArray[np.int64],
    n_jobs: int,
) -> None: ...
def add_rows(
    store: NDArray[Any], slots: NDArray[np.int64], coef: NDArray[np.float64], sums: NDArray[np.float64], n_jobs: int
) -> None: ...
def smo(
    store: NDArray[Any],
    slots: NDArray[np.int64],
    chosen: NDArray[np.int64],
    diagonal: NDArray[np.float64],
    y: NDArray[np.float64],
    C: NDArray[np.float64],
    alpha: NDArray[np.float64],
    F: NDArray[np.float64],
    tolerance: float,
    max_steps: int,
) -> int: ...

class Budget:
    def __init__(
        self,
        forget: str,
        stored: NDArray[np.int64],
        place: NDArray[np.int64],
        stamp: NDArray[np.int64],
        count: NDArray[np.int64],
        real: NDArray[np.float64],
        factor: NDArray[np.float64],
        diagonal: NDArray[np.float64],
        radius_square: float,
        seed: int,
    ) -> None: ...

def dual_visit(
    store: NDArray[np.float64],
    slot_of: NDArray[np.int64],
    codes: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    order: NDArray[np.uint32] | None,
    begin: int,
    end: int,
    coef: NDArray[np.float64],
    average_correction: NDArray[np.float64] | None,
    pocket: NDArray[np.float64] | None,
    activation: NDArray[np.float64],
    real: NDArray[np.float64],
    count: NDArray[np.int64],
    positive: int,
    tie_is_mistake: tuple[bool, bool],
    eta: float,
    threshold: float,
    bias_square: float,
    clock: float,
    vote: bool,
    budget: Budget | None = None,
) -> tuple[int, int, float, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...
def ascent_order(points: NDArray[np.uint8], block: int, seed: int, epoch: int) -> NDArray[np.uint32]: ...
def ascend(
    X: Matrix,
    points: NDArray[np.uint8],
    order: NDArray[np.uint32],
    begin: int,
    end: int,
    w: NDArray[np.float64],
    real: NDArray[np.float64],
    bias_square: float,
    relax: float,
    squared: bool,
) -> int: ...
def standing(points: NDArray[np.uint8], squared: bool) -> tuple[float, float, int, int]: ...
def centred(X: Matrix, centre: NDArray[np.float64]) -> Matrix: ...
def product_threads(most: int) -> int: ...

class HingePath:
    def __init__(
        self,
        X: Matrix,
        signs: NDArray[np.float64],
        counts: NDArray[np.float64],
        constant: float,
        free: bool,
        C: float,
        alpha: NDArray[np.float64],
        bias: float,
    ) -> None: ...
    def follow(
        self, end: float, most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], bool]: ...

def combine(X: Matrix, v: NDArray[np.float64]) -> NDArray[np.float64]: ...
def reach(value: NDArray[np.float64], way: NDArray[np.float64], sign: float) -> float: ...
def gram(X: Matrix, t: NDArray[np.float64], look: Callable[[], None] | None = None) -> NDArray[np.float64]: ...
def factor(a: NDArray[np.float64], least: float, replaced: float, look: Callable[[], None] | None = None) -> None: ...
def substitute(factor: NDArray[np.float64], b: NDArray[np.float64]) -> None: ...
def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float: ...
def columns(X: Matrix, chosen: NDArray[np.int64], constant: float) -> Matrix: ...
def turned(columns: Matrix, chosen: NDArray[np.int64]) -> Matrix: ...
def stored(columns: Matrix) -> NDArray[np.float64]: ...
def slopes(
    squared: bool,
    scores: NDArray[np.float64],
    bias: float,
    signs: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> tuple[float, float, float, NDArray[np.float64], NDArray[np.float64]]: ...
def loss_along(
    squared: bool,
    scores: NDArray[np.float64],
    along: NDArray[np.float64],
    length: float,
    bias: float,
    signs: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> float: ...
def apart(
    squared: bool,
    scores: NDArray[np.float64],
    bias: float,
    signs: NDArray[np.float64],
    costs: NDArray[np.float64],
    alpha: NDArray[np.float64],
    scale: float,
) -> float: ...
def penalty_gap(
    w: NDArray[np.float64], z: NDArray[np.float64], scale: float, ridge: float, lasso: float
) -> tuple[float, float, float]: ...
def largest(z: NDArray[np.float64]) -> float: ...
def combine_precisely(X: Matrix, v: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_values(m: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_pulls(m: NDArray[np.float64]) -> NDArray[np.float64]: ...
def log_divergences(p: NDArray[np.float64], m: NDArray[np.float64]) -> NDArray[np.float64]: ...
def spread(X: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
def class_losses(
    X: Matrix,
    weights: NDArray[np.float64],
    shift: NDArray[np.float64],
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    p: NDArray[np.float64],
    wrong: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]: ...
def class_loss(
    X: Matrix,
    weights: NDArray[np.float64],
    shift: NDArray[np.float64],
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> float: ...
def class_bends(
    X: Matrix,
    weights: NDArray[np.float64],
    shift: NDArray[np.float64],
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    p: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def class_shift(
    X: Matrix,
    weights: NDArray[np.float64] | None,
    shift: NDArray[np.float64],
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    p: NDArray[np.float64],
    wrong: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> None: ...
def class_pulls(
    X: Matrix,
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    p: NDArray[np.float64],
    wrong: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def class_divergence(
    X: Matrix,
    codes: NDArray[np.int64],
    costs: NDArray[np.float64],
    p: NDArray[np.float64],
    p_wrong: NDArray[np.float64],
    q: NDArray[np.float64],
    q_wrong: NDArray[np.float64],
    look: Callable[[], None] | None = None,
) -> float: ...
def curve(
    columns: Matrix,
    chosen: NDArray[np.int64],
    curvature: NDArray[np.float64],
    residual: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def descend(
    columns: Matrix,
    chosen: NDArray[np.int64],
    weights: NDArray[np.float64],
    residual: NDArray[np.float64],
    curvature: NDArray[np.float64],
    bends: NDArray[np.float64],
    sums: NDArray[np.float64],
    total: float,
    shift: float,
    ridge: float,
    lasso: float,
    enough: float,
    epochs: int,
    most: int,
) -> tuple[float, float, int, int]: ...
def descend_gram(
    table: NDArray[np.float64],
    weights: NDArray[np.float64],
    slope: NDArray[np.float64],
    ridge: float,
    lasso: float,
    enough: float,
    epochs: int,
) -> tuple[float, int, int]: ...
def enclosed_scores(
    X: Matrix, w: NDArray[np.float64], bias: float, n_jobs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]: ...
def enclosed_sums(
    X: Matrix, v: NDArray[np.float64], origin: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def exact_sides(X: Matrix, rows: NDArray[np.int64], words: NDArray[np.float64]) -> NDArray[np.int8]: ...
def on_both_sides(keys: NDArray[np.uint64], positive: NDArray[np.bool_]) -> NDArray[np.int64]: ...
def row_keys(X: Matrix, seed: int, n_jobs: int) -> NDArray[np.uint64]: ...

class LibsvmReader:
    def __init__(self, zero_based: bool = False, single: bool = False) -> None: ...
    def feed(self, bytes: Buffer) -> None: ...
    def finish(self) -> None: ...
    def take(self, rows: int) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]: ...
    @property
    def rows(self) -> int: ...
    @property
    def lines(self) -> int: ...
    @property
    def width(self) -> int: ...
    @property
    def smallest(self) -> int | None: ...

class NotPlain(ValueError): ...  # noqa: N818

class CsvReader:
    def __init__(
        self, delimiter: bytes, quote: bytes, kinds: Sequence[str], n_jobs: int = 1, max_levels: int = 10_000
    ) -> None: ...
    def feed(self, bytes: Buffer) -> tuple[NDArray[np.float64], NDArray[np.int32]]: ...
    def count(self, k: int) -> int: ...
    def levels(self, k: int) -> list[bytes]: ...

class CsvProblem(ValueError): ...  # noqa: N818

class CsvScan:
    def __init__(self, delimiter: bytes, columns: int, n_jobs: int = 1, longest_line: int = 64_000_000) -> None: ...
    def begin(self, line: int) -> None: ...
    def feed(self, bytes: Buffer, last: bool) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def longest_line(self) -> int: ...
    @property
    def line_ends(self) -> int: ...
    def columns(self) -> list[tuple[int, bool, int, int, int, bytes]]: ...

class CsvColumns:
    def __init__(
        self, delimiter: bytes, kinds: Sequence[str], n_jobs: int = 1, longest_line: int = 64_000_000
    ) -> None: ...
    def begin(self, line: int) -> None: ...
    def feed(
        self, bytes: Buffer, last: bool
    ) -> tuple[
        NDArray[np.float64],
        NDArray[np.int64],
        NDArray[np.uint8],
        NDArray[np.uint8],
        NDArray[np.int32],
        list[int],
        bytes,
    ]: ...

def csv_header(bytes: Buffer, delimiter: bytes, last: bool) -> list[bytes] | None: ...
def column_sums(
    X: NDArray[np.float64], centre: NDArray[np.float64] | None = None, squares: bool = False, n_jobs: int = 1
) -> NDArray[np.float64]: ...
def slopes_along(
    squared: bool,
    scores: NDArray[np.float64],
    along: NDArray[np.float64] | None,
    length: float,
    bias: float,
    bias_step: float,
    signs: NDArray[np.float64],
    costs: NDArray[np.float64],
) -> tuple[float, float, float, float]: ...
def hessian_product(
    X: Matrix,
    curvature: NDArray[np.float64],
    v: NDArray[np.float64],
    scores: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None: ...
def add_scaled(out: NDArray[np.float64], factor: float, v: NDArray[np.float64]) -> None: ...
def margin_sums(
    squared: bool,
    scores: NDArray[np.float64],
    bias: float,
    signs: NDArray[np.float64],
    costs: NDArray[np.float64],
    squares: NDArray[np.float64],
    alpha: NDArray[np.float64],
    unit: float,
    norm: float,
    constant: float,
) -> tuple[float, float, float, float, NDArray[np.float64]]: ...
def checksum(X: Matrix) -> int: ...
def sample_moments(X: Matrix, step: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
