"""What has to be materialized again, on two assets of pictures and the one they come from."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dagster import (
    AssetKey,
    DagsterInstance,
    DataVersion,
    Definitions,
    MaterializeResult,
    StaticPartitionsDefinition,
    asset,
)
from PIL import Image

from commands.freshness import Freshness, digest_inputs
from resources.storage.image_store import ImageStore

KEYS = [AssetKey(["drawn"]), AssetKey(["measured"])]
NAMES = ["drawn", "measured"]
CONFIG = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def png():
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2), "red").save(buffer, "PNG")
    return buffer.getvalue()


class Project:
    """A graph of two assets by topic in a folder; `outside` is what is not in the graph."""

    def __init__(self, root, instance):
        self.root, self.instance = root, instance
        self.images = ImageStore(root=str(root))
        self.digest = self.images.put(png())
        self.outside, self.drawn, self.code, self.fails = "a", "1", "1", False

    def defs(self):
        topics = StaticPartitionsDefinition(["flags", "logos"])

        def made(name, version, **more):
            path = self.root / f"{name}.parquet"
            pq.write_table(pa.table({"sha256": [self.digest], **more}), path)
            return MaterializeResult(
                data_version=DataVersion(version), metadata={"path": str(path)}
            )

        @asset(partitions_def=topics, code_version=self.code)
        def drawn():
            return made("drawn", self.drawn)

        @asset(partitions_def=topics, deps=[drawn], code_version="1")
        def measured():
            if self.fails:
                raise RuntimeError("measuring fails")
            return made("measured", self.drawn)

        return Definitions([drawn, measured])

    def freshness(self):
        graph = self.defs().resolve_asset_graph()
        return Freshness(self.instance, graph, self.images, lambda: self.outside)

    def stale(self, config=CONFIG):
        return [key.path[0] for key in self.freshness().find_stale(KEYS, "flags", config)]

    def make(self, *keys):
        freshness = self.freshness()
        result = (
            self.defs()
            .resolve_implicit_global_asset_job_def()
            .execute_in_process(
                instance=self.instance,
                tags={**freshness.tags, "dagster/partition": "flags"},
                asset_selection=list(keys or KEYS),
                run_config=CONFIG,
                raise_on_error=False,
            )
        )
        freshness.current_run_ids.add(result.run_id)
        return freshness


@pytest.fixture
def project(tmp_path):
    with DagsterInstance.ephemeral() as instance:
        yield Project(tmp_path, instance)


def test_what_was_never_made_is_stale_and_what_was_made_is_not(project):
    assert project.stale() == NAMES
    project.make()
    assert project.stale() == []


def test_a_new_code_version_counts_for_what_depends_on_it_as_well(project):
    project.make()
    project.code = "2"
    assert project.stale() == NAMES


def test_new_data_count_for_what_depends_on_them_alone(project):
    project.make()
    project.drawn = "2"
    project.make(KEYS[0])
    assert project.stale() == ["measured"]


def test_another_setting_or_another_config_counts(project):
    project.make()
    assert project.stale({**CONFIG, "resources": {}}) == NAMES
    project.outside = "b"
    assert project.stale() == NAMES


def test_a_run_that_failed_leaves_nothing_up_to_date(project):
    project.fails = True
    project.make()
    assert project.stale() == NAMES


def test_a_table_that_is_gone_or_damaged_counts(project):
    project.make()
    (project.root / "measured.parquet").write_bytes(b"PAR1")
    assert project.stale() == ["measured"]
    (project.root / "measured.parquet").unlink()
    assert project.stale() == ["measured"]


def test_a_picture_that_is_damaged_counts(project):
    project.make()
    project.images.path(project.digest).write_bytes(b"no picture")
    assert project.stale() == NAMES


def test_what_a_run_itself_writes_for_people_to_edit_does_not_count(project):
    freshness = project.make()
    project.outside = "with a review that the run has written"
    freshness.confirm()
    assert project.stale() == []


def test_inputs_are_what_a_user_edits_and_settings(tmp_path, monkeypatch):
    (tmp_path / "reviews").mkdir()
    models = tmp_path / "models.yaml"
    models.write_text("[]")
    seen = [digest_inputs(tmp_path, models)]
    assert digest_inputs(tmp_path, models) == seen[0]
    (tmp_path / "reviews" / "animals.csv").write_text("verdict")
    seen.append(digest_inputs(tmp_path, models))
    (tmp_path / "reviews" / "animals.html").write_text("a page of ours")
    assert digest_inputs(tmp_path, models) == seen[-1]
    models.write_text("[{}]")
    seen.append(digest_inputs(tmp_path, models))
    monkeypatch.setenv("COUNTERFACTORY_IMAGES", "elsewhere")
    seen.append(digest_inputs(tmp_path, models))
    assert len(set(seen)) == 4
