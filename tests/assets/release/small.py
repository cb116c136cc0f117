"""A small benchmark to release: squares of two colours, in two partitions and two splits."""

import warnings
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO

import dagster as dg
import pandas as pd
from PIL import Image

from assets.kit.benchmarks import Benchmark
from assets.kit.columns import BOOLEAN, REAL, TEXT, TEXTS, WHOLE, Columns, to_materialize_result
from assets.kit.licences import OWN
from assets.kit.release_tables import ReleaseRow, ReleaseTable
from assets.kit.table_asset import table_asset
from assets.release import ReleaseSources
from resources.models.catalog import Catalog
from resources.settings.default_resources import build_default_resources
from resources.settings.image_design import ImageDesign
from tests.instances import unread
from tests.runs import STAND_INS

KEY = dg.AssetKey(["shapes", "squares"])
STORED = Columns(
    square=(TEXT, "Name"), sha256=(TEXT, "Picture"), shade=(WHOLE, "Of grey"), seed=(WHOLE, "Seed")
)
SHADES = {"dark": (10, 20, 30), "light": (200, 210, 220)}
PARTS = dg.StaticPartitionsDefinition([*SHADES])
LAYOUT = Columns(
    id=(TEXT, "Name of the row"),
    image=(TEXT, "Picture"),
    sha256=(TEXT, "Name of the picture"),
    prompt=(TEXT, "Question"),
    shade=(WHOLE, "Of grey"),
    share=(REAL, "Of white"),
    is_dark=(BOOLEAN, "Below the middle"),
    accepted=(TEXTS, "Right answers"),
)


def picture(shade):
    file = BytesIO()
    Image.new("RGB", (8, 8), (shade,) * 3).save(file, "PNG")
    return file.getvalue()


@table_asset(
    "shapes",
    columns=STORED,
    partitions=PARTS,
    key=KEY,
    description="Squares.",
)
def squares(
    context: dg.AssetExecutionContext, images: dg.ResourceParam[object], design: ImageDesign
):
    rows = [
        {
            "square": f"{context.partition_key}/{shade}",
            "sha256": images.put(picture(shade)),
            "shade": shade,
            "seed": design.seed,
        }
        for shade in SHADES[context.partition_key]
    ]
    return to_materialize_result(STORED.build_table(pd.DataFrame(rows)))


def read_rows(inputs, split):
    """Yield the first square of each partition in `dev`, the others in `test`."""
    for partition in inputs.partitions:
        rows = inputs.home.table(KEY, partition).to_dict("records")
        for row in rows[:1] if split == "dev" else rows[1:]:
            shade = int(row["shade"])
            cells = {
                "id": row["square"],
                "image": row["sha256"],
                "sha256": row["sha256"],
                "prompt": f"Is it {shade}?",
                "shade": shade,
                "share": shade / 255,
                "is_dark": shade < 128,
                "accepted": [str(shade), f"{shade:x}"],
            }
            yield ReleaseRow(row["square"], cells, row["square"], "pixels", (OWN,))


TABLE = ReleaseTable(
    config="squares",
    description="Grey squares.",
    columns=LAYOUT,
    sources={"shade": KEY, "image": KEY},
    splits=("dev", "test"),
    read_rows=read_rows,
    prompt_column="prompt",
    truth_column="shade",
    tsv_columns={"index": "id", "image": "image", "question": "prompt", "answer": "accepted"},
)
SHAPES = Benchmark(
    name="shapes",
    title="Shapes",
    question="Which shade is it?",
    steps=lambda catalog: [],
    assets=lambda catalog: [squares],
    stand_in_runs=lambda catalog, painter: [],
    release_tables=[TABLE],
)


def with_rows(change):
    """The benchmark, with rows as `change` makes them."""

    def read_changed(inputs, split):
        return (change(row, split) for row in read_rows(inputs, split))

    return replace(SHAPES, release_tables=[replace(TABLE, read_rows=read_changed)])


@contextmanager
def open_made(root, instance, *partitions):
    """The tables, materialized in an instance, and the sources of a release of them."""
    resources = build_default_resources(str(root))
    for partition in partitions:
        materialize_squares(resources, instance, partition)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        with dg.build_resources(resources, instance) as stores:
            yield ReleaseSources(
                home=stores.home,
                images=stores.images,
                work_cache=stores.work_cache,
                calls=stores.models.calls,
                catalog=Catalog(STAND_INS),
                instance=instance,
                graph=dg.Definitions(assets=[squares], resources=resources).resolve_asset_graph(),
            )


def materialize_squares(resources, instance, partition, seed=7):
    with unread(instance):
        assert dg.materialize(
            [squares],
            instance=instance,
            partition_key=partition,
            resources=resources,
            run_config={"resources": {"design": {"config": {"seed": seed, "sizes": [64]}}}},
        ).success
