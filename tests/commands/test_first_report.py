"""The page that leads from a key to a report, followed word for word against a real wire."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from assets.vlmbias.benchmark import BENCHMARK
from generators.domains import load_domain
from generators.topics import DRAWN
from resources.models.catalog import Catalog
from resources.models.pricing import TOKENS_PER_IMAGE
from tests.providers import Provider
from tests.runs import TOPIC, failure, few_scenes, materialize

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "first-report.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
LINES = re.findall(r"^\$ (.*)", PAGE, re.MULTILINE)
COMMANDS = [
    shlex.split(line.removeprefix("counterfactory "))
    for line in LINES
    if line.startswith("counterfactory ")
]
SIZES = 3
TOKENS_IN, TOKENS_OUT = 1200, 300
"""The tokens of a trial's answers in the page's example."""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a few pictures of a topic, as the demo makes them."""
    folder = tmp_path_factory.mktemp("first")
    runs = BENCHMARK.stand_in_runs(Catalog(()), "sketch")
    names = next(
        run.assets for run in runs if {TOPIC, "drawn_images"} <= {run.partition, *run.assets}
    )
    with few_scenes():
        made = materialize(folder / "data", *names, topic=TOPIC)
    assert made.success, failure(made)
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    return folder


@pytest.fixture(scope="module")
def entries():
    """The page's entries of models.yaml."""
    return [yaml.safe_load(entry)[0] for entry in ENTRIES]


@pytest.fixture(scope="module")
def texts():
    """The distinct questions about each drawn scene, as they are sent."""
    return [
        text
        for domain in map(load_domain, DRAWN)
        for scene in domain.draw_module.list_scenes(0)
        for text in {question.text for question in domain.ask_module.write_questions(scene)}
        for _ in range(SIZES)
    ]


def cost(entry, tokens_in, tokens_out):
    """Dollars by the prices of an entry."""
    price = entry["price"]
    millionths = tokens_in * price["input_per_million"] + tokens_out * price["output_per_million"]
    return millionths / 1e6


def most(entry, text):
    """The most dollars of a question: text and what frames it, a picture, the longest answer."""
    sent = len(text.encode()) + len(json.dumps(entry["parameters"])) + 16 + 64
    longest = entry["parameters"]["max_completion_tokens"]
    return cost(entry, sent + TOKENS_PER_IMAGE["openai"], longest)


def dollars(pattern):
    """The sum that stands on the page where the pattern has its group."""
    (written,) = re.findall(pattern, PAGE.replace("\n", " "))
    return float(written.replace(",", ""))


def budgets(name):
    """The budgets of the page's commands for a judge."""
    runs = [words for words in COMMANDS if words[:2] == ["judge", name] and "--budget" in words]
    return [float(words[words.index("--budget") + 1]) for words in runs]


def test_five_dollars_are_the_sum_by_the_prices(entries, texts):
    entry, second = entries
    bounds = [most(entry, text) for text in texts]
    requests = dollars(r"([\d,]+) requests to gpt_6_luna: at most")
    assert requests == len(texts)
    # A quote rounds what is at most up.
    assert sum(bounds) <= dollars(r"gpt_6_luna: at most \$(\d+\.\d\d)") < sum(bounds) + 0.01 < 5
    trial = 20 * len(DRAWN)
    trial_bound = dollars(r"20 questions a topic, at most \$(\d\.\d\d)")
    assert trial * min(bounds) < trial_bound < trial * max(bounds) + 0.01
    rest = len(texts) - trial
    rest_bound = dollars(r"about \$\d\.\d\d, at most \$(\d\.\d\d)")
    assert sum(bounds) - trial * max(bounds) < rest_bound < sum(bounds) - trial * min(bounds) + 0.01
    assert f"took {TOKENS_IN:,} tokens in and {TOKENS_OUT}" in PAGE.replace("\n", " ")
    example = rest * cost(entry, TOKENS_IN, TOKENS_OUT)
    assert dollars(r"gpt_6_luna: about \$(\d\.\d\d)") == pytest.approx(example, abs=0.005)
    assert f"{trial} answers are there already" in PAGE
    for_trial, for_rest = budgets("gpt_6_luna")
    for_check = dollars(r"`counterfactory check gpt_6_luna --budget (\d\.\d\d)`")
    assert for_check + for_trial + for_rest == pytest.approx(5, abs=1e-9)
    assert trial_bound <= for_trial
    assert rest_bound <= for_rest, "the budget never stops it"
    assert budgets("gpt_6_luna_none") == [5]
    assert sum(most(second, text) for text in texts) < 5
    longer = sum(bounds) + len(texts) * cost(entry, 0, 16_000 - 1900)
    assert dollars(r"16,000 tokens an answer make it \$(\d+\.\d\d)") == pytest.approx(
        longer, abs=0.01
    )


def test_the_page_starts_with_the_demo():
    """`tests/commands/test_demo.py` runs that, and `prepared` here the demo's run of a topic."""
    assert LINES[:2] == ["make demo", ". .venv/bin/activate"]
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo:.*\n\t\$\(BIN\)/counterfactory demo$", makefile, re.MULTILINE)


def test_every_command_of_the_page_does_what_it_says(prepared, forks, entries):
    quote_whole, trial, quote_rest, rest, second, costs = COMMANDS
    reply = "one " * (TOKENS_OUT - 1) + "{5}"
    with Provider(lambda received: reply) as provider:
        provider.counts = lambda picture: TOKENS_IN
        text = "".join(f"{entry}  base_url: {provider.openai_url}\n" for entry in ENTRIES)
        (prepared / "models.yaml").write_text(text)

        def go(arguments):
            """Run a command of the page; return its output and how many requests it sent."""
            before = provider.count
            process = forks.start(
                "-m",
                "commands.app",
                *arguments,
                cwd=prepared,
                COUNTERFACTORY_MODELS=prepared / "models.yaml",
                COUNTERFACTORY_HOME=prepared / "data",
                DAGSTER_HOME=prepared,
                OPENAI_API_KEY="sk-test",
                PYTHONPATH=PROJECT,
            )
            output, errors = process.communicate()
            assert process.returncode == 0, output + errors
            return output, provider.count - before

        output, sent = go(quote_whole)
        assert sent == 0
        assert "Nothing was sent. Give --budget USD" in output
        requests = int(
            re.match(r"(\d+) requests to gpt_6_luna: at most \$.*, and a trial", output)[1]
        )
        tried, part = go(trial)
        assert part == int(re.match(r"(\d+) requests to", tried)[1]) <= 20
        assert " ".join(["counterfactory", *quote_rest]) in tried, "how to go on"
        output, sent = go(quote_rest)
        assert sent == 0
        sentence, _, _, line, *_ = output.splitlines()
        assert f", {part} answers are there already and cost nothing." in sentence
        assert "to gpt_6_luna: less than a cent, at most" in sentence
        *_, about, _ = line.split()
        paid = [
            cost(entries[0], asked.picture_tokens + sum(map(words, asked.texts)), TOKENS_OUT)
            for asked in provider.received
        ]
        expected = (requests - part) * sum(paid) / part
        assert float(about.removeprefix("$")) == pytest.approx(expected, abs=0.000_05)
        _, sent = go(rest)
        assert sent == requests - part, "what the trial paid is not paid again"
        report = prepared / "data" / "report"
        assert "gpt_6_luna" in (report / "vlmbias" / "index.html").read_text(encoding="utf-8")
        _, sent = go(second)
        assert sent == requests
        compared = (report / "vlmbias" / "index.html").read_text(encoding="utf-8")
        assert 'id="differences"' in compared
        assert "cannot be told" in compared, "both gave the same replies"
        page = (report / "index.html").read_text(encoding="utf-8")
        assert {entry["name"] for entry in entries} <= set(re.findall(r"gpt_\w+", page))
        spent, _ = go(costs)
        assert "money/costs" in spent


def words(text):
    """How many words a text has, which the wire counts as tokens."""
    return len(text.split())
