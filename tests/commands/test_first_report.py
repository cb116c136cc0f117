"""The page that leads from a key to a report, followed word for word against a real wire."""

import re
import shlex
from pathlib import Path

import pytest

from tests.providers import Provider
from tests.runs import TOPIC, failure, few_scenes, materialize

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "first-report.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [
    shlex.split(line.removeprefix("$ counterfactory "))
    for line in re.findall(r"^\$ counterfactory .*", PAGE, re.MULTILINE)
]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder with a few pictures of a topic, and what the page's first command makes of it."""
    folder = tmp_path_factory.mktemp("first")
    steps = ("drawn_images", "original_images", "measurements", "questions")
    with few_scenes():
        made = materialize(folder / "data", *steps, topic=TOPIC)
    assert made.success, failure(made)
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    return folder


def test_every_command_of_the_page_does_what_it_says(prepared, forks):
    _, quote_trial, trial, quote_whole, whole, second, costs = COMMANDS
    with Provider(lambda received: "{5}") as provider:
        entries = [f"{entry}  base_url: {provider.openai_url}\n" for entry in ENTRIES]
        (prepared / "models.yaml").write_text("".join(entries))

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

        def read_quote(output):
            """The counts of requests, of stored ones and of those to send, and what is expected."""
            line = next(line for line in output.splitlines() if line.startswith("VLMBias")).split()
            return *map(int, line[6:9]), line[9]

        output, sent = go(quote_trial)
        assert sent == 0
        assert "Nothing was sent. Give --budget USD" in output
        _, _, part, _ = read_quote(output)
        tried, sent = go(trial)
        assert 0 < sent == part <= 20
        assert " ".join(["counterfactory", *quote_whole]) in tried, "how to go on"
        output, none_sent = go(quote_whole)
        assert none_sent == 0
        requests, stored, to_send, expected = read_quote(output)
        assert (stored, requests) == (part, part + to_send)
        assert expected != "unknown", "after a trial it is known"
        _, sent = go(whole)
        assert sent == to_send, "what the trial paid is not paid again"
        report = prepared / "data" / "report"
        assert "gpt_6_luna" in (report / "vlmbias" / "index.html").read_text(encoding="utf-8")
        go(second)
        page = (report / "index.html").read_text(encoding="utf-8")
        assert {"gpt_6_luna", "gpt_4_1"} <= set(re.findall(r"gpt_\w+", page))
        spent, _ = go(costs)
        assert "money/costs" in spent
