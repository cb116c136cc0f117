"""Which pictures a dataset has, and which captions of people's."""

import logging
from dataclasses import replace
from types import SimpleNamespace

import pytest
from dagster import AssetCheckSeverity, AssetKey

from assets.kit.checks import build_checks
from assets.kit.collections import COLLECTION_COLUMNS
from assets.kit.columns import BOOLEAN, TEXT, Columns
from assets.kit.forecast import PENDING, NotCountable
from assets.kit.picture_tables import BenchmarkPicture, PictureTable, to_painted_picture
from assets.kit.step import StepReply
from assets.kit.step_run import StepRun
from assets.kit.table_asset import NotMaterialized
from assets.philautia import common
from assets.philautia.captions import CaptionStep
from assets.philautia.common import dataset_partitions, load_declared_tables
from assets.philautia.pictures import PICTURES, DatasetPictures
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS, RatedCaptions
from assets.philautia.scores import CaptionScoreStep, metric_columns
from resources.collections import CollectionError
from resources.models.catalog import Catalog, Model
from resources.models.outcomes import AnsweredOutcome, FailedOutcome
from tests.assets.philautia.galleries import captions, picture, reference, scores
from tests.assets.philautia.test_numbers import entry

PAINTED = Columns(
    painter=(TEXT, ""),
    image_id=(TEXT, ""),
    sha256=(TEXT, ""),
    outcome=(TEXT, ""),
    is_stand_in=(BOOLEAN, ""),
)


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    """Two collections, one of them with captions that people have scored."""
    path = tmp_path / "collections.yaml"
    path.write_text(
        "- {name: zoo, path: zoo}\n"
        "- {name: rated, path: rated.csv, scale: [1, 4],\n"
        "   columns: {image: image, text: text, human_score: score, references: refs}}\n"
    )
    monkeypatch.setenv("COUNTERFACTORY_COLLECTIONS", str(path))
    return path


def work(step, partition, found, sizes=(), **config):
    images = SimpleNamespace(sizes=lambda digests: dict(sizes))
    log = logging.getLogger(__name__)
    return StepRun(partition, step.config(**config), {}, {}, None, images, None, log, found)


def collected(*rows):
    known = {"outcome": "taken", "file": None, "text": None, "references": []}
    return COLLECTION_COLUMNS.build_table([known | row for row in rows]).to_pandas()


def test_every_benchmark_with_pictures_and_every_collection_is_one(zoo):
    names = dataset_partitions().get_partition_keys()
    assert {"vlmbias_flags", "vlmbias_animals", "protobias_animals", "frame_animals"} < {*names}
    assert names[-2:] == ["zoo", "rated"]
    assert len(names) == len(set(names))
    assert not any(name.startswith(("philautia", "vhexpansion")) for name in names)


def test_a_collection_called_as_another_benchmarks_pictures_is_refused(zoo):
    zoo.write_text("- {name: protobias_animals, path: zoo}\n")
    with pytest.raises(CollectionError, match="same name as the pictures of protobias/image_pairs"):
        dataset_partitions()


def test_pictures_of_two_benchmarks_are_never_in_one_dataset():
    for name, tables in load_declared_tables().items():
        benchmark, _, part = name.partition("_")
        assert {table.asset.path[0] for table in tables} == {benchmark}
        assert all(part in table.partitions for table in tables)


def test_a_collections_picture_stands_there_once_with_the_captions_of_all_its_rows(zoo):
    table = collected(
        {"image_id": "zoo/1", "sha256": "a", "file": "a.jpg", "references": ["One.", "Two."]},
        {"image_id": "zoo/2", "sha256": "a", "file": "a.jpg", "references": ["Two.", "Three."]},
        {"image_id": "zoo/3", "sha256": "b"},
        {"image_id": "zoo/4", "sha256": None, "outcome": "rejected"},
    )
    step = DatasetPictures(Catalog(()))
    rows = step.rows(work(step, "zoo", lambda *_: table, {"a": (8, 6), "b": (4, 4)}))
    assert [(row["image_id"], row["references"]) for row in rows] == [
        ("zoo/a.jpg", ["One.", "Two.", "Three."]),
        ("zoo/3", []),
    ]
    assert (rows[0]["width"], rows[0]["height"]) == (8, 6)
    assert len(PICTURES.build_table(rows)) == 2


def test_of_a_scene_the_largest_picture_is_taken_and_of_the_same_bytes_one(monkeypatch):
    columns = Columns(image_id=(TEXT, ""), sha256=(TEXT, ""))
    table = PictureTable(
        AssetKey(["other", "drawn"]),
        columns,
        ["shapes"],
        lambda row: BenchmarkPicture(
            row["image_id"], row["sha256"], row["image_id"][0], is_stand_in=False
        ),
    )
    monkeypatch.setattr(
        "assets.philautia.pictures.load_declared_tables", lambda: {"other_shapes": [table]}
    )
    stored = columns.build_table(
        [{"image_id": n, "sha256": d} for n, d in (("x/1", "s"), ("x/2", "l"), ("y/1", "l"))]
    ).to_pandas()
    step = DatasetPictures.__new__(DatasetPictures)
    step.catalog = Catalog(())
    found = step.rows(work(step, "other_shapes", lambda *_: stored, {"s": (2, 2), "l": (4, 4)}))
    assert [row["image_id"] for row in found] == ["x/2"]


def test_painters_pictures_are_of_all_painters_or_of_some(monkeypatch):
    table = PictureTable(
        AssetKey(["other", "images"]), PAINTED, ["pets"], to_painted_picture, by_painter=True
    )
    monkeypatch.setattr(
        "assets.philautia.pictures.load_declared_tables", lambda: {"other_pets": [table]}
    )
    asked = []

    def found(asset, partition):
        asked.append(partition)
        painter = partition.partition("|")[2]
        rows = [
            {"image_id": f"{painter}/1", "sha256": painter, "outcome": "painted"},
            {"image_id": f"{painter}/2", "sha256": None, "outcome": "refused"},
            {"image_id": f"{painter}/3", "sha256": "0" * 64, "outcome": PENDING},
        ]
        return None if painter == "idle" else PAINTED.build_table(rows).to_pandas()

    step = DatasetPictures.__new__(DatasetPictures)
    step.catalog = Catalog(
        tuple(
            Model(name=n, backend="openai", model=n, family=n, roles=("painter",))
            for n in ("brush", "idle", "pen")
        )
    )
    rows = step.rows(work(step, "other_pets", found))
    assert [(row["image_id"], row["outcome"]) for row in rows] == [
        ("brush/1", "taken"),
        ("brush/3", PENDING),
        ("pen/1", "taken"),
        ("pen/3", PENDING),
    ]
    assert asked == ["pets|brush", "pets|idle", "pets|pen"]
    rows = step.rows(work(step, "other_pets", found, painters=["pen"]))
    assert {row["sha256"] for row in rows} == {"pen", "0" * 64}
    with pytest.raises(NotCountable, match=r"other/images \(pets\)"):
        step.rows(work(step, "other_pets", found, painters=["idle"]))


def test_a_rated_caption_is_judged_by_other_captions_than_itself(zoo):
    score = {"human_score": 2.0, "human_scores": [1.0, 3.0], "scale_low": 1.0, "scale_high": 4.0}
    table = collected(
        {"image_id": "r/1", "sha256": "a", "text": "One.", "references": ["One.", "Two."]} | score,
        {"image_id": "r/2", "sha256": "a", "text": "Red.", "references": ["One.", "Two."]} | score,
        {"image_id": "r/3", "sha256": "a", "text": "Unscored.", "references": []},
    )
    step = RatedCaptions(Catalog(()))
    rows = step.rows(work(step, "rated", lambda *_: table))
    assert [(row["candidate"], row["caption"], row["references"]) for row in rows] == [
        ("r/1", "One.", ["Two."]),
        ("r/2", "Red.", ["One.", "Two."]),
    ]
    assert rows[0]["image_id"] == rows[1]["image_id"]
    assert step.rows(work(step, "zoo", lambda *_: table)) == []


def test_a_caption_of_a_picture_that_is_another_by_now_is_not_scored():
    vain = reference("vain")
    written = captions(vain, [picture(0), picture(1)])
    changed = [picture(0), picture(1, sha256="another")]
    rows = scores(vain, changed, {"vain": written})
    assert [row["image_id"] for row in rows] == ["zoo/0"]


def test_a_model_without_a_caption_has_a_row_that_says_so():
    vain, strict = reference("vain"), reference("strict")
    written = {"vain": captions(vain, [picture(0)]), "strict": captions(strict, [picture(0)])}
    written["strict"] = [
        row | {"caption": None, "outcome": "refused", "reason": "No."} for row in written["strict"]
    ]
    rows = scores(vain, [picture(0)], written, others=[strict])
    assert [(row["generator"], row["outcome"], row.get("score")) for row in rows] == [
        ("vain", "scored", rows[0]["score"]),
        ("strict", "uncaptioned", None),
    ]
    assert rows[1]["reason"] == "strict wrote no caption: refused."


def test_a_metric_scores_the_captions_of_people_alone(zoo):
    clip = Model(
        name="clip", backend="python", model="m:f", family="c", roles=("metric",),
        parameters={"version": "1"},
    )  # fmt: skip
    assert scores(clip, [picture(0)], {}) == []
    with pytest.raises(NotMaterialized, match="Materialize philautia/captions_ann first"):
        scores(entry("ann"), [picture(0)], {})
    step = CaptionScoreStep(Catalog((clip, entry("ann"))), clip)
    tables = {"pictures": PICTURES.build_table([picture(0)]).to_pandas()}
    tables["rated"] = RATED_CAPTION_COLUMNS.build_table([]).to_pandas()
    for check in build_checks(step):
        found = replace(work(step, "zoo", None), tables=tables, inputs=step.inputs)
        result = check.passes(found, [])
        assert result.passed or result.severity == AssetCheckSeverity.WARN
    assert step.generators == ()
    assert not [name for name in step.inputs if name.startswith("captions_")]
    assert common.select_evaluators(step.catalog, {}) == (entry("ann"), clip)


def test_an_entry_of_a_model_that_is_there_already_is_warned_of(zoo):
    twin = entry("hot_ann", "ann-1", parameters={"temperature": 1.0})
    catalog = Catalog((entry("ann"), twin))
    for step in (CaptionStep(catalog, twin), CaptionScoreStep(catalog, twin)):
        assert "hot_ann is the same model as ann" in step.forecast.warn("zoo", step.config())
    step = CaptionStep(catalog, entry("ann"))
    assert step.forecast.warn("zoo", step.config()) is None
    step = CaptionScoreStep(catalog, entry("ann"))
    assert "ann is the only model" in step.forecast.warn("zoo", step.config())
    step = CaptionScoreStep(Catalog((entry("ann"), entry("bob"))), entry("ann"))
    assert step.forecast.warn("zoo", step.config()) is None


def test_a_metric_is_no_twin_of_the_judge_that_it_is_made_of(zoo):
    known = {"backend": "transformers", "model": "llava", "family": "llava"}
    judge = Model(name="llava", roles=("judge",), **known)
    metric = Model(
        name="vqa", roles=("metric",), parameters={"formula": "vqa_score"}, **known
    )  # fmt: skip
    assert common.find_twins((judge, metric)) == {}


def test_a_metrics_number_is_its_score_and_what_it_does_not_score_says_why():
    given = metric_columns(StepReply(AnsweredOutcome(score=0.31, served_model="clip"), ("key",)))
    assert (given["score"], given["outcome"], given["calls"]) == (0.31, "scored", ["key"])
    lacking = metric_columns(
        StepReply(FailedOutcome("unacceptable", "The text has more than 77 tokens.", 1), ())
    )
    assert (lacking["score"], lacking["outcome"]) == (None, "failed")
    assert "77 tokens" in lacking["reason"]
