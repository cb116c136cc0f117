"""The harnesses' packages still score as recorded, and docs/scorers.md lists each difference."""

import random
import re
from collections import Counter
from pathlib import Path

import pytest

from metrics.vlmbias.harness_scores import HARNESSES, explain_difference
from tests.harness_scorers import score_by_packages
from tests.harnesses import open_process
from tests.metrics.vlmbias.test_harness_scores import REPLIES, WORDS, read_ours

PAGE = Path(__file__).parents[1] / "docs" / "scorers.md"


@pytest.fixture(scope="module")
def ask_packages(tmp_path_factory):
    """The verdicts of the harnesses' packages, by harness, in the order of the items."""
    with open_process(tmp_path_factory.mktemp("harnesses")) as process:
        yield lambda items: process.submit(score_by_packages, items).result()


def test_the_page_counts_every_difference():
    """docs/scorers.md lists the reasons of each rule with the replies of the set."""
    counts = Counter()
    for item in REPLIES:
        parsed, ours = read_ours(item)
        for harness, score in HARNESSES.items():
            verdict = score(item["reply"], item["truth"], item["bias"])
            if verdict != ours:
                reason = explain_difference(harness, item["reply"], *parsed, verdict)
                counts[harness, reason] += 1
    section = PAGE.read_text("utf-8").split("## The differences")[1]
    lines = [re.split(r" *\| *", line)[1:4] for line in section.splitlines() if "|" in line][2:]
    harnesses, listed = "", {}
    for names, reason, count in lines:
        harnesses = names or harnesses
        for harness in harnesses.split(", "):
            own = re.search(rf"([0-9]+) by {harness}", count) or re.match("([0-9]+)", count)
            listed[harness, reason] = int(own[1])
    assert listed == dict(counts)
    assert f"{len(REPLIES)} awkward replies" in section


@pytest.mark.slow
def test_the_packages_still_say_what_was_recorded(ask_packages):
    items = [[item["reply"], item["truth"], item["bias"]] for item in REPLIES]
    for name, verdicts in ask_packages(items).items():
        assert verdicts == [WORDS[item[name]] for item in REPLIES], name


@pytest.mark.slow
def test_the_packages_agree_on_made_up_replies(ask_packages):
    """Random strings of what replies are made of, which nobody has read."""
    rng = random.Random(7)
    pieces = [
        *("{", "}", "{{", "}}", "{5}", "{4}", "{ 5 }", "{Yes}", "{no}", "5", "4", "54", "５", "²"),
        *("Yes", "no", " ", "\n", ".", "**", "five", "5.0", "-5", "\\boxed{5}", "e.g., {9}", "٥"),
    ]
    answers = [("5", "4"), ("54", "5"), ("Yes", "No"), ("No", "Yes")]
    items = [
        ["".join(rng.choices(pieces, k=rng.randint(0, 6))), *rng.choice(answers)]
        for _ in range(3000)
    ]
    verdicts = ask_packages(items)
    assert verdicts.keys() == HARNESSES.keys()
    for name, score in HARNESSES.items():
        assert verdicts[name] == [score(*item) for item in items], name
