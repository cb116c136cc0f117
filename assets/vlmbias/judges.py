"""An asset of answers for every judge in models.yaml, with accuracy and report over them all."""

from collections.abc import Callable, Sequence

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetChecksDefinition,
    AssetExecutionContext,
    AssetIn,
    AssetsDefinition,
    MaterializeResult,
)

from assets.kit.choice import entry_digest
from assets.kit.columns import records
from assets.vlmbias.accuracy import accuracy_over
from assets.vlmbias.answers import (
    ANSWERS,
    Ending,
    answer_table,
    is_reference,
    put_to,
    table_before,
    topics_of,
)
from assets.vlmbias.checks import checks_of_answers, truths_hold
from assets.vlmbias.common import GROUP, answers_of, table_asset
from assets.vlmbias.looking import look
from assets.vlmbias.prompting import Posed, Prompting
from assets.vlmbias.report import report_over
from resources.budget import Budget
from resources.home import Home
from resources.images import ImageStore
from resources.judges import InformedJudge, Judge, PixelsJudge, PriorJudge, RandomJudge
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient

_QUESTIONS = {"questions": AssetIn([GROUP, "questions"])}
_INFORMED: dict[str, Callable[[int], InformedJudge]] = {
    "prior": lambda seed: PriorJudge(),
    "random": RandomJudge,
}
"""The reference judges that are told the expected bias, by model; each is made from a seed."""

Definition = AssetsDefinition | AssetChecksDefinition


def judged(catalog: Catalog) -> tuple[Definition, ...]:
    """Answers of every judge in the catalog with their checks, `accuracy` and `report`."""
    judges = catalog.with_role("judge")
    writers = [writer for writer in catalog.with_role("writer") if not is_reference(writer)]
    each = [definition for judge in judges for definition in _of(judge)]
    return *each, accuracy_over(judges), report_over(judges, writers)


def _of(model: Model) -> Sequence[Definition]:
    if model.backend != "offline":
        return _asked(model), checks_of_answers(model)
    if model.model in _INFORMED:
        return _informed(model, _INFORMED[model.model]), checks_of_answers(model)
    return _pixels(model), checks_of_answers(model), truths_hold(model)


def _answers_asset(
    model: Model, description: str, **ins: AssetIn
) -> Callable[[Callable[..., MaterializeResult[pa.Table]]], AssetsDefinition]:
    return table_asset(
        key=answers_of(model.name),
        kinds=["judge", model.backend],
        partitions=topics_of(model),
        pool=model.name,
        columns=ANSWERS,
        ins=_QUESTIONS | ins,
        description=description,
        code_version=entry_digest(model),
    )


def _asked(model: Model) -> AssetsDefinition:
    """The answers of a real judge, each asked once."""

    @_answers_asset(model, f"Answers of {model.model}, asked through {model.backend}.")
    def answers(
        context: AssetExecutionContext,
        config: Prompting,
        questions: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
    ) -> MaterializeResult[pa.Table]:
        before = table_before(context, home)
        put = put_to(model, questions, config.prompting, before, images, ledger, config.limit)
        endings, cost = look(models, model, put, context.log, budget.account(context))
        return answer_table(context, model, questions, before, put, endings, images, **cost)

    return answers


def _informed(model: Model, judge_of: Callable[[int], InformedJudge]) -> AssetsDefinition:
    """The answers of a reference judge that is told the expected bias."""

    @_answers_asset(
        model, f"Answers of the reference judge `{model.model}`, which is told the expected bias."
    )
    def answers(
        context: AssetExecutionContext,
        config: Prompting,
        questions: pd.DataFrame,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
    ) -> MaterializeResult[pa.Table]:
        judge = judge_of(int(questions["seed"].iloc[0]))
        before = table_before(context, home)
        put = put_to(model, questions, config.prompting, before, images, ledger, config.limit)
        endings = [
            _said(
                each,
                judge.answer_informed(
                    each.prompt, images.get(each.shown), each.question["expected_bias"]
                ),
            )
            for each in put
        ]
        return answer_table(context, model, questions, before, put, endings, images)

    return answers


def _pixels(model: Model) -> AssetsDefinition:
    """The answers of the reference judge that looks, from what was read in the very same bytes.

    A picture with a title above it was read by nobody: it measures that itself.
    """

    @_answers_asset(
        model,
        f"Answers of the reference judge `{model.model}`, which measures the image it is shown.",
        measurements=AssetIn(
            [GROUP, "measurements"], metadata={"columns": ["sha256", "target", "measured"]}
        ),
    )
    def answers(
        context: AssetExecutionContext,
        config: Prompting,
        questions: pd.DataFrame,
        measurements: pd.DataFrame,
        home: Home,
        images: ImageStore,
        ledger: WorkLedger,
    ) -> MaterializeResult[pa.Table]:
        judge: Judge = PixelsJudge(
            {
                (row["sha256"], row["target"]): row["measured"]
                for row in records(measurements.dropna(subset="measured"))
            }
        )
        before = table_before(context, home)
        put = put_to(model, questions, config.prompting, before, images, ledger, config.limit)
        endings = [_said(each, judge.answer(each.prompt, images.get(each.shown))) for each in put]
        return answer_table(context, model, questions, before, put, endings, images)

    return answers


def _said(put: Posed, response: str) -> Ending:
    """What a reference judge said; asked to double-check, it says the same again."""
    return {"response": response, "first_response": response if put.follow_up else None}
