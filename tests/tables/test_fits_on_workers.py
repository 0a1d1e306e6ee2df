"""Tables are trained on by workers of a Dask cluster: the model of a fit in memory."""

import sys

import pytest

from small_shards import fitted, learned, table
from small_tables import written

pytest.importorskip("distributed")

from separatrix.tables.disk import cluster
from separatrix.tables.disk.cluster import Cluster
from separatrix.tables.settings import MemoryBudget


@pytest.fixture(autouse=True)
def much_is_on_disk(small_shards, monkeypatch):
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 1000)


def test_workers_give_the_model_of_one_process(tmp_path):
    name = written(table(1000), tmp_path / "t.csv")
    there = fitted(name, "logistic", MemoryBudget(cluster=Cluster(workers=1)))
    assert there.facts.converged
    assert learned(there.estimator) == learned(fitted(name, "logistic", MemoryBudget()).estimator)


def test_folders_that_workers_cannot_read_and_clusters_that_are_not_there_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_PATIENCE", 0.3)
    name = written(table(1000), tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"--cluster tcp://127\.0\.0\.1:9: no scheduler answers there"):
        fitted(name, "svm", MemoryBudget(cluster=Cluster("tcp://127.0.0.1:9")))
    with pytest.raises(ValueError, match=r"--cluster and --workers are for --model logistic and svm; found 'averaged'"):
        fitted(name, "averaged", MemoryBudget(cluster=Cluster(workers=1)))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match="need the packages of 'separatrix\\[dask\\]'"):
        fitted(name, "svm", MemoryBudget(cluster=Cluster(workers=1)))


def test_a_worker_that_cannot_read_the_rows_is_named(tmp_path):
    class Client:
        def run(self, function, folder):
            return {"tcp://far:1": function(folder + "/elsewhere")}

    class File:
        folder = tmp_path

        def seal(self):
            pass

    with pytest.raises(ValueError, match=r"the worker tcp://far:1 cannot read .*: keep the rows in a folder that all"):
        cluster.on_workers(Client(), File())


@pytest.mark.parametrize(
    ("how", "sentence"),
    [({"workers": 0}, "at least 1; found 0"), ({"address": "tcp://a:1", "workers": 2}, "one of them")],
)
def test_a_cluster_is_there_or_is_made(how, sentence):
    with pytest.raises(ValueError, match=sentence):
        Cluster(**how)
