"""What people give pictures, and what it comes to."""

import io
from hashlib import sha256

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import DagsterInstance
from scipy import stats

from assets.frame.human_scores import FORM, HUMAN_SCORES
from assets.frame.images import IMAGES
from assets.frame.people import (
    BINS,
    bin_scores,
    correlate_annotators,
    correlate_judge_with_people,
    estimate_mean_score,
)
from assets.kit.collections import COLLECTION_COLUMNS
from assets.kit.partitions import sources
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import open_address, read_file
from resources.storage.image_store import ImageStore
from tests.providers import pictures
from tests.runs import failure, materialize, metadata


def scored(rng, images, *annotators):
    """Scores from 0 to 5 that go together, of pictures of one domain."""
    truth = rng.integers(0, 6, images)
    return pd.DataFrame(
        {
            "domain": "animals",
            "image_id": f"a/{number}",
            "sha256": f"sha {number}",
            "annotator": name,
            "score": float(np.clip(truth[number] + rng.integers(-1, 2), 0, 5)),
        }
        for name in annotators
        for number in range(images)
    )


def test_correlations_are_those_of_another_library():
    scores = scored(np.random.default_rng(1), 40, "anna", "ben")
    (found,) = correlate_annotators(scores)
    one, other = (scores["score"][scores["annotator"] == name] for name in ("anna", "ben"))
    assert found.correlation.pearson == pytest.approx(stats.pearsonr(one, other).statistic)
    assert found.correlation.spearman == pytest.approx(stats.spearmanr(one, other).statistic)
    assert found.correlation.pearson_interval.low < found.correlation.pearson
    assert correlate_annotators(scores[scores["annotator"] == "anna"]) == []


def test_every_picture_is_in_one_bin_by_its_mean():
    values = [0, 0.5, 1, 1.5, 2, 3.5, 4, 5]
    scores = pd.DataFrame(
        {
            "domain": "indoor",
            "image_id": [f"a/{n}" for n in range(len(values))],
            "annotator": "x",
            "score": values,
        }
    )
    domain, whole = bin_scores(scores)
    assert dict(zip(BINS, domain.counts, strict=True)) == {
        "0–1": 2,
        "1–2": 2,
        "2–3": 1,
        "3–4": 1,
        "4–5": 2,
    }
    assert (domain.domain, whole.domain, whole.mean) == ("indoor", "all", np.mean(values))


def test_a_judge_is_compared_on_the_pictures_that_people_scored():
    people = scored(np.random.default_rng(2), 20, "anna", "ben")
    means = people.groupby(["image_id", "sha256"], as_index=False)["score"].mean()
    means = means.rename(columns={"sha256": "original"})
    judged = means.assign(model="eye", domain="animals", score=5 - means["score"])
    unseen = pd.DataFrame(
        [{"model": "eye", "domain": "animals", "image_id": "b", "original": "b", "score": 1.0}]
    )
    domain, whole = correlate_judge_with_people(pd.concat([judged, unseen]), people)
    assert (domain.domain, whole.domain) == ("animals", "all")
    assert domain.correlation.images == 20
    assert whole.correlation.pearson == pytest.approx(-1)


class Reviewed:
    """Pictures of a source in a data root of their own, and their human scores."""

    def __init__(self, root, source, owner):
        self.root, self.source = open_address(str(root)), source
        self.folder = self.root / "reviews" / "frame" / source
        self.instance = DagsterInstance.ephemeral()
        self.instance.add_dynamic_partitions(sources.name, [source])
        store = ImageStore(root=str(root))
        self.digests = [store.put(pictures.png(f"{n}", 32, 32)) for n in range(3)]
        rows = [
            {
                **dict.fromkeys(IMAGES.columns),
                "domain": "animals",
                "source": source,
                "item_id": f"{owner}/{n}",
                "image_id": f"{source}/{n}/0",
                "instruction": f"Generate {n} dogs.",
                "sample": 0,
                "outcome": "painted",
                "sha256": digest,
                "is_stand_in": False,
                "calls": [],
            }
            for n, digest in enumerate(self.digests)
        ]
        self.write("frame/images/animals", source, IMAGES, rows)

    def write(self, folder, name, columns, rows):
        data = io.BytesIO()
        pq.write_table(columns.build_table(rows), data)
        write_atomically(self.root.joinpath(*folder.split("/"), f"{name}.parquet"), data.getvalue())

    def make(self, **config):
        return materialize(
            self.root,
            "human_scores",
            topic=self.source,
            group="frame",
            instance=self.instance,
            config={"human_scores": config},
        )

    def table(self):
        path = self.root / "frame" / "human_scores" / f"{self.source}.parquet"
        return pd.read_parquet(io.BytesIO(read_file(path)))


@pytest.mark.parametrize(
    "address", ["folder", pytest.param("s3", marks=pytest.mark.slow)], indirect=True
)
def test_people_fill_in_sheets_from_0_to_5(address):
    reviewed = Reviewed(address, "brush", "animals")
    assert reviewed.make().success
    folder = reviewed.root / "reviews" / "frame" / "brush"
    sheet = read_file(folder / "to-score.csv").decode().splitlines()
    assert len(sheet) == 4
    assert sorted(FORM.guide) == [0, 1, 2, 3, 4, 5]
    for name, points in (("anna", (0, 3, 5)), ("ben", (1, 3, 4))):
        lines = [
            f"{digest},Generate {n} dogs.,{score}"
            for n, (digest, score) in enumerate(zip(reviewed.digests, points, strict=True))
        ]
        filled = "image,text,score\n" + "\n".join(lines)
        write_atomically(folder / f"{name}.csv", filled.encode())
    result = reviewed.make()
    rows = reviewed.table()
    assert list(rows.columns) == list(HUMAN_SCORES.columns)
    assert rows.groupby("annotator")["score"].agg(list).to_dict() == {
        "anna": [0, 3, 5],
        "ben": [1, 3, 4],
    }
    assert "0.997" in metadata(result, "human_scores", "frame")["agreement"]
    wrong = f"image,text,score\n{reviewed.digests[0]},Generate 0 dogs.,6"
    write_atomically(folder / "anna.csv", wrong.encode())
    assert f"{folder / 'anna.csv'}, line 2: the score is '6'" in failure(reviewed.make())


def store_scores(reviewed, judge, *scores):
    """A judge's scores of the pictures as they were, and one of a biased picture."""
    rows = [
        {"image_id": f"brush/{n}/0", "bias": bias, "template": "standard", "score": score}
        for n, score in enumerate(scores)
        for bias, score in (("none", score), ("gamma", 5.0 - score))
    ]
    path = reviewed.root.joinpath("frame", f"scores_{judge}", "animals", "brush.parquet")
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(path.path)


def test_pictures_come_by_the_uncertainty_of_judges(tmp_path):
    reviewed = Reviewed(tmp_path, "brush", "animals")
    assert "pixels has scored no picture of brush" in failure(reviewed.make(chosen_by=["pixels"]))
    assert (
        "frame/human_scores: chosen_by names 'pixel', which is no judge or metric of this "
        "benchmark, did you mean pixels? Choose from prior, pixels, random."
    ) in failure(reviewed.make(chosen_by=["pixel"]))
    # Nearest to the middle of the scale is the second picture, on which they agree.
    store_scores(reviewed, "eye", 0.0, 3.0, 4.5)
    store_scores(reviewed, "ear", 4.0, 3.0, 4.5)
    order = sorted(range(3), key=lambda n: sha256(f"0/{reviewed.digests[n]}".encode()).digest())
    for judges, uncertainties in ((["eye"], (1 / 3, 1.0, 2 / 3)), (["eye", "ear"], (2.0, 0, 0))):
        for file in reviewed.root.glob("reviews/**/to-score.csv"):
            file.unlink()
        assert reviewed.make(chosen_by=judges, images=2).success
        # At 2 of 3: half of it equal, the other half by uncertainty, and what exceeds 1 spread.
        chances = [2 * (1 / 6 + unsure / sum(uncertainties) / 2) for unsure in uncertainties]
        if max(chances) > 1:
            chances = [1.0, 0.5, 0.5]
        drawn = {
            reviewed.digests[n]: chances[n]
            for place, n in enumerate(order)
            if (place + 0.5) / 3 < chances[n]
        }
        sheet = pd.read_csv(io.BytesIO(read_file(reviewed.folder / "to-score.csv")))
        assert dict(zip(sheet["image"], sheet["chance"], strict=True)) == pytest.approx(drawn)
    # Without judges a number is a first part of all pictures.
    (reviewed.folder / "to-score.csv").unlink()
    assert reviewed.make(images=1).success
    sheet = pd.read_csv(io.BytesIO(read_file(reviewed.folder / "to-score.csv")))
    assert sheet["image"].tolist() == [reviewed.digests[order[0]]]
    assert "chance" not in sheet


def test_an_estimate_weighs_by_chances_that_there_are():
    rng = np.random.default_rng(4)
    people = scored(rng, 30, "anna")
    judged = pd.DataFrame(
        {
            "model": "eye",
            "image_id": [f"a/{n}" for n in range(90)],
            "original": [f"sha {n}" for n in range(90)],
            "domain": "animals",
            "score": rng.integers(0, 6, 90).astype(float),
        }
    )
    old = estimate_mean_score(judged, people)
    equal = estimate_mean_score(judged, people.assign(chance=0.4))
    pd.testing.assert_frame_equal(old, equal)
    assert old["mean"][0] == pytest.approx(people["score"].mean() / 5)
    chances = np.where(np.arange(30) % 2, 0.2, 0.6)
    weighted = estimate_mean_score(judged, people.assign(chance=chances))
    assert weighted["mean"][0] == pytest.approx(
        np.average(people["score"], weights=1 / chances) / 5
    )
    unfinished = people.assign(chance=np.where(np.arange(30) < 20, 1.0, np.nan))
    assert estimate_mean_score(judged, unfinished)["sampled"].tolist() == [20, 20]


def test_a_collections_own_scores_stand_in_and_are_missed_where_there_are_none(tmp_path):
    reviewed = Reviewed(tmp_path, "mine", "mine")
    rows = [
        {
            **dict.fromkeys(COLLECTION_COLUMNS.columns),
            "image_id": f"mine/{n}",
            "outcome": "taken",
            "human_score": 2.0 + n,
            "human_scores": [1.0 + n, 3.0 + n],
            "scale_low": 1.0,
            "scale_high": 6.0,
        }
        for n in range(3)
    ]
    reviewed.write("collections", "mine", COLLECTION_COLUMNS, rows)
    assert reviewed.make(scored_by="collection").success
    means = reviewed.table().groupby("image_id")["score"].mean()
    assert means.tolist() == [1.0, 2.0, 3.0]
    bare = [{**row, "human_score": None, "human_scores": None} for row in rows]
    reviewed.write("collections", "mine", COLLECTION_COLUMNS, bare)
    problem = failure(reviewed.make(scored_by="collection"))
    assert "mine has no human scores of its own" in problem
    assert "scored_by: people" in problem


def test_pictures_that_nobody_can_score_are_named_with_the_reason(tmp_path):
    reviewed = Reviewed(tmp_path, "mine", "mine")
    reason = "collections/mine has no text for it to be judged by."
    rows = [
        {
            **dict.fromkeys(IMAGES.columns),
            **{"domain": "animals", "source": reviewed.source, "image_id": f"{n}", "calls": []},
            **{"sample": 0, "outcome": "malformed", "reason": reason, "is_stand_in": False},
        }
        for n in range(3)
    ]
    reviewed.write("frame/images/animals", reviewed.source, IMAGES, rows)
    problem = failure(reviewed.make())
    assert f"none of 3 pictures of {reviewed.source} can be scored. Of 3: {reason}" in problem
