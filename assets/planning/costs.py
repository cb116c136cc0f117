"""Costs by month, asset, partition and model."""

import pyarrow as pa
from dagster import AssetKey, MaterializeResult

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from assets.kit.table_asset import table_asset
from resources.models.client import ModelClient
from resources.models.pricing import to_dollars

COSTS = Columns(
    month=(TEXT, "UTC month of the reservation, such as 2026-11"),
    asset=(TEXT, "Materialized asset; empty for requests by no asset"),
    partition=(TEXT, "Its partition; empty where it has none"),
    model=(TEXT, "The model, as models.yaml names it"),
    mode=(TEXT, "online, or batch at its lower price"),
    requests=(WHOLE, "Number of requests that were or may have been paid, each attempt counted"),
    paid_usd=(REAL, "Cost of answers in US dollars"),
    possibly_paid_usd=(
        REAL,
        "Most that unconfirmed charges may be in US dollars: requests that ran into a "
        "time limit, were interrupted, or are in flight",
    ),
    unknown=(WHOLE, "Requests of unknown price, which are in neither sum"),
)


@table_asset(
    "money",
    columns=COSTS,
    key=AssetKey(["money", "costs"]),
    partitions=None,
    description="Costs of all runs on this call store; materialize it to update them.",
)
def build_cost_table(models: ModelClient) -> MaterializeResult[pa.Table]:
    """The cost table, with its sums by month."""
    spent = models.calls.list_spending()
    rows = [
        record._asdict()
        | {
            "paid_usd": to_dollars(record.paid),
            "possibly_paid_usd": to_dollars(record.possibly_paid),
        }
        for record in spent
    ]
    table = COSTS.build_table([{name: row[name] for name in COSTS.columns} for row in rows])
    sums = ["requests", "paid_usd", "possibly_paid_usd", "unknown"]
    months = table.to_pandas().groupby("month", as_index=False)[sums].sum()
    return to_materialize_result(
        table,
        paid_usd=to_dollars(sum(record.paid for record in spent)),
        possibly_paid_usd=to_dollars(sum(record.possibly_paid for record in spent)),
        requests_of_unknown_price=sum(record.unknown for record in spent),
        # To the cent, for a reader.
        months=markdown_table(months.round({"paid_usd": 2, "possibly_paid_usd": 2})),
    )
