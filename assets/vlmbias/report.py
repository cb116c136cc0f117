"""The report: its tables, checked against each other, and its pages."""

import json
from collections.abc import Sequence
from dataclasses import asdict, fields

import pandas as pd
import pyarrow as pa
from dagster import AssetKey, AssetsDefinition

from assets.kit.columns import NamedRow, iterate_named_rows
from assets.kit.partitions import months
from assets.kit.pictures import compute_missing
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from assets.report.thinking import list_axes
from assets.vlmbias.accuracy import (
    ACCURACY,
    build_accuracy_figures,
    concatenate_answers,
    describe_partial_answers,
    load_answers,
)
from assets.vlmbias.blind_answers import BLIND_ANSWERS
from assets.vlmbias.common import GROUP, QUESTION, TITLE, asset_key, edited_flags_key, topics
from assets.vlmbias.drift.course import build_course
from assets.vlmbias.images import IMAGES
from assets.vlmbias.measurements import MEASUREMENTS
from assets.vlmbias.pages import build
from assets.vlmbias.photographs.publication import PHOTOGRAPHS
from assets.vlmbias.reroll import REROLL
from assets.vlmbias.rerolled_accuracy import load_comparison
from assets.vlmbias.verification import MATCHED_COLUMNS, join_readings
from generators.domains import OutlineBox, load_domain
from generators.outlines import find_drawing_outline
from generators.scene import Scene
from generators.topics import PHOTOGRAPHED, get_title
from generators.worker_jobs import DrawJob
from resources.models.catalog import Model
from resources.storage.work_cache import WorkCache, build_work_key

_PICTURES = ("drawn_images", "original_images", "photographs")
_BASE_IMAGES = 304 + 91 + 69
"""Drawn by code, animals and logos: at three sizes the 1,392 images of the benchmark."""
_NO_READINGS = MEASUREMENTS.build_table([]).to_pandas()
_SAME_PICTURE = ["image_id", "sha256", "image_set", "painter", "review", "is_stand_in"]


def build_report_asset(judges: Sequence[Model], writers: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of these judges, and of the flags that these writers edited, if any."""
    # Questions and answers are read without edges: `accuracy` changes whenever they do.
    over = [AssetKey([GROUP, name]) for name in (*_PICTURES, "measurements", "accuracy")]
    return report_asset(
        GROUP,
        lambda sources: _site(sources, judges, writers),
        deps=[
            *over,
            *(edited_flags_key(writer.name) for writer in writers),
            *(asset_key(f"blind_answers_{judge.name}") for judge in judges if judge.blind),
            *(asset_key(f"monthly_answers_{judge.name}") for judge in _select_watched(judges)),
            REROLL.results,
        ],
        description=f"{TITLE}: {QUESTION} Leaderboard, charts, gallery, a page for every scene.",
    )


def _site(sources: ReportSources, judges: Sequence[Model], writers: Sequence[Model]) -> Site:
    topic_names = topics.get_partition_keys()
    pictures = _join_pictures(*(sources.tables(name, topic_names) for name in _PICTURES))
    drawn = pictures[pictures["painter"].eq("")]
    measured = sources.tables("measurements", topic_names)
    if len(drawn) and not measured:
        raise _build_error("measurements")
    readings = pd.concat(measured.values(), ignore_index=True) if measured else _NO_READINGS
    questions, answers = load_answers(sources.home, judges)
    judge_answers = concatenate_answers(judges, questions, answers)
    for topic, topic_questions in questions.items():
        _check_same_images(topic, topic_questions, pictures[pictures["domain"] == topic])
    accuracy = sources.table("accuracy")
    if accuracy is None:
        raise _build_error("figures")
    if not ACCURACY.build_table(build_accuracy_figures(judge_answers)).to_pandas().equals(accuracy):
        raise TablesMismatch("vlmbias/accuracy is older than the answers: materialize it again.")
    proved = join_readings(drawn, readings)[[*MATCHED_COLUMNS, "agrees"]]
    edited = (sources.table(edited_flags_key(writer.name).path[-1]) for writer in writers)
    return build(
        images=pictures,
        measurements=readings.merge(proved, on=MATCHED_COLUMNS, how="left", validate="1:1"),
        questions=pd.concat(questions.values(), ignore_index=True),
        answers=judge_answers,
        blind_answers=_load_blind_answers(sources, judges, topic_names),
        rerolled=_load_findings(sources, judges),
        accuracy=accuracy,
        facts=_facts(pictures) | dict(sources.facts),
        stand_ins=[judge.name for judge in judges if judge.is_stand_in],
        complete=_BASE_IMAGES * pictures["size"].nunique(),
        partial=describe_partial_answers(judges, questions, answers),
        edited_tables=[table for table in edited if table is not None],
        spent=sources.spent,
        decisions=sources.decisions,
        full_size=sources.full_size,
        outlines=draw_outlines(drawn, sources.work_cache),
        courses=[
            build_course(judge.name, tables)
            for judge in _select_watched(judges)
            if (
                tables := sources.tables(
                    f"monthly_answers_{judge.name}", months.get_partition_keys()
                )
            )
        ],
        dates=sources.dates("answers", [judge.name for judge in judges], topic_names),
        axes=list_axes(judges),
    )


def _select_watched(judges: Sequence[Model]) -> list[Model]:
    return [judge for judge in judges if judge.drift_budget is not None]


def _load_blind_answers(
    sources: ReportSources, judges: Sequence[Model], topic_names: Sequence[str]
) -> pd.DataFrame:
    names = [f"blind_answers_{judge.name}" for judge in judges if judge.blind]
    return sources.concat(names, topic_names, [*BLIND_ANSWERS.columns])


def _load_findings(sources: ReportSources, judges: Sequence[Model]) -> Sequence[Row]:
    """Each judge's comparison with new pictures, of the answers that there are now."""
    comparison = load_comparison(sources.home, [judge for judge in judges if not judge.is_stand_in])
    return [row for row in comparison.build_rows() if "finding" in row] if comparison else []


def draw_outlines(drawn: pd.DataFrame, work_cache: WorkCache) -> dict[str, Sequence[OutlineBox]]:
    """Outline the changes in each drawn counterfactual at its smallest size, by base image."""
    changed = drawn[drawn["variant"].eq("counterfactual")].sort_values("size", kind="stable")
    first = {
        row.base_id: DrawJob(row.domain, _build_scene(row), row.size)
        for row in iterate_named_rows(changed.drop_duplicates("base_id"))
    }
    keys = {base_id: _outline_key(drawing) for base_id, drawing in first.items()}
    boxes_by_scene = compute_missing(keys, first.__getitem__, find_drawing_outline, work_cache)
    return {base_id: [*map(tuple, boxes)] for base_id, boxes in boxes_by_scene.items()}


def _outline_key(drawing: DrawJob) -> str:
    by = load_domain(drawing.topic).outline_fingerprint
    return build_work_key("outline", by, asdict(drawing.scene), drawing.size)


def _build_scene(row: NamedRow) -> Scene:
    columns = {field.name: getattr(row, field.name, None) for field in fields(Scene)}
    by_target = {
        "truths": dict(zip(row.targets, row.truths, strict=True)),
        "standards": dict(zip(row.targets, row.standards, strict=True)),
    }
    return Scene(**{**columns, **by_target, "settings": json.loads(row.settings)})


def _check_same_images(topic: str, questions: pd.DataFrame, pictures: pd.DataFrame) -> None:
    """The questions have to be about these pictures, as they are reviewed now."""
    current_pictures, asked_pictures = (
        set(table[_SAME_PICTURE].itertuples(index=False, name=None))
        for table in (pictures, questions)
    )
    if current_pictures == asked_pictures:
        return
    if topic in PHOTOGRAPHED:
        raise TablesMismatch(
            f"vlmbias/questions ({topic}) asks about other photographs than vlmbias/photographs "
            "holds now, or they have been reviewed since. Materialize vlmbias/photographs and "
            f"vlmbias/questions for {topic} again, then its answers."
        )
    raise TablesMismatch(
        f"vlmbias/questions ({topic}) asks about other images than are drawn now. Materialize "
        f"vlmbias/measurements and vlmbias/questions for {topic} again, then its answers."
    )


def _join_pictures(*tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Join all pictures with the columns of photographs, which are empty for drawn pictures."""
    *drawn, photographs = tables
    tables_of_pictures = [
        IMAGES.build_table(table) for topic_tables in drawn for table in topic_tables.values()
    ]
    tables_of_pictures += [PHOTOGRAPHS.build_table(table) for table in photographs.values()]
    if not tables_of_pictures:
        raise _build_error("images")
    all_pictures = pa.concat_tables(
        [*tables_of_pictures, PHOTOGRAPHS.build_table([])], promote_options="default"
    )
    pictures: pd.DataFrame = all_pictures.to_pandas()
    return pictures


def _build_error(missing: str) -> NotMaterialized:
    return NotMaterialized(f"There are no {missing} yet: materialize the topics of vlmbias first.")


def _facts(pictures: pd.DataFrame) -> dict[str, str]:
    """Build the facts of the footer, with those on drawings or photographs if there are any."""

    def list_values(column: str, pictures_read: pd.DataFrame = pictures) -> str:
        return ", ".join(str(value) for value in sorted(pictures_read[column].unique()))

    def versions(pictures_read: pd.DataFrame) -> str:
        versions_by_topic = pictures_read.groupby("domain")["generator_version"].unique()
        return ", ".join(
            f"{get_title(str(name))} {'/'.join(sorted(v))}" for name, v in versions_by_topic.items()
        )

    painted = pictures["painter"].ne("")
    drawn, photographs = pictures[~painted], pictures[painted]
    facts = {"Seed": list_values("seed"), "Sizes": f"{list_values('size')} px"}
    if len(drawn):
        facts |= {"Drawing code": versions(drawn), "Rasteriser": list_values("rasteriser", drawn)}
    if len(photographs):
        facts |= {
            "Painters": list_values("painter", photographs),
            "Models that painted and edited": versions(photographs),
            "Photographs brought to size by": list_values("rasteriser", photographs),
        }
    return facts
