import pandas as pd
import pytest

from metrics import TASK_MEAN, outcome_rate_table
from tests.metrics.clustered import clustered_interval
from tests.metrics.vlmbias.test_accuracy import benchmark, row


def refused(base_id, kind, **more):
    return row(base_id, None, "refused", refusal=kind, **more)


def endings(rows, **where):
    table = outcome_rate_table(pd.DataFrame(rows))
    for column, value in where.items():
        table = table[table[column] == value]
    return table.set_index("ending")


def test_a_case_worked_by_hand():
    rows = [
        row("a", "5", refusal=None),
        refused("a", "content filter"),
        refused("b", "content filter"),
        refused("b", "model"),
        row("c", None, "unparsed", refusal=None),
        row("c", None, "failed", refusal=None),
        row("d", "4", refusal=None),
        row("d", "4", refusal=None),
    ]
    found = endings(rows, topic="flags")
    assert list(found["requests"].unique()) == [8]
    assert list(found["prompting"].unique()) == ["baseline"]
    assert found["number"].to_dict() == {
        "unparsed": 1,
        "refused": 3,
        "content filter": 2,
        "model": 1,
        "failed": 1,
    }
    assert found.loc["content filter", "rate"] == pytest.approx(2 / 8)
    assert tuple(found.loc["refused", ["low", "high"]]) == clustered_interval(
        [0, 1, 1, 1, 0, 0, 0, 0], list("aabbccdd"), seed=0
    )


def test_every_question_and_set_counts_and_the_mean_is_over_what_was_asked():
    rows = [
        refused("a", "model", question_id="Q3"),
        row("o", "4", image_set="originals", variant="original", refusal=None),
        row("g", "5", domain="grids", refusal=None),
        row("x", "5", domain="boards", model="other", refusal=None),
    ]
    found = endings(rows, model="judge")
    by_topic = found.loc["refused"].set_index("topic")["rate"].to_dict()
    assert by_topic == {"flags": 0.5, "grids": 0, TASK_MEAN: 0.25}
    assert "boards" not in set(endings(rows, model="judge")["topic"])


def test_what_never_happened_still_has_an_upper_bound():
    rows = pd.DataFrame(benchmark(lambda truth, _: truth, {"flags": 40})).assign(refusal=None)
    found = endings(rows, topic="flags")
    assert set(found.index) == {"unparsed", "refused", "failed"}
    assert (found["rate"] == 0).all()
    assert found["high"].tolist() == pytest.approx([0.0881] * 3, abs=1e-3)


@pytest.mark.parametrize("kind", ["object", "string"])
def test_only_refusals_of_a_kind_count_as_of_that_kind(kind):
    rows = [refused("a", "model"), refused("b", "content filter"), row("c", "5", refusal=None)]
    found = endings(pd.DataFrame(rows).astype({"refusal": kind}), topic="flags")
    assert found["number"].to_dict() == {
        **dict.fromkeys(("unparsed", "failed"), 0),
        **{"refused": 2, "model": 1, "content filter": 1},
    }


def test_a_reason_without_a_refusal_is_none():
    rows = [row("a", None, "failed", refusal="model"), row("b", "5", refusal=None)]
    assert "model" not in endings(rows, topic="flags").index
