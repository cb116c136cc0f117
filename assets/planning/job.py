"""The job that quotes from Dagster's pages."""

from collections.abc import Callable
from typing import Any

from dagster import (
    Config,
    JobDefinition,
    MetadataValue,
    OpExecutionContext,
    graph,
    op,
)
from pydantic import Field

from assets.kit.plan import PlanContext, Planners
from assets.planning.choice import Assets, choose
from assets.planning.lines import quote
from assets.planning.words import markdown, text
from resources.executors import in_process
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.client import ModelClient


class Wanted(Config):
    """What to quote."""

    select: str = Field(
        default="*",
        description='The assets, in Dagster\'s own words, as in key:"vlmbias/answers_gpt_4_1".',
    )
    partitions: list[str] = Field(
        default=[], description="Their partitions; all that they have where none is named."
    )
    config: dict[str, Any] = Field(
        default={},
        description="Run config of their ops, as in the launchpad: {ops: {…: {config: {…}}}}.",
    )


def quote_job(planners: Planners, assets: Callable[[], Assets]) -> JobDefinition:
    """The job `quote`: its run says what materializing a selection would ask and cost.

    `assets` gives those that there are, once all are loaded. The table stands in the run's log and
    in the metadata of its one output.
    """

    @op(
        name="quote",
        description="Counts and prices what assets would ask of models; sends nothing.",
    )
    def quote_assets(
        context: OpExecutionContext,
        config: Wanted,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
        models: ModelClient,
    ) -> None:
        chosen = choose(
            assets(),
            planners,
            context.instance,
            config.select,
            config.partitions,
            config.config,
        )
        sources = PlanContext(home, images, ledger, models.calls, chosen.besides)
        made = quote(planners, sources, chosen.tasks)
        context.log.info("The quote:\n%s", text(made, chosen.silent))
        context.add_output_metadata({"quote": MetadataValue.md(markdown(made, chosen.silent))})

    # A graph of its own name: Dagster lets a job not be called as its op is.
    @graph(name="quoting")
    def quoting() -> None:
        quote_assets()

    return quoting.to_job(
        name="quote",
        description="What it would cost to materialize assets now. It sends nothing.",
        executor_def=in_process,
    )
