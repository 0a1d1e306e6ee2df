"""The models in a comparison: every model of this package, and six of scikit-learn's for reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from separatrix.tables.kinds import MODELS
from separatrix.tables.kinds import make as make_own

_NOT_FOR_COMPARISONS = {
    "max_iter": "use --epochs",
    "random_state": "use --seed",
    "readout": "use --models averaged, perceptron, voted or pocket",
    "stop": "compare has no option for it",
    "verbose": "compare has no option for it",
    "warm_start": "compare has no option for it",
}


@dataclass(frozen=True)
class Recipe:
    """How to make a contender: the epoch limit (None: its own default), the seed, and parameters of its own."""

    epochs: int | None = None
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)


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
    dense : bool
        Whether it takes no sparse rows.
    """

    name: str
    family: bool
    make: Callable[[Recipe], Any]
    dense: bool = False


def _own(name: str) -> Contender:
    def make(recipe: Recipe) -> Any:
        return make_own(
            name, epochs=recipe.epochs, time_limit=None, seed=recipe.seed, parameters=dict(recipe.parameters)
        )

    return Contender(name, True, make)


def _neighbours(recipe: Recipe) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**recipe.parameters)


def _all_neighbours(recipe: Recipe) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(**{**recipe.parameters, "algorithm": "brute"})


def _tree(recipe: Recipe) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=recipe.seed, **recipe.parameters)


def _their_perceptron(recipe: Recipe) -> Any:
    from sklearn.linear_model import Perceptron

    return Perceptron(random_state=recipe.seed, **_their_epochs(recipe), **recipe.parameters)


def _their_svc(recipe: Recipe) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(random_state=recipe.seed, **_their_epochs(recipe), **recipe.parameters)


def _their_logistic(recipe: Recipe) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(random_state=recipe.seed, **_their_epochs(recipe), **recipe.parameters)


def _boosting(recipe: Recipe) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=recipe.seed, **recipe.parameters)


def _their_epochs(recipe: Recipe) -> dict[str, int]:
    return {} if recipe.epochs is None else {"max_iter": recipe.epochs}


CONTENDERS = {
    each.name: each
    for each in (
        *(_own(name) for name in MODELS),
        Contender("k-nn", False, _neighbours),
        Contender("tree", False, _tree),
        Contender("sk-perceptron", False, _their_perceptron),
        Contender("sk-linear-svc", False, _their_svc),
        Contender("sk-logistic", False, _their_logistic),
        Contender("sk-boosting", False, _boosting, dense=True),
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


def parameters_by_model(
    given: Iterable[tuple[str | None, str, Any]], models: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Return the parameters of each contender that has some.

    Parameters
    ----------
    given : iterable of (model, name, value)
        A parameter of one contender, or without a model of every contender of this package that has it. Of several
        values of a parameter the last counts, and one for a model before one for all.
    models : iterable of str
        The contenders.

    Examples
    --------
    >>> parameters_by_model([(None, "C", 10), ("svm", "C", 2)], ["svm", "kernel-svm", "k-nn"])
    {'svm': {'C': 2}, 'kernel-svm': {'C': 10}}
    """
    known = {name: CONTENDERS[name].make(Recipe()).get_params() for name in models}
    for_all: dict[str, dict[str, Any]] = {name: {} for name in known}
    for_one: dict[str, dict[str, Any]] = {name: {} for name in known}
    for model, name, value in given:
        if name in _NOT_FOR_COMPARISONS:
            raise ValueError(f"--param {name}: {_NOT_FOR_COMPARISONS[name]}")
        if model is None:
            having = [each for each in known if CONTENDERS[each].family and name in known[each]]
            if not having:
                raise ValueError(
                    f"--param {name}: no model of separatrix in this comparison has this parameter; for another model, "
                    f"name it, as in --param sk-logistic:{name}=..."
                )
            for each in having:
                for_all[each][name] = value
            continue
        if model not in known:
            raise ValueError(f"--param {model}:{name}: {model!r} is not compared; compared are {', '.join(known)}")
        if name not in known[model]:
            raise ValueError(
                f"--param {model}:{name}: {model} has no parameter {name!r}; it has {', '.join(sorted(known[model]))}"
            )
        for_one[model][name] = value
    together = {name: {**for_all[name], **for_one[name]} for name in known}
    for name, own in together.items():
        CONTENDERS[name].make(Recipe(parameters=own))  # which refuses some values
    return {name: own for name, own in together.items() if own}
