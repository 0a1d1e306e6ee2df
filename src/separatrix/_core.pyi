"""The compiled loops of separatrix; every argument is checked. Leave a Matrix's arrays alone while it is in use."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def builds() -> list[str]: ...
def build() -> str: ...
def use_build(name: str) -> None: ...

class Matrix:
    @property
    def canonical(self) -> bool: ...
    @property
    def shape(self) -> tuple[int, int]: ...

def dense(X: NDArray[Any]) -> Matrix: ...
def csr(data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], cols: int) -> Matrix: ...

class Target:
    def __init__(
        self,
        w: NDArray[np.float64],
        real: NDArray[np.float64],
        count: NDArray[np.int64],
        drift: NDArray[np.float64] | None,
        pocket: NDArray[np.float64] | None,
        positive: int,
        tie_is_mistake: tuple[bool, bool],
        vote: bool,
    ) -> None: ...
    def take_votes(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...

class Examples:
    def __init__(
        self,
        codes: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        order: NDArray[np.uint32] | None,
        shares: NDArray[np.float64] | None = None,
    ) -> None: ...

class Rule:
    def __init__(self, kind: str, eta: float, threshold: float, alpha: float, falling: bool) -> None: ...

def visit(
    X: Matrix,
    examples: Examples,
    begin: int,
    end: int,
    targets: list[Target],
    rule: Rule,
    bias_square: float,
    clock: float,
    fold_size: int,
    edges: NDArray[np.int64] | None,
    lengths: NDArray[np.float32] | None,
    n_jobs: int,
) -> tuple[int, float]: ...
def tally(
    X: Matrix, examples: Examples, begin: int, end: int, target: Target, smooth: bool
) -> tuple[int, float, float, float, float]: ...
def decide(X: Matrix, w: NDArray[np.float64], bias: NDArray[np.float64], n_jobs: int) -> NDArray[np.float64]: ...
def square_norms(X: Matrix) -> NDArray[np.float64]: ...
def first_bad_row(X: Matrix, begin: int, end: int) -> int: ...

class Shuffler:
    def __init__(self, X: Matrix, examples: Examples, seed: int, first: int) -> None: ...
    def epoch(self, seed: int, epoch: int) -> NDArray[np.uint32]: ...
