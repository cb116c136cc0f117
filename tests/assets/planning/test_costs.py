"""The table of all costs, and what a materialization says of its own."""

import dagster as dg
import pandas as pd
import pytest

import assets
from assets.kit.step_asset import cost_metadata
from assets.planning.costs import build_cost_table
from resources.calls import CallStore
from resources.calls.spending import NANO, Account, Booking, generate_booking_id
from resources.models.client import AskResult
from resources.settings.default_resources import build_default_resources

# Dagster's own resources with resources in them use what it has deprecated.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*InitResourceContext.dagster_run:DeprecationWarning"
)


@pytest.fixture
def calls(tmp_path):
    calls = CallStore(url=f"sqlite:///{tmp_path}/calls.sqlite")
    yield calls
    calls.close()


def booked(calls, account, month, bound, cost):
    one = Booking(generate_booking_id(), "key", account, "gpt", "online", month, bound)
    calls.reserve([one])
    calls.settle({one.id: cost})


def materialized(root):
    done = dg.materialize(
        [build_cost_table],
        resources=build_default_resources(str(root)),
    )
    (event,) = done.get_asset_materialization_events()
    table = pd.read_parquet(root / "money" / "costs.parquet")
    metadata = event.materialization.metadata
    return table, {name: value.value for name, value in metadata.items()}, event


def test_every_cost_is_in_it_and_nothing_unknown_is_zero(tmp_path, calls):
    flags, none = Account("vlmbias/answers_gpt", "flags", "r"), Account(run="s")
    booked(calls, flags, "2026-11", 3 * NANO, 2 * NANO)
    booked(calls, flags, "2026-11", 3 * NANO, None)
    booked(calls, flags, "2026-12", NANO, NANO // 4)
    booked(calls, none, "2026-12", None, None)
    table, metadata, _ = materialized(tmp_path)
    assert table.to_dict("records") == [
        {
            "month": month,
            "asset": account.asset,
            "partition": account.partition,
            "model": "gpt",
            "mode": "online",
            "requests": requests,
            "paid_usd": paid,
            "possibly_paid_usd": possibly,
            "unknown": unknown,
        }
        for month, account, requests, paid, possibly, unknown in (
            ("2026-11", flags, 2, 2.0, 3.0, 0),
            ("2026-12", none, 1, 0.0, 0.0, 1),
            ("2026-12", flags, 1, 0.25, 0.0, 0),
        )
    ]
    assert (metadata["paid_usd"], metadata["possibly_paid_usd"]) == (2.25, 3)
    assert metadata["requests_of_unknown_price"] == 1
    assert "| 2026-11 | 2 | 2.0 | 3.0 | 0 |" in metadata["months"]


def test_it_is_a_table_before_anything_was_paid(tmp_path):
    table, metadata, _ = materialized(tmp_path)
    assert table.empty
    assert metadata["paid_usd"] == 0


def test_dagster_finds_it():
    found = dg.load_assets_from_package_module(assets)
    (asset,) = (each for each in found if each.key == dg.AssetKey(["money", "costs"]))
    assert set(asset.group_names_by_key.values()) == {"money"}


def test_what_a_materialization_cost():
    known = AskResult([], 3, 2, 0.5, [], 0.25)
    assert cost_metadata(known, known) == {
        "requests_sent": 4,
        "requests_known_before": 6,
        "spent_usd": 1.0,
        "possibly_spent_usd": 0.5,
    }
    assert cost_metadata(known, AskResult([], 0, 1, None, []))["spent_usd"] == "unknown"
