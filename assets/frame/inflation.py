"""Inflation: how far each judge's scores of a source rise under biases, and how often.

It is a summary of all judges, of which the report is made: of the biases alone (Tables 3 and 4,
Figure 2), of pairs and triples (Table 6), and by other templates (Table 5).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.frame.biases import JOINED, NONE
from assets.frame.common import asset_key, table_asset
from assets.frame.search import CHOICES, HELD_OUT, IN_SAMPLE, join_originals, to_float_or_none
from assets.kit.columns import (
    BOOLEAN,
    REAL,
    TEXT,
    WHOLE,
    Columns,
    interval_columns,
    to_materialize_result,
    to_plain_records,
)
from assets.kit.partitions import sources
from assets.kit.previews import inline_tables, merge_intervals
from assets.kit.table_asset import NotMaterialized
from generators.perturbations.grids import list_biases
from generators.perturbations.registry import from_json, to_json
from generators.prompts.judging_templates import STANDARD
from generators.prompts.visual_concepts import DOMAINS
from metrics import inflation_table, measure_success, select_half
from metrics.frame.held_out_search import find_best_configuration as best_configuration
from metrics.protobias.ranking import ALL
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

SINGLE, COMBINED, WORDED = "single", "combined", "templates"
ALL_PICTURES, READABLE = "all", "readable"

INFLATION = Columns(
    source=(TEXT, "The painter, or the collection"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    model=(TEXT, "The judge, as models.yaml names it"),
    experiment=(
        TEXT,
        "single (one bias at a time), combined (pairs and triples), held out (the chosen "
        "combination of each size, and the chosen single bias), or templates (from "
        "frame/mitigation)",
    ),
    template=(TEXT, "Prompt template"),
    choice=(TEXT, "Choice of the configuration: in_sample or held_out (frame/search)"),
    picture_subset=(TEXT, "all, or readable (pictures in which code reads the same as before)"),
    domain=(TEXT, "Domain, or all (the mean over domains that have the bias)"),
    bias=(TEXT, "Bias or combination, or all (how often they raise the mean)"),
    images=(WHOLE, "Pictures scored both times, counted once each"),
    scored=(WHOLE, "Pairs of picture and text scored both times"),
    unscored=(WHOLE, "Requested pairs of picture and text without a score, before or after"),
    original=(REAL, "Mean score before, 0 to 5"),
    biased=(REAL, "Mean score after, 0 to 5"),
    **interval_columns("percent", "Change of the mean in percent", "pictures, paired"),
    combinations=(
        WHOLE,
        "Number of domains × biases; filled, as the next columns, in the row of all single biases",
    ),
    **interval_columns("rate", "Attack success rate: whose mean rises (Figure 2)", "pictures"),
    clear_share=(REAL, "Share of these whose interval lies above 0"),
    **interval_columns("rise", "Mean percent change of those that rise; else empty", "pictures"),
)


_PICTURE = ["domain", "image_id", "original", "bias", "parameters", "sha256"]
_READ_COLUMNS = {
    "scores": [*_PICTURE, "readable", "template", "score"],
    "search": ["domain", "bias", "choice", "parameters", "candidate_count", "seed", "is_stand_in"],
    "pairwise": [*_PICTURE, "other", "order", "preference"],
    "controls": ["domain", "image_id", "original", "control", "outcome", "score"],
}
"""The columns that are read: responses of many judges are larger than memory."""


class InflationScope(NamedTuple):
    """Scores that a part of the table covers."""

    experiment: str
    template: str
    choice: str
    picture_subset: str


def build_inflation_asset(judges: Sequence[Model]) -> AssetsDefinition:
    """The asset `inflation` of these judges."""
    names = ("scores", "search", "combined", "mitigation", "pairwise")

    @table_asset(
        columns=INFLATION,
        partitions=sources,
        deps=[AssetDep(asset_key(f"{name}_{judge.name}")) for judge in judges for name in names],
        description="Mean scores before and after each bias, percent changes, attack success rates "
        "and mean rises among successes, with paired intervals (Tables 3 to 6, Figure 2).",
    )
    def inflation(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Compare what is scored. Raises `NotMaterialized` where nothing has been searched."""
        source = context.partition_key
        tables = {name: load_judge_tables(home, source, judges, name) for name in names}
        if not tables["search"]:
            raise NotMaterialized(
                f"frame/inflation: no judge's scores of {source} have been searched yet. "
                "Materialize frame/scores_… and frame/search_… of it first."
            )
        rows = [
            {"source": source, "model": judge.name, **row}
            for judge in judges
            for row in build_inflation_rows(
                *(concat_judge(tables[name], judge) for name in ("scores", "search")),
                *(concat_judge(tables[name], judge) for name in ("combined", "mitigation")),
            )
        ]
        table = pd.DataFrame(rows, columns=list(INFLATION.columns))
        overall = table[table["domain"].eq(ALL) & table["picture_subset"].eq(ALL_PICTURES)]
        rates = overall[overall["bias"].eq(ALL)][
            ["model", "experiment", "template", "choice", "rate"]
        ]
        # The report shows each score and preference of these beside the figures.
        source_tables = [
            source_table
            for tables_by_key in tables.values()
            for source_table in tables_by_key.values()
        ]
        shown = overall[overall["choice"].eq(HELD_OUT) & overall["bias"].ne(ALL)]
        columns = ["model", "bias", "original", "biased"]
        columns += ["percent", "percent_low", "percent_high"]
        return to_materialize_result(
            INFLATION.build_table(table),
            *source_tables,
            **inline_tables("attack_success", rates.round(3), *rates.columns[:-1]),
            **inline_tables(
                "held_out", merge_intervals(shown[columns].round(2), "percent"), "model", "bias"
            ),
        )

    return inflation


def join_best_configurations(
    scores: pd.DataFrame,
    search: pd.DataFrame,
    choice: str,
    *,
    compared_scores: pd.DataFrame | None = None,
    template: str = STANDARD,
) -> pd.DataFrame:
    """Join each picture before and after the best configuration of each bias, one row per bias.

    `scores` and `search` are of one judge, of any domains. Held out, they are those of the half on
    which nothing was chosen; all, where there was one configuration. Scores of the
    best configurations are those of `compared_scores`, by default of `scores`.
    """
    joined = join_originals(scores if compared_scores is None else compared_scores, template)
    best_rows = joined.merge(_select_best(search, choice), on=["domain", "bias", "parameters"])
    if choice == IN_SAMPLE:
        return best_rows
    return best_rows[
        ~(best_rows["candidate_count"].gt(1) & is_in_search_half(best_rows, scores, search))
    ]


def _select_best(search: pd.DataFrame, choice: str) -> pd.DataFrame:
    """The best configuration of each bias, and how many there were to choose from."""
    return search[search["choice"].eq(choice)][["domain", "bias", "parameters", "candidate_count"]]


def is_in_search_half(
    rows: pd.DataFrame, scores: pd.DataFrame, search: pd.DataFrame
) -> "pd.Series[bool]":
    """Return whether each row's picture is in the half on which a held-out search has chosen."""
    seeds = search.groupby("domain")["seed"].first()
    # As the search did: the halves of the pictures that were asked about as they were.
    originals = scores[scores["bias"].eq(NONE) & scores["template"].eq(STANDARD)]
    halves = [
        (domain, name)
        for domain, domain_originals in originals.groupby("domain")
        if domain in seeds
        for name in select_half(domain_originals["original"], seed=int(seeds[domain]))
    ]
    pictures = pd.MultiIndex.from_frame(rows[["domain", "picture"]])
    return pd.Series(pictures.isin(halves), rows.index)


def load_judge_tables(
    home: DataRoot, source: str, judges: Sequence[Model], name: str
) -> dict[str, pd.DataFrame]:
    """Return the existing tables by judge and domain."""
    tables = {
        f"{judge.name}|{domain}": home.find(
            asset_key(f"{name}_{judge.name}"),
            f"{domain}|{source}",
            _READ_COLUMNS.get(name, _READ_COLUMNS["scores"]),
        )
        for judge in judges
        for domain in DOMAINS
    }
    return {key: table for key, table in tables.items() if table is not None}


def concat_judge(tables: dict[str, pd.DataFrame], judge: Model) -> pd.DataFrame:
    """Concatenate the tables of a judge over domains; an empty one where there is none."""
    judge_tables = [table for key, table in tables.items() if key.partition("|")[0] == judge.name]
    return pd.concat(judge_tables, ignore_index=True) if judge_tables else pd.DataFrame()


def build_inflation_rows(
    scores: pd.DataFrame, search: pd.DataFrame, combined: pd.DataFrame, mitigation: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    """Yield all rows of a judge, without its name; none where no search exists."""
    if search.empty or scores.empty:
        return
    is_stand_in = bool(search["is_stand_in"].any())
    done: list[tuple[str, pd.DataFrame, list[dict[str, Any]]]] = []
    for part, part_scores in _iterate_parts(scores, search, combined, mitigation):
        # Where every picture is readable, or nothing was chosen, several parts are the same one.
        rows = next(
            (
                rows
                for experiment, earlier_scores, rows in done
                if experiment == part.experiment != COMBINED and earlier_scores.equals(part_scores)
            ),
            None,
        )
        if rows is None:
            rows = list(_rows(part_scores, part))
            done.append((part.experiment, part_scores, rows))
        for row in rows:
            yield {"is_stand_in": is_stand_in, **part._asdict(), **row}


def _iterate_parts(
    scores: pd.DataFrame, search: pd.DataFrame, combined: pd.DataFrame, mitigation: pd.DataFrame
) -> Iterator[tuple[InflationScope, pd.DataFrame]]:
    for choice in CHOICES:
        best_rows = join_best_configurations(scores, search, choice)
        yield (
            InflationScope(
                experiment=SINGLE, template=STANDARD, choice=choice, picture_subset=ALL_PICTURES
            ),
            best_rows,
        )
        readable = best_rows["readable"].astype("boolean").fillna(value=False)
        part = best_rows if readable.all() else best_rows[readable]
        yield (
            InflationScope(
                experiment=SINGLE, template=STANDARD, choice=choice, picture_subset=READABLE
            ),
            part,
        )
    if len(combined):
        joined = join_originals(combined[combined["sha256"].notna()])
        yield (
            InflationScope(
                experiment=COMBINED,
                template=STANDARD,
                choice=IN_SAMPLE,
                picture_subset=ALL_PICTURES,
            ),
            joined[_mark_best_combinations(joined, search, IN_SAMPLE)],
        )
        yield (
            InflationScope(
                experiment=COMBINED, template=STANDARD, choice=HELD_OUT, picture_subset=ALL_PICTURES
            ),
            _evaluate_held_out(joined, scores, search),
        )
    for template in mitigation["template"].unique() if len(mitigation) else ():
        for choice in CHOICES:
            best_rows = join_best_configurations(
                scores, search, choice, compared_scores=mitigation, template=template
            )
            yield (
                InflationScope(
                    experiment=WORDED, template=template, choice=choice, picture_subset=ALL_PICTURES
                ),
                best_rows,
            )


def _mark_best_combinations(
    combined: pd.DataFrame, search: pd.DataFrame, choice: str
) -> "pd.Series[bool]":
    """Return whether each combination consists of the best configurations of one choice."""
    best = search[search["choice"].eq(choice)]
    best_configurations = {*zip(best["domain"], best["parameters"], strict=True)}
    parts = {
        text: [to_json([e]) for e in from_json(text)] for text in combined["parameters"].unique()
    }
    is_best = [
        all((domain, part) in best_configurations for part in parts[text])
        for domain, text in zip(combined["domain"], combined["parameters"], strict=True)
    ]
    return pd.Series(is_best, combined.index, bool)


def _evaluate_held_out(
    combined: pd.DataFrame, scores: pd.DataFrame, search: pd.DataFrame
) -> pd.DataFrame:
    """Evaluate each domain's best bias, pair and so on of one half on the other half's pictures.

    Where there is one pair alone, of biases with one configuration each, all pictures count.
    """
    best = _select_best(search, HELD_OUT)
    searched = {*zip(best["domain"], best["bias"], strict=True)} - {
        *zip(
            *(best[best["candidate_count"].eq(1)][name] for name in ("domain", "bias")), strict=True
        )
    }
    single = join_originals(scores).merge(best)
    single = single[single["image_id"].isin(combined["image_id"])]
    candidates = pd.concat(
        [single, combined[_mark_best_combinations(combined, search, HELD_OUT)]], ignore_index=True
    )
    is_chosen_on = is_in_search_half(candidates, scores, search)
    sizes = candidates["bias"].str.count(re.escape(JOINED))
    reported = []
    for (domain, _), group in candidates.groupby(["domain", sizes]):
        names = group["bias"].unique()
        parts = names[0].split(JOINED)
        if len(names) == 1 and not any((domain, part) in searched for part in parts):
            reported.append(group)
            continue
        half = is_chosen_on[group.index]
        if half.any():
            name = best_configuration(group[half].rename(columns={"bias": "configuration"}))
            reported.append(group[~half & group["bias"].eq(name)])
    return pd.concat(reported) if reported else candidates.head(0)


def _rows(scores: pd.DataFrame, part: InflationScope) -> Iterator[dict[str, Any]]:
    scores = scores[scores["asked"]]
    if scores.empty:
        return
    overall = _list_object_domains(scores) if part.experiment == WORDED else None
    table = inflation_table(scores, overall=overall)
    if part.experiment == COMBINED and part.choice == HELD_OUT:
        # Each domain has chosen its own: no mean is over domains.
        table = table[table["domain"].ne(ALL)]
    yield from to_plain_records(table)
    counted = scores if overall is None else scores[scores["domain"].isin(overall)]
    is_scored = table["percent"].notna() & table["domain"].isin(counted["domain"])
    if part.experiment == COMBINED or not is_scored.any():
        return
    success = measure_success(counted)
    names = ("rate", "rate_low", "rate_high", "clear_share", "rise", "rise_low", "rise_high")
    numbers = (
        success.rate,
        *success.rate_interval,
        success.clear_share,
        success.mean_rise,
        *success.rise_interval,
    )
    success_columns = dict(zip(names, map(to_float_or_none, numbers), strict=True))
    yield {"domain": ALL, "bias": ALL, "combinations": success.combinations, **success_columns}


def _list_object_domains(scores: pd.DataFrame) -> list[str]:
    """The domains that Table 5 is over: those in which objects can be named and boxed."""
    return [
        domain
        for domain in scores["domain"].unique()
        if {"keyword", "boxes"} <= {*list_biases(domain)}
    ]
