"""A PostgreSQL server of its own for tests, on a free port of this machine, with a password."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "s3cret/pa:ss@word"
QUOTED = "s3cret%2Fpa%3Ass%40word"


def binaries() -> Path | None:
    """Return the folder of initdb and pg_ctl, None where there is none."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += [Path(path) for path in sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "pg_ctl").exists()), None)


@contextmanager
def server(programs: Path) -> Iterator[str]:
    """Start a server with an empty cluster, yield its address, stop it and remove all it wrote."""
    user = None
    if os.geteuid() == 0:  # the server refuses to run as root
        user = pwd.getpwnam("postgres").pw_name
    folder = tempfile.mkdtemp(prefix="separatrix-postgres-", dir="/tmp")
    data, secret = f"{folder}/data", f"{folder}/password"
    Path(secret).write_text(PASSWORD)
    if user is not None:
        shutil.chown(folder, user)
        shutil.chown(secret, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(*command: str) -> None:
        with open(f"{folder}/output", "ab") as output:
            done = subprocess.run(
                command,
                cwd=folder,
                user=user,
                stdout=output,
                stderr=output,
                env={"PATH": os.environ["PATH"]},
                timeout=300,
            )
        if done.returncode:
            raise RuntimeError(f"{command[0]} failed: {Path(folder, 'output').read_text(errors='replace')}")

    control = str(programs / "pg_ctl")
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
    try:
        run(str(programs / "initdb"), "-D", data, "-U", "tester", "-A", "scram-sha-256", f"--pwfile={secret}", "-N")
        run(control, "-D", data, "-o", options, "-l", f"{folder}/log", "-w", "-t", "60", "start")
        try:
            yield f"postgresql://tester:{QUOTED}@127.0.0.1:{port}/postgres"
        finally:
            run(control, "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
