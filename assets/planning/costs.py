"""What everything cost: a table by month, asset, partition and model."""

import pandas as pd
import pyarrow as pa
from dagster import MaterializeResult, asset

from assets.kit.columns import REAL, TEXT, WHOLE, Columns, materialized
from assets.kit.previews import markdown_table
from resources.calls.spending import Spent
from resources.models.client import ModelClient
from resources.models.pricing import dollars

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


@asset(
    key_prefix="money",
    group_name="money",
    owners=["team:counterfactory"],
    kinds={"python", "parquet"},
    description="What all runs on this call store have cost until now; materialize it to bring it "
    "up to date.",
    metadata=COSTS.described(),
    code_version="1",
)
def costs(models: ModelClient) -> MaterializeResult[pa.Table]:
    """The cost table, with its sums by month."""
    spent = models.calls.spending()
    table = COSTS.table([_row(each) for each in spent])
    rows = table.to_pandas()
    months = rows.groupby("month", as_index=False)[
        ["requests", "paid_usd", "possibly_paid_usd", "unknown"]
    ].sum()
    return materialized(
        table,
        paid_usd=dollars(sum(each.paid for each in spent)),
        possibly_paid_usd=dollars(sum(each.possibly_paid for each in spent)),
        requests_of_unknown_price=sum(each.unknown for each in spent),
        months=markdown_table(_in_cents(months)),
    )


def _row(spent: Spent) -> dict[str, object]:
    return {
        **{name: value for name, value in spent._asdict().items() if name in COSTS.columns},
        "paid_usd": dollars(spent.paid),
        "possibly_paid_usd": dollars(spent.possibly_paid),
    }


def _in_cents(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows for a reader, dollars to the cent."""
    return rows.round({"paid_usd": 2, "possibly_paid_usd": 2})
