"""What the status of training on disk says of the rows is what the model predicts for them."""

import re

import numpy as np
import pytest

from separatrix import Perceptron, datasets
from separatrix.tables.disk import rowfile
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.disk.training import DiskTraining
from separatrix.tables.facts import TrainingProgress


def trained(folder, data, readout, *, epochs=200, weights=None):
    file = RowFile(folder, data.X.shape[1], sparse=False, weighted=weights is not None, dtype=np.float64)
    labels = (data.y > 0).astype(np.int32)
    file.append(data.X, labels, weights)
    model = Perceptron(readout=readout, random_state=0)
    training = DiskTraining(
        model, file, np.array(["no", "yes"]), epochs=epochs, seed=0, until_no_mistakes=True,
        progress=TrainingProgress(), mistakes=[],
    )  # fmt: skip
    return training.run(), int(np.count_nonzero(model._predict_codes(data.X) != labels))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_averaged_weights_of_rows_on_disk_are_counted(tmp_path, monkeypatch, weighted):
    monkeypatch.setattr(rowfile, "GROUP", 64 * 8 * 16)  # several groups
    told = 0
    for seed in range(12):
        data = datasets.separable(25, 2, margin=0.02, random_state=seed)
        weights = np.full(25, 2.0) if weighted else None
        status, wrong = trained(tmp_path / f"{seed}", data, "averaged", weights=weights)
        said = re.search(r"; averaged weights: (\d+) of 25 training rows wrong$", str(status))
        assert (int(said[1]) if said else 0) == wrong
        assert status.converged
        told += wrong > 0
    assert told


def test_the_last_weights_of_an_epoch_without_mistakes_need_no_count(tmp_path):
    data = datasets.separable(25, 2, margin=0.02, random_state=0)
    status, wrong = trained(tmp_path / "rows", data, "last")
    assert re.fullmatch(r"converged: no mistakes \(epoch \d+\)", str(status))
    assert wrong == 0


def test_at_the_epoch_limit_the_mistakes_are_those_made_while_learning(tmp_path):
    data = datasets.separable(25, 2, margin=0.02, random_state=0)
    status, _ = trained(tmp_path / "rows", data, "averaged", epochs=1)
    text = r"stopped: epoch limit of 1 reached, \d+ mistakes? while learning in the last epoch"
    assert re.fullmatch(text, str(status))
