"""A process that is killed while it fits leaves the old model file or the new one, never a damaged one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

KILLS = int(os.environ.get("SEPARATRIX_KILLS", "20"))

# The parent loads everything once and forks, so that a fit lasts tenths of a second and kills fall on all parts of it.
CODE = """
import json, os, random, signal, sys, time
import sklearn.model_selection, sklearn.preprocessing
import separatrix as sx
from separatrix.cli import main
import separatrix.cli.app, separatrix.cli.summary, separatrix.models.model_file, separatrix.tables.fit
sx.Perceptron

def fit(seed):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.argv = ["separatrix", "fit", "t.csv", "--target", "y", "--seed", str(seed), "-o", "m.sx", "--certify", "0"]
        try:
            main()
        finally:
            os._exit(0)
    return pid

lasts = 60.0
for _ in range(3):
    began = time.perf_counter()
    os.waitpid(fit(0), 0)
    lasts = min(lasts, time.perf_counter() - began)
draw = random.Random(0)
seen = {"old": 0, "new": 0, "ended": 0}
old = open("m.sx", "rb").read()
for k in range(1, int(sys.argv[1]) + 1):
    pid = fit(k)
    # half of the kills at any moment, half around the end, where the file is written
    time.sleep(lasts * (draw.random() if k % 2 else draw.uniform(0.8, 1.15)))
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    _, status = os.waitpid(pid, 0)
    ended = not os.WIFSIGNALED(status)
    seen["ended"] += ended
    lasts *= 0.85 if ended else 1.1  # other processes come and go: most kills should stay near the end of a fit
    now = open("m.sx", "rb").read()
    model = sx.load("m.sx")
    seed = model.facts.settings.seed
    assert seed == k if now != old else seed < k, (seed, k)
    seen["new" if now != old else "old"] += 1
    old = now
print(json.dumps(seen))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_the_model_file_is_whole_whenever_the_process_is_killed(tmp_path):
    rows = "".join(f"{k % 7},{k * 5 % 11}.5,{'xy'[k % 2]}\n" for k in range(2000))
    (tmp_path / "t.csv").write_text("a,b,y\n" + rows)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE, str(KILLS)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    print(seen)
    assert seen["old"] + seen["new"] == KILLS
    assert seen["old"] > 0
    assert seen["new"] > 0
