"""The report where one of the games was never made."""

import json

from resources.models.catalog import Model
from tests.providers import Provider
from tests.runs import failure, materialize


def test_one_of_two_games_is_a_trial(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-tests")
    with Provider(answer=lambda received: "{Red}") as server:
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
        for topic, *names in (
            ("xiangqi", "pictures", "questions", "answers_eye"),
            (None, "results"),
            (None, "report"),
        ):
            result = materialize(tmp_path, *names, topic=topic, group="game_rules", models=(eye,))
            assert result.success, failure(result)
    folder = tmp_path / "report" / "game_rules"
    (standing, *_) = json.loads((folder / "standings.json").read_text())["standings"]
    assert (standing["firmness"], standing["note"]) == ("trial", "1 of 2 games")
    assert "eye, xiangqi<" in (folder / "index.html").read_text()
