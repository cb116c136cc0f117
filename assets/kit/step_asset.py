"""The asset of a step: ask what is missing, read the replies, check the table, store it."""

import inspect
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import pandas as pd
from dagster import (
    AssetCheckSpec,
    AssetExecutionContext,
    AssetIn,
    AssetKey,
    AssetsDefinition,
    MaterializeResult,
    PreviewWarning,
    asset,
)

from assets.kit.checks import build_checks
from assets.kit.columns import (
    TableRows,
    require_stand_in_marks,
    select_values,
    to_materialize_result,
)
from assets.kit.conditions import CONDITIONS, condition_cells, conditions_metadata
from assets.kit.conversations import Conversations
from assets.kit.forecast import PENDING, NotCountable, OutdatedRow
from assets.kit.limits import partial_metadata
from assets.kit.pictures import missing_pictures_metadata
from assets.kit.spared_requests import count_spared
from assets.kit.step import Step, StepReply
from assets.kit.step_run import Input, Row, StepRun
from assets.kit.table_asset import OWNERS, NotMaterialized
from assets.kit.token_counts import OUTPUT_TOKENS, token_cells
from resources.calls import CallStore
from resources.calls.spending import Account
from resources.models.catalog import Model
from resources.models.client import AskResult, ModelClient
from resources.models.outcomes import Outcome
from resources.models.server_comparison import describe_batch_invariance
from resources.settings.budget import Budget
from resources.storage.data_root import DataRoot
from resources.storage.files import find_local_folder
from resources.storage.image_store import ImageStore
from resources.storage.streamed_tables import StoredTable, TableWriter
from resources.storage.work_cache import WorkCache


def build_step_asset(step: Step[Any]) -> AssetsDefinition:
    """Build the asset that a step makes; its run also reports its checks."""

    def compute(
        context: AssetExecutionContext,
        config: Any,
        home: DataRoot,
        images: ImageStore,
        work_cache: WorkCache,
        models: ModelClient,
        budget: Budget,
        **tables: pd.DataFrame | StoredTable,
    ) -> MaterializeResult[Any]:
        partition = context.partition_key if context.has_partition_key else ""
        frames = {n: table for n, table in tables.items() if isinstance(table, pd.DataFrame)}
        stored = {n: table for n, table in tables.items() if isinstance(table, StoredTable)}

        def find_table(asset: AssetKey, partition: str) -> pd.DataFrame | None:
            return home.find(asset, partition or None)

        work = StepRun(
            partition=partition,
            config=config,
            tables=frames,
            inputs=step.inputs,
            home=home,
            images=images,
            work_cache=work_cache,
            log=context.log,
            find_table=find_table,
            stored_tables=stored,
        )
        if warning := step.forecast.warn(partition, config):
            context.log.warning("%s", warning)
        account = step.limit_account(work, budget.build_account(context), models.calls)
        rows, ask_results = query_models(step, work, models, account)
        extent = step.extent(work, rows)
        endings = select_values(rows, step.table.outcome_column)
        outcomes = Counter(str(outcome) for (outcome,) in endings if outcome)
        metadata = {
            **{name.replace(" ", "_"): number for name, number in outcomes.items()},
            **(partial_metadata(extent.count, extent.total, extent.unit) if extent else {}),
            **({"warning": warning} if warning else {}),
            **step.metadata(work, rows),
            **missing_pictures_metadata(step, work, outcomes["failed"]),
            **(cost_metadata(*ask_results) if ask_results else {}),
            **_spared_metadata(step, work, rows, models.calls),
            **_comparison_metadata(step, home),
            **(
                conditions_metadata(step.key, partition, rows, home, context.log)
                if CONDITIONS in step.table.columns.columns
                else {}
            ),
        }
        table = rows.table if isinstance(rows, TableRows) else step.build_table(rows)
        result = to_materialize_result(table, **metadata)
        return result._replace(
            check_results=[
                check.passes(work, rows)._replace(check_name=check.name)
                for check in build_checks(step)
            ]
        )

    return asset(
        key=step.key,
        group_name=step.key.path[0],
        owners=OWNERS,
        kinds={"python", "parquet", *step.asset.kinds},
        partitions_def=step.asset.partitions,
        ins={name: _to_asset_in(input_spec) for name, input_spec in step.inputs.items()},
        deps=step.asset.deps,
        pool=step.asset.pool or step.key.path[-1],
        description=step.asset.description or inspect.getdoc(step),
        metadata=step.table.columns.dagster_metadata(),
        code_version=step.asset.code_version,
        check_specs=_build_check_specs(step),
    )(_set_signature(compute, step))


def query_models(
    step: Step[Any], work: StepRun[Any], models: ModelClient, account: Account
) -> tuple[Sequence[Row], list[AskResult]]:
    """The finished rows of a step, and what was asked for them, round by round.

    A further turn is sent once all earlier ones of the round have ended. Raises `OutdatedRow`,
    and `NotMaterialized` where an upstream table is missing.
    """
    model = step.model(work.partition, work.config)
    if not step.table.has_portions:
        (rows,) = _iterate_portions(step, work)
        return _query_rows(step, work, rows, models, model, account)
    scratch = find_local_folder(work.home.path())
    with TableWriter(step.table.columns.schema, scratch) as table:

        def write(rows: Sequence[dict[str, Any]]) -> list[AskResult]:
            finished, ask_results = _query_rows(step, work, rows, models, model, account)
            portion = step.build_table(finished)
            require_stand_in_marks(portion)
            table.write(portion)
            return [result._replace(outcomes=[], keys=[]) for result in ask_results]

        # A loop would keep the last portion while the next one is made; `map` keeps none.
        rounds = [*chain.from_iterable(map(write, _iterate_portions(step, work)))]
        return TableRows(table.finish()), rounds


def _iterate_portions(step: Step[Any], work: StepRun[Any]) -> Iterator[Sequence[dict[str, Any]]]:
    try:
        step.require(work)
        yield from map(partial(step.prepare, work), step.table.split(step.rows(work)))
    except NotCountable as missing:
        raise NotMaterialized(
            f"{step.key.to_user_string()}: {missing} has no table that it can be made of. "
            f"Materialize {missing} first."
        ) from None


def _query_rows(
    step: Step[Any],
    work: StepRun[Any],
    rows: Sequence[dict[str, Any]],
    models: ModelClient,
    model: Model | None,
    account: Account,
) -> tuple[Sequence[dict[str, Any]], list[AskResult]]:
    for row in rows:
        if row.get(step.table.outcome_column) == PENDING:
            raise OutdatedRow(
                (step.forecast.describe_outdated or partial(_describe_outdated, step))(row)
            )
    conversations = Conversations(step.converse(work, row) for row in rows)
    rounds, outcomes = [], defaultdict[int, list[Outcome]](list)
    while (waiting := conversations.pending_requests) and model is not None:
        result = models.ask(model, [*waiting.values()], work.log, account)
        rounds.append(result)
        for index, outcome, calls in zip(waiting, result.outcomes, result.keys, strict=True):
            conversations.resume(index, StepReply(outcome, calls))
            outcomes[index].append(outcome)
    columns = step.table.columns.columns
    for index, row in enumerate(rows):
        # In place: another copy of all rows is what takes most memory.
        row.update(conversations.finished_rows.pop(index))
        if CONDITIONS in columns:
            row.update(condition_cells(next(reversed(outcomes[index]), None)))
        # A stand-in states its own, if any.
        if OUTPUT_TOKENS in columns and model is not None:
            row.update(token_cells(outcomes[index]))
    return step.finish(work, rows), rounds


def _describe_outdated(step: Step[Any], row: Row) -> str:
    inputs = ", ".join(input_spec.asset.to_user_string() for input_spec in step.inputs.values())
    return f"{step.key.to_user_string()}: {inputs} were not made together. Make them again."


def _to_asset_in(input_spec: Input) -> AssetIn:
    columns = input_spec.selected_columns
    metadata: dict[str, Any] = {"columns": list(columns)} if columns else {}
    optional = {"optional": True} if input_spec.is_optional else {}
    return AssetIn(input_spec.asset, metadata=metadata | optional)


def _build_check_specs(step: Step[Any]) -> list[AssetCheckSpec]:
    with warnings.catch_warnings():
        # Dagster marks partitioned checks as a preview: it need not say so each time.
        warnings.filterwarnings("ignore", "Specifying a partitions_def", PreviewWarning)
        return [
            AssetCheckSpec(
                check.name,
                asset=step.key,
                description=check.description,
                blocking=check.blocking,
                partitions_def=step.asset.partitions,
            )
            for check in build_checks(step)
        ]


def _set_signature(compute: Any, step: Step[Any]) -> Any:
    """Give a function the signature that Dagster reads: the step's config and its inputs."""
    signature = inspect.signature(compute)
    parameters = [
        parameter.replace(annotation=step.config) if name == "config" else parameter
        for name, parameter in signature.parameters.items()
        if name != "tables"
    ]
    parameters += [
        inspect.Parameter(
            name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=StoredTable if input_spec.streamed_columns else pd.DataFrame,
        )
        for name, input_spec in step.inputs.items()
    ]
    # Without the result's type, which Dagster would take for that of several outputs.
    compute.__signature__ = signature.replace(
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    compute.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return compute


def _comparison_metadata(step: Step[Any], home: DataRoot) -> dict[str, Any]:
    """Metadata of how a judge's answers depend on what else it is asked, where it was compared."""
    judge = step.asset.subject_model
    if judge is None or judge.is_stand_in:
        return {}
    compared = describe_batch_invariance(home.path(), judge)
    return {} if compared is None else {"batch_invariance": compared}


def _spared_metadata(
    step: Step[Any], work: StepRun[Any], rows: Sequence[Row], calls: CallStore
) -> dict[str, str]:
    """Metadata of the requests that a rule spared, and of what they would have cost."""
    model = step.model(work.partition, work.config)
    if model is None:
        return {}
    requests = (request for row in rows for request in step.forecast.spared_requests(work, row))
    spared = count_spared(model, requests, calls, work.images)
    return {"decided_by_rule": spared.describe()} if spared.number else {}


def cost_metadata(*results: AskResult) -> dict[str, Any]:
    """Build metadata of the requests and costs of an asset that asked models once or more often.

    `spent_usd` is "unknown" where a price is. Requests that timed out or were broken off may have
    been charged: `possibly_spent_usd`, not `spent_usd`, has their upper bound.
    """
    spent = [result.spent for result in results]
    return {
        "requests_sent": sum(result.sent for result in results),
        "requests_known_before": sum(result.already_stored for result in results),
        "spent_usd": "unknown" if None in spent else round(sum(filter(None, spent)), 9),
        "possibly_spent_usd": round(sum(result.possibly_spent for result in results), 9),
    }
