"""The pictures: figures of other benchmarks, and their controls, with differences read back."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckSpec,
    AssetDep,
    AssetsDefinition,
    MaterializeResult,
    SpecificPartitionsPartitionMapping,
)

from assets.illusions.common import GROUP, TOPIC, asset_key
from assets.kit.benchmarks import load_benchmarks
from assets.kit.checks import build_check_result
from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    WHOLE,
    Columns,
    to_materialize_result,
)
from assets.kit.picture_tables import BenchmarkPicture, PictureTable
from assets.kit.pictures import compute_missing, draw_missing_pictures, sample_contact_sheet
from assets.kit.table_asset import NotMaterialized, table_asset
from generators.domains import load_domain
from generators.fingerprint import fingerprint
from generators.scene import Scene
from generators.worker_jobs import DrawJob
from metrics.illusions.polarity import WITH, WITHOUT
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

PICTURES = Columns(
    image_id=(TEXT, "Readable name: scene, for a control `control` and its size"),
    picture_id=(TEXT, "The same without the size"),
    pair_id=(TEXT, "Picture of equal parts to compare with; its own where its parts are equal"),
    control_id=(TEXT, "Picture of the same parts without the inducer; its own for a control"),
    scene_id=(TEXT, "Scene whose parts it shows; of several that share a control the first"),
    sha256=(TEXT, "Name of the PNG in the image store"),
    illusion=(TEXT, "Name of the illusion"),
    inducer=(TEXT, "with, or without for a control"),
    is_equal=(BOOLEAN, "True if the compared parts are equal"),
    congruence=(TEXT, "congruent or incongruent with the inducer, or none"),
    difference=(REAL, "Difference of the parts as drawn"),
    measured=(REAL, "Difference read from the pixels; empty if unreadable"),
    problem=(TEXT, "Reason why it is unreadable; else empty"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
)
_CHECK = "labels_agree"


class _Figures(NamedTuple):
    """The figures of one size, by scene."""

    size: int
    pictures: dict[str, BenchmarkPicture]


def build_pictures_asset() -> AssetsDefinition:
    """The asset `pictures` of all figures that other benchmarks declare."""
    tables = [
        table
        for benchmark in load_benchmarks().values()
        for table in benchmark.picture_tables
        if TOPIC in table.partitions and not table.by_painter
    ]
    mapping = SpecificPartitionsPartitionMapping([TOPIC])

    @table_asset(
        GROUP,
        key=asset_key("pictures"),
        columns=PICTURES,
        partitions=None,
        kinds=["image"],
        deps=[AssetDep(table.asset, partition_mapping=mapping) for table in tables],
        description=(
            "Illusions of the middle size drawn, and a control of each: the compared parts in the "
            "same places without what misleads."
        ),
        check_specs=[
            AssetCheckSpec(
                _CHECK,
                asset=asset_key("pictures"),
                description="Every difference agrees with the reading of the pixels.",
                blocking=True,
            )
        ],
    )
    def pictures(
        home: DataRoot, images: ImageStore, work_cache: WorkCache
    ) -> MaterializeResult[pa.Table]:
        """Draw the controls, and read all pictures."""
        rows = _build_rows(_find_figures(tables, home), images, work_cache)
        result = to_materialize_result(
            PICTURES.build_table(rows),
            figures=sum(row["inducer"] == WITH for row in rows),
            controls=sum(row["inducer"] == WITHOUT for row in rows),
            contact_sheet=sample_contact_sheet(rows, lambda row: str(row["image_id"]), images),
        )
        return result._replace(check_results=[check_labels(rows)])

    return pictures


def check_labels(rows: Sequence[dict[str, Any]]) -> Any:
    """Check that every reading is within the reader's tolerance of what was drawn."""
    from generators.domains.optical_illusions.measure import TOLERANCE  # noqa: PLC0415 - slow

    tolerances = {scene.base_id: TOLERANCE[scene.target] for scene in _list_scenes()}
    wrong = [
        row
        for row in rows
        if row["measured"] is None
        or abs(row["measured"] - row["difference"]) > tolerances[row["scene_id"]]
    ]
    columns = ["image_id", "difference", "measured", "problem"]
    result = build_check_result(
        f"{len(rows) - len(wrong)} of {len(rows)} pictures agree with the pixels",
        pd.DataFrame(wrong, columns=columns),
    )
    return result._replace(check_name=_CHECK)


def _list_scenes() -> Sequence[Scene]:
    # They are the same for every seed.
    return load_domain(TOPIC).draw_module.list_scenes(0)


def _find_figures(tables: Sequence[PictureTable], home: DataRoot) -> _Figures:
    """Find the picture of every scene at the middle of the sizes that there are."""
    scenes = {scene.base_id for scene in _list_scenes()}
    by_size: dict[int, dict[str, BenchmarkPicture]] = {}
    for table in tables:
        stored = home.find(table.asset, TOPIC)
        for row in [] if stored is None else table.columns.read_rows(stored, table.asset):
            picture = table.to_picture(row)
            if picture and picture.scene in scenes:
                size = int(picture.image_id.rpartition("/")[2])
                by_size.setdefault(size, {})[picture.scene] = picture
    complete_sizes = sorted(size for size, figures in by_size.items() if figures.keys() == scenes)
    if not complete_sizes:
        names = ", ".join(table.asset.to_user_string() for table in tables)
        raise NotMaterialized(
            f"illusions/pictures: there are no {len(scenes)} figures of one size. Materialize "
            f"{TOPIC} of {names} first."
        )
    size = complete_sizes[len(complete_sizes) // 2]
    return _Figures(size, by_size[size])


def _build_rows(
    figures: _Figures, images: ImageStore, work_cache: WorkCache
) -> list[dict[str, Any]]:
    """Build a row for each figure, then for each distinct control."""
    from generators.domains.optical_illusions import control_jobs, controls  # noqa: PLC0415 - slow

    scenes = {scene.base_id: scene for scene in _list_scenes()}
    control_scenes = controls.find_controls(list(scenes.values()), figures.size)
    code = fingerprint(control_jobs.__name__)
    work_keys = {
        scene.base_id: build_work_key("control", code, asdict(scene), figures.size)
        for scene in control_scenes.values()
    }
    drawn = draw_missing_pictures(
        work_keys,
        lambda name: DrawJob(TOPIC, scenes[name], figures.size),
        *(control_jobs.draw_control_png, images, work_cache),
    )
    digests = {(name, WITH): picture.sha256 for name, picture in figures.pictures.items()}
    digests |= {(name, WITHOUT): digest for name, digest in drawn.results.items()}

    def build_job(shown: tuple[str, str]) -> control_jobs.DifferenceJob:
        return control_jobs.DifferenceJob(
            png=images.get(digests[shown]),
            target=scenes[shown[0]].target,
            is_control=shown[1] == WITHOUT,
        )

    readings = compute_missing(
        {shown: build_work_key("difference", code, *shown, digests[shown]) for shown in digests},
        *(build_job, control_jobs.read_difference, work_cache),
    )
    px = images.sizes({*digests.values()})
    rows = []
    for shown, digest in digests.items():
        scene, inducer = scenes[shown[0]], shown[1]
        control, original = (control_scenes[n] for n in (scene.base_id, scene.original_id))
        picture_id, pair_id = (
            (scene.base_id, scene.original_id)
            if inducer == WITH
            else (_name_control(control), _name_control(original))
        )
        row = {
            "image_id": f"{picture_id}/{figures.size}",
            "picture_id": picture_id,
            "pair_id": pair_id,
            "control_id": _name_control(control),
            "scene_id": scene.base_id,
            "sha256": digest,
            "illusion": scene.subject,
            "inducer": inducer,
            "is_equal": scene.variant == "original",
            "congruence": scene.modification if inducer == WITH else "none",
            "difference": scene.truths[scene.target],
            "is_stand_in": figures.pictures[scene.base_id].is_stand_in,
        }
        row["measured"], row["problem"] = readings[shown]
        row["width"], row["height"] = px[digest]
        rows.append(row)
    return rows


def _name_control(scene: Scene) -> str:
    return f"{scene.base_id}/control"
