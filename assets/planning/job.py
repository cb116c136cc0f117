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
from assets.planning.lines import quote_tasks
from assets.planning.quote_selection import AssetsByKey, SelectionConfig, select_quoted_tasks
from assets.planning.quote_text import format_markdown, format_text
from resources.models.client import ModelClient
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache


class QuoteConfig(SelectionConfig):
    """Selection to quote; everything by default."""

    select: str = Field(default="*", description=SelectionConfig.model_fields["select"].description)


def build_quote_job(planners: Planners, assets: Callable[[], AssetsByKey]) -> JobDefinition:
    """The job `quote`: its run says what materializing a selection would ask and cost.

    `assets` gives those that there are, once all are loaded. The table stands in the run's log and
    in the metadata of its one output.
    """

    @op(name="quote", description="Counts and prices what assets would ask; sends nothing.")
    def quote_assets(
        context: OpExecutionContext,
        config: QuoteConfig,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
    ) -> None:
        select, partitions, ops_config = config.select, config.partitions, config.config
        chosen = select_quoted_tasks(
            assets(), planners, context.instance, select, partitions, ops_config
        )
        sources = PlanContext(
            home=home,
            images=images,
            work_cache=work_cache,
            calls=models.calls,
            planned_configs=chosen.planned_configs,
        )
        quote = quote_tasks(planners, sources, chosen.tasks)
        context.log.info("The quote:\n%s", format_text(quote, chosen.silent_assets))
        context.add_output_metadata(
            {"quote": MetadataValue.md(format_markdown(quote, chosen.silent_assets))}
        )

    return build_op_job(
        "quote", quote_assets, "Quotes the cost of materializing assets now. Sends no request."
    )


def build_op_job(
    name: str, work: OpDefinition, description: str, resources: Mapping[str, Any] | None = None
) -> JobDefinition:
    """The job of one op."""
    # A graph of its own name: Dagster lets a job not be called as its op is.
    return GraphDefinition(name=f"{name}_alone", node_defs=[work]).to_job(
        name=name, description=description, resource_defs=resources
    )
