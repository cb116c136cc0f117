"""The report: the datasets whose captions judges have scored."""

from collections.abc import Sequence

from dagster import AssetsDefinition

from assets.philautia.common import GROUP, QUESTION, TITLE, dataset_partitions
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
from assets.report.asset import ReportSources, subjects_report
from generators.prompts.captioning import SETTINGS
from resources.models.catalog import Model

_TABLES = ("preference_matrix", "pomms")


def build_report_asset(
    generators: Sequence[Model], evaluators: Sequence[Model]
) -> AssetsDefinition:
    """The asset `report` of the datasets that there are, by these models."""

    def load(report_sources: ReportSources, name: str) -> ComparedDataset | None:
        matrix, pomms = (report_sources.table(table, name) for table in _TABLES)
        if matrix is None and pomms is None:
            return None
        examples = _find_examples(report_sources, name, generators, evaluators)
        judges = [judge.name for judge in evaluators]
        return ComparedDataset(
            name,
            MATRIX.build_table([]).to_pandas() if matrix is None else matrix,
            POMMS.build_table([]).to_pandas() if pomms is None else pomms,
            examples,
            report_sources.dates("scores", judges, [name]),
        )

    return subjects_report(
        REPORT,
        GROUP,
        names=lambda report_sources: dataset_partitions().get_partition_keys(),
        load=load,
        # Captions and scores are read without edges: `preference_matrix` changes whenever they do.
        table=_TABLES[0],
        deps=_TABLES[1:],
        description=f"{TITLE}: {QUESTION} The matrix, families, panels, and captions in pictures.",
    )


def _find_examples(
    report_sources: ReportSources,
    name: str,
    generators: Sequence[Model],
    evaluators: Sequence[Model],
) -> list[PreferenceExample]:
    captions = {
        model.name: table.set_index("image_id", drop=False)
        for model in unique_models(generators)
        if not (
            table := report_sources.concat(
                [f"captions_{model.name}"], [name], ["image_id", "sha256", "caption"]
            )
        ).empty
    }
    tables = load_score_tables(report_sources.home, name, unique_models(evaluators), SCORE_COLUMNS)
    return [
        example
        for setting in SETTINGS
        for example in find_examples(
            gather_scores(tables, setting, generators, evaluators), captions
        )
    ]
