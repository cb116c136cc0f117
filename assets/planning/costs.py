"""Costs by month, asset, partition and model."""

import pyarrow as pa
from dagster import AssetKey, MaterializeResult

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from assets.kit.table_asset import table_asset
from resources.models.client import ModelClient
from resources.models.pricing import to_dollars

COSTS = Columns(
    month=(TEXT, "The month of UTC in which it was reserved, as in 2026-11"),
    asset=(TEXT, "The asset that was materialized; empty where no asset asked"),
    partition=(TEXT, "Its partition; empty where it has none"),
    model=(TEXT, "The model, as models.yaml names it"),
    mode=(TEXT, "online, or batch at its lower price"),
    requests=(WHOLE, "What was paid for or may have been, each attempt counted"),
    paid_usd=(REAL, "US dollars that answers cost"),
    possibly_paid_usd=(
        REAL,
        "US dollars at most of what may have been paid beside: requests that ran into a time "
        "limit, were broken off or killed, or are on their way",
    ),
    unknown=(WHOLE, "Requests whose price is unknown, which are in neither sum"),
)


@table_asset(
    "money",
    columns=COSTS,
    key=AssetKey(["money", "costs"]),
    partitions=None,
    description="What all runs on this call store have cost until now; materialize it to bring it "
    "up to date.",
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
