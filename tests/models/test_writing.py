"""A file is written whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import separatrix as sx
from saved_models import X, plain, same
from separatrix import files

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

OLD, NEW = b"old" * 1000, b"new" * 5000


def test_a_full_disk_leaves_the_old_file(small, monkeypatch):
    before = small.read_bytes()

    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ValueError, match=r"^cannot write .*small.sx: No space left on device$"):
        sx.save(plain(sx.Perceptron()), small)
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_a_limit_on_sizes_leaves_the_old_file(small):
    before = small.read_bytes()
    script = (
        "import resource, signal, sys, numpy as np, separatrix as sx;"
        "m = sx.Perceptron().fit(np.eye(50), np.arange(50) % 2);"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "sx.save(m, sys.argv[1])"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True)
    assert ran.stderr.strip().splitlines()[-1] == f"ValueError: cannot write {small}: File too large"
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_ctrl_c_leaves_the_old_file(small, monkeypatch):
    before = small.read_bytes()

    def pressed(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", pressed)
    with pytest.raises(KeyboardInterrupt):
        sx.save(plain(sx.Perceptron()), small)
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_a_link_is_followed_and_the_mode_is_kept(small):
    link = small.parent / "link.sx"
    link.symlink_to(small.name)
    small.chmod(0o640)
    model = plain(sx.Perceptron())
    sx.save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(small.stat().st_mode) == 0o640
    same(model, sx.load(small), X)


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        sx.save(plain(sx.Perceptron()), tmp_path / "m.sx")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.sx").stat().st_mode) == 0o640


def test_where_nothing_can_be_written_it_says_so(tmp_path):
    model = plain(sx.Perceptron())
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "no" / "m.sx", "No such file or directory")):
        with pytest.raises(ValueError, match=rf"^cannot write {path}: {why}$"):
            sx.save(model, path)
    sx.save(model, tmp_path / ("n" * 250))


def test_parts_that_killed_processes_left_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host = files._host()
    stale = tmp_path / f".m.sx.{host}-{gone.pid}-0123abcd.part"
    old = tmp_path / ".m.sx.00000000-1-0123abcd.part"
    fresh = tmp_path / ".m.sx.00000000-1-0123abce.part"
    alive = tmp_path / f".m.sx.{host}-{os.getpid()}-0123abcd.part"
    others = tmp_path / f".n.sx.{host}-{gone.pid}-0123abcd.part"
    mine = tmp_path / ".m.sx.notes.part"
    for path in (stale, old, fresh, alive, others, mine):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 2e5,) * 2)
    sx.save(plain(sx.Perceptron()), tmp_path / "m.sx")
    assert {path.name for path in (fresh, alive, others, mine)} | {"m.sx"} == set(os.listdir(tmp_path))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed like that")
def test_a_killed_process_leaves_the_old_file_or_the_new(tmp_path):
    kills = int(os.environ.get("SEPARATRIX_KILLS", "40"))
    path = tmp_path / "m.sx"
    script = (
        "import os, sys, numpy as np, separatrix as sx;"
        "X = np.random.default_rng(0).normal(size=(40, 3000)); y = np.arange(40) % 2;"
        "one, two = (sx.Perceptron(max_iter=k, readout='voted', random_state=k).fit(X, y) for k in (100, 200));"
        "sx.save(one, sys.argv[1]); print(len(sx.load(sys.argv[1]).coef_), flush=True)\n"
        "while sys.stdin.readline():\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        while True: sx.save(one, sys.argv[1]); sx.save(two, sys.argv[1])\n"
        "    print(child, flush=True); os.waitpid(child, 0); print('gone', flush=True)\n"
    )
    chance = np.random.default_rng(1)
    seen = []
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as saver:
        saver.stdout.readline()
        while len(seen) < kills or (len(set(seen)) < 2 and len(seen) < 20 * kills):  # a busy machine saves slowly
            saver.stdin.write("go\n")
            saver.stdin.flush()
            child = int(saver.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.05))
            os.kill(child, signal.SIGKILL)
            assert saver.stdout.readline() == "gone\n"
            seen.append(sx.load(path).max_iter)
            assert len(os.listdir(tmp_path)) <= 2
        saver.stdin.close()
    assert set(seen) == {100, 200}
    sx.save(sx.load(path), path)
    assert os.listdir(tmp_path) == ["m.sx"]


def test_loading_leaves_random_numbers_and_warnings_alone(small):
    state = np.random.get_state()[1].copy()
    filters = list(warnings.filters)
    sx.load(small)
    assert (np.random.get_state()[1] == state).all()
    assert warnings.filters == filters
