"""The benchmark of games from pictures to report, with stand-ins and with a judge over HTTP."""

import json
from io import BytesIO

import pandas as pd
import pytest
from dagster import AssetKey
from PIL import Image

from assets.game_rules.answers import read_side
from generators.game_rules import positions
from resources.models.catalog import Model
from resources.settings.default_resources import build_default_resources
from tests.providers import Provider
from tests.runs import STAND_INS, failure, materialize

GAMES = {"chess": 4, "xiangqi": 2}


def answer_by_the_usual_rule(received):
    """A judge that inverts only the rule about pieces of xiangqi, and declines once."""
    words = received.texts[-1]
    if "Xiangqi" in words:
        return "{Red has won}" if "more" in words else "{Black}"
    return "White has more, I think." if "fewer" in words else "So **{White}**."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The benchmark made with few positions: its folder, and the judge's server."""
    root = tmp_path_factory.mktemp("games")
    with pytest.MonkeyPatch.context() as patch, Provider(answer=answer_by_the_usual_rule) as server:
        patch.setenv("OPENAI_API_KEY", "sk-for-tests")
        patch.setattr(positions, "POSITIONS", GAMES)
        positions.list_scenes.cache_clear()
        eye = Model(
            name="eye",
            backend="openai",
            model="eye-1",
            family="eye",
            roles=("judge",),
            base_url=server.openai_url,
            price={"input_per_million": 1.0, "output_per_million": 1.0},
            longest_output=50,
        )
        make = {"group": "game_rules", "models": (*STAND_INS, eye)}
        names = ["pictures", "questions", *(f"answers_{name}" for name in ("prior", "pixels"))]
        for game in GAMES:
            for part in ([*names, "answers_random"], ["answers_eye"], ["answers_eye"]):
                result = materialize(root, *part, topic=game, **make)
                assert result.success, failure(result)
        for part in (["results"], ["report"]):
            result = materialize(root, *part, **make)
            assert result.success, failure(result)
        yield root, server, make
    positions.list_scenes.cache_clear()


def load(root, name, partition=None):
    home = build_default_resources(str(root))["home"]
    return home.table(AssetKey(["game_rules", name]), partition)


def test_each_question_is_sent_once(made):
    _, server, _ = made
    assert len(server.received) == 4 * 4 + 2 * 2
    sizes = {
        Image.open(BytesIO(picture)).size for call in server.received for picture in call.images
    }
    assert {max(size) for size in sizes} == {768}


def test_stand_ins_bracket_a_judge(made):
    root, _, _ = made
    rates = load(root, "results").set_index(["model", "game", "goal"])
    totals = rates.xs(("all", "all"), level=("game", "goal"))
    assert totals.loc["prior", ["right_usual", "right_inverse", "usual_answers"]].to_list() == [
        *(1.0, 0.0, 1.0)
    ]
    assert totals.loc["pixels", ["right_usual", "right_inverse", "usual_answers"]].to_list() == [
        *(1.0, 1.0, 0.0)
    ]
    assert totals.loc["eye", "questions"] == totals.loc["eye", "requests"] == 20
    assert totals.loc["eye", "readable"] == 16  # four replies without a bracket
    # Two positions of xiangqi, one won by either side: "Red" by more pieces, "Black" by fewer.
    xiangqi = rates.loc[("eye", "xiangqi", "pieces")]
    assert (xiangqi["right_usual"], xiangqi["right_inverse"]) == (0.5, 0.5)
    # White is mated in two of four positions, whichever rule is asked about.
    mates = rates.loc[("eye", "chess", "checkmate")]
    assert (mates["right_usual"], mates["right_inverse"], mates["usual_answers"]) == (0.5,) * 3
    assert rates.loc[("eye", "chess", "pieces"), "right_inverse"] == 0.0


def test_the_report_leads_with_a_judge_and_counts_what_is_missing(made):
    root, _, _ = made
    page = (root / "report" / "game_rules" / "index.html").read_text()
    assert "eye names the usual rule" in page
    standings = json.loads((root / "report" / "game_rules" / "standings.json").read_text())
    by_model = {(s["model"], s["measure"]): s for s in standings["standings"]}
    eye = by_model["eye", "Usual rule's answer"]
    assert eye["firmness"] == "trial"
    assert "4 of 20 answers missing" in eye["note"]
    assert by_model["prior", "Usual rule's answer"]["firmness"] == "stand-in"
    failure_ = standings["failures"][0]
    assert (root / "report" / "game_rules" / failure_["picture"]).is_file()


def test_a_picture_that_shows_another_winner_is_refused(made):
    """The table says one position, the picture in the store shows another one."""
    root, _, make = made
    path = next(root.rglob("game_rules/pictures/chess.parquet"))
    before = path.read_bytes()
    table = pd.read_parquet(path)
    table["fen"] = table["fen"].to_list()[1:] + table["fen"].to_list()[:1]
    try:
        table.to_parquet(path)
        message = failure(materialize(root, "questions", topic="chess", **make))
    finally:
        path.write_bytes(before)
    assert "do not show the winner of their label: game_rules/chess-0" in message
    assert "Materialize game_rules/pictures (chess) again" in message


@pytest.mark.parametrize(
    ("reply", "answer", "outcome"),
    [
        ("{White}", "White", "answered"),
        ("The black king is mated: {white wins}.", "White", "answered"),
        ("{Black player}", "Black", "answered"),
        ("{White wins}, so {White}.", "White", "answered"),
        ("{Black wins}, so {Black}.", "Black", "answered"),
        ("{White wins}, so {Black}.", None, "unparsed"),
        ("{White} or {Black}", None, "unparsed"),
        ("{White or Black}", None, "unparsed"),
        ("{draw}", None, "unparsed"),
        ("White", None, "unparsed"),
        ("I'm sorry, but I can't help with that.", None, "refused"),
    ],
)
def test_a_side_is_read_from_brackets(reply, answer, outcome):
    parsed = read_side(reply, ("White", "Black"))
    assert (parsed.answer, parsed.outcome) == (answer, outcome)
