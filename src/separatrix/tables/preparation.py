"""How rows of a table become rows of numbers: scaled, one-hot encoded, bag of words. It is stored in the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.columns import MISSING, SCALES
from separatrix.tables.date_notations import DATES, PARTS
from separatrix.tables.notations import is_number_notation
from separatrix.tables.raw_rows import RawRows

ROLES = ("number", "date", "category", "text")
KINDS = ("number", "flag", "text", "date")
ANONYMOUS = ("", "libsvm", "npy")  # what rows without column names were read from
# In words: what is done to numbers, which features that gives, and what is done about what is missing.
SCALING = {
    "standard": "scaled to mean 0 and standard deviation 1",
    "minmax": "scaled to [0, 1]",
    "none": "not scaled",
}
FEATURES = {"standard": "scaled features", "minmax": "scaled features", "none": "features as they are"}
LACKING = {
    "impute": (
        "Missing numbers and dates are imputed by the median, with a feature that says so where some were missing in "
        "fit; a missing category is a level of its own."
    ),
    "drop": "Rows with missing values are dropped, and have no prediction.",
    "mean": "Missing numbers are imputed by the mean, missing categories by zeros.",
    "fail": "Missing values are an error in fit; rows with missing values have no prediction.",
}
HASHED = 1 << 20  # features for hashed words
MOST_WORDS = 200_000  # the most frequent
PAIRS = (1, 2)  # unigrams and bigrams
_SPARSE_WIDTH = 64  # narrower tables are dense
_BLOCK = 1 << 15  # numbers that fit into the processor's cache


def _check_numbers(what: str, values: Any, size: int) -> None:
    if not (isinstance(values, np.ndarray) and values.dtype == np.float64 and values.shape == (size,)):
        raise ValueError(f"{what} must be {size} numbers of 64 bits")
    if not np.isfinite(values).all():
        raise ValueError(f"{what} must be finite numbers")


@dataclass(frozen=True)
class Feature:
    """A feature column.

    Parameters
    ----------
    name : str
        The column.
    role : {"number", "date", "category", "text"}
        As what.
    kind : {"number", "flag", "text", "date"}
        What the table holds there.
    levels : tuple of str
        Of a category: its texts, sorted.
    words : tuple of str, optional
        Of a text: its unigrams and bigrams, sorted; None where they are hashed.
    rarity : array, optional
        Of a text: the inverse document frequency of each word.
    gaps : bool
        Whether it has a feature of its own for missing values.
    pooled : bool
        Of a category: whether it has a feature for all levels that are not in ``levels``.
    notation : str
        Of a number or date that is text in a file: how it is written.
    parts : tuple of str
        Of a date: the parts that it becomes.
    shares : tuple of str
        Of a target-encoded category: the classes whose shares it becomes.
    encoding : array of shape (levels + 2, shares), optional
        Of a target-encoded category: the shares for each level, an unknown one and a missing one.
    """

    name: str
    role: str
    kind: str
    levels: tuple[str, ...] = ()
    words: tuple[str, ...] | None = None
    rarity: Floats | None = None
    gaps: bool = False
    pooled: bool = False
    notation: str = ""
    parts: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()
    encoding: Floats | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.role not in ROLES or self.kind not in KINDS:
            raise ValueError(f"no column can be {self.name!r} with the role {self.role!r} and the kind {self.kind!r}")
        if type(self.gaps) is not bool or type(self.pooled) is not bool or (self.gaps and self.role == "text"):
            raise ValueError(f"the missing values of column {self.name!r} do not fit its role {self.role!r}")
        known = not self.notation or (self.role == "date" and self.notation in DATES)
        if self.role == "number" and isinstance(self.notation, str):
            known = known or is_number_notation(self.notation)
        if not known or (self.pooled and self.role != "category"):
            raise ValueError(f"column {self.name!r} with the role {self.role!r} is not read as {self.notation!r:.60}")
        if (
            not isinstance(self.parts, tuple)
            or not set(self.parts) <= set(PARTS)
            or len(set(self.parts)) < len(self.parts)
        ):
            raise ValueError(f"the parts of column {self.name!r} are damaged")
        if (self.role == "date") != bool(self.parts):
            raise ValueError(f"the parts of column {self.name!r} do not fit its role {self.role!r}")
        for values in (self.levels, self.words or (), self.shares):
            if not isinstance(values, tuple) or not all(isinstance(value, str) for value in values):
                raise ValueError(f"the values of column {self.name!r} are not all text")
            if len(set(values)) < len(values):
                raise ValueError(f"a value of column {self.name!r} is there twice")
        if (self.role == "category") != bool(self.levels) or (self.words is not None and self.role != "text"):
            raise ValueError(f"the values of column {self.name!r} do not fit its role {self.role!r}")
        if (self.words is None) != (self.rarity is None) or self.words == ():
            raise ValueError(f"the words of column {self.name!r} do not fit their rarity")
        if (self.encoding is None) == bool(self.shares) or (self.shares and (self.role != "category" or self.pooled)):
            raise ValueError(f"the target encoding of column {self.name!r} does not fit its role {self.role!r}")
        if self.encoding is not None:
            if np.shape(self.encoding) != (len(self.levels) + 2, len(self.shares)):
                raise ValueError(f"the target encoding of column {self.name!r} does not fit its values")
            what = f"the target encoding of column {self.name!r}"
            _check_numbers(what, np.ravel(self.encoding), np.size(self.encoding))
        if self.words is not None:
            _check_numbers(f"the rarity of the words of {self.name!r}", self.rarity, len(self.words))

    @property
    def width(self) -> int:
        """How many numbers it becomes, without the one that says that a number or date is missing."""
        if self.role == "number":
            return 1
        if self.role == "date":
            return len(self.parts)
        if self.shares:
            return len(self.shares)
        if self.role == "category":
            return len(self.levels) + self.pooled + self.gaps
        return HASHED if self.words is None else len(self.words)

    def places(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return which of its numbers is 1 for each code of a category, -1 for none."""
        other, n = (len(self.levels) if self.pooled else -1), len(self.levels)
        table = np.array([*range(n), other, n + self.pooled if self.gaps else -1], dtype=np.int32)
        return np.asarray(table[codes])  # MISSING is -1 and UNSEEN -2

    def names(self) -> list[str]:
        """Return the name of each number."""
        if self.role == "number":
            return [self.name]
        if self.role == "date":
            return [f"{self.name} {part}" for part in self.parts]
        if self.shares:
            return [f"{self.name}: share of {share}" for share in self.shares]
        if self.role == "category":
            more = ["(other)"] * self.pooled + ["(missing)"] * self.gaps
            return [f"{self.name}={level}" for level in (*self.levels, *more)]
        if self.words is None:
            return [f"{self.name}: hashed {place}" for place in range(HASHED)]
        return [f"{self.name}: {word}" for word in self.words]


@dataclass(frozen=True)
class Preparation:
    """What is done to each row before a model sees it.

    Parameters
    ----------
    features : tuple of Feature
        The columns: numbers, then dates, categories and texts, as their numbers stand in a row. Behind those of numbers
        and dates stand the features that say that one of these is missing (``Feature.gaps``).
    missing : {"impute", "drop", "mean", "fail"}
        What is done where something is missing.
    scale : {"standard", "minmax", "none"}
        How numbers were scaled.
    shift, factor : arrays
        For each number column and part of a date: standard ``(x - shift) / factor``, minmax ``x * factor + shift``.
    means : array
        What takes the place of a missing number: the median for ``missing="impute"``, the mean for "mean".
    sparse : bool
        Whether rows become CSR matrices.
    anonymous : str
        Empty for tables; for numbers without column names what kind they were ("libsvm", "npy").
    """

    features: tuple[Feature, ...]
    missing: str
    scale: str
    shift: Floats
    factor: Floats
    means: Floats
    sparse: bool
    anonymous: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.features, tuple) or not all(isinstance(each, Feature) for each in self.features):
            raise ValueError("the columns are not a tuple of features")
        if self.missing not in MISSING or self.scale not in SCALES or self.anonymous not in ANONYMOUS:
            raise ValueError(f"no rows are prepared by {self.missing!r}, {self.scale!r}, {self.anonymous!r}")
        if len({feature.name for feature in self.features}) < len(self.features) or not isinstance(self.sparse, bool):
            raise ValueError("a column is there twice, or it is not said whether rows are sparse")
        roles = [ROLES.index(feature.role) for feature in self.features]
        if bool(self.anonymous) == bool(self.features) or roles != sorted(roles):
            raise ValueError("rows have no names, or columns: numbers, then dates, categories and texts")
        if self.missing != "impute" and any(feature.gaps for feature in self.features):
            raise ValueError(f"rows prepared by {self.missing!r} have no features for missing values")
        numbers = np.size(self.shift) if self.anonymous else sum(each.width for each in self.numeric)
        for what, values in (("shift", self.shift), ("factor", self.factor), ("means", self.means)):
            _check_numbers(what, values, numbers)
        if (self.factor == 0).any() or not self.width or (self.role("text") and not self.sparse):
            raise ValueError("rows cannot be prepared so: a factor is 0, there are no numbers, or words are not sparse")

    @property
    def width(self) -> int:
        """How many numbers a row becomes."""
        if self.anonymous:
            return len(self.shift)
        return sum(feature.width for feature in self.features) + len(self.gaps)

    @cached_property
    def names(self) -> list[str]:
        """The name of each number."""
        if self.anonymous:
            first = 1 if self.anonymous == "libsvm" else 0
            return [f"x{place + first}" for place in range(self.width)]
        names = [name for feature in self.numeric for name in feature.names()]
        names += [f"{feature.name} missing" for feature in self.gaps]
        others = self.features[len(self.numeric) :]
        return names + [name for feature in others for name in feature.names()]

    @cached_property
    def numeric(self) -> list[Feature]:
        """The columns of numbers and of dates, whose numbers are scaled and stand first."""
        return [feature for feature in self.features if feature.role in ("number", "date")]

    @cached_property
    def gaps(self) -> list[Feature]:
        """The columns of numbers and of dates with a feature that says that one is missing."""
        return [feature for feature in self.numeric if feature.gaps]

    @property
    def imputes(self) -> bool:
        """Whether every row has a prediction, whatever is missing."""
        return self.missing in ("impute", "mean")

    def starts(self) -> dict[str, int]:
        """Return where the numbers of each column begin in a row."""
        out, place = {}, 0
        for feature in self.features:
            if feature.role in ("category", "text") and place == len(self.shift):
                place += len(self.gaps)
            out[feature.name] = place
            place += feature.width
        return out

    def role(self, role: str) -> list[Feature]:
        """Return the columns of this role."""
        return [feature for feature in self.features if feature.role == role]

    @cached_property
    def _vectorisers(self) -> list[Any]:
        return [vectoriser(feature) for feature in self.role("text")]

    def number_factors(self) -> tuple[Floats, Floats]:
        """Return factor and shift, so that a scaled number is ``x * factor + shift``; for every number of a row."""
        factor, shift = np.ones(self.width), np.zeros(self.width)
        own_factor, own_shift = self.factor, self.shift
        if self.scale == "standard":
            own_factor, own_shift = 1.0 / self.factor, -self.shift / self.factor
        if self.anonymous:
            return own_factor, own_shift
        factor[: len(own_factor)], shift[: len(own_shift)] = own_factor, own_shift
        return factor, shift

    def matrix(self, raw: RawRows, *, overwrite: bool = False, encoded: Mapping[str, Floats] | None = None) -> Any:
        """Return the numbers of each row, dense or CSR; nothing may be missing unless it is imputed.

        With ``overwrite`` they may take the place of the numbers in ``raw``. ``encoded`` are the numbers of
        target-encoded columns where these are training rows.
        """
        encoded = encoded or {}
        gone = self._gone(raw.numbers)
        numbers = self._scaled(raw.numbers, overwrite)
        if self.anonymous or (len(self.numeric) == len(self.features) and not self.gaps):
            return numbers
        if self.sparse:
            return self._stacked(raw, numbers, gone, encoded)
        out = np.zeros((len(raw), self.width), dtype=numbers.dtype)
        place, every = numbers.shape[1], np.arange(len(raw))
        out[:, :place] = numbers
        out[:, place : place + gone.shape[1]] = gone
        place += gone.shape[1]
        for k, feature in enumerate(self.role("category")):
            if feature.encoding is not None:
                shares = encoded.get(feature.name, feature.encoding[raw.codes[:, k]])
                out[:, place : place + feature.width] = shares
                place += feature.width
                continue
            own = feature.places(raw.codes[:, k])
            known = own >= 0
            out[every[known], place + own[known]] = 1.0
            place += feature.width
        return out

    def _gone(self, numbers: Any) -> NDArray[np.bool_]:
        """Return which numbers and dates are missing, of the columns that have a feature for it."""
        if not self.gaps:
            return np.zeros((numbers.shape[0], 0), dtype=bool)
        starts = self.starts()
        return np.asarray(np.isnan(numbers[:, [starts[feature.name] for feature in self.gaps]]))

    def _scaled(self, numbers: Any, overwrite: bool) -> Any:
        """Return the numbers, what is missing filled in, scaled as scikit-learn's scalers do it."""
        if is_sparse(numbers):
            if numbers.shape[1] < self.width:
                numbers = numbers.copy()
                numbers.resize(numbers.shape[0], self.width)
            if self.scale == "none":
                return numbers
            return numbers.multiply(1.0 / self.factor).tocsr()
        if not numbers.shape[1] or (self.scale == "none" and not self.imputes):
            return numbers
        out = numbers if overwrite else np.empty_like(numbers)
        for part in _blocks(numbers):
            block, into = numbers[part], out[part]
            with np.errstate(over="ignore", invalid="ignore"):  # infinities of both signs
                gaps = self.imputes and np.isnan(np.add.reduce(block, axis=None))
            if gaps:
                block = np.where(np.isnan(block), self.means, block)
            if self.scale == "standard":
                np.subtract(block, self.shift, out=into)
                into /= self.factor
            elif self.scale == "minmax":
                np.multiply(block, self.factor, out=into)
                into += self.shift
            else:
                into[:] = block
        return out

    def _stacked(self, raw: RawRows, numbers: Any, gone: NDArray[np.bool_], encoded: Mapping[str, Floats]) -> Any:
        from scipy import sparse

        kind = numbers.dtype
        parts = [sparse.csr_matrix(each) for each in (numbers, gone.astype(kind)) if each.shape[1]]
        for k, each in enumerate(self.role("category")):
            if each.encoding is not None:
                parts.append(sparse.csr_matrix(encoded.get(each.name, each.encoding[raw.codes[:, k]]), dtype=kind))
            else:
                parts.append(_one_hot(each.places(raw.codes[:, k]), each.width, kind))
        parts += [self._words(texts, k).astype(kind, copy=False) for k, texts in enumerate(raw.texts)]
        out = sparse.hstack(parts, format="csr") if len(parts) > 1 else parts[0]
        out.sort_indices()
        return out

    def _words(self, texts: Any, place: int) -> Any:
        if is_sparse(texts):
            return texts
        return self._vectorisers[place].transform([text or "" for text in texts])


def _one_hot(codes: NDArray[np.int32], width: int, kind: Any) -> Any:
    from scipy import sparse

    known = codes >= 0
    ends = np.concatenate([[0], np.cumsum(known)])
    return sparse.csr_matrix((np.ones(int(ends[-1]), dtype=kind), codes[known], ends), shape=(len(codes), width))


def vectoriser(feature: Feature) -> Any:
    """Return scikit-learn's vectoriser for a column of text."""
    from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

    if feature.words is None:
        return HashingVectorizer(n_features=HASHED, ngram_range=PAIRS, alternate_sign=False)
    made = TfidfVectorizer(ngram_range=PAIRS, vocabulary=list(feature.words))
    assert feature.rarity is not None
    made.idf_ = feature.rarity
    return made


def learn_words(name: str, texts: Sequence[str | None]) -> Feature:
    """Return the feature of a text column: its unigrams and bigrams, and their inverse document frequencies."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    made = TfidfVectorizer(ngram_range=PAIRS, max_features=MOST_WORDS)
    try:
        made.fit([text or "" for text in texts])
    except ValueError:
        raise ValueError(f"column {name!r} holds no words of two letters or more; leave it out") from None
    return Feature(name, "text", "text", words=tuple(made.get_feature_names_out().tolist()), rarity=made.idf_)


def is_wide(features: Sequence[Feature]) -> bool:
    """Return whether rows of these columns are mostly zeros, so that sparse matrices hold them better."""
    width = sum(feature.width for feature in features)
    return any(feature.role == "text" for feature in features) or (width > _SPARSE_WIDTH and 4 * len(features) < width)


def _blocks(numbers: Any) -> Iterator[slice]:
    """Yield rows that fit into the processor's cache together."""
    rows = max(1, _BLOCK // max(1, numbers.shape[1]))
    return (slice(begin, begin + rows) for begin in range(0, len(numbers), rows))


def standard(numbers: Floats) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each column, to the bit as scikit-learn's StandardScaler in a data frame.

    The columns of a frame lie in memory one by one, and NumPy adds them up in pairs of halves; the core does the same
    without the copy.

    Examples
    --------
    >>> mean, deviation = standard(np.array([[1.0, 5.0], [3.0, 5.0]]))
    >>> mean.tolist(), deviation.tolist()
    ([2.0, 5.0], [1.0, 1.0])
    """
    n = len(numbers)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near 1e308: the caller sees it
        mean = _core.column_sums(numbers, None, False, 2)[0] / n
        left, square = _core.column_sums(numbers, mean, True, 2)
        variance = (square - left**2 / n) / n
        tiny = np.finfo(np.float64).eps
        constant = variance <= n * tiny * variance + (n * mean * tiny) ** 2
        return mean, np.where(constant, 1.0, np.sqrt(variance))


def learn_scale(scale: str, numbers: Any) -> tuple[Floats, Floats]:
    """Return shift and factor for the number columns, as scikit-learn's scalers find them."""
    width = int(numbers.shape[1])
    if scale == "none" or not width:
        return np.zeros(width), np.ones(width)
    if scale == "standard" and not is_sparse(numbers):
        return standard(np.ascontiguousarray(numbers))
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    if is_sparse(numbers):
        return np.zeros(width), np.asarray(StandardScaler(with_mean=False).fit(numbers).scale_)
    scaler = MinMaxScaler().fit(numbers)
    return np.asarray(scaler.min_), np.asarray(scaler.scale_)
