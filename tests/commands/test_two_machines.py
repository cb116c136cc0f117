"""Two machines with one state: tables, reports and images on S3, calls and work on PostgreSQL."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance

from tests.postgres import Postgres, installed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not installed(), reason="there is no PostgreSQL server to start"),
]
PROJECT = Path(__file__).parents[2]
TOPIC = "game_boards"
SIZES = "resources: {design: {config: {seed: 0, sizes: [384]}}}\n"


class Machine:
    """A machine with an instance of its own, which shares all else."""

    def __init__(self, folder, database):
        self.folder = folder
        folder.mkdir()
        (folder / "dagster.yaml").write_text((PROJECT / "dagster.yaml.example").read_text())
        (folder / "config.yaml").write_text(SIZES)
        self.variables = {
            "DAGSTER_HOME": str(folder),
            "COUNTERFACTORY_HOME": "s3://pictures/home",
            "COUNTERFACTORY_IMAGES": "s3://pictures/images",
            "COUNTERFACTORY_CALLS": database,
        }

    def materialize(self, select):
        """Materialize assets of one topic in a process of this machine."""
        command = [sys.executable, "-m", "commands.app", "run", select, "--partitions", TOPIC]
        done = subprocess.run(
            [*command, "--config", str(self.folder / "config.yaml")],
            cwd=self.folder,
            env=os.environ | self.variables,
            capture_output=True,
            text=True,
            timeout=3600,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def read_metadata(self, asset, name):
        """Read a number of the latest materialization of an asset of one topic."""
        records = AssetRecordsFilter(AssetKey(["vlmbias", asset]), asset_partitions=[TOPIC])
        with DagsterInstance.from_config(str(self.folder)) as instance:
            (record,) = instance.fetch_materializations(records, limit=1).records
        return record.asset_materialization.metadata[name].value


def test_a_second_machine_draws_nothing_and_goes_on_from_what_the_first_made(
    s3, s3_server, tmp_path
):
    def read_objects():
        listed = s3.list_objects_v2(Bucket="pictures")["Contents"]
        names = [item["Key"] for item in listed]
        return {n: s3.get_object(Bucket="pictures", Key=n)["Body"].read() for n in names}

    with Postgres() as server:
        database = server.database()
        first, second = (Machine(tmp_path / name, database) for name in ("first", "second"))
        first.materialize("+vlmbias/measurements")
        assert first.read_metadata("drawn_images", "drawn_now") > 0
        assert first.read_metadata("measurements", "measured_now") > 0
        objects = read_objects()
        assert "home/vlmbias/measurements/game_boards.parquet" in objects

        # It has never made the pictures and questions that these are about.
        second.materialize("vlmbias/measurements")
        assert second.read_metadata("measurements", "measured_now") == 0
        second.materialize("+vlmbias/measurements")
        assert second.read_metadata("drawn_images", "drawn_now") == 0
        assert read_objects() == objects
        second.materialize("vlmbias/questions")
        assert "home/vlmbias/questions/game_boards.parquet" in read_objects()
    assert not any((tmp_path / name / "s3:").exists() for name in ("first", "second"))
