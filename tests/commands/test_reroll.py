"""`counterfactory reroll`: a judge that knows the set is found, over a real provider's wire.

One story: it is quoted, runs out of budget, does the rest, and the last go sends nothing.
"""

from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import typer
import yaml

from assets.vlmbias.benchmark import BENCHMARK
from assets.vlmbias.reroll import REROLL
from assets.vlmbias.rerolled_accuracy import count_pairs
from bench.reroll import count_accused, list_questions
from commands.reroll import require_own_seed, require_pairs, select_compared_judges
from generators.topics import PLACED
from resources.models.catalog import Model, load_catalog
from resources.storage.data_root import DataRoot
from tests.providers import Provider
from tests.runs import failure, materialize, table

MODELS = """
- {name: prior, backend: stand_in, model: prior, family: stand_in, roles: [judge]}
- {name: knows, backend: openai, model: knows-1, family: some, roles: [judge], base_url: URL,
   longest_output: 100, tokens_per_image: 100,
   price: {input_per_million: 1.0, output_per_million: 1.0}}
- {name: clean, backend: openai, model: clean-1, family: other, roles: [judge], base_url: URL,
   longest_output: 100, tokens_per_image: 100,
   price: {input_per_million: 1.0, output_per_million: 1.0}}
"""
SHORT = "0.002"
"""US dollars for some requests, and not for all."""


def read_truths(root, name):
    """The right answer by picture and question."""
    rows = pd.concat([pd.read_parquet(table(root, name, topic)) for topic in PLACED])
    return rows.set_index(["sha256", "question"])["ground_truth"].to_dict()


@pytest.fixture(scope="module")
def story(tmp_path_factory, forks):
    """How each go ended, what it said, and how many requests the provider had got by then."""
    folder = tmp_path_factory.mktemp("rerolled")
    root = folder / "data"
    read = cache(lambda name: read_truths(root, name))

    def answer(received):
        """One judge knows the set by its bytes and guesses else; the other is right at times."""
        key = sha256(received.images[0]).hexdigest(), received.texts[0]
        if received.model == "knows-1":
            return f"{{{read('questions').get(key, 4)}}}"
        truth = read("questions").get(key) or read("rerolled_questions")[key]
        is_right = int(sha256("".join(key).encode()).hexdigest(), 16) % 10 < 6
        return f"{{{truth if is_right else 77}}}"

    goes = SimpleNamespace(code={}, out={}, err={}, count={}, root=root)
    environment = {
        "COUNTERFACTORY_MODELS": folder / "models.yaml",
        "COUNTERFACTORY_HOME": root,
        "DAGSTER_HOME": folder,
        "OPENAI_API_KEY": "sk-test",
        "PYTHONPATH": Path(__file__).parents[2],
    }
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    for topic in PLACED:
        names = ("drawn_images", "original_images", "measurements", "questions")
        result = materialize(root, *names, topic=topic)
        assert result.success, failure(result)
    with Provider(answer) as provider, pytest.MonkeyPatch.context() as monkeypatch:
        (folder / "models.yaml").write_text(MODELS.replace("URL", provider.openai_url))

        def go(name, *arguments):
            command = ("-m", "commands.app", *arguments)
            process = forks.start(*command, cwd=folder, **environment)
            goes.out[name], goes.err[name] = process.communicate()
            goes.code[name], goes.count[name] = process.returncode, provider.count

        go("unanswered", "reroll", "vlmbias", "--seed", "7")
        go("stand-in", "reroll", "vlmbias", "--seed", "7", "--judge", "prior")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        judges = [Model(**entry) for entry in yaml.safe_load((folder / "models.yaml").read_text())]
        for topic in PLACED:
            names = ("answers_knows", "answers_clean")
            answered = materialize(root, *names, topic=topic, models=judges)
            assert answered.success, failure(answered)
        goes.count["set"] = provider.count
        go("own seed", "reroll", "vlmbias", "--seed", "0")
        go("quoted", "reroll", "vlmbias", "--seed", "7")
        goes.has_questions = [table(root, "rerolled_questions", topic).exists() for topic in PLACED]
        go("short", "reroll", "vlmbias", "--seed", "7", "--budget", SHORT)
        go("whole", "reroll", "vlmbias", "--seed", "7", "--budget", "1")
        tables = [*root.glob("vlmbias/rerolled_*/*"), *root.glob("vlmbias/rerolled_*.parquet")]
        goes.before = {path: path.read_bytes() for path in tables}
        go("other seed", "reroll", "vlmbias", "--seed", "8")
        goes.after = {path: path.read_bytes() for path in tables}
        go("again", "reroll", "vlmbias", "--seed", "7")

    return goes


@pytest.mark.slow
def test_seeds_and_judges_that_give_nothing_to_compare_are_refused(story):
    assert [story.code[name] for name in ("own seed", "unanswered", "stand-in")] == [2, 2, 2]
    assert "prior: a stand-in" in story.err["stand-in"]
    assert story.err["own seed"].startswith("Seed 0: it is that of the set itself")
    assert "No judge has answered vlmbias yet" in story.err["unanswered"]
    assert story.count["unanswered"] == 0


@pytest.mark.slow
def test_it_is_quoted_before_anything_is_sent(story):
    assert story.code["quoted"] == 0, story.err["quoted"]
    assert story.count["quoted"] == story.count["set"]
    assert "Chess pieces and patterned grids take part" in story.out["quoted"]
    assert "138 requests to knows" in story.out["quoted"]
    assert "Nothing was sent. Give --budget USD" in story.out["quoted"]


@pytest.mark.slow
def test_a_quote_changes_nothing_also_of_another_seed(story):
    assert story.has_questions == [False, False]
    assert story.code["other seed"] == 0, story.err["other seed"]
    assert story.count["other seed"] == story.count["whole"]
    assert len(story.before) == 2 * 3 + 1
    assert story.before == story.after
    assert "Nothing was sent" in story.out["other seed"]
    assert "`counterfactory reroll vlmbias --seed 7` brings it back" in story.out["other seed"]


@pytest.mark.slow
def test_a_budget_that_is_used_up_is_the_only_error(story):
    errors = story.err["short"].strip().splitlines()
    assert len(errors) == 2, errors
    assert "The budget of this run is $0.002000: " in errors[0]
    assert errors[1].startswith("Answers that are missing: ")
    assert " of 138 of knows" in errors[1]


@pytest.mark.slow
def test_what_a_budget_left_is_asked_next_and_nothing_is_paid_twice(story):
    assert story.code["short"] == 1
    requests = {
        name: story.count[name] - story.count["set"] for name in ("short", "whole", "again")
    }
    assert 0 < requests["short"] < requests["whole"] == requests["again"] == 2 * 138
    assert (story.code["whole"], story.code["again"]) == (0, 0), story.err["whole"]


@pytest.mark.slow
def test_the_judge_that_knows_the_set_is_found_and_the_clean_one_is_not_accused(story):
    results = pd.read_parquet(story.root / "vlmbias" / "rerolled_accuracy.parquet")
    means = results[results["finding"].notna()].set_index("model")
    assert means["verdict"].to_dict() == {"knows": "worse", "clean": "no worse"}
    assert means.loc["knows", "released"] == 1
    assert means.loc["knows", "fresh"] < 0.3
    assert 0.4 < means.loc["clean", "fresh"] < 0.8
    assert (means["readable"] == 138).all()
    for name in ("whole", "again"):
        for sentence in means["finding"]:
            assert sentence in story.out[name]


@pytest.mark.slow
def test_of_ten_clean_judges_seldom_any_is_accused_and_a_large_drop_is_found():
    design, generator = list_questions(), np.random.default_rng(11)
    assert count_accused(design, generator, 10, (0.3, 0.3), 20) <= 2
    assert count_accused(design, generator, 1, (0.9, 0.3), 10) == 10
    assert count_accused(design, generator, 1, (0.5, 0.3), 20) >= 8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("vlmbias", "--seed", "-1"), "greater than or equal to 0"),
        (("vlmbias",), "Missing option '--seed'"),
        (("frame", "--seed", "7"), "'frame' cannot be drawn anew by a seed. Choose vlmbias."),
        (
            ("vlmbias", "--seed", "7", "--budget", "1", "--no-budget"),
            "Give --budget or --no-budget, not both.",
        ),
    ],
)
def test_mistakes_are_named(command, arguments, message):
    result = command("reroll", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


@pytest.fixture
def kinds(tmp_path):
    """A catalog of judges of all kinds, and a data root; `gpt`, its step and `log` answered."""
    (tmp_path / "models.yaml").write_text(
        """
- {name: gpt, backend: openai, model: gpt-5, family: gpt, roles: [judge],
   thinking: {reasoning_effort: [low]}}
- {name: log, backend: imported, model: log, family: gpt, roles: [judge]}
- {name: score, backend: file, model: score.csv, family: own, roles: [metric]}
- {name: new, backend: openai, model: gpt-6, family: gpt, roles: [judge]}
"""
    )
    for name in ("gpt", "gpt_low", "log"):
        path = table(tmp_path, f"answers_{name}", "chess_pieces")
        path.parent.mkdir(parents=True)
        path.touch()
    return load_catalog(tmp_path / "models.yaml"), REROLL, DataRoot(root=str(tmp_path))


def test_imported_answers_are_left_out_by_default_and_have_no_table_of_new_ones(kinds, capsys):
    assert [model.name for model in select_compared_judges(*kinds, ["chess_pieces"], [])] == ["gpt"]
    assert capsys.readouterr().out.startswith("Left out: log; answers imported from another")
    names = {step.key.path[-1] for step in BENCHMARK.steps(kinds[0])}
    assert {"rerolled_answers_gpt", "rerolled_answers_new"} <= names
    assert "rerolled_answers_log" not in names


@pytest.mark.parametrize(("pairs", "is_refused"), [(89, True), (90, False), (100, False)])
def test_a_judge_of_which_a_verdict_is_impossible_is_refused_before_it_is_paid(
    kinds, pairs, is_refused
):
    catalog, spec, home = kinds
    counted = replace(spec, count_pairs=lambda home, judge, topic, questions: pairs)
    drafts = {(spec.questions, "chess_pieces"): pd.DataFrame(index=range(100))}
    message = f"gpt was asked about {pairs} of the 100 .* Run `counterfactory judge gpt --bench"
    with pytest.raises(typer.BadParameter, match=message) if is_refused else nullcontext():
        require_pairs(counted, home, [catalog.models[0]], drafts)


def test_a_seed_that_another_reroll_has_drawn_meanwhile_ends_this_one(kinds, tmp_path, capsys):
    _, spec, _ = kinds
    home = DataRoot(root=str(tmp_path))
    path = table(tmp_path, "rerolled_questions", "chess_pieces")
    path.parent.mkdir(parents=True)
    pd.DataFrame({"seed": [9]}).to_parquet(path)
    require_own_seed(spec, home, ["chess_pieces"], 9)
    with pytest.raises(typer.Exit) as ending:
        require_own_seed(spec, home, ["chess_pieces"], 10)
    assert ending.value.exit_code == 1
    assert "are of seed 9 now, not of 10" in capsys.readouterr().err


@pytest.mark.slow
def test_questions_with_whose_pair_a_judge_was_asked_are_counted(story, tmp_path):
    home = DataRoot(root=str(tmp_path))
    topic = PLACED[0]
    answers = pd.read_parquet(table(story.root, "answers_clean", topic))
    questions = pd.read_parquet(table(story.root, "rerolled_questions", topic))
    assert count_pairs(home, "clean", topic, questions) == 0
    path = table(tmp_path, "answers_clean", topic)
    path.parent.mkdir(parents=True)
    for part in (answers, answers[answers["question_id"].eq("Q1")]):
        part.to_parquet(path)
        expected = questions["question_id"].isin(part["question_id"]).sum()
        assert count_pairs(home, "clean", topic, questions) == expected > 0


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("log", "log: answers imported from another harness's log are about the set alone"),
        ("gpt_low", "gpt_low: a step of the thinking of gpt. Only entries of "),
        ("score", "with the role judge are asked about new pictures: name gpt."),
        ("new", "new has not answered vlmbias yet"),
    ],
)
def test_a_judge_that_cannot_be_compared_is_refused_with_a_way_out(kinds, name, message):
    with pytest.raises(typer.BadParameter) as refusal:
        select_compared_judges(*kinds, ["chess_pieces"], [name])
    assert message in refusal.value.message
    assert refusal.value.exit_code == 2
