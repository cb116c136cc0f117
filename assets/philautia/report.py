"""The report: the datasets whose captions judges have scored."""

from collections.abc import Sequence

from dagster import AssetsDefinition

from assets.kit.table_asset import NotMaterialized
from assets.philautia.common import GROUP, QUESTION, TITLE, asset_key, dataset_partitions
from assets.philautia.examples import PreferenceExample, find_examples
from assets.philautia.pages import REPORT, ComparedDataset
from assets.philautia.pomms import POMMS
from assets.philautia.preference_matrix import MATRIX
from assets.philautia.score_arrays import (
    SCORE_COLUMNS,
    gather_scores,
    load_score_tables,
    unique_models,
)
from assets.report.asset import ReportSources, report_asset
from assets.report.publish import Site
from generators.prompts.captioning import SETTINGS
from resources.models.catalog import Model

_OF_CAPTION = ["image_id", "sha256", "caption"]


def build_report_asset(
    generators: Sequence[Model], evaluators: Sequence[Model]
) -> AssetsDefinition:
    """The asset `report` of the datasets that there are, by these models."""
    return report_asset(
        GROUP,
        lambda report_sources: _site(report_sources, generators, evaluators),
        # Captions and scores are read without edges: `preference_matrix` changes whenever they do.
        deps=[asset_key("preference_matrix"), asset_key("pomms")],
        description=f"{TITLE}: {QUESTION} The matrix, families, panels, and captions in pictures.",
    )


def _site(
    report_sources: ReportSources, generators: Sequence[Model], evaluators: Sequence[Model]
) -> Site:
    names = dataset_partitions().get_partition_keys()
    subjects = [
        dataset
        for name in names
        if (dataset := _compared(report_sources, name, generators, evaluators)) is not None
    ]
    if not subjects:
        raise NotMaterialized(
            "philautia/report: no captions of any dataset have been compared yet. Materialize "
            "philautia/preference_matrix of one first."
        )
    return REPORT.build(subjects, facts=report_sources.facts, spent=report_sources.spent)


def _compared(
    report_sources: ReportSources,
    name: str,
    generators: Sequence[Model],
    evaluators: Sequence[Model],
) -> ComparedDataset | None:
    matrix, pomms = (
        report_sources.table("preference_matrix", name),
        report_sources.table("pomms", name),
    )
    if matrix is None and pomms is None:
        return None
    return ComparedDataset(
        name,
        MATRIX.build_table([]).to_pandas() if matrix is None else matrix,
        POMMS.build_table([]).to_pandas() if pomms is None else pomms,
        _examples(report_sources, name, generators, evaluators),
        {
            judge.name: report_sources.made_on(f"scores_{judge.name}", [name])
            for judge in evaluators
        },
    )


def _examples(
    report_sources: ReportSources,
    name: str,
    generators: Sequence[Model],
    evaluators: Sequence[Model],
) -> list[PreferenceExample]:
    captions = {
        model.name: table.set_index("image_id", drop=False)
        for model in unique_models(generators)
        if (
            table := report_sources.home.find(
                asset_key(f"captions_{model.name}"), name, _OF_CAPTION
            )
        )
        is not None
    }
    tables = load_score_tables(report_sources.home, name, unique_models(evaluators), SCORE_COLUMNS)
    return [
        example
        for setting in SETTINGS
        for example in find_examples(
            gather_scores(tables, setting, generators, evaluators), captions
        )
    ]
