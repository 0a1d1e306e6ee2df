"""The studio's server answers to its own page on this machine alone, certifies, and makes model files."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import separatrix as sx
from browser_pages import chromium

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from separatrix.studio.page import CORE
from separatrix.studio.points import state_of
from separatrix.studio.server import MOST_BYTES, application

PORT = 4242
HOST = f"127.0.0.1:{PORT}"
GOOD = {"host": HOST, "origin": f"http://{HOST}", "content-type": "application/json"}
XOR = {"x": [0, 0, 1, 1, 0, 1, 1, 0], "codes": [0, 0, 1, 1]}
STATE = state_of([[0, 1], [2, 3]], ["no", "</script><script>alert(1)</script>"], ["a", "b"])


def ask(
    method: str, path: str, headers: dict[str, str] | None = None, body: Any = b""
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of what the server answers."""
    sent: list[Any] = []
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"host": HOST} if headers is None else headers
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "path": path,
        "raw_path": path.encode(), "query_string": b"", "scheme": "http", "root_path": "",
        "server": ("127.0.0.1", PORT),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip

    async def receive() -> Any:
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(application(STATE, "token", PORT)(scope, receive, send))
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, b"".join(each.get("body", b"") for each in sent[1:])


def test_the_page_begins_with_the_rows_and_holds_their_labels_as_text() -> None:
    status, headers, body = ask("GET", "/token/")
    assert status == 200
    assert headers["x-frame-options"] == "DENY"
    assert body.count(b"</script>") == 4  # those of the page
    assert b"connect-src 'self'" in body


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"host": HOST}, 404),
        ("GET", "/wrong/", {"host": HOST}, 404),
        ("GET", "/token/../../etc/passwd", {"host": HOST}, 404),
        ("GET", "/token/core.wasm", {"host": HOST}, 404),
        ("GET", "/token/", {"host": "attacker.example"}, 403),
        ("GET", "/token/", {}, 403),
        ("POST", "/token/api/certificate", {**GOOD, "origin": "http://attacker.example"}, 403),
        ("POST", "/token/api/certificate", {"host": HOST, "content-type": "application/json"}, 403),
        ("POST", "/token/api/certificate", {**GOOD, "content-type": "text/plain"}, 415),
        ("GET", "/token/api/certificate", {"host": HOST}, 405),
    ],
)
def test_what_is_not_the_page_itself_is_refused(method: str, path: str, headers: dict[str, str], status: int) -> None:
    assert ask(method, path, headers, XOR)[0] == status


def test_a_certificate_is_that_of_python() -> None:
    status, _, body = ask("POST", "/token/api/certificate", GOOD, XOR)
    assert status == 200
    answer = json.loads(body)
    own = sx.certify([[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1])
    assert sx.Certificate.from_dict(answer["certificate"]).separable == "none"
    assert answer["text"] == own.explain()


def test_a_model_file_is_the_run_of_the_page(tmp_path: Path) -> None:
    asked = {**XOR, "estimator": "Perceptron", "parameters": {"eta0": 0.5, "shuffle": False, "max_iter": 3}}
    status, headers, body = ask("POST", "/token/api/model", GOOD, asked)
    assert status == 200
    assert "model.sx" in headers["content-disposition"]
    (tmp_path / "model.sx").write_bytes(body)
    with pytest.warns(UserWarning, match="mistakes"):
        own = sx.Perceptron(eta0=0.5, shuffle=False, max_iter=3).fit([[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1])
    assert (sx.load(tmp_path / "model.sx").coef_ == own.coef_).all()


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        ("Perceptron", {"eta0": 0.5, "readout": "pocket", "shuffle": False, "max_iter": 3}),
        ("Neuron", {"loss": "log", "eta0": 0.5, "batch_size": "all", "stop": "epochs:5"}),
        ("PassiveAggressive", {"variant": "pa2", "C": 2, "random_state": 3, "stop": "epochs:5"}),
        ("AROW", {"r": 1, "covariance": "full", "shuffle": False, "stop": "epochs:2"}),
        ("LinearSVM", {"C": 1, "loss": "squared_hinge", "random_state": 0}),
        ("KernelPerceptron", {"kernel": "poly", "gamma": 1, "degree": 2, "coef0": 1, "bias": 1, "max_iter": 5}),
        ("KernelSVM", {"C": 10, "kernel": "rbf", "gamma": 1}),
    ],
)
def test_a_report_is_one_page_about_the_points(estimator: str, parameters: dict[str, Any]) -> None:
    named = {"names": ["class", "class"], "labels": ["<b>no</b>", "yes"]}
    status, _, body = ask(
        "POST", "/token/api/report", GOOD, {**XOR, **named, "estimator": estimator, "parameters": parameters}
    )
    assert status == 200, body
    assert b"<!doctype html>" in body[:20].lower()
    assert b"<b>no</b>" not in body


@pytest.mark.parametrize(
    ("what", "body", "status", "why"),
    [
        ("certificate", b"{", 400, "Expecting"),
        ("certificate", b"[" * 100_000, 400, ""),
        ("certificate", {"x": [1], "codes": [0]}, 400, "there must be 1 to 20,000 points"),
        ("certificate", {"x": [1e300, 0], "codes": [0]}, 400, "coordinates must be at most"),
        ("certificate", {"x": ["a", 0], "codes": [0]}, 400, "the points must be given as x"),
        ("certificate", {"x": [0, 0], "codes": [2]}, 400, "codes 0 or 1"),
        ("certificate", b" " * (MOST_BYTES + 1), 413, "bytes at most"),
        ("model", {**XOR, "estimator": "load", "parameters": {}}, 400, "the estimator must be one of"),
        ("model", {**XOR, "estimator": "Perceptron", "parameters": {"max_iter": 10**9}}, 400, "max_iter"),
        ("model", {**XOR, "estimator": "Perceptron", "parameters": {"evil": 1}}, 400, "evil"),
        ("model", {**XOR, "estimator": "Perceptron"}, 400, "parameters"),
        ("report", {**XOR, "estimator": "Perceptron", "parameters": {}}, 400, "names"),
    ],
)
def test_bad_requests_get_one_sentence(what: str, body: Any, status: int, why: str) -> None:
    found, _, answer = ask("POST", f"/token/api/{what}", GOOD, body)
    assert found == status
    assert why in json.loads(answer)["problem"]


def test_the_command_refuses_what_is_no_two_columns(run: Any, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,label\n1,x\n2,y\n", encoding="utf-8")
    assert "two columns of numbers are needed" in run("studio", "one.csv", "--target", "label", "--no-browser")[2]
    assert "no such column" in run("studio", "xor", "--x", "nothing", "--no-browser")[2]
    assert "name one" in run("studio", "--x", "a", "--no-browser")[2]
    status, _, _ = run("studio", "xor", "-o", "page.html")
    assert status == 0
    assert '"labels": ["0", "1"]' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_model_file_gives_the_page_its_algorithm(run: Any, tmp_path: Path) -> None:
    X, y = sx.datasets.load("lecture-000")
    started = sx.Perceptron(eta0=0.5, init=([[0, 0]], [1]), shuffle=False, readout="averaged").fit(X, y)
    sx.save(started, tmp_path / "model.sx")
    status, _, messages = run("studio", "lecture-000", "--model", "model.sx", "-o", "page.html")
    assert status == 0, messages
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (served,) = re.findall(r'<script type="application/json" id="served">(.*?)</script>', page)
    model = json.loads(served)["model"]
    script = (
        "import { modelOf } from './web/reopened.mjs'; import { estimatorLine } from './web/repeat.mjs';"
        "console.log(estimatorLine(modelOf(JSON.parse(process.argv[1])), 3));"
    )
    command = ["node", "--input-type=module", "-e", script, json.dumps(model)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CORE.parent, check=True)
    line = 'sx.Perceptron(eta0=0.5, readout="averaged", init=([[0, 0]], [1]), shuffle=False, max_iter=3)'
    assert done.stdout.strip() == line
    sx.save(sx.LogisticRegression().fit(X, y), tmp_path / "other.sx")
    assert "the studio has Perceptron" in run("studio", "lecture-000", "--model", "other.sx", "-o", "page.html")[2]


def test_the_served_page_certifies_and_saves_a_model(browser: Any, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from separatrix.cli import main; main()", "studio", "xor", "--no-browser"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[-1]
            script = str(Path(__file__).with_name("served.mjs"))
            done = subprocess.run(
                ["node", script, str(chromium()), address, str(tmp_path / "model.sx")], capture_output=True, text=True,
                timeout=120, check=False,
            )  # fmt: skip
        finally:
            server.send_signal(signal.SIGINT)
            ended = server.wait(20)
    assert done.returncode == 0, done.stderr
    assert ended == 0
    assert "not separable" in done.stdout
    assert sx.load(tmp_path / "model.sx").n_updates_ > 0


def test_columns_of_numbers_are_found_beside_texts(run: Any, tmp_path: Path) -> None:
    words = ["alpha", "beta", "gamma", "delta", "theta", "kappa", "sigma"]
    notes = [" ".join(words[(k + 3 * j) % 7] for j in range(12)) for k in range(60)]
    rows = [f'"{note} {k}",{k % 7},{k % 5}.5,{"xy"[k % 2]}' for k, note in enumerate(notes)]
    (tmp_path / "texts.csv").write_text("\n".join(["note,a,b,label", *rows]) + "\n", encoding="utf-8")
    status, _, messages = run("studio", "texts.csv", "--target", "label", "--y", "b", "-o", "page.html")
    assert status == 0, messages
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '"x": [0.0, 0.5, 1.0, 1.5, 2.0, 2.5' in page
    assert '"names": ["a", "b"]' in page
