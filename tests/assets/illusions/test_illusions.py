"""Illusions and their controls, from drawn figures to the page, by judges of all kinds."""

import json
import re
from functools import partial

import pandas as pd
import pytest

from assets.illusions.answers import PolarityAnswers, read_reply
from assets.illusions.pictures import check_labels
from generators.domains import load_domain
from resources.models.catalog import Catalog
from tests.assets.asked import JUDGE, judge_at
from tests.runs import STAND_INS, checks, copied, failure, materialize, metadata, rewrite

FEW = ("Ponzo", "Vertical–Horizontal")
run = partial(materialize, group="illusions")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """A data root with the figures of two illusions at two sizes, their controls and answers."""
    root = tmp_path_factory.mktemp("illusions")
    drawing = load_domain("optical_illusions").draw_module
    listed = drawing.list_scenes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            drawing, "list_scenes", lambda seed: [s for s in listed(seed) if s.subject in FEW]
        )
        names = ("drawn_images", "original_images", "measurements", "questions")
        result = materialize(root, *names, topic="optical_illusions", sizes=(256,))
        assert result.success, failure(result)
        result = run(root, "pictures")
        assert result.success, failure(result)
        assert checks(result) == {"labels_agree": True}
        answers = [f"answers_{judge.name}" for judge in STAND_INS]
        result = run(root, *answers, "results", "report")
        assert result.success, failure(result)
        yield root


def read(root, name):
    return pd.read_parquet(root / "illusions" / f"{name}.parquet")


def test_each_figure_stands_beside_its_control_once(drawn):
    rows = read(drawn, "pictures").set_index("picture_id")
    figures, controls = rows[rows["inducer"] == "with"], rows[rows["inducer"] == "without"]
    assert len(figures) == 12 + 12 + 6 + 6
    assert figures.groupby("illusion")["control_id"].nunique().to_dict() == {
        "Ponzo": 1 + 3,
        "Vertical–Horizontal": 6 + 6,
    }
    assert set(figures["control_id"]) == set(controls.index)
    assert rows["sha256"].is_unique
    for row in rows.itertuples():
        pair = rows.loc[row.pair_id]
        assert pair["is_equal"]
        assert pair["inducer"] == row.inducer
        control = rows.loc[row.control_id]
        assert (control["is_equal"], control["difference"]) == (row.is_equal, row.difference)
        assert row.measured == pytest.approx(row.difference, abs=0.03)
    drawn_images = pd.read_parquet(drawn / "vlmbias/drawn_images/optical_illusions.parquet")
    assert set(figures["sha256"]) == set(drawn_images["sha256"])


def test_reference_judges_bracket_every_other(drawn):
    results = read(drawn, "results").query("illusion == 'all'")
    values = results.set_index(["model", "inducer", "measure"])["value"]
    for inducer in ("with", "without"):
        for measure in ("right_equal", "right_different", "turns", "consistent_right"):
            assert values["pixels", inducer, measure] == 1
        assert values["prior", inducer, "turns"] == values["prior", inducer, "right_different"] == 0
        assert values["prior", inducer, "consistent"] == 1
    random = results.query("model == 'random'").set_index(["inducer", "measure"])
    for measure, expected in {"consistent": 0.5, "right_equal": 0.5, "turns": 0.25}.items():
        row = random.loc[("with", measure)]
        assert row["value_low"] < expected < row["value_high"]


def test_the_page_opens_with_the_finding_and_three_pictures(drawn):
    page = (drawn / "report/illusions/index.html").read_text()
    heading = re.search(r'<h1 class="finding">(.*?)</h1>', page)[1].replace("\u00a0", " ")
    assert heading == (
        "prior judges equal 100 % of the figures whose parts are equal, 100 % of those whose parts "
        "differ, and 100 % of these without what misleads."
    )
    first = page.partition("<svg")[0]
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", first)
    assert captions == [
        "Parts equal: prior says “equal”",
        "Parts differ: prior says “equal”",
        "The same without what misleads: prior says “equal”",
    ]
    shown = re.findall(r'<img src="thumbs/(\w+)-320.webp"', first)
    pictures = read(drawn, "pictures").set_index("sha256").loc[shown]
    assert list(pictures["is_equal"]) == [True, False, False]
    assert list(pictures["inducer"]) == ["with", "with", "without"]
    equal, changed, control = pictures.itertuples()
    assert (changed.pair_id, changed.control_id) == (equal.picture_id, control.picture_id)


def test_the_front_page_has_each_judge_and_its_failures(drawn):
    standings = json.loads((drawn / "report/illusions/standings.json").read_text())
    assert [measure["name"] for measure in standings["measures"]] == [
        "Turns with the parts",
        "Polarity-flip consistency",
    ]
    numbers = {(row["model"], row["measure"]): row["value"] for row in standings["standings"]}
    assert numbers["pixels", "Turns with the parts"] == 1
    assert numbers["prior", "Turns with the parts"] == 0
    assert {row["model"] for row in standings["failures"]} == {"prior", "random"}
    for failed in standings["failures"]:
        assert (failed["answer"], failed["truth"]) == ("Yes", "No")
        for name in (failed["picture"], failed["comparison"]):
            assert (drawn / "report/illusions" / name).exists()


def test_a_judge_is_asked_once_what_vlmbias_asks_as_well(drawn, server, tmp_path):
    root = copied(drawn, tmp_path / "root")
    server.answer = lambda received: "I say {Yes}."
    judge = judge_at(server)
    models = [*STAND_INS, judge]
    asked = materialize(root, JUDGE, topic="optical_illusions", models=models)
    assert asked.success, failure(asked)
    counted = server.count
    trial = run(root, JUDGE, models=models, config={JUDGE: {"limit": 1}})
    assert trial.success, failure(trial)
    made = run(root, "results", "report", models=models)
    assert made.success, failure(made)
    assert "1 of 104 questions" in (root / "report/illusions/index.html").read_text()
    result = run(root, JUDGE, models=models)
    assert result.success, failure(result)
    known = metadata(result, JUDGE, group="illusions")
    sent = server.count - counted
    assert sent == 2 * (36 + 16) - 36
    assert known["requests_known_before"] + known["requests_sent"] == 2 * (36 + 16)
    rows = read(root, JUDGE)
    assert rows["calls"].str.len().eq(1).all()
    stale = run(root, "report", models=models)
    assert "Materialize illusions/results again." in failure(stale)
    assert run(root, "results", models=models).success
    results = read(root, "results").query("model == 'somebody' and illusion == 'all'")
    assert set(results.query("measure == 'fixed'")["value"]) == {1.0}
    rewrite(root / "illusions/pictures.parquet", lambda pictures: pictures[1:])
    assert "about other pictures" in failure(run(root, "results", models=models))


def test_a_reply_is_a_judgement_by_what_was_asked():
    for polarity, response, judged in (
        ("equal", "{Yes}", 1.0),
        ("equal", "{No}", 0.0),
        ("different", "{Yes}", 0.0),
        ("different", "They look alike, so {No}.", 1.0),
    ):
        assert read_reply({"polarity": polarity, "response": response})["judged_equal"] == judged
    assert read_reply({"polarity": "equal", "response": "Hm."})["outcome"] == "unparsed"
    declined = read_reply({"polarity": "equal", "response": "I'm sorry, I can't help with that."})
    assert (declined["outcome"], declined["refusal"]) == ("refused", "model")
    failed = {"polarity": "equal", "response": None, "outcome": "failed"}
    assert PolarityAnswers(Catalog(STAND_INS), STAND_INS[0]).finish(None, [failed]) == [failed]


def test_a_label_that_pixels_do_not_show_is_found_out(drawn):
    rows = read(drawn, "pictures").astype({"measured": object}).to_dict("records")
    assert check_labels(rows).passed
    rows[3] |= {"measured": rows[3]["difference"] + 0.02}
    rows[5] |= {"measured": None}
    result = check_labels(rows)
    assert not result.passed
    assert result.description == f"{len(rows) - 2} of {len(rows)} pictures agree with the pixels"


def test_without_figures_it_names_what_to_make(drawn, tmp_path):
    result = run(tmp_path, "pictures")
    assert not result.success
    assert "illusions/pictures: there are no 36 figures of one size." in failure(result)
    assert "Materialize optical_illusions of vlmbias/drawn_images" in failure(result)
