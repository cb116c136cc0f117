"""Table of all of a painter's scores, made comparable: metrics, judges and people."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from assets.kit.columns import REAL, TEXT, Columns, to_records
from assets.kit.conditions import CONDITION_COLUMNS
from assets.kit.table_asset import TablesMismatch
from assets.protobias.common import asset_key, load_by_domain
from assets.protobias.human_scores import HUMAN_SCORES
from assets.protobias.own_scores import compute_file_version
from assets.protobias.scorers import is_filed
from assets.protobias.scores import SCORES
from assets.protobias.selection import expected_pairs
from metrics.protobias.normalization import HUMAN, OWN, normalize_scores
from resources.models.catalog import Model
from resources.models.formulas import read_scale
from resources.storage.data_root import DataRoot

EVALUATED = "evaluated"
"""The sample of all pairs of the evaluation set; the other is `HUMAN`."""

_PICTURE = ["pair_id", "side", "sha256", "text"]
_ALIKE = {
    "entry_version": "painted by one entry of models.yaml: materialize protobias/image_pairs",
    "filter": "filtered by one model: materialize protobias/filtered_pairs, with one filter,",
    "min_score": "kept from one score on: materialize protobias/filtered_pairs, with one limit,",
}
"""Columns that must be equal in all domains of a painter."""
_FILTERED_PAIR_COLUMNS = [
    *("image_id", "group", "knob", "rank", "pair_kept", "evaluated", "filter_family"),
    *_ALIKE,
]

_LONG = Columns(
    **SCORES.subset(*(name for name in SCORES.columns if name not in CONDITION_COLUMNS)),
    sample=(TEXT, "evaluated or human"),
    score=(REAL, "Score, 0 to 1; empty if there is none"),
)

ScoreTables = Mapping[str, pd.DataFrame]
"""Stored score tables by domain."""


def load_all_scores(home: DataRoot, painter: str, models: Sequence[Model]) -> pd.DataFrame:
    """Load every score of a painter's evaluated pairs: one row per sample, metric, pair and side.

    The columns are those of `_LONG`. The sample `evaluated` has all pairs; the sample
    `human` has the pairs of which people scored both sides, for each metric and for the metric
    `human`, whose raw score is the mean over annotators. PickScore is normalized over all stored
    domains; domains without scores are left out.

    Raises `TablesMismatch` where scores are of other pictures than `filtered_pairs` holds now,
    those of a metric are not all by one version of its entry, or domains were not painted or
    filtered alike.
    """
    filtered = load_by_domain(
        home, "filtered_pairs", painter, columns=[*_PICTURE, *_FILTERED_PAIR_COLUMNS]
    )
    _require_alike(painter, filtered)
    scores = [_load_metric_scores(home, painter, model, filtered) for model in models]
    people = _load_human_scores(home, painter, filtered)
    sides = people.groupby("pair_id")["side"].nunique()
    both = sides.index[sides == 2]
    return _concatenate(
        [table.assign(sample=EVALUATED) for table in scores]
        + [table[table["pair_id"].isin(both)].assign(sample=HUMAN) for table in (*scores, people)]
    )


def _require_alike(painter: str, filtered: ScoreTables) -> None:
    """Raise `TablesMismatch` if domains were not made in one way, so that no mean is valid."""
    for column, requirement in _ALIKE.items():
        values_by_domain = {
            domain: set(table[column].dropna()) for domain, table in filtered.items()
        }
        if len(set[Any]().union(*values_by_domain.values())) > 1:
            among = ", ".join(domain for domain, values in values_by_domain.items() if values)
            raise TablesMismatch(
                f"The pairs of {painter} ({among}) were not all {requirement} again for those that "
                "are to change, then what follows. What was paid for before is not sent again."
            )


def has_same_pictures(scores: pd.DataFrame, filtered: pd.DataFrame) -> bool:
    """Return whether scores cover the evaluated pairs, all or up to a limit, in their order."""
    named = [*_PICTURE, "rank"]
    evaluated = filtered.loc[filtered["evaluated"], [*named, "group", "knob"]]
    expected_rows = expected_pairs(to_records(evaluated), set(scores["pair_id"]))
    return bool(
        scores[named].to_numpy().tolist() == [[row[n] for n in named] for row in expected_rows]
    )


def _load_metric_scores(
    home: DataRoot, painter: str, model: Model, filtered: ScoreTables
) -> pd.DataFrame:
    """A metric's scores of all domains that it has scored, on their common scale."""
    tables = load_by_domain(home, f"scores_{model.name}", painter)
    name = f"protobias/scores_{model.name}"
    for domain, table in tables.items():
        if domain not in filtered or not has_same_pictures(table, filtered[domain]):
            raise TablesMismatch(
                f"{name} ({painter}, {domain}) has scored older pictures than those of "
                "protobias/filtered_pairs. Materialize it again: only new requests are sent."
            )
    # Another filter may have kept the same pairs since they were scored.
    families = {domain: set(filtered[domain]["filter_family"]) for domain in tables}
    scores = _concatenate(
        [
            table.assign(same_family=model.family in families[domain])
            for domain, table in tables.items()
        ]
    )
    if scores["entry_version"].nunique() > 1:
        raise TablesMismatch(
            f"The scores of {name} ({painter}) come from several versions of its entry in "
            f"models.yaml. Materialize it again for {', '.join(tables)}."
        )
    file_version = (
        compute_file_version(model, home, painter) if is_filed(model) and len(scores) else None
    )
    if file_version is not None and file_version != scores["entry_version"].iloc[0]:
        raise TablesMismatch(
            f"The file of {name} ({painter}) has changed since its scores were read. Materialize "
            f"it again for {', '.join(tables)}."
        )
    formula = scores["formula"].iloc[0] if len(scores) else HUMAN
    scale = read_scale(model.parameters) if formula == OWN else (0.0, 1.0)
    return scores.assign(score=normalize_scores(scores["raw"], formula, scale))


def _load_human_scores(home: DataRoot, painter: str, filtered: ScoreTables) -> pd.DataFrame:
    """The mean score of each picture that people scored, as rows of the metric `human`."""
    ratings = load_human_scores(home, painter)
    means = ratings.groupby("image_id", sort=False)["score"].mean()
    pictures = ratings.drop_duplicates("image_id").drop(columns=["score", "annotator"])
    kept_rows = _concatenate([table[table["pair_kept"]] for table in filtered.values()])
    identity = ["image_id", *_PICTURE]
    identified = pictures.merge(kept_rows[[*identity, "group", "rank"]], on=identity)
    if len(identified) < len(pictures):
        raise TablesMismatch(
            f"protobias/human_scores ({painter}) holds {len(pictures) - len(identified)} pictures "
            "that protobias/filtered_pairs does not keep, or no longer. Materialize it again."
        )
    raw = identified["image_id"].map(means).astype(float)
    scored = identified.assign(
        metric=HUMAN, formula=HUMAN, same_family=False, outcome="scored", raw=raw
    )
    return _concatenate([scored.assign(score=normalize_scores(raw, HUMAN))])


def _concatenate(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Tables below one another, each with all columns, empty where it has none of its own."""
    arrow_tables = [_LONG.build_table([])]
    for table in tables:
        schema = pa.schema([field for field in _LONG.schema if field.name in table.columns])
        arrow_tables.append(pa.Table.from_pandas(table, schema=schema, preserve_index=False))
    joined: pd.DataFrame = pa.concat_tables(arrow_tables, promote_options="default").to_pandas()
    return joined


def load_human_scores(home: DataRoot, painter: str) -> pd.DataFrame:
    """Load people's scores of a painter's pictures; empty without any. Raises `CorruptItem`."""
    table = home.find(asset_key("human_scores"), painter)
    return HUMAN_SCORES.build_table([]).to_pandas() if table is None else table
