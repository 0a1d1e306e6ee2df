"""The studio as a page of this machine, with what only Python does: certificates, reports and model files.

``application`` answers under one random path, to requests that name this machine as their host and, where they change
or compute something, come from the page itself. It serves no files, and every body has a size limit. Starlette and
uvicorn are the extra ``studio``.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from separatrix.studio.page import html
from separatrix.studio.points import ESTIMATORS, Points, points_of
from separatrix.text import read_json

MOST_BYTES = 4_000_000  # of a request
_CERTIFY_SECONDS = 20.0
_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin"}  # fmt: skip


class RefusedError(Exception):
    """A request that is not answered: the status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def application(state: dict[str, Any] | None, token: str, port: int) -> ASGIApp:
    """Return the server's application; ``state`` is what the page begins with."""

    async def page(request: Request) -> Response:
        return HTMLResponse(html(state, served=True), headers=_HEADERS)

    routes = [
        Route("/", page),
        Route("/api/certificate", _answer(_certificate), methods=["POST"]),
        Route("/api/model", _answer(_model), methods=["POST"]),
        Route("/api/report", _answer(_report), methods=["POST"]),
    ]
    return _Guard(Starlette(routes=routes), token, port)


class _Guard:
    """Lets through what comes from the page of this server alone, and takes the token off its path."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        try:
            path = self._checked(scope["method"], scope["path"], headers)
        except RefusedError as refused:
            await PlainTextResponse(str(refused), refused.status, headers=_HEADERS)(scope, receive, send)
            return
        await self._app({**scope, "path": path, "raw_path": path.encode()}, receive, send)

    def _checked(self, method: str, path: str, headers: dict[str, str]) -> str:
        if headers.get("host") not in self._hosts:
            raise RefusedError(403, "this server answers to 127.0.0.1 alone")
        first, _, rest = path.removeprefix("/").partition("/")
        if not secrets.compare_digest(first.encode(), self._token.encode()):
            raise RefusedError(404, "nothing is here; open the address that the command printed")
        if method not in ("GET", "HEAD"):
            if headers.get("origin") not in {f"http://{host}" for host in self._hosts}:
                raise RefusedError(403, "requests must come from the page itself")
            if headers.get("content-type", "").partition(";")[0] != "application/json":
                raise RefusedError(415, "a request must be JSON")
        return f"/{rest}"


def _answer(work: Callable[[Points, dict[str, Any]], Response]) -> Callable[[Request], Any]:
    """Return an endpoint that reads points, and tells what is wrong with them as JSON."""

    async def endpoint(request: Request) -> Response:
        body = b""
        async for part in request.stream():
            body += part
            if len(body) > MOST_BYTES:
                return _problem(413, f"a request may have {MOST_BYTES:,} bytes at most")
        try:
            asked = read_json(body.decode(), "the request")
            points = points_of(asked)
            return await run_in_threadpool(work, points, asked)
        except (ValueError, TypeError, KeyError, RecursionError) as problem:
            return _problem(400, str(problem) or "the request cannot be read")

    return endpoint


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"problem": text}, status, headers=_HEADERS)


def _certificate(points: Points, asked: dict[str, Any]) -> Response:
    """Answer with the certificate in words, and as JSON that ``separatrix verify`` reads."""
    from separatrix.certificates.certifying import certify

    certificate: Any = certify(points.X, points.y, time_limit=_CERTIFY_SECONDS)
    return JSONResponse({"text": certificate.explain(), "certificate": certificate.to_dict()}, headers=_HEADERS)


def _model(points: Points, asked: dict[str, Any]) -> Response:
    """Answer with a model file: the named estimator, with these parameters, fitted to the points."""
    import warnings

    import separatrix

    name, parameters = _estimator(asked)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # the page shows how the run ended
        path = Path(folder) / "model.sx"
        separatrix.save(getattr(separatrix, name)(**parameters).fit(points.X, points.y), path)
        content = path.read_bytes()
    disposition = {"Content-Disposition": 'attachment; filename="model.sx"'}
    return Response(content, media_type="application/octet-stream", headers={**_HEADERS, **disposition})


def _report(points: Points, asked: dict[str, Any]) -> Response:
    """Answer with the report of the model on the points, one HTML file."""
    from separatrix.studio.reports import report_of

    name, parameters = _estimator(asked)
    page = report_of(points, asked["names"], asked["labels"], name, parameters)
    disposition = {"Content-Disposition": 'attachment; filename="report.html"'}
    return Response(page, media_type="application/octet-stream", headers={**_HEADERS, **disposition})


def _estimator(asked: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the parameters of an estimator that the page has."""
    name, parameters = asked["estimator"], asked["parameters"]
    if name not in ESTIMATORS or not isinstance(parameters, dict):
        raise ValueError(f"the estimator must be one of {', '.join(ESTIMATORS)}")
    if not 1 <= parameters.get("max_iter", 1) <= 10_000:
        raise ValueError("max_iter must be from 1 to 10,000")
    return name, parameters


def serve(state: dict[str, Any] | None, *, port: int, ready: Callable[[str], None]) -> None:
    """Serve the studio on the loopback address until Ctrl-C; ``ready`` is told the page's address."""
    import socket

    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        port, token = listener.getsockname()[1], secrets.token_urlsafe(24)
        config = uvicorn.Config(
            application(state, token, port), log_level="warning", access_log=False, lifespan="off",
            server_header=False, timeout_graceful_shutdown=2, limit_concurrency=32, ws="none",
        )  # fmt: skip
        listener.listen(32)
        ready(f"http://127.0.0.1:{port}/{token}/")
        uvicorn.Server(config).run(sockets=[listener])
