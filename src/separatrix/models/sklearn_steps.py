"""The classes of scikit-learn that a model file may hold, and what each object of them must be like.

They are not ours, so that what would be their method ``validate`` is a function here. No forged step may make an index
that lies outside of its output, or fail later; none may open a file, call a function, or take time or memory out of
proportion to the file and the rows.
"""

from __future__ import annotations

import codecs
from typing import Any

import numpy as np

from separatrix.models.patterns import is_token_pattern
from separatrix.models.probing import is_fitted, probe
from separatrix.models.registry import Stored
from separatrix.models.validity import check_jobs, check_width, is_array, is_count, is_index, require

_MOST_DEGREE = 10_000
_MOST_PRODUCTS = 10_000_000  # columns of PolynomialFeatures
_MOST_HIGH_PRODUCTS = 200_000  # of a degree above 3, which scikit-learn makes one by one of sparse rows
_LONGEST_GRAM = 32
_LONGEST_PATTERN = 1000
_ODD_ENCODINGS = ("punycode", "idna", "undefined", "unicode-escape", "raw-unicode-escape", "mbcs", "oem")
_BY_FEATURE = ("mean_", "var_", "scale_", "center_", "min_", "max_abs_", "data_min_", "data_max_", "data_range_",
               "statistics_", "idf_")  # fmt: skip


def check_step(step: Any) -> None:
    """Check a step of scikit-learn: its parameters, arrays of its features, and an output."""
    _check_parameters(step)
    if not is_fitted(step):
        return
    width = getattr(step, "n_features_in_", None)
    if width is not None:
        check_width(step)
        for name in _BY_FEATURE:
            values = vars(step).get(name)
            fits = values is None or (isinstance(values, np.ndarray) and values.shape == (width,))
            require(fits, f"the {name} of its {type(step).__name__} is not of its shape")
    probe(step)


def _check_parameters(step: Any) -> None:
    check_jobs(step)
    step._validate_params()
    for name, value in step.get_params(deep=False).items():
        if name == "dtype":
            require(_is_number_type(value), f"the dtype of its {type(step).__name__} is not a type of numbers")
        else:
            require(not callable(value), f"the {name} of its {type(step).__name__} is a function or type")
    config = vars(step).get("_sklearn_output_config", {})
    fits = type(config) is dict and all(type(each) is str for pair in config.items() for each in pair)
    require(fits, f"the output of its {type(step).__name__} is damaged")


def _is_number_type(value: Any) -> bool:
    try:
        return np.dtype(value).kind in "biuf"
    except (TypeError, ValueError):
        return False


def check_selector(selector: Any) -> None:
    """Check what chooses columns by name and type, which it does in ``fit`` alone."""
    pattern = selector.pattern
    plain = pattern is None or (type(pattern) is str and len(pattern) <= _LONGEST_PATTERN)
    require(plain, "the pattern of its make_column_selector is not a text, or a very long one")


def check_indicator(step: Any) -> None:
    """Check the mark of missing values that an imputer adds."""
    _check_parameters(step)
    if is_fitted(step):
        places = step.features_
        require(is_index(places) and is_count(step._n_features, 1), "its MissingIndicator is damaged")
        inside = len(places) == 0 or (places.min() >= 0 and places.max() < step._n_features)
        require(inside, "its MissingIndicator names columns that are not there")


def check_function_transformer(step: Any) -> None:
    """Check a column that is passed through."""
    _check_parameters(step)
    given = (step.func, step.inverse_func, step.kw_args, step.inv_kw_args)
    require(all(each is None for each in given), "it holds a FunctionTransformer with a function")
    require(step.feature_names_out in (None, "one-to-one"), "it holds a FunctionTransformer with a function")


def _check_categories(step: Any) -> list[Any]:
    width, categories = check_width(step), step.categories_
    fits = type(categories) is list and len(categories) == width
    fits = fits and all(isinstance(each, np.ndarray) and each.ndim == 1 and len(each) for each in categories)
    require(fits, "the categories_ of an encoder are damaged")
    return list(categories)


def check_ordinal(step: Any) -> None:
    """Check an OrdinalEncoder."""
    _check_parameters(step)
    if is_fitted(step):
        _check_categories(step)
        probe(step)


def check_one_hot(step: Any) -> None:
    """Check a OneHotEncoder: no index that it can make may lie outside its output."""
    _check_parameters(step)
    if not is_fitted(step):
        return
    categories = _check_categories(step)
    sizes = [len(each) for each in categories]
    if step._infrequent_enabled:
        mappings = step._default_to_infrequent_mappings
        require(type(mappings) is list and len(mappings) == len(sizes), "the groups of an encoder are damaged")
        for k, mapping in enumerate(mappings):
            if mapping is not None:
                fits = isinstance(mapping, np.ndarray) and mapping.shape == (sizes[k],) and mapping.dtype.kind == "i"
                require(fits and mapping.min() == 0, "the groups of an encoder are damaged")
                sizes[k] = int(mapping.max()) + 1
    dropped = step._drop_idx_after_grouping
    if dropped is not None:
        require(is_array(dropped, "O", (len(sizes),)), "what an encoder drops is damaged")
        for k, place in enumerate(dropped):
            if place is not None:
                fits = isinstance(place, int | np.integer) and not isinstance(place, bool) and 0 <= place < sizes[k]
                require(fits, "what an encoder drops is damaged")
                sizes[k] -= 1
    require(step._n_features_outs == sizes, "the columns of an encoder are damaged")
    probe(step)


def check_polynomial(step: Any) -> None:
    """Check PolynomialFeatures."""
    _check_parameters(step)
    degrees = step.degree if isinstance(step.degree, tuple) else (step.degree,)
    low = all(is_count(each, 0, _MOST_DEGREE) for each in degrees)
    require(low, "the degree of its PolynomialFeatures is too high")
    if not is_fitted(step):
        return
    width, most = check_width(step), step._max_degree
    require(is_count(step._min_degree, 0, _MOST_DEGREE) and is_count(most, 0, _MOST_DEGREE), "its degrees are damaged")
    outputs = step._num_combinations(
        n_features=width, min_degree=step._min_degree, max_degree=most, interaction_only=step.interaction_only,
        include_bias=step.include_bias,
    ) if width <= 10**6 else -1  # fmt: skip
    require(outputs == step.n_output_features_, "the columns of its PolynomialFeatures are damaged")
    most = _MOST_PRODUCTS if most <= 3 else _MOST_HIGH_PRODUCTS
    require(outputs <= most, f"its PolynomialFeatures makes {outputs:,} columns; at most {most:,} are accepted")
    probe(step)


def check_vectorizer(step: Any) -> None:
    """Check a vectoriser of text: no index that it can make may lie outside its output."""
    _check_parameters(step)
    _check_words(step)
    if type(step).__name__ == "HashingVectorizer":
        probe(step)
        return
    tfidf = vars(step).get("_tfidf")
    require(tfidf is None or type(tfidf).__name__ == "TfidfTransformer", "its TfidfVectorizer is damaged")
    words = vars(step).get("vocabulary_")
    if words is None:
        return
    require(type(words) is dict and all(type(word) is str for word in words), "its vocabulary_ is damaged")
    places = list(words.values())
    require(all(isinstance(place, int | np.integer) for place in places), "its vocabulary_ is damaged")
    require(sorted(places) == list(range(len(words))), "its vocabulary_ does not number its words")
    if tfidf is not None and "idf_" in vars(tfidf):
        require(len(tfidf.idf_) == len(words), "its idf_ are not one for each word")
    probe(step)


def _check_words(step: Any) -> None:
    """Check how a vectoriser reads text and finds words: from the text given, in time that grows with it."""
    kind = type(step).__name__
    require(step.input == "content", f"its {kind} would read files (input={step.input!r:.60}): only 'content' is kept")
    pattern, grams, stop = step.token_pattern, step.ngram_range, step.stop_words
    require(
        pattern is None or is_token_pattern(pattern),
        f"the token_pattern {pattern!r:.60} of its {kind} could take time without end: a pattern that is kept repeats "
        r"only its last character, such as '(?u)\b\w\w+\b'",
    )
    fits = type(grams) is tuple and len(grams) == 2 and all(is_count(each, 1, _LONGEST_GRAM) for each in grams)
    require(fits, f"the ngram_range of its {kind} is not two numbers from 1 to {_LONGEST_GRAM}")
    require(_is_encoding(step.encoding), f"the encoding of its {kind} is not one of text, such as utf-8")
    fits = stop in (None, "english") if not isinstance(stop, list) else all(type(each) is str for each in stop)
    require(fits, f"the stop_words of its {kind} are not words")


def _is_encoding(name: Any) -> bool:
    """Return whether Python knows this encoding of text; others, such as zlib, do more than decode."""
    try:
        known = codecs.lookup(name) if type(name) is str and len(name) <= 20 else None
        return known is not None and known._is_text_encoding and known.name not in _ODD_ENCODINGS
    except (LookupError, ValueError):
        return False


def check_columns(step: Any) -> None:
    """Check a ColumnTransformer."""
    names = vars(step).get("verbose_feature_names_out", True)  # text would be a format, as long as it likes
    require(type(names) is bool, "the verbose_feature_names_out of its ColumnTransformer is neither True nor False")
    for name in ("transformers", "transformers_"):
        parts = vars(step).get(name, [])
        fits = type(parts) is list and all(
            type(each) is tuple and len(each) == 3 and type(each[0]) is str for each in parts
        )
        require(fits, "the steps of its ColumnTransformer are damaged")
    _check_parameters(step)
    if is_fitted(step):
        check_width(step)
        probe(step)


def check_pipeline(pipeline: Any) -> None:
    """Check a Pipeline."""
    steps: Any = vars(pipeline).get("steps")
    fits = type(steps) is list and len(steps) > 0
    fits = fits and all(type(each) is tuple and len(each) == 2 and type(each[0]) is str for each in steps)
    require(fits, "the steps of its Pipeline are damaged")
    _check_parameters(pipeline)
    if is_fitted(pipeline):
        probe(pipeline)


_PREPROCESSING, _TEXT = "sklearn.preprocessing", "sklearn.feature_extraction.text"
_WORDS = ("_stop_words_id",)  # a cache

STORED: dict[str, Stored] = {
    "Pipeline": Stored("sklearn.pipeline", unkept={"memory": None}, validate=check_pipeline, model=True),
    "ColumnTransformer": Stored("sklearn.compose", unkept={"n_jobs": None}, validate=check_columns),  # processes
    "make_column_selector": Stored(
        "sklearn.compose", ("pattern", "dtype_include", "dtype_exclude"), validate=check_selector
    ),
    "FunctionTransformer": Stored(_PREPROCESSING, validate=check_function_transformer),
    "StandardScaler": Stored(_PREPROCESSING, validate=check_step),
    "MinMaxScaler": Stored(_PREPROCESSING, validate=check_step),
    "MaxAbsScaler": Stored(_PREPROCESSING, validate=check_step),
    "RobustScaler": Stored(_PREPROCESSING, validate=check_step),
    "Normalizer": Stored(_PREPROCESSING, validate=check_step),
    "OneHotEncoder": Stored(_PREPROCESSING, validate=check_one_hot),
    "OrdinalEncoder": Stored(_PREPROCESSING, validate=check_ordinal),
    "PolynomialFeatures": Stored(_PREPROCESSING, validate=check_polynomial),
    "SimpleImputer": Stored("sklearn.impute", validate=check_step),
    "MissingIndicator": Stored("sklearn.impute", validate=check_indicator),
    "CountVectorizer": Stored(_TEXT, transient=_WORDS, validate=check_vectorizer),
    "TfidfVectorizer": Stored(_TEXT, transient=_WORDS, validate=check_vectorizer),
    "HashingVectorizer": Stored(_TEXT, transient=_WORDS, validate=check_vectorizer),
    "TfidfTransformer": Stored(_TEXT, validate=check_step),
}

_HIDDEN = ("make_column_selector", "FunctionTransformer", "MissingIndicator", "Pipeline", "ColumnTransformer")
STEPS = tuple(name for name in STORED if name not in _HIDDEN)  # the names that a refusal offers
