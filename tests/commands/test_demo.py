"""The first command of the README, at small size."""

import html
import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from dagster import AssetKey, AssetRecordsFilter, DagsterInstance
from scipy.stats import binomtest

from resources.calls import CallStore
from tests.readme_picture import build_vlmbias_answers

PROJECT = Path(__file__).parents[2]
AXE = PROJECT / "tests" / "outside" / "node_modules" / "axe-core" / "axe.min.js"
TOTALS = "all 464 130 343 251 594"
"""Images, originals, verified, stand-ins and distinct: all that is no stand-in is verified."""
KINDS = (
    *("report/index.html", "judges/random.html", "vlmbias/gallery.html", "scenes/flags/*.html"),
    *("protobias/index.html", "frame/index.html", "frame/source-*.html", "vhexpansion/index.html"),
    *("vhexpansion/dataset-*.html", "philautia/index.html", "reviews/logos-to-review.html"),
    "judge_sets/index.html",
)
"""A page of each kind that readers open."""
EVERYTHING = "{preload: false, resultTypes: ['violations']}"
CONTRAST = "{preload: false, resultTypes: ['violations'], runOnly: ['color-contrast']}"
LISTED = (PROJECT / "models.yaml").read_text()
PAID = """
- {name: paid, backend: openai, model: gpt-4.1, family: gpt, roles: [judge]}
- {name: paints, backend: openai, model: gpt-image-1, family: gpt, roles: [painter, editor]}
"""
"""What a user has added: the demo must not spend, so neither is ever asked."""


SOME = """
import os
from dataclasses import replace
from assets.kit import benchmarks as kit

parts = os.environ["PARTS"].split(",")
some = {
    name: replace(
        benchmark,
        stand_in_runs=lambda *arguments, list_all=benchmark.stand_in_runs: [
            run for run in list_all(*arguments) if run.partition in parts
        ],
    )
    for name, benchmark in kit.load_benchmarks().items()
}
kit.load_benchmarks = lambda: some
from commands.app import app
app(["demo", "--sizes", "384"])
"""
"""The demo, of some partitions alone."""

ASKED = {
    "answers",
    "blind_answers",
    "captions",
    "combined",
    "controls",
    "mitigation",
    "pairwise",
    "scores",
    "search",
}
"""Assets of one model each, whose name follows on theirs."""
NEVER_FILLED = {
    *("reason", "boxes_reason", "filter_reason", "flaw", "refusal", "attempts", "caveat"),
    *("response", "first_response", "served_model", "provenance", "prompt_version", "temperature"),
    *("moderation", "moderator", "conditions", "thoughts_cut", "thought_characters"),
    *("output_tokens", "thinking_tokens", "decided_by"),
}
"""Columns that a table of the demo may leave empty: nothing fails and no model is asked."""
EMPTY_COLUMNS = {
    "collections/photographs": {  # of what people have scored, and of options
        *("human_score", "options", "scale_high", "scale_low"),
    },
    "collections/photograph_pairs": {  # likewise, and of what the other collection says
        *("answer", "human_score", "options", "scale_high", "scale_low", "text"),
    },
    "collections/photograph_biases": {  # likewise
        *("answer", "human_score", "options", "scale_high", "scale_low", "text"),
    },
    "collections/photograph_contrasts": {  # likewise
        *("answer", "human_score", "options", "scale_high", "scale_low", "text"),
    },
    "cdh_bench/answers": {"calls"},  # of stand-ins
    "mm_judge_bias/answers": {"calls"},  # likewise
    "frame/biased_images": {"boxes"},  # of another bias
    "frame/combined": {"plain_score", "reading_version"},  # of models' replies
    "frame/controls": {  # likewise; of other biases and of drawn pictures
        *("plain_score", "reading_version", "alignment", "changes", "concepts", "readable"),
    },
    "frame/mitigation": {"plain_score", "reading_version"},  # likewise
    "frame/pairwise": {"plain_preference", "reading_version"},  # likewise
    "frame/scores": {"plain_score", "reading_version"},  # likewise
    "game_rules/answers": {"calls"},  # of stand-ins
    "illusions/answers": {"calls"},  # likewise
    "judge_sets/answers": {"calls"},  # likewise
    "vhexpansion/blind_answers": {"sha256", "encoder", "parameters"},  # in words alone
    "vlmbias/blind_answers": {"shown_sha256"},  # likewise
    "philautia/pomms": {
        *("ratings", "unscored", "tau_b", "tau_b_low", "tau_b_high"),  # of people's captions
        *("tau_c", "tau_c_low", "tau_c_high"),
    },
    "philautia/preference_matrix": {  # no score is missing
        *("complete_images", "complete_preference", "complete_preference_low"),
        *("complete_preference_high", "missing_matters"),
    },
    "philautia/scores": {"candidate", "human_score", "human_scores"},  # of people's captions
    "vhexpansion/answers": {"encoder"},  # of attacks
    "vhexpansion/common_perturbations": {"readable"},  # of perturbations that are read again
    "vhexpansion/symmetry": {"encoder", "is_own_encoder"},  # of attacks
    "vlmbias/accuracy": {"change", "change_low", "change_high"},  # of further promptings
}
"""Other columns that are empty in the demo, by table without its model's name, and why."""

DEMO = ("-m", "commands.app", "demo")


def surroundings(folder):
    """The variables of a demo in a folder of its own."""
    instance = folder / "instance"
    instance.mkdir(exist_ok=True)
    (instance / "dagster.yaml").write_text((PROJECT / "dagster.yaml.example").read_text())
    catalog = folder / "models.yaml"
    catalog.write_text(LISTED + PAID)
    return {
        "DAGSTER_HOME": str(instance),
        "COUNTERFACTORY_HOME": str(folder / "data"),
        "COUNTERFACTORY_MODELS": str(catalog),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(folder):
    return subprocess.run(
        [sys.executable, *DEMO, "--sizes", "384"],
        cwd=PROJECT,
        env=os.environ | surroundings(folder),
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )


@pytest.fixture
def again(first, folder, forks):
    """Makes the demo, or what another program does, once it was made."""

    def again(*program, **environment):
        return forks.run(*program, **surroundings(folder), **environment)

    return again


def test_it_builds_and_verifies_everything(first, folder):
    assert first.returncode == 0, first.stderr
    assert first.stderr == ""
    assert TOTALS in " ".join(first.stdout.split())
    report = folder / "data" / "report" / "vlmbias" / "index.html"
    assert f"Report: {report}" in first.stdout
    assert f"Made by {runs_of(folder)} runs" in first.stdout
    assert "What sketch painted stands in for models' work" in first.stdout
    assert report.exists()
    release = folder / "data" / "release" / "vlmbias"
    assert f"Released for others to load: {release}" in first.stdout
    assert (release / "SHA256SUMS").exists()


def test_each_column_is_filled_somewhere(first, folder):
    root, filled, columns = folder / "data", defaultdict(set), defaultdict(set)
    for path in {*root.glob("*/**/*.parquet")} - {*root.glob("release/**/*")}:
        benchmark, asset, *_ = path.relative_to(root).with_suffix("").parts
        base = "_".join(asset.split("_")[:-1])
        name = f"{benchmark}/{base if base in ASKED else asset}"
        table = pq.read_table(path)
        if len(table):
            columns[name].update(table.column_names)
            filled[name].update(c for c in table.column_names if table[c].null_count < len(table))
    empty = {name: columns[name] - filled[name] - NEVER_FILLED for name in columns}
    assert {name: names - EMPTY_COLUMNS.get(name, set()) for name, names in empty.items()} == {
        name: set() for name in columns
    }
    assert all(names <= columns[name] for name, names in EMPTY_COLUMNS.items())


def test_what_is_rehearsed_says_so(first, folder):
    tables = [pd.read_parquet(path) for path in (folder / "data/vlmbias/photographs").iterdir()]
    rows = pd.concat(tables)
    assert rows.groupby("domain")["image_id"].nunique().to_dict() == {"animals": 182, "logos": 69}
    assert set(rows["image_set"]) == {"stand-in"}
    assert set(rows["review"]) == {"unreviewed"}
    assert rows["is_stand_in"].all()
    assert set(rows["painter"]) == {"sketch"}
    said = [line.split() for line in first.stdout.partition("VLMBias")[2].splitlines()]
    rows = {words[0]: words[1:] for words in said if len(words) == 6}
    assert rows["animals"] == ["91", "91", "0", "182", "182"]
    assert rows["logos"] == ["69", "0", "0", "69", "69"]
    assert rows["game_boards"] == ["28", "4", "32", "0", "32"]


def test_protobias_is_rehearsed_and_says_so(first, folder):
    report = folder / "data" / "report" / "protobias"
    assert f"Report: {report}/index.html" in first.stdout
    said = " ".join(first.stdout.split())
    for domain in ("animals", "demography", "objects"):
        assert f" {domain} 6 6 6 " in said
    assert "All of this is a stand-in run:" in (report / "index.html").read_text()
    assert (report / "pairs-sketch.html").read_text().count("<article") == 18


def test_vhexpansion_is_rehearsed_and_finds_what_is_known(first, folder):
    said = " ".join(first.stdout.split())
    rows = []
    assert " photographs 36 36 36 " in said
    for dataset in ("game_boards", "optical_illusions"):
        assert f" {dataset} 4 4 " in said
        numbers = pd.read_parquet(folder / f"data/vhexpansion/symmetry/{dataset}.parquet")
        assert numbers["is_stand_in"].all()
        rows.append(numbers[numbers["has_all_repeats"] & numbers["perturbation"].eq("none")])
    found = pd.concat(rows).groupby("model")[["accuracy", "symmetric", "true_yes_rate"]].mean()
    assert found.loc["pixels", ["accuracy", "symmetric"]].tolist() == [1, 1]
    assert found["accuracy"]["gullible"] == found["true_yes_rate"]["gullible"]
    assert found["symmetric"]["gullible"] == 0
    front = folder / "data" / "report" / "vhexpansion" / "index.html"
    assert "A stand-in run:" in front.read_text()


def test_the_front_page_is_printed_last_and_says_what_the_tables_say(first, folder):
    """What is recomputed here is not by the code that made the tables."""
    report = folder / "data" / "report"
    assert first.stdout.splitlines()[-1].endswith(str(report / "index.html"))
    results, stand_ins = (
        pd.read_csv(path, dtype=str, index_col="Judge or metric").T.to_dict()
        for path in (
            report / "tables" / "judges-and-metrics.csv",
            report / "tables" / "stand-in-judges-and-stand-in-runs.csv",
        )
    )
    assert set(results) == {"paid"}, "a judge of models.yaml that nobody has asked"
    assert results["paid"].pop("Group") == "Judges"
    assert set(results["paid"].values()) == {"not run"}
    assert "<code>counterfactory judge paid --benchmark vlmbias</code>" in (
        report / "index.html"
    ).read_text(encoding="utf-8")
    asked = {"image_set": ["benchmark"], "question_id": ["Q1", "Q2"], "prompting": ["baseline"]}
    answers = [pd.read_parquet(path) for path in (folder / "data/vlmbias/answers_random").iterdir()]
    rows = pd.concat(answers)
    rows = rows[rows[list(asked)].isin(asked).all(axis=1)]
    accuracy = rows.groupby("domain")["score"].mean().mean()
    shown = stand_ins["random"]
    assert float(shown["VLMBias: Counterfactual accuracy"]) == pytest.approx(accuracy, abs=1e-6)
    assert float(shown["VLMBias: Counterfactual accuracy, items"]) == rows["score"].count()
    scores = pd.concat(
        pd.read_parquet(path)
        for path in (folder / "data/protobias/scores_random").glob("*/*.parquet")
    )
    sides = scores.pivot_table(index=["domain", "pair_id"], columns="side", values="raw")
    fails = sides["adversarial"] >= sides["correct"]
    failure_rate = fails.groupby("domain").mean().mean()
    assert float(shown["ProtoBias: Prototypicality failure rate"]) == pytest.approx(
        failure_rate, abs=1e-6
    )
    symmetric = {name: row["VHExpansion: Symmetric accuracy"] for name, row in stand_ins.items()}
    assert (float(symmetric["pixels"]), float(symmetric["gullible"])) == (1, 0)


def test_the_chart_of_thinking_is_the_stated_curve(first, folder):
    """Docs/thinking.md states it; what is right is read off the answers again, not off the page."""
    report = folder / "data" / "report"
    shown = pd.read_csv(report / "vlmbias" / "tables" / "steps-of-thinking.csv", index_col="Step")
    right = {}
    for step, tokens, rate in (("low", 110, 0.3), ("medium", 1010, 0.8), ("high", 8010, 0.5)):
        name = "pensive" if step == "medium" else f"pensive_{step}"
        rows = pd.read_parquet(folder / "data" / "vlmbias" / f"answers_{name}")
        rows = rows[rows["question_id"].isin(["Q1", "Q2"]) & rows["image_set"].eq("benchmark")]
        right[step] = (rows["answer"] == rows["ground_truth"]).to_numpy()
        assert set(rows["domain"]) == {"patterned_grids"}
        line = shown.loc[step]
        accuracy = line["Accuracy on Q1 and Q2"]
        assert accuracy == pytest.approx(right[step].mean(), abs=1e-6)
        assert binomtest(int(right[step].sum()), len(rows), rate).pvalue > 0.01
        assert line["Bias rate"] == pytest.approx(1 - accuracy, abs=1e-6)
        assert line["Tokens per answer"] == tokens
        assert line["Of thinking"] == tokens - 10
    page = (report / "vlmbias" / "index.html").read_text(encoding="utf-8")
    section = page.partition('<h2 id="thinking">')[2].partition("<h2 id=")[0]
    assert "(patterned grids alone): thinking helps up to a point, and more does worse." in section
    assert "Demo data: a stand-in run: no result" in section
    front = pd.read_csv(report / "tables" / "stand-in-judges-and-stand-in-runs.csv", index_col=0)
    gain = float(front.loc["pensive", "VLMBias: Gain by thinking"])
    assert gain == pytest.approx((right["high"] * 1 - right["low"]).mean(), abs=1e-6)


def commands_in(text):
    """The commands that a page, a quote or an error offers, each once."""
    offered = re.findall(
        r"<code>(counterfactory [^<]*)</code>|^    (counterfactory .*)$", text, re.M
    )
    return list(dict.fromkeys(html.unescape(page or line) for page, line in offered))


def test_every_command_on_the_pages_does_what_it_promises(again, folder):
    pages = (folder / "data" / "report").rglob("*.html")
    offered = commands_in("".join(page.read_text(encoding="utf-8") for page in pages))
    judging = [command for command in offered if " judge " in command]
    making = [command for command in offered if " run " in command]
    assert {command.split()[-1] for command in judging} == {
        *("cdh_bench", "frame", "game_rules", "illusions", "judge_sets", "mm_judge_bias"),
        *("vlmbias", "vhexpansion"),
    }
    assert len(making) + len(judging) == len(offered)
    quoted = ""
    for command in judging:
        done = again("-m", "commands.app", *shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
        assert "Nothing was sent. Give --budget USD" in done.stdout
        [line] = [each.split() for each in done.stdout.splitlines() if " partitions " in each]
        sent = int(line[line.index("paid") + 3].replace(",", ""))
        assert sent > 0, command
        quoted += done.stdout
    # These ask a painter that has no key here: each says so before the first run.
    for command in making:
        runs = runs_of(folder)
        done = again("-m", "commands.app", *shlex.split(command)[1:])
        assert done.returncode == 2, done.stdout
        assert "    OPENAI_API_KEY=…\nNothing was begun or sent." in done.stderr
        assert runs_of(folder) == runs
    # What a quote names as not there yet can be selected so, and would be made.
    assert commands_in(quoted)
    for command in commands_in(quoted):
        words = shlex.split(command)
        assert words[1] == "run"
        done = again("-m", "commands.app", "quote", *words[2:])
        assert done.returncode == 0, done.stderr


def test_philautia_is_rehearsed_and_finds_who_favours_its_own(first, folder):
    said = " ".join(first.stdout.split())
    assert " vlmbias_game_boards 32 5 1,600 " in said
    assert " photographs 9 5 450 " in said
    for dataset in ("vlmbias_game_boards", "photographs"):
        rows = pd.read_parquet(folder / f"data/philautia/preference_matrix/{dataset}.parquet")
        own = rows[rows["row_type"].eq("model") & rows["generator"].ne("all")]
        assert own["is_stand_in"].all()
        favours = {*own.loc[own["preference_low"].gt(0), "generator"]}
        # One interval in twenty misses the truth: of these twenty, one of nine photographs does.
        assert favours - ({"steep"} if dataset == "photographs" else set()) == {"vain"}
    front = folder / "data" / "report" / "philautia" / "index.html"
    assert "A stand-in run:" in front.read_text()


@pytest.mark.parametrize(
    ("benchmark", "counts", "scope", "prior", "chance", "heads"),
    [
        (
            *("judge_sets", "photograph_pairs 36", "set"),
            *({"agreement": 0.5, "flips": 0}, {"flips": 0.5}),
            ("Agreement with people", "Order flips"),
        ),
        (
            *("cdh_bench", "photograph_contrasts 6", "part"),
            *({"cf_accuracy": 0, "cs_accuracy": 1, "collapse": 1}, {"cs_accuracy": 0.375}),
            ("Counterfactual accuracy", "Counterfactual drop"),
        ),
        (
            *("mm_judge_bias", "photograph_biases 18", "part"),
            *({"deviation": 0, "conformity": 1}, {"conformity": 0.53}),
            ("Bias-Deviation", "Bias-Conformity"),
        ),
    ],
)
def test_what_is_downloaded_is_rehearsed_and_judges_are_right_as_often_as_is_known(
    first, folder, benchmark, counts, scope, prior, chance, heads
):
    assert f" {counts} " in " ".join(first.stdout.split())
    numbers = pd.read_parquet(folder / f"data/{benchmark}/results.parquet").set_index("model")
    total = numbers[numbers[scope].eq("all")]
    assert total.loc["prior", [*prior]].to_dict() == pytest.approx(prior)
    for name, expected in chance.items():
        assert total.loc["random", name] == pytest.approx(expected, abs=0.3)
    front = (folder / "data" / "report" / "index.html").read_text(encoding="utf-8")
    assert all(head in front for head in heads)


@pytest.mark.parametrize("benchmark", ["frame", "philautia", "vhexpansion"])
def test_photographs_are_the_first_pictures_of_a_report(first, folder, benchmark):
    pictures = pd.read_parquet(folder / "data/collections/photographs.parquet")["sha256"].unique()
    assert len(pictures) == 9
    page = folder / "data" / "report" / benchmark / "index.html"
    shown = re.findall(r'<img[^>]* src="[^"]*?(\w{64})', page.read_text(encoding="utf-8"))
    assert shown[0] in pictures


def test_the_judge_of_the_picture_in_the_readme_is_right_as_often_as_the_paper_prints(
    first, folder
):
    """Table 2's means over topics, whose task mean is 17.05 with animals and logos."""
    answers = build_vlmbias_answers(folder / "data")
    rows = pd.read_parquet(folder / "data" / "vlmbias" / "questions")
    changed = rows[(rows["variant"] == "counterfactual") & (rows["question_id"] == "Q1")]
    is_right = [
        answers[row.sha256, row.question] == f"{{{row.ground_truth}}}"
        for row in changed.itertuples()
    ]
    shares = pd.Series(is_right).groupby(changed["domain"].to_numpy()).mean()
    assert shares["flags"] == pytest.approx(0.0925, abs=0.1)
    assert shares["animals"] == pytest.approx(0.0212, abs=0.05)
    assert shares.drop("optical_illusions").mean() == pytest.approx(0.114, abs=0.05)


def test_a_judge_that_costs_money_is_not_asked(first, folder):
    assert first.returncode == 0, first.stderr
    answers = (folder / "data" / "vlmbias").glob("answers_*")
    scores = (folder / "data" / "protobias").glob("scores_*")
    free = {"prior", "pixels", "random"}
    for asked, thinking in ((answers, {"pensive", "pensive_low", "pensive_high"}), (scores, set())):
        assert {path.name.partition("_")[2] for path in asked} == free | thinking
    pairs = (folder / "data" / "protobias" / "image_pairs").glob("*/*")
    assert {path.stem for path in pairs} == {"sketch"}
    with closing(CallStore(url=f"sqlite:///{folder}/data/calls.sqlite")) as calls:
        backends = {call.backend for call in calls.iterate_calls(calls.iterate_keys())}
    assert backends == {"stand_in"}


def test_a_catalog_without_a_painter_that_is_free_is_refused(command, tmp_path):
    refused = command("demo", "--sizes", "384", models=PAID)
    assert refused.exit_code == 2
    assert "models.yaml lists no stand-in painter" in refused.stderr
    assert "name: sketch" in refused.stderr
    assert_nothing_ran(tmp_path)


def test_no_two_scenes_of_any_topics_share_their_pixels(first, folder):
    tables = (folder / "data" / "vlmbias" / "measurements").glob("*.parquet")
    images = pd.concat([pd.read_parquet(table) for table in tables]).drop_duplicates("image_id")
    assert images["pixels_sha256"].nunique() == len(images) == 343


def runs_of(folder):
    """How many runs there are in the Dagster instance of a demo."""
    with DagsterInstance.from_config(str(folder / "instance")) as instance:
        return instance.get_runs_count()


def recorded(folder, name, topic, number, group="vlmbias"):
    """What the materializations of `<group>/<name>` say of `number`, newest first."""
    of = AssetRecordsFilter(AssetKey([group, name]), asset_partitions=[topic])
    with DagsterInstance.from_config(str(folder / "instance")) as instance:
        return [
            record.asset_materialization.metadata[number].value
            for record in instance.fetch_materializations(of, limit=5).records
        ]


def test_a_second_run_finds_all_up_to_date_and_runs_nothing(again, folder):
    report = folder / "data" / "report" / "vlmbias" / "index.html"
    before, runs = report.stat().st_mtime_ns, runs_of(folder)
    second = again(*DEMO, "--sizes", "384")
    assert second.returncode == 0, second.stderr
    assert TOTALS in " ".join(second.stdout.split())
    assert "All of this was up to date: nothing was run" in second.stdout
    assert runs_of(folder) == runs
    assert report.stat().st_mtime_ns == before


def test_where_something_changed_it_runs_again_but_draws_measures_and_asks_nothing(again, folder):
    """Of some topics, for all go the same way: a setting is another, and has no effect."""
    parts = "game_boards,logos,sketch|logos,animals|sketch"
    changed = again("-c", SOME, PARTS=parts, COUNTERFACTORY_ANOTHER="1")
    assert changed.returncode == 0, changed.stderr
    # The photographs are of no partition, as are the release and the front page.
    assert "Made by 12 runs" in changed.stdout
    for name, number in (
        ("drawn_images", "drawn_now"),
        ("original_images", "drawn_now"),
        ("measurements", "measured_now"),
    ):
        now, then = recorded(folder, name, "game_boards", number)
        assert now == 0
        assert then > 0
    for name, pictures in (("paintings", 54), ("edits", 69)):
        assert recorded(folder, name, "sketch|logos", "requests_sent") == [0, pictures]
    sent = recorded(folder, "image_pairs", "animals|sketch", "requests_sent", "protobias")
    assert sent == [0, 12]


@pytest.mark.parametrize("sizes", ["8", "384,4097", "100"])
def test_a_size_out_of_range_is_refused_before_the_first_run(command, tmp_path, sizes):
    refused = command("demo", "--sizes", sizes, models=LISTED)
    assert refused.exit_code == 2
    last = sizes.split(",")[-1]
    assert f"cannot be drawn at {last} px: choose a size from" in refused.stderr
    assert_nothing_ran(tmp_path)


def assert_nothing_ran(instance):
    with DagsterInstance.from_config(str(instance)) as opened:
        assert opened.get_runs_count() == 0


def test_sizes_that_are_no_numbers_are_refused(command):
    refused = command("demo", "--sizes", "384,big")
    assert refused.exit_code == 2
    assert "'384,big' is no list of whole numbers" in " ".join(refused.stderr.split())


def test_a_run_that_fails_fails_the_demo(again, folder):
    """Whatever the work cache remembers: there is no folder to keep images in."""
    stores = folder / "data" / "images"
    stores.rename(folder / "data" / "away")
    stores.write_text("no folder")
    try:
        failed = again("-c", SOME, PARTS="chess_pieces")
    finally:
        stores.unlink()
        (folder / "data" / "away").rename(stores)
    assert failed.returncode == 1
    assert re.search(r"^(Photographs|VLMBias, chess_pieces) failed:", failed.stderr, re.M)
    assert f"{stores}/" in failed.stderr
    assert "set COUNTERFACTORY_HOME" in failed.stderr


def test_a_data_root_that_cannot_be_written_is_named(command):
    failed = command("demo", models=LISTED, COUNTERFACTORY_HOME="/proc/nowhere")
    assert failed.exit_code == 1
    assert "/proc/nowhere" in failed.stderr
    assert "set COUNTERFACTORY_HOME" in failed.stderr


def test_a_seed_that_is_no_whole_number_is_refused(command):
    refused = command("demo", "--seed", "seven")
    assert refused.exit_code == 2
    assert "Invalid value for '--seed'" in refused.stderr


def test_a_seed_too_large_is_refused_and_named(command, tmp_path):
    refused = command("demo", "--seed", 2**63, "--sizes", "384", models=LISTED)
    assert refused.exit_code != 0
    assert "seed" in refused.stderr.lower()
    assert str(2**63) in refused.stderr
    assert not (tmp_path / "data" / "images").exists()


def test_an_object_store_without_a_database_server_is_refused(command, tmp_path):
    refused = command("demo", models=LISTED, COUNTERFACTORY_HOME="s3://bucket/data")
    assert refused.exit_code != 0
    assert "COUNTERFACTORY_HOME is s3://bucket/data, an address" in refused.stderr
    assert_nothing_ran(tmp_path)


def kind_of(page):
    """What pages of scenes have in common: the topic, and the elements with their attributes."""
    if "scenes" not in page.parts:
        return page
    tags = re.findall(r"<\w[^>]*>", page.read_text(encoding="utf-8"))
    topic = page.parts[page.parts.index("scenes") + 1]
    return topic, frozenset(re.sub(r'="[^"]*"', "", tag) for tag in tags)


def test_every_kind_of_page_keeps_to_its_policy_and_is_open_to_everybody(first, folder, quiet):
    """What a policy blocks, a browser says on the console; axe finds what shuts readers out."""
    pages = sorted((folder / "data").rglob("*.html"))
    policy = '<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; '
    assert [page for page in pages if policy not in page.read_text("utf-8")] == []
    kinds = {kind_of(page): page for page in pages}
    assert len(kinds) > 40
    for page in kinds.values():
        quiet.goto(page.as_uri(), wait_until="load")
        assert quiet.evaluate("getComputedStyle(document.body).fontFamily") != "Times New Roman"
    # Long lists are more of the same, and each letter's contrast takes its time.
    shorten = "document.querySelectorAll('tr:nth-child(n+5), li:nth-child(n+5)')"
    faults = []
    for kind in KINDS:
        page = next(page for page in pages if page.match(kind))
        quiet.goto(page.as_uri(), wait_until="load")
        quiet.evaluate(f"{shorten}.forEach(node => node.remove())")
        quiet.evaluate(AXE.read_text(encoding="utf-8"))
        for scheme in ("light", "dark"):
            quiet.emulate_media(color_scheme=scheme)
            options = EVERYTHING if scheme == "light" else CONTRAST
            violations = quiet.evaluate(f"axe.run({options})")["violations"]
            faults += [
                (page.name, scheme, violation["id"], violation["nodes"][0]["html"])
                for violation in violations
            ]
    quiet.emulate_media(color_scheme="light")
    assert faults == []
