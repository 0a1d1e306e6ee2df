"""How much memory is free, as a control group tells it."""

from __future__ import annotations

import pytest

from separatrix.tables import memory


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("statistic", "free"),
    [("{0} 250", 350), ("anon 5\n{0} 900\nactive_file 7", 1000), ("anon 5", 100), ("", 100), ("{0}", 100), (None, 100)],
)
def test_copies_of_files_that_can_be_dropped_are_free_memory(tmp_path, monkeypatch, version, statistic, free):
    folder = tmp_path if version == 2 else tmp_path / "memory"
    folder.mkdir(exist_ok=True)
    (folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).write_text("1000\n")
    (folder / ("memory.current" if version == 2 else "memory.usage_in_bytes")).write_text("900\n")
    if statistic is not None:
        name = "inactive_file" if version == 2 else "total_inactive_file"
        (folder / "memory.stat").write_text(statistic.format(name))
    monkeypatch.setattr(memory, "_CONTROL", tmp_path)
    assert memory._of_container() == [free]


def test_a_group_without_a_limit_leaves_all(tmp_path, monkeypatch):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("900\n")
    monkeypatch.setattr(memory, "_CONTROL", tmp_path)
    assert memory._of_container() == []


def test_sizes_in_a_refusal_have_a_unit_that_suits_them(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 5_000_000)
    with pytest.raises(ValueError, match=r"would take about 20 MB of memory, and 5\.0 MB are free"):
        memory.check_columns_fit("d.libsvm", 100_000, 2)
