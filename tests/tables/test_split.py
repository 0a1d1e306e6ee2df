"""The test set is that of scikit-learn's train_test_split, whether labels come at once or in blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from separatrix.tables.split import TestSplit


@given(
    st.integers(2, 9), st.integers(5, 300), st.sampled_from([0.05, 0.1, 0.2, 0.25, 0.5, 0.7]),
    st.integers(0, 2**32 - 1), st.integers(1, 50),
)  # fmt: skip
def test_the_rows_are_those_of_scikit_learn(classes, n, test, seed, block):
    labels = np.random.default_rng(seed).integers(0, classes, n).astype(np.int32)
    counts = np.bincount(labels, minlength=classes)
    held, alone = int(np.ceil(n * test)), np.count_nonzero(counts == 1)
    there = np.count_nonzero(counts >= 2)
    if n - held < 2:
        return
    split = TestSplit(counts, test, seed)
    assert split.stratified == (there > 0 and held >= there and n - held - alone >= there)
    among = np.flatnonzero(counts[labels] >= 2) if split.stratified else np.arange(n)
    drawn_of = train_test_split(
        among, test_size=held, random_state=seed, stratify=labels[among] if split.stratified else None
    )
    expected = np.setdiff1d(np.arange(n), drawn_of[1]), drawn_of[1]
    train, drawn = split.rows(labels)
    assert train.tolist() == np.sort(expected[0]).tolist()
    assert drawn.tolist() == np.sort(expected[1]).tolist()
    parts = [labels[begin : begin + block] for begin in range(0, n, block)]
    assert np.flatnonzero(np.concatenate(list(split.masks(parts)))).tolist() == drawn.tolist()


def test_no_test_set_is_no_row():
    assert not next(TestSplit(np.array([3, 4]), 0.0, 0).masks([np.zeros(7, dtype=np.int32)])).any()


def test_too_few_rows_are_told():
    with pytest.raises(ValueError, match=r"3 rows are too few for --test 0.9: use --test 0"):
        TestSplit(np.array([1, 2]), 0.9, 0)


def test_a_class_of_one_row_is_for_training_and_the_others_keep_their_shares():
    labels = np.array([0] * 50 + [1] + [2] * 30 + [3] + [4] * 20, dtype=np.int32)
    for seed in range(50):
        train, drawn = TestSplit(np.bincount(labels), 0.2, seed).rows(labels)
        assert len(drawn) == 21
        assert np.isin([1, 3], labels[train]).all()
        assert np.bincount(labels[drawn], minlength=5).tolist() in (
            [10, 0, 6, 0, 5],
            [11, 0, 6, 0, 4],
            [10, 0, 7, 0, 4],
        )
