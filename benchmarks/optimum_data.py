"""The data sets of optimum.py: generated ones of many shapes, and real ones from a folder of files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma

import numpy as np
from perceptron import zipf_data
from scipy import sparse
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.preprocessing import normalize


def text(n, d, per_row, seed, *, noise=0.05):
    """Rows of length 1 like tf-idf texts, some labels wrong."""

    def load():
        X, y = zipf_data(n, d, per_row, np.random.default_rng(seed), np.float32)
        wrong = np.random.default_rng(seed + 1).random(n) < noise
        return sparse.csr_matrix(normalize(X)), np.where(wrong, -y, y)

    return load


def bits(n, d, density, seed):
    """Sparse ones of unequal frequency; a tenth of the labels wrong."""

    def load():
        rng = np.random.default_rng(seed)
        frequency = np.minimum(density * d * (p := 1.0 / np.arange(2, d + 2)) / p.sum(), 0.5)
        X = sparse.csr_matrix((rng.random((n, d)) < frequency).astype(np.float32))
        scores = X @ rng.standard_normal(d)
        wrong = rng.random(n) < 0.1
        return X, np.where((scores > np.median(scores)) ^ wrong, 1, -1)

    return load


def table(n, d, seed, *, flip=0.1):
    """Numbers of similar size, some of which follow from others."""

    def load():
        X, y = make_classification(
            n, d, n_informative=max(d // 2, 4), n_redundant=d // 4, flip_y=flip, class_sep=0.5, random_state=seed
        )
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return np.ascontiguousarray(X, dtype=np.float32), np.where(y > 0, 1, -1)

    return load


def one_hot(n, columns, levels, seed, *, numbers=0):
    """Some columns, each one-hot, and numbers beside them."""

    def load():
        rng = np.random.default_rng(seed)
        chosen = np.minimum(rng.geometric(0.25, (n, columns)) - 1, levels - 1) + levels * np.arange(columns)
        X = sparse.csr_matrix(
            (np.ones(chosen.size, np.float32), chosen.ravel(), np.arange(0, chosen.size + 1, columns)),
            shape=(n, columns * levels),
        )
        if numbers:
            X = sparse.csr_matrix(sparse.hstack([X, rng.random((n, numbers), dtype=np.float32)]))
        X.sort_indices()
        scores = X @ rng.standard_normal(X.shape[1]) + rng.logistic(size=n)
        return X, np.where(scores > np.median(scores), 1, -1)

    return load


def gaussian(n, d, seed, *, noise=3.0):
    """Independent normal numbers, the labels of a noisy plane."""

    def load():
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d), dtype=np.float32)
        return X, np.where(X @ rng.standard_normal(d) / np.sqrt(d) + noise / 8 * rng.standard_normal(n) > 0, 1, -1)

    return load


GENERATED = {
    "small text": text(2_000, 5_700, 40, 0),
    "sparse bits": bits(3_400, 1_600, 0.02, 1),
    "dense 8,000 x 28": table(8_000, 28, 2),
    "dense 24,000 x 23": table(24_000, 23, 3, flip=0.3),
    "dense 36,000 x 8": table(36_000, 8, 4),
    "one-hot": one_hot(54_000, 14, 9, 5),
    "one-hot, numbers": one_hot(160_000, 40, 9, 6, numbers=40),
    "text": text(96_000, 39_000, 73, 7),
    "wide text": text(10_000, 361_000, 300, 8),
    "dense 10,000 x 1,024": gaussian(10_000, 1_024, 9),
    "dense 100,000 x 64": gaussian(100_000, 64, 10, noise=6.0),
}


def opened(path):
    return {".xz": lzma.open, ".bz2": bz2.open, ".gz": gzip.open}[path.suffix](path)


def libsvm(path, positive=None):
    """A LIBSVM file; the labels above 0 against the others, or ``positive`` against the others."""

    def load(folder):
        X, y = load_svmlight_file(io.BytesIO(opened(folder / path).read()), dtype=np.float32)
        return X, np.where(y > 0 if positive is None else y == positive, 1, -1)

    return load


def dense(load):
    def loaded(folder):
        X, y = load(folder)
        return X.toarray(), y

    return loaded


def news(folder):
    file = opened(folder / "newsgroups20/news20_12gram_binary.train.svm.xz")
    X, y = load_svmlight_file(io.BytesIO(file.read()), dtype=np.float32)
    return normalize(X), np.where(y <= 10, 1, -1)


def covtype(folder):
    X = np.loadtxt(opened(folder / "covtype/covtype.csv.xz"), delimiter=",", skiprows=1, dtype=np.float32)
    X, y = X[:, :-1], X[:, -1]
    X = (X - X.min(axis=0)) / np.maximum(X.max(axis=0) - X.min(axis=0), 1e-9)
    return np.ascontiguousarray(X, dtype=np.float32), np.where(y == 2, 1, -1)


def usps(folder):
    X = np.loadtxt(opened(folder / "usps/usps.train.txt.xz"), dtype=np.float32)
    return np.ascontiguousarray(X[:, 1:]), np.where(X[:, 0] % 2 == 0, 1, -1)


def madelon(folder):
    X, y = dense(libsvm("skfeature_madelon/madelon.svm.xz"))(folder)
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0), dtype=np.float32), y


REAL = {
    "a9a": libsvm("a9a/a9a.xz"),
    "w8a": libsvm("w8a/w8a.xz"),
    "ijcnn1": libsvm("ijcnn1/ijcnn1.trn.xz"),
    "phishing": libsvm("phishing/phishing.xz"),
    "mushrooms": libsvm("mushrooms/mushrooms.xz", 1),
    "splice": dense(libsvm("splice/splice.xz")),
    "usps": usps,
    "madelon": madelon,
    "reuters money-fx": libsvm("reuters_moneyfx/reuters_moneyfx.trn.xz"),
    "sector, class 1": libsvm("sector/sector.scale.bz2", 1),
    "covtype": covtype,
    "news20": news,
}
