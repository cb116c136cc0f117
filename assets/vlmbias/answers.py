"""Tables of answers: read from curly brackets, scored, and kept from one run to the next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from logging import Logger
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, MaterializeResult, StaticPartitionsDefinition

from assets.kit.choice import entry_digest
from assets.kit.columns import REAL, TEXT, TEXTS, Columns, materialized
from assets.kit.limits import Placed, in_order, partial_metadata
from assets.kit.previews import markdown_table
from assets.vlmbias.partitions import drawn_topics, topics
from assets.vlmbias.prompting import VARIANTS, Posed, asked, posed
from assets.vlmbias.questions import ASKED
from assets.vlmbias.results import results_of
from metrics import BASELINE, Parsed, read_count, read_name, read_yes_no, score
from resources.faults import Corrupt
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Model

ANSWERS = Columns(
    **ASKED.columns,
    model=(TEXT, "The judge, as models.yaml names it"),
    judge_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    prompting=(TEXT, "baseline, debiased, double-check or in-image title"),
    prompt=(TEXT, "What it was sent beside the image; a second turn stands below"),
    shown=(TEXT, "sha256 of the picture that it was sent"),
    first_response=(TEXT, "What it said before it was asked to double-check; else empty"),
    response=(TEXT, "What it said; empty where it was stopped before, or failed"),
    answer=(TEXT, "What was read from its curly brackets; empty where nothing could be"),
    outcome=(TEXT, "answered, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety or model, if it refused; else empty"),
    reason=(TEXT, "The provider's reason for a refusal, or the last error; else empty"),
    served_model=(TEXT, "Which model answered, as the provider says; empty where it does not"),
    score=(REAL, "1 right, 0 wrong or unparsed; empty where it refused or failed"),
    calls=(TEXTS, "Keys of the stored calls behind this row; none for a reference judge"),
)

_NAMED = ["image_id", "sha256", "question_id", "question"]
_ONCE = [*_NAMED, "prompting"]
_PLACED = [*_NAMED, "subtopic", "size"]
_SHOWN = ["image_id", "prompting", "question", "response", "ground_truth", "outcome"]

Ending = dict[str, Any]
"""How one question ended: the columns `response`, `first_response`, `outcome` (where there is no
response), `refusal`, `reason`, `served_model` and `calls`, as far as there is something."""


def is_reference(model: Model) -> bool:
    """Whether this judge is one of our own, that bracket the real ones and cost nothing."""
    return model.backend == "offline"


def topics_of(model: Model) -> StaticPartitionsDefinition:
    """The topics of which a judge can be asked; nobody measures a photograph."""
    measures = model.backend == "offline" and model.model == "pixels"
    return drawn_topics if measures else topics


def table_before(context: AssetExecutionContext, home: Home) -> pd.DataFrame:
    """The stored table of this judge and topic; empty where there is none that can be used."""
    try:
        table = home.table(context.asset_key, context.partition_key)
    except FileNotFoundError:
        pass
    except Corrupt as error:
        context.log.warning("%s What it held of other ways of prompting is lost.", error)
    else:
        if list(table.columns) == list(ANSWERS.columns):
            return table
        context.log.warning("The stored answers have other columns than now: all are dropped.")
    none: pd.DataFrame = ANSWERS.table([]).to_pandas()
    return none


def put_to(
    model: Model,
    questions: pd.DataFrame,
    prompting: Sequence[str],
    before: pd.DataFrame,
    images: ImageStore,
    ledger: WorkLedger,
    limit: int | None = None,
) -> list[Posed]:
    """What a judge is asked now, of each variant no more than `limit` questions.

    A reference judge is asked again what it answered before: that costs nothing, and its own code
    may have changed.
    """
    again = set(before["prompting"]) if is_reference(model) else set()
    return [
        each
        for name in VARIANTS
        if name in {*prompting, *again}
        for each in posed(asked_of(model, questions, name, limit), name, images, ledger)
    ]


def answer_table(
    context: AssetExecutionContext,
    model: Model,
    questions: pd.DataFrame,
    before: pd.DataFrame,
    put: Sequence[Posed],
    endings: Sequence[Ending],
    images: ImageStore,
    **metadata: Any,
) -> MaterializeResult[pa.Table]:
    """A judge's table: what it was asked now, and what stays of `before` under other promptings."""
    rows = [
        {
            **each.question,
            "model": model.name,
            "judge_version": entry_digest(model),
            "prompting": each.prompting,
            "prompt": "\n\n".join(filter(None, [each.prompt, each.follow_up])),
            "shown": each.shown,
            "calls": [],
            **ending,
        }
        for each, ending in zip(put, endings, strict=True)
    ]
    tables = dict(list(ANSWERS.table(scored(rows)).to_pandas().groupby("prompting")))
    tables |= _staying(before, model, questions, set(tables), context.log)
    table = pd.concat([tables[name] for name in VARIANTS if name in tables])
    whole = all_of(model, questions, tables)
    return materialized(
        ANSWERS.table(table),
        answers=len(table),
        **Counter(table["outcome"]),
        prompting=list(table["prompting"].unique()),
        **partial_metadata(len(table), whole, "questions"),
        sample=markdown_table(table[_SHOWN].iloc[:: max(1, len(table) // 10)].head(10)),
        **results_of(table, images),
        **_served(table, before, context.log),
        **metadata,
    )


def asked_of(
    model: Model, questions: pd.DataFrame, prompting: str, limit: int | None = None
) -> pd.DataFrame:
    """Those of a topic's questions that are this judge's under a prompting.

    Of no more than `limit`, those of Q1 and Q2 are the same under every prompting, as far as they
    go: the order is that of the baseline.
    """
    found = asked(questions, prompting, reference=is_reference(model))
    if limit is None or limit >= len(found):
        return found
    every = list(questions[_PLACED].itertuples(index=False, name=None))
    of_judge = set(found[_PLACED].itertuples(index=False, name=None))
    order = [row for row in in_order(every, _placed) if row in of_judge]
    first = pd.MultiIndex.from_tuples(order[:limit])
    chosen = pd.MultiIndex.from_frame(found[_PLACED]).isin(first)
    return found[chosen].reset_index(drop=True)


def _placed(question: tuple[Any, ...]) -> Placed:
    image_id, _, question_id, text, subtopic, size = question
    return Placed(f"{image_id}/{question_id}/{text}", (subtopic, str(size)))


def all_of(model: Model, questions: pd.DataFrame, promptings: Iterable[str]) -> int:
    """How many questions a judge has to answer under some promptings."""
    return sum(len(asked_of(model, questions, name)) for name in promptings)


def same_questions(answers: pd.DataFrame, questions: pd.DataFrame) -> bool:
    """Whether these answers are to these questions, in their order, and have today's columns."""
    same_columns = list(answers.columns) == list(ANSWERS.columns)
    return same_columns and bool(ASKED.table(answers).equals(ASKED.table(questions)))


def not_ended(model: Model, answers: pd.DataFrame, questions: pd.DataFrame) -> pd.DataFrame:
    """The questions without exactly one row under a prompting, and rows that did not end well.

    Of answers that a limit has cut short, only its questions count. Columns: image_id,
    question_id, prompting, problem; no rows where all is as it should be.
    """
    promptings = list(answers["prompting"].unique()) or [BASELINE]
    expected = pd.concat(
        [_expected(model, questions, name, answers).assign(prompting=name) for name in promptings]
    )
    rows = answers.groupby(_ONCE).size()
    counts = rows.reindex(rows.index.union(pd.MultiIndex.from_frame(expected[_ONCE])), fill_value=0)
    wanted = expected.groupby(_ONCE).size().reindex(counts.index, fill_value=0)
    miscounted = counts[counts != wanted].reset_index(name="rows")
    miscounted["problem"] = miscounted["rows"].astype(str) + " rows"

    outcome = answers["outcome"]
    given = outcome.isin(["answered", "unparsed"])
    ended = given | outcome.isin(["refused", "failed"])
    fits = (
        (answers["answer"].notna() == (outcome == "answered"))
        & (answers["score"].notna() == given)
        & (answers["response"].notna() | answers["reason"].notna())
        & (answers["refusal"].notna() == (outcome == "refused"))
    )
    unfit = answers[~(ended & fits)]
    unfit = unfit.assign(problem="ended as " + unfit["outcome"].fillna("nothing"))
    columns = ["image_id", "question_id", "prompting", "problem"]
    return pd.concat([miscounted[columns], unfit[columns]], ignore_index=True)


def _expected(
    model: Model, questions: pd.DataFrame, prompting: str, answers: pd.DataFrame
) -> pd.DataFrame:
    """The questions that a table of answers has to hold under a prompting."""
    there = answers.loc[answers["prompting"] == prompting, _NAMED]
    some = asked_of(model, questions, prompting, max(1, len(there)))
    if set(some[_NAMED].itertuples(index=False)) == set(there.itertuples(index=False)):
        return some
    return asked_of(model, questions, prompting)


def scored(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of questions with what was said, with `answer`, `outcome` and `score` added.

    A row without a `response` has its `outcome`, refused or failed. One whose words decline to
    answer is refused by the model itself.
    """
    for row in rows:
        if row.get("response") is None:
            parsed = Parsed(None, row["outcome"])
        else:
            parsed = _read(row)
            if parsed.outcome == "refused":
                row["refusal"] = "model"
        row["answer"], row["outcome"] = parsed.answer, parsed.outcome
        row["score"] = score(parsed, row["ground_truth"])
    return rows


def _read(row: dict[str, Any]) -> Parsed:
    if len(row["accepted"]):
        return read_name(row["response"], list(row["accepted"]))
    read = read_yes_no if row["ground_truth"] in ("Yes", "No") else read_count
    return read(row["response"])


def _staying(
    before: pd.DataFrame,
    model: Model,
    questions: pd.DataFrame,
    asked_now: set[str],
    log: Logger,
) -> dict[str, pd.DataFrame]:
    """By prompting: the rows of variants that are not asked now, if they are still of use."""
    stay = {}
    for name in sorted(set(before["prompting"]) - asked_now):
        rows = before[before["prompting"] == name]
        why = None
        if name not in VARIANTS or not same_questions(
            rows, asked_of(model, questions, name, len(rows))
        ):
            why = "the questions have changed"
        elif set(rows["judge_version"]) != {entry_digest(model)}:
            why = f"the entry of {model.name} in models.yaml has changed"
        if why is None:
            stay[name] = rows
        else:
            log.warning(
                "%d answers under %s are dropped, since %s. To have them again, materialize with "
                "prompting: [%s].",
                len(rows),
                name,
                why,
                name,
            )
    return stay


def _served(table: pd.DataFrame, before: pd.DataFrame, log: Logger) -> dict[str, Any]:
    """Which models the provider says it served; a change of them is logged."""
    now, earlier = (sorted(each["served_model"].dropna().unique()) for each in (table, before))
    if len(now) > 1 or (now and earlier and now != earlier):
        change = f"before: {', '.join(earlier) or 'unknown'}; now: {', '.join(now)}"
        log.warning("The provider has changed which model answers. Served %s", change)
        return {"served_models": now, "served_model_changed": change}
    return {"served_models": now}
