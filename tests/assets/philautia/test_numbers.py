"""What becomes of scores in the matrix and in panels, where they are not as they should be."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau

from assets.philautia.pomms import PommsConfig, pomms_rows
from assets.philautia.preference_matrix import MATRIX, UNSTORED_KEYS, matrix_rows
from assets.philautia.score_arrays import gather_ratings, gather_scores
from metrics import select_half
from resources.models.catalog import Model

FREE = "reference_free"
IMAGES = 30


def entry(name, model=None, family=None, **more):
    """A model at a provider that writes and scores captions."""
    known = {"backend": "openai", "roles": ("judge", "captioner")}
    return Model(name=name, model=model or f"{name}-1", family=family or name, **known | more)


MODELS = [entry(name) for name in ("ann", "bob", "cid", "dot", "eve")]
QUALITY = {"ann": 40, "bob": 50, "cid": 60, "dot": 70, "eve": 55}


def table(judge, writers=QUALITY, own=0, images=range(IMAGES), score=None, setting=FREE):
    """A judge's scores: what each caption is worth, and so many points more for its own."""
    lots = np.random.default_rng(sum(map(ord, judge)))
    rows = []
    for image in images:
        for writer in writers:
            more = own if writer == judge else 0
            given = QUALITY.get(writer, 50) + more + float(lots.normal(0, 3))
            rows.append(
                {
                    "image_id": f"zoo/{image}",
                    "generator": writer,
                    "candidate": None,
                    "setting": setting,
                    "score": given if score is None else score,
                    "human_scores": None,
                    "is_stand_in": False,
                }
            )
    return pd.DataFrame(rows)


def matrix(tables, models=MODELS, setting=FREE):
    """The rows of the matrix, and Dagster would store them."""
    found = list(matrix_rows(gather_scores(tables, setting, models, models)))
    return MATRIX.build_table(
        [row | {"dataset": "zoo"} for row in found], UNSTORED_KEYS
    ).to_pandas()


def part(rows, name, by="generator"):
    return rows[rows["row_type"].eq(name)].set_index(by)


def everybody(**more):
    return {model.name: table(model.name) for model in MODELS} | more


def test_what_one_prefers_is_found_and_what_has_no_score_is_counted():
    lacking = table("cid", own=9)
    lacking.loc[lacking.index[:7], "score"] = np.nan
    rows = matrix(everybody(cid=lacking))
    own = part(rows, "model")
    assert own["preference_low"]["cid"] <= 9 <= own["preference_high"]["cid"]
    cells = rows[rows["row_type"].eq("cell")].set_index(["evaluator", "generator"])
    assert cells["requests"].eq(IMAGES).all()
    assert cells["missing"]["cid"].sum() == 7
    assert cells["missing"]["ann"].sum() == 0
    assert (cells["scored"] + cells["missing"]).eq(IMAGES).all()


def test_an_empty_cell_is_marked_and_the_others_stand():
    without = table("bob")
    without.loc[without["generator"].eq("dot"), "score"] = np.nan
    unasked = table("ann", [name for name in QUALITY if name != "eve"])
    rows = matrix(everybody(bob=without, ann=unasked))
    cells = rows[rows["row_type"].eq("cell")].set_index(["evaluator", "generator"])
    assert cells["reason"]["bob", "dot"] == "no score"
    assert (cells["requests"]["bob", "dot"], cells["missing"]["bob", "dot"]) == (IMAGES, IMAGES)
    assert cells["reason"]["ann", "eve"] == "not asked"
    assert (cells["requests"]["ann", "eve"], cells["missing"]["ann", "eve"]) == (0, 0)
    empty = cells["mean"].isna()
    assert set(empty[empty].index) == {("bob", "dot"), ("ann", "eve")}
    assert "Cells without any score, which are empty: 2." in rows["reason"].tolist()


def test_a_judge_that_gives_everything_the_same_is_reported_and_not_divided_by_zero():
    rows = matrix(everybody(eve=table("eve", score=80.0)))
    cells = rows[rows["row_type"].eq("cell")].set_index(["evaluator", "generator"])
    assert cells["standardized"]["eve"].isna().all()
    assert cells["reason"]["eve"].eq("eve gives all generators the same mean").all()
    assert cells["standardized"]["ann"].notna().all()
    problems = rows[rows["row_type"].eq("problem")]["reason"]
    assert any(text.startswith("eve: it gives all generators the same") for text in problems)


def test_a_single_model_has_a_mean_and_no_preference():
    rows = matrix({"ann": table("ann", ["ann"])}, MODELS[:1])
    (cell,) = rows[rows["row_type"].eq("cell")].to_dict("records")
    assert cell["mean"] == pytest.approx(40, abs=2)
    assert np.isnan(cell["standardized"])
    assert cell["reason"]
    tests = rows[rows["row_type"].eq("test")]
    assert tests["p"].isna().all()


def test_models_alone_in_their_family_have_no_block():
    rows = matrix(everybody())
    families = rows[rows["row_type"].eq("family")]
    assert families["preference"].isna().all()
    assert families["reason"].str.contains("none of its models has scored another one").all()


def test_references_for_some_pictures_alone_make_a_matrix_of_these():
    based = {
        name: pd.concat([table(name), table(name, images=range(8), setting="reference_based")])
        for name in QUALITY
    }
    assert matrix(based)["images"].eq(IMAGES).all()
    assert matrix(based, setting="reference_based")["images"].eq(8).all()


def test_a_model_under_two_names_counts_once_and_that_is_said():
    twin = entry("hot_ann", "ann-1", "ann", parameters={"temperature": 1.0})
    tables = everybody(hot_ann=table("hot_ann"))
    tables = {name: pd.concat([of, table(name, ["hot_ann"])]) for name, of in tables.items()}
    rows = matrix(tables, [*MODELS, twin])
    cells = rows[rows["row_type"].eq("cell")]
    assert "hot_ann" not in {*cells["generator"], *cells["evaluator"]}
    problems = rows[rows["row_type"].eq("problem")]["reason"]
    assert any(text.startswith("hot_ann is the same model as ann") for text in problems)
    pd.testing.assert_frame_equal(
        cells.reset_index(drop=True),
        (alone := matrix(everybody()))[alone["row_type"].eq("cell")].reset_index(drop=True),
    )


def test_a_judge_that_uses_the_ends_of_the_scale_is_named():
    full = table("dot")
    full.loc[full.index[:: IMAGES // 2], "score"] = 100.0
    problems = gather_scores(everybody(dot=full), FREE, MODELS, MODELS).problems
    assert [text.partition(" A ")[0] for text in problems] == [
        "dot: 7\u00a0% of its scores are 0 or 100."
    ]


def test_reference_models_are_left_out_beside_real_ones():
    vain = entry("vain", "vain", "stand_in", backend="stand_in")
    tables = everybody(vain=table("vain", ["vain"]))
    rows = matrix(tables, [*MODELS, vain])
    assert "vain" not in {*rows["generator"].dropna(), *rows["evaluator"].dropna()}


def panels(tables, models=MODELS, **config):
    found = gather_scores(tables, FREE, models, models)
    return list(pomms_rows(found, gather_ratings(tables, FREE, models), PommsConfig(**config)))


class TestPanels:
    def test_one_alone_is_none(self):
        with pytest.raises(ValueError, match="ann is too few"):
            panels(everybody(), order=["ann"])
        (row,) = panels({"ann": table("ann", ["ann", "bob"])})
        assert (row["row_type"], row["reason"]) == (
            "problem",
            "ann alone is no panel: have another judge score these captions.",
        )

    def test_who_has_scored_nothing_is_named_with_the_nearest_name(self):
        with pytest.raises(ValueError, match="no judge 'anne' of this dataset, did you mean ann"):
            panels(everybody(), order=["anne", "bob"])

    def test_members_join_in_the_order_that_is_given(self):
        rows = panels(everybody(), order=["dot", "ann", "cid"], greedy=False)
        joined = [row["members"] for row in rows if row["row_type"] == "panel"]
        assert joined == [["dot", "ann"], ["dot", "ann", "cid"]]
        assert {row["selection"] for row in rows} == {"given"}


class TestPeople:
    """Captions that people have scored, three each."""

    @pytest.fixture
    def people(self):
        lots = np.random.default_rng(5)
        worth = lots.uniform(1, 4, 60)
        human = [
            [float(np.clip(round(w + e), 1, 4)) for e in lots.normal(0, 0.5, 3)] for w in worth
        ]
        return worth, human

    def judged(self, judge, worth, human, noise):
        lots = np.random.default_rng(sum(map(ord, judge)))
        return pd.DataFrame(
            {
                "image_id": [f"zoo/{at // 2}" for at in range(len(worth))],
                "generator": None,
                "candidate": [f"row {at}" for at in range(len(worth))],
                "setting": FREE,
                "score": np.round(25 * worth + lots.normal(0, noise, len(worth))),
                "human_scores": human,
                "is_stand_in": False,
            }
        )

    def test_each_rating_counts_and_a_panel_agrees_better_than_its_members(self, people):
        tables = {
            name: pd.concat([table(name), self.judged(name, *people, 25)]) for name in QUALITY
        }
        rows = [row for row in panels(tables, greedy=False) if row["row_type"] == "panel"]
        alone = {row["members"][0]: row for row in rows if row["size"] == 1}
        assert {row["ratings"] for row in rows} == {180}
        scores = np.repeat(self.judged("ann", *people, 25)["score"], 3)
        human = np.concatenate(people[1])
        for variant in "bc":
            known = kendalltau(scores, human, variant=variant).statistic
            assert alone["ann"][f"tau_{variant}"] == pytest.approx(known)
            low, high = (alone["ann"][f"tau_{variant}_{end}"] for end in ("low", "high"))
            assert low < known < high
        whole = max(rows, key=lambda row: row["size"])
        assert whole["tau_b"] > max(row["tau_b"] for row in alone.values())

    def test_a_panel_that_was_searched_for_is_held_against_the_other_half_alone(self, people):
        tables = {
            name: pd.concat([table(name), self.judged(name, *people, 25)]) for name in QUALITY
        }
        rows = [row for row in panels(tables) if row["row_type"] == "panel"]
        half = select_half(f"zoo/{at}" for at in range(IMAGES))
        of = np.array([f"zoo/{at // 2}" in half for at in range(len(people[0]))])
        human = np.concatenate([h for h, inside in zip(people[1], of, strict=True) if not inside])
        searched = [row for row in rows if row["selection"] == "greedy"]
        assert {row["ratings"] for row in searched} == {len(human)} == {90}
        pair = searched[0]["members"]
        scores = np.stack([self.judged(name, *people, 25)["score"][~of] for name in pair])
        standard = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
        tau = kendalltau(np.repeat(standard.mean(axis=0), 3), human).statistic
        assert searched[0]["tau_b"] == pytest.approx(tau)

    def test_what_a_member_has_not_scored_counts_for_no_panel_of_it(self, people):
        lacking = self.judged("ann", *people, 25)
        lacking.loc[:9, "score"] = np.nan
        tables = {"ann": lacking, "bob": self.judged("bob", *people, 25)}
        rows = {tuple(row["members"]): row for row in panels(tables)}
        assert (rows["ann",]["ratings"], rows["ann",]["unscored"]) == (150, 30)
        assert (rows["bob",]["ratings"], rows["bob",]["unscored"]) == (180, 0)
        # They have scored no models' captions, of which panels are made.
        assert len(rows) == 2
