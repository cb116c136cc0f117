"""The asset `release/<benchmark>`: where it writes, and what Dagster shows of it."""

import dagster as dg
import pytest

from assets.release import asset as release_asset
from resources.settings.default_resources import build_default_resources
from tests.assets.release.small import SHAPES, squares
from tests.instances import unread

pytestmark = pytest.mark.filterwarnings("ignore:.*InitResourceContext.dagster_run")


@pytest.fixture
def release(sources, monkeypatch):
    """What materializes the asset with some config, and returns its metadata."""
    monkeypatch.setattr(release_asset, "load_benchmarks", lambda: {"shapes": SHAPES})
    (asset,) = release_asset.build_release_assets(sources.catalog, lambda: sources.graph)

    def run(**config):
        with unread(sources.instance):
            result = dg.materialize(
                [squares, asset],
                selection=[asset],
                instance=sources.instance,
                resources=build_default_resources(sources.home.root),
                run_config={"ops": {"release__shapes": {"config": config}}},
                raise_on_error=False,
            )
        if not result.success:
            (failure,) = result.get_step_failure_events()
            return failure.step_failure_data.error.cause.message
        (event,) = result.get_asset_materialization_events()
        materialization = event.step_materialization_data.materialization
        return {name: value.value for name, value in materialization.metadata.items()}, (
            materialization.tags["dagster/data_version"]
        )

    return run


def test_it_replaces_the_release_in_the_data_root_and_says_what_it_holds(release, tmp_path):
    folder = tmp_path / "root" / "release" / "shapes"
    metadata, version = release()
    assert metadata["path"] == str(folder)
    assert metadata["rows"] == 6
    assert metadata["partitions"] == "dark, light"
    assert "squares" in metadata["contents"]
    assert "dev" in metadata["contents"]
    metadata, other = release(partitions=["dark"], webdataset=True)
    assert (metadata["rows"], metadata["partitions"]) == (3, "dark")
    assert (folder / "webdataset" / "squares" / "test-000000.tar").exists()
    assert other != version
    assert release()[1] == version
    assert [*folder.parent.iterdir()] == [folder]


def test_it_writes_to_another_folder_if_that_is_empty(release, tmp_path):
    release(to=str(tmp_path / "elsewhere"), licence="CC0-1.0")
    assert "CC0-1.0" in (tmp_path / "elsewhere" / "LICENCES.md").read_text()
    assert "not an empty folder" in release(to=str(tmp_path / "elsewhere"))
