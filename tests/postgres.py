"""A real PostgreSQL server for tests, on loopback, that can be stopped and started again."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg2

from tests.ports import free_port

USER, PASSWORD = "counterfactory", "s3cret/p@ss"
_READY_S = 300


def installed() -> bool:
    """Whether there is a server to start."""
    return _binaries() is not None


class Postgres:
    """A server of our own in a temporary folder: `with Postgres() as server: server.database()`.

    Its tables lie in `data`, where that is given, and its log of what was committed never does.
    """

    def __init__(self, data: Path | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        self._data = data or self._folder / "data"
        self._bin = _binaries()
        self._port = free_port()
        self._server: subprocess.Popen[bytes] | None = None
        self._as: dict[str, Any] = {}

    def __enter__(self) -> "Postgres":
        # The server refuses to run as root; the tests of a container do.
        if not os.geteuid():
            self._as = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(self._folder, "postgres", "postgres")
        try:
            self._initialize()
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def database(self) -> str:
        """The URL of a new and empty database."""
        name = f"calls_{uuid4().hex}"
        with closing(self._connect()) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute(f"CREATE DATABASE {name}")
        quoted = PASSWORD.replace("/", "%2F").replace("@", "%40")
        return f"postgresql://{USER}:{quoted}@127.0.0.1:{self._port}/{name}"

    def start(self) -> None:
        """Start the server and wait until it can be reached."""
        assert self._bin is not None
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [
                    *(self._bin / "postgres", "-D", self._data, "-h", "127.0.0.1"),
                    *("-p", str(self._port), "-k", self._folder),
                    *("-c", "shared_buffers=16MB", "-c", "max_connections=40"),
                ],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                **self._as,
            )
        until = time.monotonic() + _READY_S
        while True:
            try:
                self._connect().close()
            except psycopg2.OperationalError as error:
                if self._server.poll() is not None or time.monotonic() > until:
                    raise RuntimeError((self._folder / "log").read_text()) from error
                time.sleep(0.05)
            else:
                return

    def stop(self) -> None:
        """Stop it at once, as a crash would: what was not committed is lost."""
        if self._server is not None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait(_READY_S)
            self._server = None

    def _initialize(self) -> None:
        assert self._bin is not None
        secret = self._folder / "password"
        secret.write_text(PASSWORD)
        subprocess.run(
            [
                *(self._bin / "initdb", "-D", self._data, "-U", USER, f"--pwfile={secret}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"),
                f"--waldir={self._folder / 'wal'}",
            ],
            check=True,
            capture_output=True,
            timeout=_READY_S,
            cwd=self._folder,
            **self._as,
        )

    def _connect(self) -> psycopg2.extensions.connection:
        return psycopg2.connect(
            host="127.0.0.1", port=self._port, user=USER, password=PASSWORD, dbname="postgres"
        )


def _binaries() -> Path | None:
    """The folder of the newest server that is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)
