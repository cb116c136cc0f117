"""The benchmark VLMBias, as other packages see it."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.kit.benchmarks import Benchmark, Definition, StandInRun
from assets.kit.jobs import JobSpec
from assets.kit.judging import select_judges
from assets.kit.partitions import months
from assets.kit.step import Step
from assets.vlmbias.accuracy import build_accuracy_asset
from assets.vlmbias.answers import CountingAnswers, answerable_topics
from assets.vlmbias.blind_answers import BlindAnswers
from assets.vlmbias.common import (
    EVALUATION_VERSION,
    GROUP,
    QUESTION,
    TITLE,
    asset_key,
    photographed_topics,
    photographs,
    rerolled_topics,
    topics,
)
from assets.vlmbias.drift.monthly_answers import MonthlyAnswers
from assets.vlmbias.leaderboard import LEADERBOARD
from assets.vlmbias.photographs.candidates import Candidates
from assets.vlmbias.photographs.edits import Edits
from assets.vlmbias.photographs.isolated_edits import FORM as ISOLATED_FORM
from assets.vlmbias.photographs.isolated_edits import IsolatedEdits, name_review
from assets.vlmbias.photographs.paintings import Paintings
from assets.vlmbias.photographs.selection import FORM
from assets.vlmbias.photographs.subjects import SuggestedSubjects
from assets.vlmbias.pictures import PICTURES
from assets.vlmbias.release import RELEASE_TABLES
from assets.vlmbias.release_card import CARD
from assets.vlmbias.report import build_report_asset
from assets.vlmbias.reroll import REROLL
from assets.vlmbias.rerolled_accuracy import build_rerolled_accuracy_asset
from assets.vlmbias.rerolled_answers import RerolledAnswers
from assets.vlmbias.responses import STAND_IN_ANSWERS
from assets.vlmbias.svg_flags import EditedFlags
from assets.vlmbias.verification import join_readings
from assets.vlmbias.yes_no import YES_NO_QUESTIONS
from generators.topics import DRAWN, PHOTOGRAPHED
from metrics import BASELINE, ISOLATED
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

_JOB_SPECS = (
    JobSpec(
        job_name="vlmbias_answers",
        partitions=topics,
        assets=("vlmbias/answers_", "vlmbias/blind_answers_"),
        description=(
            "VLMBias by topic: has judges answer a topic's questions. For one judge, "
            "select its node in the graph before you press Materialize: without a "
            "selection, every judge is asked."
        ),
    ),
    JobSpec(
        job_name="vlmbias_monthly_answers",
        partitions=months,
        assets=("vlmbias/monthly_answers_", "vlmbias/report"),
        description=(
            "VLMBias by month: asks the judges that have a drift_budget the same questions "
            "again, to see whether they have changed, and renews the report."
        ),
    ),
    JobSpec(
        job_name="vlmbias_reroll",
        partitions=rerolled_topics,
        assets=("vlmbias/rerolled_questions", "vlmbias/rerolled_answers_"),
        description=(
            "VLMBias by topic: draws pictures anew with another seed, and has judges answer."
        ),
    ),
    JobSpec(
        job_name="vlmbias_subjects",
        partitions=photographed_topics,
        assets=("vlmbias/subjects",),
        description=(
            "VLMBias, photographs by topic: what is to be painted, before vlmbias_photographs."
        ),
    ),
    JobSpec(
        job_name="vlmbias_photographs",
        partitions=photographs,
        assets=("vlmbias/paintings", "vlmbias/edits", "vlmbias/candidates"),
        description=(
            "VLMBias, photographs by topic and painter: paints, edits and checks them, "
            "for people to review."
        ),
    ),
    JobSpec(
        job_name="vlmbias_isolated_edits",
        partitions=photographs,
        assets=("vlmbias/isolated_edits",),
        description=(
            "VLMBias, photographs by topic and painter: removes the background of accepted ones, "
            "for people to review."
        ),
    ),
    JobSpec(
        job_name="vlmbias_edited_flags",
        partitions=None,
        assets=("vlmbias/edited_flags_",),
        description=(
            "VLMBias: has writers edit flags as SVG. For one writer, select its node in the graph."
        ),
    ),
    JobSpec(
        job_name="vlmbias_report",
        partitions=None,
        assets=("vlmbias/accuracy", "vlmbias/report"),
        description="VLMBias: accuracy of all judges, and the report.",
    ),
)

_BLIND_TOPIC, _ISOLATED_TOPIC = "flags", "game_boards"
"""The topics of the stand-in run that are asked blind, and isolated: one shows a section."""


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    for judge in select_judges(catalog, STAND_IN_ANSWERS, has_steps=True):
        yield CountingAnswers(catalog, judge)
        if judge.blind:
            yield BlindAnswers(catalog, judge)
        if judge.drift_budget is not None:
            yield MonthlyAnswers(catalog, judge)
    for judge in _rerolled_judges(catalog):
        yield RerolledAnswers(catalog, judge)
    for writer in _editors_of_flags(catalog):
        yield EditedFlags(catalog, writer)
    yield from (SuggestedSubjects(catalog), Paintings(catalog), Edits(catalog), Candidates(catalog))
    yield IsolatedEdits(catalog)


def _editors_of_flags(catalog: Catalog) -> list[Model]:
    return [writer for writer in catalog.select_role("writer") if not writer.is_stand_in]


def _rerolled_judges(catalog: Catalog) -> list[Model]:
    """List the judges that can be asked about new pictures: no logs of other harnesses."""
    judges = catalog.select_role("judge")
    return [judge for judge in judges if not judge.is_stand_in and judge.backend != "imported"]


def _assets(catalog: Catalog) -> list[Definition]:
    judges = select_judges(catalog, STAND_IN_ANSWERS, has_steps=True)
    return [
        build_accuracy_asset(judges),
        build_rerolled_accuracy_asset(_rerolled_judges(catalog)),
        build_report_asset(judges, _editors_of_flags(catalog)),
    ]


def _plan_stand_in(catalog: Catalog, painter: str) -> Iterator[StandInRun]:
    """Yield the stand-in run of each drawn or photographed topic, with judges that cost nothing."""
    selected = select_judges(catalog, STAND_IN_ANSWERS, has_steps=True)
    judges = [judge for judge in selected if judge.is_stand_in]
    for topic in (*DRAWN, *PHOTOGRAPHED):
        config: dict[str, dict[str, Any]] = {}
        answers = [
            f"answers_{judge.name}"
            for judge in judges
            if topic in answerable_topics(judge).get_partition_keys()
        ]
        if topic in DRAWN:
            images = ("drawn_images", "original_images", "measurements")
            asked_blind = [judge for judge in judges if judge.blind and topic == _BLIND_TOPIC]
            blind_answers = [f"blind_answers_{judge.name}" for judge in asked_blind]
            isolated = ("isolated_images", "isolated_measurements")
            if topic == _ISOLATED_TOPIC:
                yield StandInRun(isolated, topic)
                config = {name: {"prompting": [BASELINE, ISOLATED]} for name in answers}
            reads = [asset_key(name) for name in isolated if config]
            names = (*images, "questions", *answers, *blind_answers)
            yield StandInRun(names, topic, config, reads)
        else:
            yield StandInRun(("subjects",), topic)
            # Where nobody has decided, the first edit is published.
            config = {"edits": {"edits_per_image": 1}}
            yield StandInRun(("paintings", "edits", "candidates"), f"{painter}|{topic}", config)
            yield StandInRun(("photographs", "questions", *answers), topic)
    yield StandInRun(("accuracy", "report"))


def demo_summary(home: DataRoot, painter: str) -> list[dict[str, Any]]:
    """Count images, originals, verified images, stand-ins and distinct pictures by topic.

    Verified is an image whose every label was read back from its pixels.
    """
    return [_count_made(home, topic) for topic in (*DRAWN, *PHOTOGRAPHED)]


def _count_made(home: DataRoot, topic: str) -> dict[str, Any]:
    names = ("drawn_images", "original_images") if topic in DRAWN else ("photographs",)
    images = pd.concat(home.table(AssetKey([GROUP, name]), topic) for name in names)
    original, pictures, verified = images["variant"].eq("original"), images["sha256"], 0
    if topic in DRAWN:
        original = images["image_set"].eq("originals")
        readings = home.table(AssetKey([GROUP, "measurements"]), topic)
        pictures = readings.drop_duplicates("image_id")["pixels_sha256"]
        labels = join_readings(images, readings).groupby(["image_id", "sha256"])["agrees"]
        verified = int(labels.all().sum())
    return {
        "topic": topic,
        "images": int((~original).sum()),
        "originals": int(original.sum()),
        "verified": verified,
        "stand-ins": int(images["is_stand_in"].sum()),
        "distinct": int(pictures.nunique()),
    }


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    evaluation_version=EVALUATION_VERSION,
    steps=_steps,
    assets=_assets,
    job_specs=_JOB_SPECS,
    stand_in_runs=_plan_stand_in,
    summarize_demo=demo_summary,
    review_files={
        **{name: {t: t for t in PHOTOGRAPHED} for name in ("candidates", "photographs")},
        **{
            name: {topic: name_review(topic) for topic in PHOTOGRAPHED}
            for name in ("isolated_edits", "isolated_photographs")
        },
    },
    review_forms=(FORM, ISOLATED_FORM),
    yes_no_tables=(YES_NO_QUESTIONS,),
    picture_tables=PICTURES,
    release_tables=RELEASE_TABLES,
    demo_release=("game_boards",),
    leaderboard=LEADERBOARD,
    release_card=CARD,
    reroll=REROLL,
)
