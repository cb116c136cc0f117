"""The report: the painters that are summarised, and what is missing of others."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
from dagster import AssetsDefinition

from assets.kit.columns import to_records
from assets.kit.partitions import list_painters, painters
from assets.kit.table_asset import NotMaterialized, TablesMismatch
from assets.protobias.common import GROUP, QUESTION, TITLE, asset_key, load_by_domain
from assets.protobias.durations import pair_durations
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.image_pairs import IMAGE_PAIRS
from assets.protobias.pages import SummarisedPainter, build
from assets.protobias.retention import count_retention
from assets.protobias.score_table import EVALUATED, load_all_scores, load_human_scores
from assets.protobias.selection import expected_pairs
from assets.protobias.trial import find_partial_scores, load_samples
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from generators.prompts.concepts import DOMAINS
from metrics.protobias.ranking import ALL
from metrics.protobias.scored_pairs import pair_scores
from resources.models.catalog import Catalog, Model
from resources.storage.data_root import DataRoot

_OVER = ("concepts", "prompt_triplets", "image_pairs", "filtered_pairs", "summary")


def build_report_asset(catalog: Catalog, scorers: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the painters there are, as these judges and metrics score them."""
    return report_asset(
        GROUP,
        lambda sources: _site(sources, catalog, scorers),
        # Scores are read without edges: `summary` changes whenever they do.
        deps=[asset_key(name) for name in _OVER],
        description=f"{TITLE}: {QUESTION} Failure rates, Tables 1 and 2, retention, pairs.",
    )


def _site(sources: ReportSources, catalog: Catalog, scorers: Sequence[Model]) -> Site:
    home, listed = sources.home, list_painters(catalog)
    painter_names = sources.instance.get_dynamic_partitions(str(painters.name))
    subjects = [
        replace(
            painted,
            is_listed=name in listed,
            missing=painted.missing if name in listed else (),
            durations=pair_durations(painted.evaluated_scores, sources.calls.find_durations),
            dates=sources.dates(
                "scores",
                [scorer.name for scorer in scorers],
                [f"{domain}|{name}" for domain in DOMAINS],
            ),
        )
        for name in painter_names
        if (painted := load_painter_results(home, name, scorers)) is not None
    ]
    if not subjects:
        raise NotMaterialized(
            "No painter is summarised yet: materialize protobias/summary for one first."
        )
    return build(
        subjects,
        prompts=load_by_domain(home, "prompt_triplets"),
        facts=build_footer_facts(subjects) | dict(sources.facts),
        missing=describe_unsummarised(
            home, [name for name in painter_names if name in listed], subjects
        ),
        spent=sources.spent,
        decisions=sources.decisions,
        full_size=sources.full_size,
    )


_PART = ["sample", "metric", "domain"]
_PICTURE = ["image_id", "sha256", "outcome"]
_PAIRED = [*_PICTURE, "pair_id", "group", "knob"]


def load_painter_results(
    home: DataRoot, painter: str, scorers: Sequence[Model]
) -> SummarisedPainter | None:
    """Load all results of one painter; None without a summary.

    Raises `TablesMismatch` where its summary is older than its scores, or its filtered pairs are
    others than those that are painted now.
    """
    summary = home.find(asset_key("summary"), painter)
    if summary is None:
        return None
    scores = load_all_scores(home, painter, scorers)
    _check_summary(painter, scores, summary)
    pairs = _pairs(home, painter)
    stand_in = bool(pairs["is_stand_in"].any())
    # Of real pictures `pixels` reads none, which would count every pair as unscored.
    counted = [scorer for scorer in scorers if stand_in or not scorer.is_stand_in]
    samples = load_samples(home, painter)
    partial = find_partial_scores(scores[scores["sample"] == EVALUATED], samples)
    complete = [scorer for scorer in counted if scorer.name not in partial]
    return SummarisedPainter(
        name=painter,
        parts=[f"{sample.domain} {part}" for sample in samples for part in sample.partial_steps],
        samples=[sample.describe for sample in samples],
        partial=partial,
        summary=summary,
        pairs=pairs,
        scores=scores,
        human=load_human_scores(home, painter),
        retention=count_retention(home, painter, complete or counted),
        missing=list(_missing(painter, pairs, scores)),
    )


def describe_unsummarised(
    home: DataRoot, painter_names: Sequence[str], subjects: Sequence[SummarisedPainter]
) -> list[str]:
    """Explain, in one sentence per painter, why some painters have no results to report."""
    summarised = {painted.name for painted in subjects}
    return [
        f"{name} is not summarised: score its pairs, then materialize protobias/summary for {name}."
        if load_by_domain(home, "image_pairs", name, [])
        else f"{name} has painted nothing yet: materialize protobias/image_pairs for it."
        for name in painter_names
        if name not in summarised
    ]


def build_footer_facts(subjects: Sequence[SummarisedPainter]) -> dict[str, str]:
    """The lines of the footer; a painter is named where its server names no model."""
    pairs = pd.concat([painted.pairs for painted in subjects], ignore_index=True)

    def list_values(column: str) -> str:
        values = pairs[column].dropna().replace("", np.nan).dropna()
        return ", ".join(
            f"{value:g}" if isinstance(value, float) else str(value)
            for value in sorted(values.unique())
        )

    served = pairs["served_model"].replace("", np.nan)
    named = served.groupby(pairs["painter"]).transform("count").gt(0)
    models = served.where(named, pairs["painter"]).dropna()
    lines = {
        "Models that painted": ", ".join(sorted(models.unique())),
        "Filter": list_values("filter"),
        "Kept from": list_values("min_score"),
        "Seeds": list_values("seed"),
    }
    return {name: fact for name, fact in lines.items() if fact}


def _check_summary(painter: str, scores: pd.DataFrame, summary: pd.DataFrame) -> None:
    """The summary has to count and average these very scores."""
    counted = pair_scores(scores).groupby(_PART)
    current_numbers = counted.agg(
        pairs=("fails", "count"),
        failure_rate=("fails", "mean"),
        sc=("sc", "mean"),
        pa=("pa", "mean"),
    )
    is_whole_domain = (
        summary["knob"].eq(ALL) & summary["concept"].eq(ALL) & summary["domain"].ne(ALL)
    )
    then = summary[is_whole_domain].set_index(_PART)[list(current_numbers.columns)].sort_index()
    if not (
        current_numbers.index.equals(then.index)
        and np.allclose(current_numbers, then, rtol=0, equal_nan=True)
    ):
        raise TablesMismatch(
            f"protobias/summary ({painter}) is of other scores than there are now. Materialize it "
            "again."
        )


def _pairs(home: DataRoot, painter: str) -> pd.DataFrame:
    """The pairs of all domains, with the columns of the filter where they are filtered."""
    filtered = load_by_domain(home, "filtered_pairs", painter)
    painted = load_by_domain(home, "image_pairs", painter)
    tables = [FILTERED_COLUMNS.build_table([])]
    for domain in DOMAINS:
        if domain in filtered and domain in painted:
            _check_pictures(painter, domain, painted[domain], filtered[domain])
        if domain in filtered:
            tables.append(FILTERED_COLUMNS.build_table(filtered[domain]))
        elif domain in painted:
            tables.append(IMAGE_PAIRS.build_table(painted[domain]))
    pairs: pd.DataFrame = pa.concat_tables(tables, promote_options="default").to_pandas()
    return pairs


def _check_pictures(
    painter: str, domain: str, pictures: pd.DataFrame, filtered: pd.DataFrame
) -> None:
    part = expected_pairs(to_records(pictures[_PAIRED]), set(filtered["pair_id"]))
    current_pictures = {tuple(row[name] for name in _PICTURE) for row in part}
    if current_pictures != set(filtered[_PICTURE].itertuples(index=False, name=None)):
        raise TablesMismatch(
            f"protobias/filtered_pairs ({painter}, {domain}) is of other pictures than "
            f"protobias/image_pairs holds now. Materialize it for {domain}|{painter} again, then "
            "its scores and protobias/summary."
        )


def _missing(painter: str, pairs: pd.DataFrame, scores: pd.DataFrame) -> Iterator[str]:
    """Describe the domains not painted, filtered or scored, with the step that is missing."""
    evaluated = scores[scores["sample"] == EVALUATED]
    for domain in DOMAINS:
        domain_pairs, title = pairs[pairs["domain"] == domain], domain.capitalize()
        partition = f"for {domain}|{painter}"
        if domain_pairs.empty:
            yield f"{title}: not painted. Materialize protobias/image_pairs {partition}."
            continue
        if domain_pairs["pair_kept"].isna().all():
            yield f"{title}: not filtered. Materialize protobias/filtered_pairs {partition}."
            continue
        scored = set(evaluated.loc[evaluated["domain"] == domain, "metric"])
        for metric in sorted(set(evaluated["metric"]) - scored):
            scores_of = f"protobias/scores_{metric}"
            yield f"{title}: not scored by {metric}. Materialize {scores_of} {partition}."
        if evaluated.empty:
            yield f"{title}: not scored. Materialize some of its scores {partition}."
