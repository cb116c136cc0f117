"""Scores: what each metric and judge makes of both pictures of a pair, under the same text."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, AssetsDefinition, MaterializeResult

from assets.kit.choice import entry_digest
from assets.kit.columns import BOOLEAN, REAL, TEXT, TEXTS, WHOLE, Columns, materialized, records
from assets.kit.cost_metadata import cost_metadata
from assets.kit.limits import Limited, partial_metadata
from assets.kit.pictures import Row
from assets.kit.previews import markdown_table
from assets.protobias.common import key, scores_of, table_asset
from assets.protobias.own_scores import endings, read_scores
from assets.protobias.partitions import domain_and_painter, pairs
from assets.protobias.scoring import (
    REFERENCES,
    ended,
    formula_of,
    is_filed,
    scorers,
    to_score,
)
from assets.protobias.selection import first_pairs
from metrics.pairs import pair_scores
from resources.budget import Budget
from resources.home import Home
from resources.images import ImageStore
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient

SCORES = Columns(
    domain=(TEXT, "animals, demography or objects"),
    painter=(TEXT, "Who painted it, as models.yaml names it"),
    concept_id=(TEXT, "The concept that it shows"),
    group=(TEXT, "Subcategory of the taxonomy"),
    concept=(TEXT, "The cell of the taxonomy in words"),
    knob=(TEXT, "Which trait of the extra element differs in the adversarial picture"),
    text=(TEXT, "The sentence by which it is scored"),
    pair_id=(TEXT, "Concept and sample"),
    side=(TEXT, "correct or adversarial"),
    image_id=(TEXT, "Painter, pair and side"),
    sha256=(TEXT, "Name of the picture in the image store"),
    rank=(WHOLE, "Place of the pair in the order of the evaluation"),
    metric=(TEXT, "The metric or judge, as models.yaml names it"),
    formula=(
        TEXT,
        "What its raw score is: clip_score, pick_score, vqa_score, vision_score, "
        "judge, reference, or own (a metric of the user's)",
    ),
    metric_version=(TEXT, "Digest of its backend, the provider's model id and the parameters"),
    kin=(BOOLEAN, "Whether it is of the family of the filter that kept these pairs"),
    outcome=(TEXT, "scored, unparsed, refused or failed"),
    refusal=(TEXT, "content filter, image safety, no image or model, if refused; else empty"),
    raw=(REAL, "The score as it was given: a cosine, a probability, 1 to 4; empty where none"),
    response=(TEXT, "What it said in words; empty for a metric that says none"),
    reason=(TEXT, "Why there is no score; else empty"),
    served_model=(TEXT, "Which model scored it, as the provider says; empty where it does not"),
    rehearsal=(BOOLEAN, "Whether the pictures are a rehearsal, so that it is no result"),
    calls=(TEXTS, "Keys of the stored calls behind it; none for a reference"),
)
"""One row an image of the evaluation set."""

_CARRIED = [
    *("domain", "painter", "concept_id", "group", "concept", "knob", "text", "pair_id", "side"),
    *("image_id", "sha256", "rank", "rehearsal"),
]
_TAKEN = [*_CARRIED, "evaluated", "filter_family"]
_PAIRS = {"filtered_pairs": AssetIn(key("filtered_pairs"), metadata={"columns": _TAKEN})}
_SHOWN = ["pair_id", "side", "outcome", "raw", "response", "reason"]
_PAIRS_SHOWN = 5


def scores_by(catalog: Catalog) -> tuple[AssetsDefinition, ...]:
    """An asset of scores for every judge and metric of a catalog."""
    return tuple(map(_scores_of, scorers(catalog)))


def _scores_of(model: Model) -> AssetsDefinition:
    if model.rehearses:
        return _reference(model)
    return _filed(model) if is_filed(model) else _asked(model)


def to_evaluate(filtered: pd.DataFrame) -> Sequence[Row]:
    """The pictures of the evaluation set, in the order of the table."""
    return records(filtered.loc[filtered["evaluated"], _TAKEN])


def _asked(model: Model) -> AssetsDefinition:
    """The scores of a model that is asked, each once."""

    @_asset(model, f"Scores of {model.model} ({formula_of(model)}), through {model.backend}.")
    def scores(
        context: AssetExecutionContext,
        config: Limited,
        filtered_pairs: pd.DataFrame,
        models: ModelClient,
        budget: Budget,
    ) -> MaterializeResult[pa.Table]:
        pictures = first_pairs(to_evaluate(filtered_pairs), config.limit)
        requests = [to_score(model, row["text"], row["sha256"]) for row in pictures]
        asked = models.ask(model, requests, context.log, budget.account(context))
        rows = [
            {**_row(model, picture), **ended(outcome), "calls": list(calls)}
            for picture, outcome, calls in zip(pictures, asked.outcomes, asked.keys, strict=True)
        ]
        return _table(context, rows, filtered_pairs, **cost_metadata(asked))

    return scores


def _reference(model: Model) -> AssetsDefinition:
    """The scores of a reference judge."""

    @_asset(model, f"Scores of the reference judge `{model.model}`.")
    def scores(
        context: AssetExecutionContext,
        config: Limited,
        filtered_pairs: pd.DataFrame,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        score = REFERENCES[model.model]
        pictures = first_pairs(to_evaluate(filtered_pairs), config.limit)
        rows = [{**_row(model, picture), **score(picture, images)} for picture in pictures]
        return _table(context, rows, filtered_pairs)

    return scores


def _filed(model: Model) -> AssetsDefinition:
    """The scores of a metric of the user's own, read from a file."""

    @_asset(model, f"Scores of a metric of your own, from {model.model}.")
    def scores(
        context: AssetExecutionContext, config: Limited, filtered_pairs: pd.DataFrame, home: Home
    ) -> MaterializeResult[pa.Table]:
        """Raises `BadScores` for a file that cannot be read; single rows of no use are named."""
        domain, painter = domain_and_painter(context.partition_key)
        given = read_scores(model, home, painter)
        pictures = first_pairs(to_evaluate(filtered_pairs), config.limit)
        ended, wrong = endings(given, model, domain, list(filtered_pairs["pair_id"]), pictures)
        rows = [
            {**_row(model, picture), **ending, "metric_version": given.version}
            for picture, ending in zip(pictures, ended, strict=True)
        ]
        told: dict[str, Any] = {}
        if len(wrong):
            context.log.warning("%s: %d rows are of no use.", given.path, len(wrong))
            told = {"bad_rows": len(wrong), "rows_of_no_use": markdown_table(wrong.head(100))}
        return _table(context, rows, filtered_pairs, file=str(given.path), **told)

    return scores


def _asset(
    model: Model, description: str
) -> Callable[[Callable[..., MaterializeResult[pa.Table]]], AssetsDefinition]:
    return table_asset(
        key=scores_of(model.name),
        kinds=["metric" if "metric" in model.roles else "judge", model.backend],
        partitions=pairs,
        pool=model.name,
        columns=SCORES,
        ins=_PAIRS,
        description=description,
        code_version=entry_digest(model),
    )


def _row(model: Model, picture: Row) -> dict[str, Any]:
    return {
        **{name: picture[name] for name in _CARRIED},
        "rank": int(picture["rank"]),
        "metric": model.name,
        "formula": formula_of(model),
        "metric_version": entry_digest(model),
        "kin": model.family == picture["filter_family"],
        "calls": [],
    }


def _table(
    context: AssetExecutionContext,
    rows: Sequence[dict[str, Any]],
    filtered: pd.DataFrame,
    **metadata: Any,
) -> MaterializeResult[pa.Table]:
    """The scores, with what can be said of them already."""
    table = SCORES.table(rows)
    if not rows:
        context.log.warning(
            "protobias/filtered_pairs (%s) evaluates no pair, so that there is nothing to score.",
            context.partition_key,
        )
        return materialized(table, pairs=0, **metadata)
    if any(row["kin"] for row in rows):
        metadata["warning"] = (
            f"{rows[0]['metric']} is of the family of the filter that kept these pairs: they may "
            "be easier for it. Filter by a model of another family, or set its scores apart."
        )
        context.log.warning("%s", metadata["warning"])
    scores = table.to_pandas()
    found = pair_scores(scores.assign(sample="", score=scores["raw"]))
    by_knob = found.groupby("knob")["fails"].agg(pairs="size", scored="count")
    if found["fails"].notna().any():
        metadata["failure_rate"] = round(float(found["fails"].mean()), 4)
    return materialized(
        table,
        pairs=len(found),
        **partial_metadata(len(rows) // 2, int(filtered["evaluated"].sum()) // 2, "pairs"),
        pairs_scored=int(found["fails"].count()),
        ties=int(found["tie"].sum()),
        **Counter(scores["outcome"]),
        retention=markdown_table(by_knob.reset_index()),
        served_models=sorted(scores["served_model"].dropna().unique()),
        sample=markdown_table(_some(scores)[_SHOWN]),
        **metadata,
    )


def _some(scores: pd.DataFrame) -> pd.DataFrame:
    """Both sides of a few pairs, evenly chosen."""
    names = scores["pair_id"].drop_duplicates()
    return scores[scores["pair_id"].isin(names.iloc[:: -(-len(names) // _PAIRS_SHOWN)])]
