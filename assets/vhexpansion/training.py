"""The cases of VHExpansion that judges are fine-tuned on, and those excluded from training."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from assets.kit.columns import NamedRow, iterate_named_rows, to_records
from assets.kit.tuning import EvaluationCase, TuningCase, TuningTable, TuningWording
from assets.vhexpansion.attack_config import METHODS
from assets.vhexpansion.common import GROUP, asset_key, dataset_partitions, load_declared_tables
from assets.vhexpansion.rephrased_cases import DONE
from assets.vhexpansion.yes_no_step import COMMON, FORMS
from generators.prompts.yes_no import write_yes_no_prompt
from resources.storage.data_root import DataRoot

_CASE = ["case_id", "dataset", "image_id", "sha256", "is_stand_in"]


def format_answer(answer: str) -> str:
    """Format an answer as judges are asked to give it."""
    return f"{{{answer.title()}}}"


def _select_tuning_cases(
    home: DataRoot, dataset: str, perturbation: str, encoder: str | None
) -> Sequence[TuningCase]:
    """The cases of which both forms have all their wordings."""
    columns = [*_CASE, "form", "question", "answer", "wordings", "outcome"]
    table = home.find(asset_key("rephrased_cases"), dataset, columns)
    if table is None:
        return []
    pictures = _map_perturbed(home, dataset, perturbation, encoder)
    cases = []
    for _, case_rows in table.groupby("case_id", sort=False):
        forms = {row.form: row for row in iterate_named_rows(case_rows)}
        case = next(iter(forms.values()))
        if {*forms} != {*FORMS} or any(row.outcome != DONE for row in forms.values()):
            continue
        picture = pictures.get(case.case_id) or pictures.get(case.image_id)
        base = base_picture_name(dataset, case.image_id)
        wordings = [wording for form in FORMS for wording in _wordings(forms[form])]
        cases.append(
            TuningCase(
                *(case.case_id, dataset, base, case.sha256, picture, wordings, case.is_stand_in)
            )
        )
    return cases


def _wordings(row: NamedRow) -> Iterator[TuningWording]:
    """A form of a case as it stands, and then rephrased, as judges are asked."""
    answer = format_answer(row.answer)
    for version, question in enumerate((row.question, *row.wordings)):
        yield TuningWording(
            form=row.form, version=version, question=write_yes_no_prompt(question), answer=answer
        )


def _map_perturbed(
    home: DataRoot, dataset: str, perturbation: str, encoder: str | None
) -> Mapping[str, str]:
    """Map each case or picture to its perturbed picture, in the first of several settings."""
    if perturbation in METHODS:
        name, key_column, column, success_outcome = (
            f"adversarial_perturbations_{encoder}",
            "case_id",
            "method",
            "attacked",
        )
    else:
        name, key_column, column, success_outcome = (
            "common_perturbations",
            "image_id",
            "perturbation",
            "perturbed",
        )
    table = home.find(asset_key(name), dataset, [key_column, column, "sha256", "outcome"])
    digests: dict[str, str] = {}
    for row in [] if table is None else to_records(table):
        if row[column] == perturbation and row["outcome"] == success_outcome:
            digests.setdefault(row[key_column], row["sha256"])
    return digests


def _load_evaluation_cases(home: DataRoot, dataset: str) -> Sequence[EvaluationCase]:
    table = home.find(asset_key("negated_cases"), dataset, [*_CASE, "outcome"])
    return [
        EvaluationCase(
            *(row["case_id"], dataset, base_picture_name(dataset, row["image_id"])),
            *(row["sha256"], bool(row["is_stand_in"])),
        )
        for row in ([] if table is None else to_records(table))
        if row["outcome"] == "negated"
    ]


def base_picture_name(dataset: str, image_id: str) -> str:
    """The base picture of a picture of a dataset: all of its sizes and versions have one."""
    table = load_declared_tables().get(dataset)
    return table.base_picture(image_id) if table else image_id


def add_base_pictures(dataset: str, answers: pd.DataFrame) -> pd.DataFrame:
    """The answers with `base_id`, the base picture of their `image_id`."""
    bases = {name: base_picture_name(dataset, name) for name in answers["image_id"].unique()}
    return answers.assign(base_id=answers["image_id"].map(bases))


TUNING = TuningTable(
    group=GROUP,
    assets=(asset_key("rephrased_cases"), asset_key("negated_cases")),
    datasets=lambda: dataset_partitions().get_partition_keys(),
    perturbations=(*METHODS, *COMMON),
    attacks=METHODS,
    load_training_cases=_select_tuning_cases,
    load_evaluation_cases=_load_evaluation_cases,
)
