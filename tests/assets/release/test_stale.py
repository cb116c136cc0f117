"""Tables that are out of date: a release is refused until they are materialized again."""

from dataclasses import replace

import dagster as dg
import pytest

from assets.release import ReleaseOptions, write_release
from assets.release.parts import StaleTable
from resources.settings.default_resources import build_default_resources
from tests.assets.release.small import SHAPES, squares


def test_a_table_of_other_code_is_refused(sources, tmp_path):
    newer = squares.map_asset_specs(lambda spec: spec.replace_attributes(code_version="2"))
    graph = dg.Definitions(
        assets=[newer], resources=build_default_resources("/nowhere")
    ).resolve_asset_graph()
    with pytest.raises(StaleTable) as caught:
        write_release(tmp_path / "out", SHAPES, replace(sources, graph=graph), ReleaseOptions())
    message = str(caught.value)
    assert message.startswith("Out of date: shapes/squares, dark; shapes/squares, light: ")
    assert "counterfactory run '+key:\"shapes/squares\"' --partitions 'dark,light'" in message
    assert not (tmp_path / "out").exists()
