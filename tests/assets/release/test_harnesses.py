"""Releases opened by the loading code of others' harnesses, networking off: all rows agree."""

from io import BytesIO

import pytest
from PIL import Image

from assets.release import ReleaseOptions, write_release
from tests import harnesses
from tests.assets.release import harness_readers
from tests.assets.release.varied import SQUARES, VARIED, list_cells

READERS = {
    "inspect_ai": harness_readers.read_inspect,
    "lmms-eval": harness_readers.read_lmms_eval,
    "VLMEvalKit": harness_readers.read_vlmevalkit,
    "evalscope": harness_readers.read_evalscope,
}


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    with harnesses.open_process(tmp_path_factory.mktemp("home")) as pool:
        yield pool


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_harness_loads_the_same_rows(sources, process, tmp_path, name):
    folder = tmp_path / "out"
    write_release(folder, VARIED, sources, ReleaseOptions())
    rows = process.submit(READERS[name], folder).result()
    expected_rows = list_cells(sources, SQUARES, harness_readers.SPLIT)
    for cells in expected_rows:
        picture = Image.open(BytesIO(sources.images.get(cells["image"])))
        cells["image"] = harness_readers.hash_pixels(picture)
    names = rows[0].keys()
    assert {"id", "prompt", "shade", "image"} <= names
    assert rows == [{name: cells[name] for name in names} for cells in expected_rows]
