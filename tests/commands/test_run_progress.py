"""How far runs are, in a line."""

from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace

import pytest
from dagster import AssetKey, DagsterInstance

from commands import run_progress
from commands.run_progress import Extent, Progress, ProgressDisplay, format_about
from resources.faults import StoreError
from sensors.run_plan import PlannedRun


def test_the_time_left_is_that_of_answers_where_their_number_is_known():
    some = Progress(Extent(runs=4, answers=100, budget_usd=5), 60, 2, 20, 0.125)
    assert some.seconds_left == 240
    assert str(some) == (
        "2 of 4 runs · 20 of 100 answers · about 4 min left · at most $0.1250 of $5.00 spent"
    )
    assert Progress(Extent(runs=4), 60, runs=3).seconds_left == 20


@pytest.mark.parametrize(
    "state",
    [
        Progress(Extent(), 60, 5, 50),
        Progress(Extent(answers=100), 60, answers=4),
        Progress(Extent(runs=9), 60, runs=1),
        Progress(Extent(answers=100), 60, answers=101),
    ],
)
def test_without_a_basis_no_time_is_given(state):
    assert state.seconds_left is None
    assert "left" not in str(state)


def test_what_costs_nothing_has_no_money():
    assert str(Progress(Extent(runs=2), 3, 1)) == "1 of 2 runs"
    assert str(Progress(Extent(), 3, 1, 7)) == "1 run · 7 answers"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "10 s"),
        (94, "90 s"),
        (96, "2 min"),
        (3300, "55 min"),
        (3600, "1 h"),
        (4500, "1 h 20 min"),
    ],
)
def test_an_estimate_is_no_more_exact_than_it_is(seconds, text):
    assert format_about(seconds) == text


class Launcher:
    """Begins a run that goes on until it was looked at twice."""

    run_ids = ("one",)

    def __init__(self):
        self.looks = Event()

    def begin(self, planned):
        execution = SimpleNamespace(steps=1)
        return SimpleNamespace(name="flags", run_id="one", execution=execution)

    def events(self, begun):
        assert self.looks.wait(30)
        return iter(())


def test_a_file_gets_a_line_now_and_then_also_while_the_store_is_away(monkeypatch, capsys):
    launcher, asked, printed = Launcher(), [], []

    class Calls:
        def count_answers(self, run_ids):
            asked.append(run_ids)
            printed.extend(capsys.readouterr().err.splitlines())
            if not printed:
                raise StoreError("The store is away.")
            return 12

        def sum_spending(self, run_ids):
            launcher.looks.set()
            return 250_000_000

    stores = SimpleNamespace(models=SimpleNamespace(calls=Calls()))
    monkeypatch.setattr(run_progress, "open_stores", lambda *names: nullcontext(stores))
    for name, seconds in (("_LOOK_S", 0.01), ("_COUNT_S", 0.02), ("_LINE_S", 0.03)):
        monkeypatch.setattr(run_progress, name, seconds)
    planned = PlannedRun("flags", [AssetKey(["vlmbias", "answers_gpt"])])
    with DagsterInstance.ephemeral() as instance:
        extent = Extent(runs=2, answers=40, budget_usd=1)
        with ProgressDisplay(instance, launcher, extent) as display:
            display.execute(planned)
            display.execute(planned)
    printed.extend(capsys.readouterr().err.splitlines())
    assert printed[0].startswith("0 of 2 runs · 0 of 40 answers · at most $0.0000 of $1.00 spent")
    assert asked[0] == ["one"]
