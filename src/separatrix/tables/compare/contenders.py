"""The models in a comparison: every model of this package, and five of scikit-learn's for reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from separatrix.tables.kinds import MODELS
from separatrix.tables.kinds import make as make_own

_EPOCHS = 50  # default of the kernel perceptron; the same as for the other perceptrons


@dataclass(frozen=True)
class Recipe:
    """What all contenders share: the epoch limit (None: each its own default) and the seed."""

    epochs: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Contender:
    """A model in a comparison.

    Attributes
    ----------
    name : str
        Its name, as in ``--models``.
    family : bool
        Whether it is one of this package's.
    make : callable
        Takes a recipe and returns the estimator, ready to be fitted.
    """

    name: str
    family: bool
    make: Callable[[Recipe], Any]


def _own(name: str) -> Contender:
    def make(recipe: Recipe) -> Any:
        return make_own(name, epochs=recipe.epochs, time_limit=None, seed=recipe.seed, parameters={})

    return Contender(name, True, make)


def _kernel_perceptron(recipe: Recipe) -> Any:
    from separatrix.estimators import KernelPerceptron

    return KernelPerceptron(max_iter=recipe.epochs or _EPOCHS, random_state=recipe.seed)


def _neighbours(recipe: Recipe) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier()


def _all_neighbours(recipe: Recipe) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(algorithm="brute")


def _tree(recipe: Recipe) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=recipe.seed)


def _their_perceptron(recipe: Recipe) -> Any:
    from sklearn.linear_model import Perceptron

    return Perceptron(random_state=recipe.seed, **_their_epochs(recipe))


def _their_svc(recipe: Recipe) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=recipe.seed, **_their_epochs(recipe))


def _their_logistic(recipe: Recipe) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=recipe.seed, **_their_epochs(recipe))


def _their_epochs(recipe: Recipe) -> dict[str, int]:
    return {} if recipe.epochs is None else {"max_iter": recipe.epochs}


CONTENDERS = {
    each.name: each
    for each in (
        *(_own(name) for name in MODELS),
        Contender("kernel-perceptron", True, _kernel_perceptron),
        Contender("k-nn", False, _neighbours),
        Contender("tree", False, _tree),
        Contender("sk-perceptron", False, _their_perceptron),
        Contender("sk-linear-svc", False, _their_svc),
        Contender("sk-logistic", False, _their_logistic),
    )
}
# whose prediction time is measured against the training rows; k-NN without an index, as in the lectures
SCALING_CONTENDERS = {
    "k-nn": Contender("k-nn", False, _all_neighbours),
    **{name: CONTENDERS[name] for name in ("kernel-svm", "tree", "averaged")},
}


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of contenders, given one by one or separated by commas; all if none are given.

    Examples
    --------
    >>> chosen(["svm,k-nn", "tree"])
    ('svm', 'k-nn', 'tree')
    """
    wanted = tuple(dict.fromkeys(part.strip() for name in names for part in name.split(",") if part.strip()))
    for name in wanted:
        if name not in CONTENDERS:
            raise ValueError(f"--models: unknown model {name!r}; choose from {', '.join(CONTENDERS)}")
    return wanted or tuple(CONTENDERS)
