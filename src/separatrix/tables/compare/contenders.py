"""Who takes part in a comparison: every model of the family, and four of scikit-learn's for scale."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from separatrix.tables.kinds import MODELS
from separatrix.tables.kinds import make as make_own

_EPOCHS = 50  # of the kernel perceptron, if none are asked for; the same as for the other perceptrons


@dataclass(frozen=True)
class Recipe:
    """What all contenders are made with: the most epochs (None: each its own default) and the seed."""

    epochs: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Contender:
    """A model that takes part.

    Attributes
    ----------
    name : str
        What it is called.
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


def _their_machine(recipe: Recipe) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=recipe.seed, **_their_epochs(recipe))


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
        Contender("sk-linear-svc", False, _their_machine),
    )
}
# whose time to predict is drawn against the rows learned from; k-NN without an index, as the lectures have it
GROWING = {
    "k-nn": Contender("k-nn", False, _all_neighbours),
    **{name: CONTENDERS[name] for name in ("kernel-svm", "tree", "averaged")},
}


def chosen(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of contenders that were given one by one or with commas between them; all if there are none.

    Examples
    --------
    >>> chosen(["svm,k-nn", "tree"])
    ('svm', 'k-nn', 'tree')
    """
    wanted = tuple(dict.fromkeys(part.strip() for name in names for part in name.split(",") if part.strip()))
    for name in wanted:
        if name not in CONTENDERS:
            raise ValueError(f"--models: there is no {name!r}; there are {', '.join(CONTENDERS)}")
    return wanted or tuple(CONTENDERS)
