"""What VHExpansion's stand-in judges are known to do is what its numbers find."""

import pandas as pd
import pytest
from dagster import AssetKey

from assets.kit.benchmarks import build_planners
from assets.planning import Task, quote_tasks
from assets.vhexpansion.benchmark import CASE_ASSETS, STAND_IN_DATASETS
from assets.vhexpansion.blind_comparison import load_blind_lines
from assets.vhexpansion.counted_answers import load_counted_answers
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot
from tests.assets.plans import plan_context
from tests.assets.vhexpansion.cases import reference
from tests.assets.vhexpansion.test_numbers import attacked
from tests.runs import TOPIC, copied, failure, materialize, table

JUDGES = ("gullible", "pixels", "prior", "random")
ASKED_BLIND = ("gullible", "pixels")
MODELS = (
    *(
        reference(name).model_copy(update={"blind": "words" if name in ASKED_BLIND else None})
        for name in JUDGES
    ),
    reference("grammar", "writer"),
)


COLUMNS = ["case_id", "form", "question", "perturbation", "truth", "answer", "model"]


@pytest.fixture(scope="module")
def root(made, tmp_path_factory):
    """All cases of a small topic, and what stand-in judges answer."""
    root = copied(made, tmp_path_factory.mktemp("vhexpansion") / "root")
    blind = (f"blind_answers_{judge}" for judge in ASKED_BLIND)
    names = (*CASE_ASSETS, *(f"answers_{judge}" for judge in JUDGES), *blind, "symmetry")
    # The others take seconds to read.
    some = {"common_perturbations": {"perturbations": ["hsv_brightness", "jpeg"]}}
    run(root, *names, topic=TOPIC, answers_random={"repeats": 20}, **some)
    run(root, "report")
    return root


def run(root, *names, topic=None, models=MODELS, **config):
    result = materialize(
        root, *names, topic=topic, models=models, group="vhexpansion", config=config
    )
    assert result.success, failure(result)
    return result


@pytest.fixture(scope="module")
def numbers(root):
    rows = pd.read_parquet(table(root, "symmetry", group="vhexpansion"))
    return rows[rows["has_all_repeats"]].set_index(["model", "perturbation"])


def test_all_of_it_is_a_stand_in(numbers):
    assert numbers["is_stand_in"].all()
    assert set(numbers.index.get_level_values("perturbation")) == {
        *("none", "hsv_brightness", "jpeg")
    }


def test_gullible_is_right_in_the_share_of_yes_and_in_no_pair(numbers):
    rows = numbers.loc["gullible"]
    assert rows["accuracy"].tolist() == pytest.approx(rows["true_yes_rate"].tolist())
    assert 0 < rows["accuracy"].iloc[0] < 1
    assert rows["symmetric"].eq(0).all()
    assert rows["yes_rate"].eq(1).all()
    assert rows["both_yes_rate"].eq(1).all()
    assert rows["new_cases"].tolist() == pytest.approx(
        [rows["true_yes_rate"].iloc[0] * rows["cases"].iloc[0], *rows["cases"].iloc[1:]]
    )


def test_pixels_is_right_wherever_it_can_read(numbers, root):
    assert numbers["symmetric"]["pixels", "none"] == 1
    assert numbers["unanswered"]["pixels", "none"] == 0
    answers = pd.read_parquet(table(root, "answers_pixels", group="vhexpansion"))
    pictures = pd.read_parquet(table(root, "common_perturbations", group="vhexpansion"))
    readable = set(pictures["sha256"][pictures["readable"].astype("boolean").fillna(value=False)])
    shown = answers[answers["sha256"].isin(readable)]
    assert len(shown) > len(answers) / 3
    assert shown["correct"].astype(bool).all()
    silent = answers[answers["answer"].isna()]
    assert silent["reason"].notna().all()
    assert set(silent["perturbation"]) <= {"hsv_brightness", "jpeg"}


def test_random_is_within_what_the_theorem_allows(numbers):
    row = numbers.loc["random", "none"]
    tries = row["cases"] * 20
    assert row["symmetric"] == pytest.approx(0.25, abs=4 * (0.25 * 0.75 / tries) ** 0.5)
    assert row["accuracy"] == pytest.approx(0.5, abs=4 * (0.25 / tries) ** 0.5)


def test_prior_is_wrong_where_a_picture_is_not_as_usual(root):
    answers = pd.read_parquet(table(root, "answers_prior", group="vhexpansion"))
    cases = pd.read_parquet(table(root, "negated_cases", group="vhexpansion"))
    usual = cases["case_id"][cases["truth"].eq(cases["familiar_answer"])]
    right = answers["case_id"].isin(usual)
    assert answers["correct"].astype(bool).tolist() == right.tolist()


def test_the_report_says_that_it_is_a_stand_in_run_and_shows_pairs(root):
    folder = root / "report" / "vhexpansion"
    front = (folder / "index.html").read_text(encoding="utf-8")
    assert "A stand-in run: judges or pictures are stand-ins" in front
    pairs = (folder / f"pairs-{TOPIC}.html").read_text(encoding="utf-8")
    shown = {part.partition('"')[0] for part in pairs.split('<img src="')[1:]}
    assert shown
    assert all((folder / each).exists() for each in shown)


def test_blind_answers_stand_beside_those_about_pictures(root):
    home = DataRoot(root=str(root))
    answers = [
        (judge, load_counted_answers(home, judge, TOPIC, COLUMNS).answers)
        for judge in MODELS[: len(JUDGES)]
    ]
    lines = {line.judge: line for line in load_blind_lines(home, TOPIC, answers)}
    # It says yes with and without the picture; the other reads pixels, and gets none.
    gullible, pixels = lines["gullible"].row, lines["pixels"].row
    assert gullible["blind_share"] == 1
    assert gullible["questions"] == gullible["blind_answers"] > gullible["blind_right"] > 0
    assert (pixels["blind_answers"], pixels["blind_share"]) == (0, None)
    assert lines["prior"].row is lines["random"].row is None
    page = (root / "report" / "vhexpansion" / f"dataset-{TOPIC}.html").read_text("utf-8")
    section = page.partition('id="blind"')[2].partition("</section>")[0]
    assert section.count("not asked") == 2 * 3


def test_a_quote_is_of_every_distinct_request_and_follows_tables_that_are_not_made(root, tmp_path):
    """Both of the tables that there are, and of those that a run would make first."""
    eye = Model(name="eye", backend="openai", model="gpt", family="gpt", roles=("judge",))
    catalog = Catalog((*MODELS, eye))

    def planned(there, names=("answers_eye",)):
        tasks = [Task(AssetKey(["vhexpansion", name]), TOPIC, {}) for name in names]
        with plan_context(there) as sources:
            return quote_tasks(build_planners(catalog), sources, tasks).lines

    (line,) = planned(root)
    answers = pd.read_parquet(table(root, "answers_gullible", group="vhexpansion"))
    distinct = answers[["sha256", "question", "repeat"]].drop_duplicates()
    assert (line.to_send, line.follow_ups, line.missing_asset) == (len(distinct), 0, None)
    bare = copied(root, tmp_path / "bare")
    for name in CASE_ASSETS:
        table(bare, name, group="vhexpansion").unlink()
    (before,) = planned(bare)
    assert before.missing_asset is None
    assert before.to_send + before.follow_ups > 0


def test_an_encoder_whose_attacks_are_not_made_changes_no_answer(root, tmp_path):
    other = copied(root, tmp_path / "root")
    run(other, "answers_prior", topic=TOPIC, models=(*MODELS, attacked("llava_encoder")))
    before, after = (
        pd.read_parquet(table(each, "answers_prior", group="vhexpansion")) for each in (root, other)
    )
    pd.testing.assert_frame_equal(before, after)


def test_the_stand_in_run_is_of_drawn_datasets():
    assert TOPIC in STAND_IN_DATASETS
