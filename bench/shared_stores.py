"""The demo with its state on PostgreSQL and S3, against SQLite and a folder."""

import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from bench.figure import Figure, Unmeasured
from tests.postgres import Postgres, installed

_ROOT = Path(__file__).parent.parent
_BUCKET = "team"
_INSTANCE = "storage:\n  postgres:\n    postgres_url: {env: DAGSTER_POSTGRES_URL}\n"


def figures(sizes: str = "384,768,1152") -> Iterator[Figure | Unmeasured]:
    """Seconds of both, their ratio, the requests that S3 got, and the tables that differ.

    Both servers run on this machine, and take their part of its cores. Raises
    `subprocess.CalledProcessError` where a demo fails.
    """
    if not installed():
        yield Unmeasured("the demo on PostgreSQL and S3", "there is no PostgreSQL server to start")
        return
    with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
        local = Path(folder, "local")
        environment = {"COUNTERFACTORY_HOME": str(local / "data")}
        seconds = _make_demo(local, "", environment, sizes)
        yield Figure("the demo on SQLite and a folder", seconds, "s")
        tables = {
            str(path.relative_to(local / "data")): sha256(path.read_bytes()).hexdigest()
            for path in (local / "data").rglob("*.parquet")
        }
        with Postgres() as postgres:
            server = import_module("tests.s3").S3Server()
            try:
                yield from _compare(
                    Path(folder, "shared"), postgres, server, sizes, seconds, tables
                )
            finally:
                server.stop()


def _compare(
    folder: Path,
    postgres: Postgres,
    server: Any,
    sizes: str,
    local_seconds: float,
    local_tables: Mapping[str, str],
) -> Iterator[Figure]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    environment = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    client = import_module("boto3").client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id="key",
        aws_secret_access_key="secret",
        region_name="us-east-1",
    )
    client.create_bucket(Bucket=_BUCKET)
    environment |= {
        "COUNTERFACTORY_HOME": f"s3://{_BUCKET}/home",
        "COUNTERFACTORY_IMAGES": f"s3://{_BUCKET}/images",
        "COUNTERFACTORY_CALLS": postgres.database(),
        "DAGSTER_POSTGRES_URL": postgres.database().replace(":", "+psycopg2:", 1),
        "TMPDIR": str(folder / "tmp"),
    }
    Path(environment["TMPDIR"]).mkdir(parents=True)
    seconds = _make_demo(folder, _INSTANCE, environment, sizes)
    yield Figure("the demo on PostgreSQL and S3", seconds, "s")
    yield Figure("times the demo on SQLite and a folder", seconds / local_seconds, "", 1.5)
    kinds = Counter(request.partition(" ")[0] for request in server.requests)
    note = ", ".join(f"{number:,} {kind}" for kind, number in kinds.most_common())
    yield Figure("requests to S3", len(server.requests), "", note=note)
    tables = dict(_digest_tables(client))
    differing = {
        name for name in {*tables, *local_tables} if tables.get(name) != local_tables.get(name)
    }
    yield Figure(f"of {len(local_tables)} tables, those that differ", len(differing), "", 0)


def _make_demo(folder: Path, instance: str, environment: Mapping[str, str], sizes: str) -> float:
    """Make the demo with an instance of its own, and give the seconds that it took."""
    home = folder / "dagster"
    home.mkdir(parents=True)
    shutil.copy(_ROOT / "dagster.yaml.example", home / "dagster.yaml")
    with (home / "dagster.yaml").open("a") as file:
        file.write(instance)
    started = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "commands.app", "demo", "--sizes", sizes],
        cwd=_ROOT,
        env={**os.environ, **environment, "DAGSTER_HOME": str(home)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return perf_counter() - started


def _digest_tables(client: Any) -> Iterator[tuple[str, str]]:
    """The path of each table in the bucket, and the sha256 of its bytes."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=_BUCKET, Prefix="home/")
    for item in (item for page in pages for item in page["Contents"]):
        if item["Key"].endswith(".parquet"):
            data = client.get_object(Bucket=_BUCKET, Key=item["Key"])["Body"].read()
            yield item["Key"].removeprefix("home/"), sha256(data).hexdigest()
