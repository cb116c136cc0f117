"""What FRAME's stand-in judges are known to do is what its numbers find."""

from collections import Counter

import pandas as pd
import pytest
from dagster import AssetKey

from assets.frame.biases import CONTROLS
from assets.frame.references import score_rise
from assets.kit.benchmarks import build_planners
from assets.planning import Task, quote_tasks
from tests.assets.frame.studio import WRITTEN, Studio, at
from tests.assets.plans import plan_context
from tests.providers import Provider
from tests.runs import copied, failure, materialize

JUDGES = ("gullible", "pixels")
BIASES = ["instruction", "padding"]
ASKED = ("scores", "search", "combined", "mitigation", "pairwise", "controls")


class Whole(Studio):
    """A studio that makes what is over domains as well."""

    def over(self, *names, topic=None, **config):
        """Materialize what has one partition a source, or none."""
        result = materialize(
            self.root,
            *names,
            topic=topic,
            models=self.models,
            group="frame",
            instance=self.instance,
            config=config,
        )
        assert result.success, failure(result)
        return result


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """One domain that `sketch` has painted twice, and all that two stand-in judges say of it."""
    studio = Whole(tmp_path_factory.mktemp("frame"))
    studio.must(*WRITTEN)
    asked = [f"{name}_{judge}" for judge in JUDGES for name in ASKED]
    config = {"images": {"samples": 2}, "biased_images": {"biases": BIASES}}
    studio.must("images", "biased_images", *asked, source="sketch", **config)
    studio.over("inflation", "net_inflation", topic="sketch")
    studio.over("report")
    return studio


def inflation(studio, name="inflation", **where):
    table = pd.read_parquet(studio.root / "frame" / name / "sketch.parquet")
    for column, value in where.items():
        table = table[table[column] == value]
    return table


def test_the_gullible_judge_rises_by_just_what_it_is_stated_to(studio):
    rows = inflation(studio, model="gullible", picture_subset="all")
    rows = rows[rows["bias"] != "all"]
    assert {*rows["experiment"]} == {"single", "combined", "templates"}
    assert {*rows["choice"]} == {"in_sample", "held_out"}
    assert len({*rows["template"]}) == 4
    assert set(rows["bias"]) == {*BIASES, "instruction+padding"}
    capped = (rows["original"] + rows["bias"].map(score_rise)).clip(upper=5)
    assert (rows["biased"] - rows["original"]).round(9).le(rows["bias"].map(score_rise)).all()
    single = rows["experiment"] != "combined"
    assert rows["biased"][single].tolist() == pytest.approx(capped[single].tolist())


def test_the_judge_that_goes_by_the_picture_does_not_rise(studio):
    rows = inflation(studio, model="pixels")
    biases, whole = rows[rows["bias"] != "all"], rows[rows["bias"] == "all"]
    assert biases["percent"].eq(0).all()
    assert whole["rate"].eq(0).all()
    assert whole["clear_share"].eq(0).all()
    assert whole["rise"].isna().all()


def test_a_floor_of_0_takes_nothing_from_inflation(studio):
    keys = ["choice", "domain", "bias"]
    names = ["images", "original", "biased", "percent"]
    paper = inflation(studio, experiment="single", picture_subset="all").set_index(["model", *keys])
    for control in CONTROLS:
        net = inflation(studio, "net_inflation", control=control).set_index(["model", *keys])
        assert {*net.index} == {*paper.index}
        pd.testing.assert_frame_equal(net[names], paper.loc[net.index, names])
        ends = ["percent", "percent_low", "percent_high"]
        alike = net[[f"net_{name}" for name in ends]].to_numpy(), paper.loc[net.index, ends]
        pd.testing.assert_frame_equal(pd.DataFrame(*alike[:1], net.index, ends), alike[1])
        assert net["net_rate"].dropna().equals(paper.loc[net.index, "rate"].dropna())
    page = (studio.root / "report" / "frame" / "source-sketch.html").read_text(encoding="utf-8")
    for judge in JUDGES:
        assert f"{judge} gives every picture the same score under JPEG at 95, one grey" in page


def test_no_sham_is_among_the_biases(studio):
    biases = {*inflation(studio)["bias"], *studio.table("biased_images", "sketch")["bias"]}
    assert biases == {"all", "none", *BIASES, "instruction+padding"}


def test_every_bias_of_the_gullible_judge_is_a_success(studio):
    whole = inflation(studio, model="gullible", bias="all")
    assert whole["rate"].eq(1).all()
    assert set(whole["combinations"]) == {len(BIASES)}


def test_held_out_numbers_are_of_the_other_half(studio):
    rows = inflation(studio, model="gullible", experiment="single", template="standard")
    images = rows[rows["bias"] == "padding"].set_index("choice")["images"]
    assert (images["in_sample"] == 4).all()
    assert (images["held_out"] == 2).all()


def test_a_search_is_of_every_configuration(studio):
    found = studio.table("search_gullible", "sketch").set_index(["bias", "choice"])
    assert found["candidate_count"].xs("in_sample", level="choice").to_dict() == {
        "instruction": 5,
        "padding": 7,
    }


def test_the_biased_picture_wins_against_another_of_its_instruction(studio):
    for judge, wins in (("gullible", 1.0), ("pixels", 0.5)):
        rows = studio.table(f"pairwise_{judge}", "sketch")
        means = rows.groupby("bias")["preference"].mean().to_dict()
        assert means == {"none": 0.5, "instruction": wins, "padding": wins}
        assert rows.groupby(["image_id", "bias"])["order"].agg(set).eq({"first", "second"}).all()


def test_the_report_says_what_an_overlay_buys_and_that_it_is_a_stand_in_run(studio):
    front = (studio.root / "report" / "frame" / "index.html").read_text(encoding="utf-8")
    assert "A stand-in run: judges or pictures are stand-ins" in front
    assert "onto a picture buys 2.00 of 5 points from gullible" in front
    assert "onto a picture buys 0.00 of 5 points from pixels" in front


def test_pictures_that_stay_readable_have_tables_of_their_own(studio):
    read = studio.table("biased_images", "sketch").set_index("bias")["readable"]
    assert read["padding"].all()
    images = inflation(studio, model="pixels", experiment="single", choice="in_sample")
    by_part = images[images["bias"] == "padding"].groupby("picture_subset")["images"].max()
    assert by_part.to_dict() == {"all": 4, "readable": 4}
    page = (studio.root / "report" / "frame" / "source-sketch.html").read_text(encoding="utf-8")
    assert "Mean scores of readable pictures, chosen on one half" in page


def test_the_gallery_has_a_slider_for_every_bias_and_what_moves_each_judge(studio):
    page = studio.root / "report" / "frame" / "pictures-sketch.html"
    text = page.read_text(encoding="utf-8")
    assert text.count('type="range"') == len(BIASES) + 4
    assert text.count("No bias raises its score of any picture.") == 1
    shown = {part.partition('"')[0] for part in text.split('<img src="')[1:]}
    assert shown
    assert all((page.parent / each).exists() for each in shown)


def test_few_rows_at_once_make_the_same_tables(studio, tmp_path, monkeypatch):
    again = Whole(copied(studio.root, tmp_path / "root"))
    for module in ("frame.biased_images", "kit.step"):
        monkeypatch.setattr(f"assets.{module}.PORTION", 7)
    made = ("biased_images", "scores_gullible", "mitigation_gullible")
    again.must(*made, source="sketch", biased_images={"biases": BIASES})
    for name in made:
        assert again.table(name, "sketch").equals(studio.table(name, "sketch"))


def test_nothing_is_asked_that_was_asked_before(studio, tmp_path, monkeypatch):
    """As many requests as there are distinct pictures, templates and pairs."""

    shown = Counter()

    def answer(received):
        """What is shown a second time, by the same words, gets a point more."""
        said = "first" if "two generated images" in received.texts[-1] else None
        if said:
            return f'{{"better": "{said}"}}'
        shown[received.texts[-1], received.images] += 1
        return f'{{"score": {2 + shown[received.texts[-1], received.images]}}}'

    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with Provider(answer=answer) as server:
        paid = Whole(copied(studio.root, tmp_path / "root"), at(server, "eye", "judge"))

        def planned(*names):
            tasks = [
                Task(AssetKey(["frame", f"{name}_eye"]), "animals|sketch", {}) for name in names
            ]
            with plan_context(paid.root) as sources:
                lines = quote_tasks(build_planners(paid.catalog), sources, tasks).lines
            assert all(line.missing_asset is None for line in lines)
            return [(line.to_send, line.follow_ups) for line in lines]

        def sent(name):
            if name != "search":
                ((wanted, later),) = planned(name)
            before = server.count
            paid.must(f"{name}_eye", source="sketch")
            if name != "search":
                assert server.count - before == wanted + later
            return server.count - before

        biased = paid.table("biased_images", "sketch")
        assert len(biased) == biased["sha256"].nunique() == 4 * (1 + 5 + 7)
        pairs = 4 * (1 + len(BIASES)) * 2
        assert planned("mitigation", "pairwise") == [(16, 32), (8, 16)]
        assert sent("scores") == len(biased)
        assert sent("search") == 0
        assert sent("mitigation") == 4 * (1 + len(BIASES)) * 3
        assert sent("combined") == 4
        assert sent("pairwise") == pairs
        assert sent("controls") == 4 * len(CONTROLS)
        assert [sent(name) for name in ASKED] == [0] * len(ASKED)
    assert paid.table("combined_eye", "sketch")["plain_score"].eq(3).all()
    controls = paid.table("controls_eye", "sketch")
    assert controls["calls"].explode().is_unique
    assert (
        not controls["calls"]
        .explode()
        .isin(paid.table("scores_eye", "sketch")["calls"].explode())
        .any()
    )
    assert controls.groupby("control")["score"].agg(set).to_dict() == {
        "jpeg": {3},
        "grey_level": {3},
        "second_request": {4},
    }
    paid.over("net_inflation", topic="sketch")
    net = inflation(paid, "net_inflation", model="eye", domain="all").set_index(["bias", "control"])
    left = net.xs("padding")[["control_percent", "net_percent", "changed", "net_risen"]]
    assert left.groupby("control").first().round(1).T.to_dict("list") == {
        "grey_level": [0, 0, 0, 0],
        "jpeg": [0, 0, 0, 0],
        "second_request": [33.3, -33.3, 1, -1],
    }
    rows = paid.table("pairwise_eye", "sketch")
    assert rows["plain_preference"].equals(rows["preference"])
    assert rows.groupby("order")["preference"].agg(set).to_dict() == {"first": {1}, "second": {0}}


def test_a_painter_with_one_sample_has_no_pairs(studio, tmp_path):
    single = Whole(copied(studio.root, tmp_path / "root"))
    single.must("images", source="sketch")
    assert "samples: 2" in failure(single.run("pairwise_pixels", source="sketch"))
