"""The benchmark VLMBias, as other packages see it."""

from collections.abc import Iterator
from typing import Any

import pandas as pd
from dagster import AssetKey

from assets.kit.benchmarks import Benchmark, Definition, StandIn
from assets.kit.jobs import Flow
from assets.kit.judging import judges_of
from assets.kit.step import Step
from assets.vlmbias.accuracy import accuracy_over
from assets.vlmbias.answers import Answers, topics_of
from assets.vlmbias.common import GROUP, QUESTION, TITLE, photographed_topics, photographs, topics
from assets.vlmbias.photographs.candidates import Candidates
from assets.vlmbias.photographs.edits import Edits
from assets.vlmbias.photographs.paintings import Paintings
from assets.vlmbias.photographs.subjects import Subjects
from assets.vlmbias.pictures import PICTURES
from assets.vlmbias.report import report_over
from assets.vlmbias.responses import REFERENCES
from assets.vlmbias.svg_flags import EditedFlags
from assets.vlmbias.verification import agreement
from assets.vlmbias.yes_no import QUESTIONS_ASKED
from generators.topics import DRAWN, PHOTOGRAPHED
from resources.home import Home
from resources.models.catalog import Catalog, Model

_FLOWS = (
    Flow(
        "vlmbias_answers",
        topics,
        ("vlmbias/answers_",),
        "VLMBias by topic: has judges answer a topic's questions. For one judge, select its node "
        "in the graph before you press Materialize: without a selection, every judge is asked.",
    ),
    Flow(
        "vlmbias_subjects",
        photographed_topics,
        ("vlmbias/subjects",),
        "VLMBias, photographs by topic: what is to be painted, before vlmbias_photographs.",
    ),
    Flow(
        "vlmbias_photographs",
        photographs,
        ("vlmbias/paintings", "vlmbias/edits", "vlmbias/candidates"),
        "VLMBias, photographs by topic and painter: paints, edits and checks them, for people to "
        "review.",
    ),
    Flow(
        "vlmbias_edited_flags",
        None,
        ("vlmbias/edited_flags_",),
        "VLMBias: has writers edit flags as SVG. For one writer, select its node in the graph.",
    ),
    Flow(
        "vlmbias_report",
        None,
        ("vlmbias/accuracy", "vlmbias/report"),
        "VLMBias: accuracy of all judges, and the report.",
    ),
)


def _steps(catalog: Catalog) -> Iterator[Step[Any]]:
    for judge in judges_of(catalog, REFERENCES):
        yield Answers(catalog, judge)
    for writer in _editors_of_flags(catalog):
        yield EditedFlags(catalog, writer)
    yield from (Subjects(catalog), Paintings(catalog), Edits(catalog), Candidates(catalog))


def _editors_of_flags(catalog: Catalog) -> list[Model]:
    return [writer for writer in catalog.with_role("writer") if not writer.rehearses]


def _assets(catalog: Catalog) -> list[Definition]:
    judges = judges_of(catalog, REFERENCES)
    return [accuracy_over(judges), report_over(judges, _editors_of_flags(catalog))]


def _stand_in(catalog: Catalog, painter: str) -> Iterator[StandIn]:
    """All drawn topics, and the photographs as a stand-in paints them; judges that cost nothing."""
    judges = [judge for judge in judges_of(catalog, REFERENCES) if judge.rehearses]
    for topic in (*DRAWN, *PHOTOGRAPHED):
        answers = [
            f"answers_{judge.name}"
            for judge in judges
            if topic in topics_of(judge).get_partition_keys()
        ]
        if topic in DRAWN:
            images = ("drawn_images", "original_images", "measurements")
            yield StandIn((*images, "questions", *answers), topic)
        else:
            yield StandIn(("subjects",), topic)
            yield StandIn(("paintings", "edits", "candidates"), f"{painter}|{topic}")
            yield StandIn(("photographs", "questions", *answers), topic)
    yield StandIn(("accuracy", "report"))


def count_made(home: Home, painter: str) -> list[dict[str, Any]]:
    """By topic: images, originals, how many are verified, stand-ins, distinct pictures.

    Verified is an image whose every label was read back from its pixels.
    """
    return [_made(home, topic) for topic in (*DRAWN, *PHOTOGRAPHED)]


def _made(home: Home, topic: str) -> dict[str, Any]:
    names = ("drawn_images", "original_images") if topic in DRAWN else ("photographs",)
    images = pd.concat(home.table(AssetKey([GROUP, name]), topic) for name in names)
    original, pictures, verified = images["variant"].eq("original"), images["sha256"], 0
    if topic in DRAWN:
        original = images["image_set"].eq("originals")
        readings = home.table(AssetKey([GROUP, "measurements"]), topic)
        pictures = readings.drop_duplicates("image_id")["pixels_sha256"]
        labels = agreement(images, readings).groupby(["image_id", "sha256"])["agrees"]
        verified = int(labels.all().sum())
    return {
        "topic": topic,
        "images": int((~original).sum()),
        "originals": int(original.sum()),
        "verified": verified,
        "stand-ins": int(images["rehearsal"].sum()),
        "distinct": int(pictures.nunique()),
    }


BENCHMARK = Benchmark(
    name=GROUP,
    title=TITLE,
    question=QUESTION,
    steps=_steps,
    assets=_assets,
    flows=_FLOWS,
    stand_in=_stand_in,
    made=count_made,
    reviewed={name: {t: t for t in PHOTOGRAPHED} for name in ("candidates", "photographs")},
    yes_no=(QUESTIONS_ASKED,),
    pictures=PICTURES,
)
