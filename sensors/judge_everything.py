"""The job `judge_everything`: one judge or metric over all benchmarks, from Dagster's pages."""

import math
from collections.abc import Callable

from dagster import (
    Failure,
    JobDefinition,
    MetadataValue,
    OpExecutionContext,
    RepositoryDefinition,
    op,
)
from pydantic import Field

from assets.kit.judge_tasks import JudgeTaskFinder, find_judge
from assets.kit.partitions import add_painters
from assets.kit.plan import PlanContext
from assets.planning import format_markdown, format_text
from assets.planning.job import build_op_job
from assets.planning.judge_quote import JudgeScope, find_benchmarks, quote_judge
from assets.planning.obstacles import Limits, find_obstacles, require_no_obstacles
from resources.models.catalog import Catalog
from resources.models.client import ModelClient
from resources.settings.budget import MAX_USD, Budget
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from sensors.judge_runs import JudgeRuns
from sensors.run_launcher import SharedBudget

PARENT_RUN_TAG = "counterfactory/judged_by"
"""The tag of a run that the job has begun: the run of the job."""


class JudgeEverythingConfig(Config):
    """Judge, benchmarks and budget of the run."""

    judge: str = Field(description="A judge or metric listed in models.yaml.")
    benchmarks: list[str] = Field(default=[], description="Benchmarks to run. Default: all.")
    budget_usd: float | None = Field(
        default=None,
        ge=0,
        le=MAX_USD,
        allow_inf_nan=False,
        description=(
            "Maximum total spending in US dollars. Without it no paid request is sent, unless "
            "`no_budget` is set."
        ),
    )
    no_budget: bool = Field(default=False, description="Run without a limit on spending.")
    limit: int | None = Field(
        default=None, ge=1, description="Ask about at most this many items per partition (a trial)."
    )
    stand_ins: bool = Field(
        default=False, description="Also ask about the output of stand-ins, to try everything out."
    )


def build_judge_everything_job(
    catalog: Catalog, repository: Callable[[], RepositoryDefinition]
) -> JobDefinition:
    """The job `judge_everything`; `repository` gives what there is, once all is loaded."""

    @op(
        name="judge_everything",
        description="Quotes what one judge would be asked by every benchmark, then has it "
        "answer: a run for each partition, within one budget. Run it again, and only the rest is "
        "asked.",
    )
    def judge_everything(
        context: OpExecutionContext,
        config: JudgeEverythingConfig,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
        budget: Budget,
    ) -> None:
        add_painters(context.instance, catalog)
        assets = repository().assets_defs_by_key
        judge = find_judge(catalog, config.judge)
        benchmarks = find_benchmarks(config.benchmarks)
        scope = JudgeScope(
            judge=judge, benchmarks=benchmarks, limit=config.limit, stand_ins=config.stand_ins
        )
        task_finder = JudgeTaskFinder(catalog, home, context.instance, assets)
        judge_quote = quote_judge(
            task_finder,
            PlanContext(home=home, images=images, work_cache=work_cache, calls=models.calls),
            scope,
        )
        quote_text = "\n".join([format_text(judge_quote.quote, []), *judge_quote.notes()])
        context.log.info("The quote:\n%s", quote_text)
        table = "\n".join(
            [
                format_markdown(judge_quote.quote, []),
                "",
                *(f"- {note}" for note in judge_quote.notes()),
            ]
        )
        quote = {"quote": MetadataValue.md(table)}
        if not judge_quote.is_ready:
            raise Failure(f"Nothing can be asked.\n{quote_text}", metadata=quote)
        context.add_output_metadata(quote)
        limits = Limits(config.budget_usd, budget.per_run_usd, budget.per_month_usd)
        if config.budget_usd is None and not config.no_budget and not judge_quote.is_free:
            for obstacle in find_obstacles(
                judge_quote.judge_totals, limits._replace(total=math.inf)
            ):
                context.log.warning("%s", obstacle)
            context.log.warning(
                "Nothing was sent. Set budget_usd to the most that it may spend, or no_budget."
            )
            return
        require_no_obstacles(judge_quote.judge_totals, limits)
        spending = SharedBudget(config.budget_usd, budget.per_run_usd, models.calls.sum_spending)
        tags = {PARENT_RUN_TAG: context.run_id}
        judging = JudgeRuns(repository().asset_graph, task_finder, judge_quote, spending, **tags)
        for run in judging.select_runs():
            begun = judging.launcher.begin(run)
            names = ", ".join(key.to_user_string() for key in run.assets)
            context.log.info("%s %s: the run %s", names, run.partition, begun.run_id)
            for _ in judging.launcher.events(begun):
                pass
        for line in dict.fromkeys(judging.launcher.warnings):
            context.log.warning("%s", line)
        messages = [
            *judging.messages,
            *judging.launcher.failed_checks,
            *map(str, judging.launcher.failures),
        ]
        if messages:
            raise Failure("\n".join(messages), metadata=quote)

    return build_op_job(
        "judge_everything",
        judge_everything,
        "One judge or metric over all benchmarks: quoted first, within one budget. "
        "Without a budget it is only quoted, unless it is free.",
    )
