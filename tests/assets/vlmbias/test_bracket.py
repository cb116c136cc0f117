"""The stand-in judges on whole topics: between what they score, every real judge must lie."""

import pandas as pd
import pytest

from assets.vlmbias.prompting import VARIANTS
from generators.domains import load_domain
from tests.runs import checks, copied, failure, materialize, table

COUNTED, COMPARED = "game_boards", "optical_illusions"


@pytest.fixture(scope="module")
def root(tmp_path_factory, whole_topic):
    root = tmp_path_factory.mktemp("bracket")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(load_domain(COUNTED).draw_module, "list_scenes", whole_topic)
        return _made(root)


def _made(root):
    for topic in (COUNTED, COMPARED):
        result = materialize(root, topic=topic)
        assert result.success, failure(result)
        assert set(checks(result).values()) == {True}
    assert materialize(root, "accuracy").success
    return root


@pytest.fixture(scope="module")
def scores(root):
    return pd.read_parquet(root / "vlmbias" / "accuracy.parquet")


def of(scores, **columns):
    """The rows in which these columns have these values; at least one."""
    for name, value in columns.items():
        scores = scores[scores[name] == value]
    assert len(scores)
    return scores


@pytest.mark.parametrize("topic", [COUNTED, COMPARED, "task mean"])
def test_prior_is_always_wrong_as_expected_where_it_counts(scores, topic):
    rows = of(scores, model="prior", image_set="benchmark", questions="Q1 & Q2", topic=topic)
    assert (rows["accuracy"] == 0).all()
    assert (rows["bias_rate"] == 1).all()
    assert (rows["bias_share_of_wrong"] == 1).all()


@pytest.mark.parametrize("image_set", ["benchmark", "originals"])
def test_pixels_is_always_right(scores, image_set):
    rows = of(scores, model="pixels", image_set=image_set)
    assert (rows["accuracy"] == 1).all()
    assert (rows["bias_rate"].dropna() == 0).all()


def test_prior_is_right_on_originals(scores):
    rows = of(scores, model="prior", image_set="originals")
    assert set(rows["questions"]) == {"Q1 & Q2", "Q3"}
    assert (rows["accuracy"] == 1).all()


@pytest.mark.parametrize("topic", [COUNTED, COMPARED])
def test_prior_takes_every_modified_image_for_the_usual_one(root, topic):
    """Of the illusions, half of the benchmark is originals: Q3 is read off the answers there."""
    answers = pd.read_parquet(table(root, "answers_prior", topic))
    modified = of(answers, question_id="Q3", variant="counterfactual")
    assert set(modified["answer"]) == {"Yes"}
    assert set(modified["ground_truth"]) == {"No"}
    assert (modified["score"] == 0).all()
    original = of(answers, question_id="Q3", variant="original")
    assert (original["score"] == 1).all()


@pytest.mark.parametrize("topic", [COUNTED, COMPARED])
def test_random_lies_between_them(scores, topic):
    (guessed,) = of(
        scores,
        model="random",
        image_set="benchmark",
        questions="Q1 & Q2",
        topic=topic,
        subtopic="all",
    ).to_dict("records")
    chance = 1 / 5 if topic == COUNTED else 1 / 2
    assert guessed["accuracy"] == pytest.approx(chance, abs=0.2)
    assert guessed["bias_rate"] == pytest.approx(chance, abs=0.2)


@pytest.mark.parametrize("number", ["accuracy", "bias_rate"])
def test_every_interval_holds_its_estimate(scores, number):
    rows = scores.dropna(subset=number)
    assert (rows[f"{number}_low"] <= rows[number]).all()
    assert (rows[number] <= rows[f"{number}_high"]).all()
    assert rows[f"{number}_low"].min() >= 0
    assert rows[f"{number}_high"].max() <= 1
    assert (rows[f"{number}_low"] < rows[f"{number}_high"]).all()


def test_every_judge_is_scored_on_the_same_images(root, scores):
    whole = of(scores, subtopic="all")
    settings = ["image_set", "topic", "questions"]
    assert (whole.groupby(settings)[["base_images", "answers"]].nunique() == 1).all(axis=None)
    assert set(whole["model"]) == {"prior", "pixels", "random"}
    assert (whole[["unparsed_rate", "refused_rate", "failed_rate"]] == 0).all(axis=None)


class TestOtherPrompting:
    """The stand-in judges asked otherwise, on a topic that has a title's worth of white above."""

    @pytest.fixture(scope="class")
    @classmethod
    def varied(cls, made, tmp_path_factory):
        root = copied(made, tmp_path_factory.mktemp("varied") / "root")
        for name in ("prior", "pixels", "random"):
            result = materialize(
                root, f"answers_{name}", topic=COUNTED, prompting=["in-image title", "double-check"]
            )
            assert result.success, failure(result)
            assert set(checks(result).values()) == {True}
            assert materialize(
                root, f"answers_{name}", topic=COUNTED, prompting=["debiased", "isolated"]
            ).success
        return root

    @pytest.mark.parametrize("judge", ["prior", "pixels", "random"])
    def test_every_variant_is_answered_and_kept(self, varied, judge):
        rows = pd.read_parquet(table(varied, f"answers_{judge}", COUNTED))
        assert list(rows["prompting"].unique()) == list(VARIANTS)
        by_prompting = rows.groupby("prompting")["question_id"].agg(set).to_dict()
        counting = {"Q1", "Q2"}
        assert by_prompting.pop("baseline") == {*counting, "Q3"}
        assert by_prompting.pop("isolated") == {*counting, "Q3"}
        assert all(put == counting for put in by_prompting.values())
        plainly = rows[(rows["prompting"] == "baseline") & rows["question_id"].isin(counting)]
        sizes = rows.groupby("prompting").size().drop(["baseline", "isolated"])
        assert (sizes == len(plainly)).all()
        assert set(rows["outcome"]) == {"answered"}
        checked = rows[rows["prompting"] == "double-check"]
        assert (checked["first_response"] == checked["response"]).all()
        assert rows[rows["prompting"] != "double-check"]["first_response"].isna().all()

    def test_pixels_understands_a_prefix_and_measures_what_it_is_shown(self, varied):
        rows = pd.read_parquet(table(varied, "answers_pixels", COUNTED))
        assert (rows["score"] == 1).all()
        other = rows[rows["prompting"].isin(["in-image title", "isolated"])]
        assert (other["shown_sha256"] != other["sha256"]).all()

    def test_what_was_read_below_a_title_is_not_read_again(self, varied, monkeypatch):
        before = pd.read_parquet(table(varied, "answers_pixels", COUNTED))

        def refuse(*_):
            raise AssertionError("measured again")

        monkeypatch.setattr(load_domain(COUNTED).measure_module, "measure", refuse)
        monkeypatch.setattr("resources.execution.work_loop.map_in_workers", refuse)
        result = materialize(varied, "answers_pixels", topic=COUNTED, prompting=["in-image title"])
        assert result.success, failure(result)
        after = pd.read_parquet(table(varied, "answers_pixels", COUNTED))
        pd.testing.assert_frame_equal(before, after)

    def test_what_it_cannot_read_below_a_title_is_unparsed(self, root, tmp_path):
        """Above an illusion, letters are ink that is no part of it."""
        root = copied(root, tmp_path / "root")
        result = materialize(root, "answers_pixels", topic=COMPARED, prompting=["in-image title"])
        assert result.success, failure(result)
        assert checks(result) == {
            "every_row_ended": True,
            "nothing_failed": True,
            "unparsed_rate": False,
            "truths_hold": True,
        }
        rows = pd.read_parquet(table(root, "answers_pixels", COMPARED))
        by_prompting = rows.groupby("prompting")["outcome"].agg(set).to_dict()
        assert by_prompting == {"baseline": {"answered"}, "in-image title": {"unparsed"}}
