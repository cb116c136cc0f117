"""The job that quotes from Dagster's pages."""

from collections.abc import Callable, Mapping
from typing import Any

from dagster import (
    GraphDefinition,
    JobDefinition,
    MetadataValue,
    OpDefinition,
    OpExecutionContext,
    op,
)
from pydantic import Field

from assets.kit.plan import PlanContext, Planners
from assets.planning.choice import Assets, Selected, choose
from assets.planning.lines import quote
from assets.planning.rendering import markdown, text
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.client import ModelClient


class Wanted(Selected):
    """What to quote; everything by default."""

    select: str = Field(default="*", description=Selected.model_fields["select"].description)


def quote_job(planners: Planners, assets: Callable[[], Assets]) -> JobDefinition:
    """The job `quote`: its run says what materializing a selection would ask and cost.

    `assets` gives those that there are, once all are loaded. The table stands in the run's log and
    in the metadata of its one output.
    """

    @op(name="quote", description="Counts and prices what assets would ask; sends nothing.")
    def quote_assets(
        context: OpExecutionContext,
        config: Wanted,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
        models: ModelClient,
    ) -> None:
        select, partitions, given = config.select, config.partitions, config.config
        chosen = choose(assets(), planners, context.instance, select, partitions, given)
        sources = PlanContext(home, images, ledger, models.calls, chosen.besides)
        made = quote(planners, sources, chosen.tasks)
        context.log.info("The quote:\n%s", text(made, chosen.silent))
        context.add_output_metadata({"quote": MetadataValue.md(markdown(made, chosen.silent))})

    return job_of(
        "quote", quote_assets, "What it would cost to materialize assets now. It sends nothing."
    )


def job_of(
    name: str, work: OpDefinition, description: str, resources: Mapping[str, Any] | None = None
) -> JobDefinition:
    """The job of one op."""
    # A graph of its own name: Dagster lets a job not be called as its op is.
    return GraphDefinition(name=f"{name}_alone", node_defs=[work]).to_job(
        name=name, description=description, resource_defs=resources
    )
