"""What is refused before the first run, since the quote shows that each run would fail."""

import pytest
import yaml
from dagster import AssetKey

from assets.kit.benchmarks import build_steps
from assets.planning import Task
from assets.planning.obstacles import CannotBegin, Limits, require_tasks_possible
from resources.models.catalog import Catalog, Model
from tests.assets.asked import ask, judge_at
from tests.assets.plans import plan_context
from tests.runs import STAND_INS, TOPIC

PRICE = {"input_per_million": 2.0, "output_per_million": 8.0}
BUDGET = Limits(per_month_usd=5.0)


def refusal(root, model, limits):
    """What is said before the runs of a judge's answers; empty where they may begin."""
    tasks = [Task(AssetKey(["vlmbias", f"answers_{model.name}"]), TOPIC, {})]
    with plan_context(root) as sources:
        try:
            require_tasks_possible(build_steps(Catalog((model,))), sources, tasks, limits)
        except CannotBegin as refused:
            return str(refused)
    return ""


def test_key_price_and_limit_are_said_at_once_with_the_lines_to_add(root, server):
    poor = judge_at(server, key="NOT_SET_KEY", price={"batch_share": 0.5})
    message = refusal(root, poor, BUDGET)
    assert "    NOT_SET_KEY=…" in message
    lines = message.partition("Write:\n")[2].partition("Nothing was begun")[0]
    [entry] = yaml.safe_load(lines)
    assert entry == {
        "name": "somebody",
        "price": {"batch_share": 0.5, "input_per_million": "USD", "output_per_million": "USD"},
        "longest_output": "TOKENS",
    }
    price = {**entry["price"], "input_per_million": 1.0, "output_per_million": 1.0}
    completed = judge_at(server, price=price, longest_output=100)
    assert refusal(root, completed, BUDGET) == ""


@pytest.mark.parametrize(
    ("entry", "limits", "obstacle"),
    [
        ({}, Limits(), ""),
        ({}, Limits(per_run_usd=1.0), "price.input_per_million"),
        ({"price": PRICE}, Limits(total=1.0), "lacks longest_output"),
        ({"price": PRICE, "longest_output": 100}, BUDGET, ""),
        ({"key": "NOT_SET_KEY"}, Limits(), "NOT_SET_KEY is not set"),
    ],
)
def test_prices_are_needed_for_a_budget_alone(root, server, entry, limits, obstacle):
    message = refusal(root, judge_at(server, **entry), limits)
    assert obstacle in message
    assert bool(message) == bool(obstacle)


def test_what_has_all_its_answers_needs_neither_key_nor_price(root, server, judge):
    assert ask(root, judge).success
    assert refusal(root, judge_at(server, key="NOT_SET_KEY"), BUDGET) == ""


def test_what_cannot_be_quoted_is_left_to_its_run(root, server):
    (root / "vlmbias" / "questions" / f"{TOPIC}.parquet").write_bytes(b"PAR1 no more")
    assert refusal(root, judge_at(server, key="NOT_SET_KEY"), BUDGET) == ""


def test_a_painter_that_was_removed_is_named_with_the_partitions_of_others(tmp_path):
    sketch = Model(
        name="sketch", backend="stand_in", model="sketch", family="s", roles=("painter", "editor")
    )
    steps = build_steps(Catalog((*STAND_INS, sketch)))
    pairs, scores = (AssetKey(["protobias", name]) for name in ("image_pairs", "scores_prior"))
    keys = ["animals|lic", "animals|sketch", "objects|lic", "objects|sketch"]
    tasks = [Task(asset, key, {}) for asset in (pairs, scores) for key in keys]
    with plan_context(tmp_path) as sources:
        with pytest.raises(CannotBegin) as refused:
            require_tasks_possible(steps, sources, tasks, Limits())
        assert str(refused.value).splitlines() == [
            "protobias/image_pairs (animals|lic, objects|lic): lic is no painter in models.yaml.",
            "Add its entry again, or leave it out: --partitions 'animals|sketch,objects|sketch'.",
            "Nothing was begun or sent.",
        ]
        with pytest.raises(CannotBegin, match=r"Add its entry again\.\n"):
            require_tasks_possible(steps, sources, tasks[:1], Limits())
        # What it has painted is there, and may be scored.
        others = [task for task in tasks if "lic" not in task.partition or task.asset == scores]
        require_tasks_possible(steps, sources, others, Limits())
