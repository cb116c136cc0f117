"""Training cases: what each arm is trained on, and the cases that are held out."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetDep,
    AssetExecutionContext,
    MaterializeResult,
)
from pydantic import Field, field_validator

from assets.kit.checks import build_check_result
from assets.kit.collections import COLLECTION_COLUMNS, collection_key, select_stored_rows
from assets.kit.columns import to_materialize_result
from assets.kit.previews import markdown_table
from assets.kit.table_asset import NotMaterialized
from assets.kit.tuning import ARMS, HELD_OUT, TRAINING_CASES, TuningCase, training_cases_key
from assets.training.tuning.arms import (
    GeneralQuestion,
    GeneralSplit,
    case_rows,
    find_shared_pictures,
    general_rows,
    held_out_rows,
    split_general,
)
from assets.training.tuning.common import DECLARED, table_asset
from generators.name_suggestions import suggest_names
from resources.settings.run_config import Config
from resources.storage.data_root import DataRoot

_MAX_LISTED = 3
NO_OVERLAP = AssetCheckSpec(
    "no_overlap",
    asset=training_cases_key(DECLARED.group),
    description="No training row has a held-out picture, in any size or version.",
    blocking=True,
)


class TrainingCasesConfig(Config):
    """Settings of the arms; `rephrased_cases` sets how many cases a dataset has."""

    datasets: list[str] = Field(
        default=[],
        description=(
            "Datasets to train on. Default: all with rephrased cases and further cases for "
            "evaluation."
        ),
    )
    perturbation: str = Field(
        default="i_fgsm",
        description=(
            "Perturbation of the expanded arm's pictures: one of "
            f"{', '.join(DECLARED.perturbations)}. The paper's are adversarial; it does not name "
            "the method."
        ),
    )
    encoder: str | None = Field(
        default=None, description="For attacks: the model whose encoder was attacked."
    )
    vqa: str | None = Field(
        default=None,
        description=(
            "Collection of general questions and answers that both arms contain; the paper takes "
            "them from the training data of LLaVA-1.5."
        ),
    )
    vqa_triples: int = Field(
        default=4000,
        ge=0,
        description="General questions to train on; the paper has 4,000. 0 for none.",
    )
    vqa_held_out: int = Field(
        default=500,
        ge=0,
        description="General questions to hold out; no picture of theirs is trained on.",
    )

    @field_validator("perturbation")
    @classmethod
    def _require_known_perturbation(cls, name: str) -> str:
        if name not in DECLARED.perturbations:
            raise ValueError(
                f"perturbation: no {name!r}{suggest_names(name, DECLARED.perturbations)}."
            )
        return name


def _training_cases(
    context: AssetExecutionContext, config: TrainingCasesConfig, home: DataRoot
) -> MaterializeResult[pa.Table]:
    """Make the arms. Raises `NotMaterialized` where something has to be made first."""
    cases = _choose_cases(home, config)
    complete_cases = [case for case in cases if case.perturbed is not None]
    unperturbed_cases = [case for case in cases if case.perturbed is None]
    if not complete_cases:
        raise NotMaterialized(_explain_nothing(config, len(unperturbed_cases)))
    judged = [name for name in DECLARED.datasets() if name != config.vqa]
    evaluation_cases = [
        case for name in judged for case in DECLARED.load_evaluation_cases(home, name)
    ]
    split = _split_general(
        home, config, {case.sha256 for case in evaluation_cases} | {case.sha256 for case in cases}
    )
    training = [
        *(row for case in complete_cases for row in case_rows(case, config.perturbation)),
        *general_rows(split.training, ARMS),
    ]
    held_out_cases = [
        case
        for case in evaluation_cases
        if (case.dataset, case.case_id) not in _names(unperturbed_cases)
    ]
    rows = [
        *sorted(training, key=lambda row: ARMS.index(row["arm"])),
        *held_out_rows(held_out_cases, training),
        *general_rows(split.held_out, [HELD_OUT]),
    ]
    for shortage, details in _find_shortages(config, split, unperturbed_cases):
        context.log.warning("%s: %s", shortage, details)
    result = to_materialize_result(
        TRAINING_CASES.build_table(rows), **_build_metadata(rows, unperturbed_cases, split)
    )
    return result._replace(check_results=[check_no_overlap(rows)])


# Dagster takes the result's type for that of several outputs, where there are checks.
del _training_cases.__annotations__["return"]
training_cases = table_asset(
    key=training_cases_key(DECLARED.group),
    columns=TRAINING_CASES,
    partitions=None,
    deps=[AssetDep(asset) for asset in DECLARED.assets],
    check_specs=[NO_OVERLAP],
    description="Training data for judges by arm: original cases, or cases expanded by negation, "
    "perturbation and rephrasing, with general questions; and the held-out cases, split "
    "by base picture (§5.4).",
)(_training_cases)


def check_no_overlap(rows: Sequence[dict[str, Any]]) -> AssetCheckResult:
    """Check that no row shares a picture with a held-out one; name the rows that do."""
    shared_pictures = pd.DataFrame(
        find_shared_pictures(rows), columns=["arm", "case_id", "shares its", "with"]
    )
    description = (
        f"{len(shared_pictures):,} of {len(rows):,} rows share a picture with one that is held out."
    )
    return build_check_result(description, shared_pictures, overlap=len(shared_pictures))._replace(
        check_name=NO_OVERLAP.name
    )


def _choose_cases(home: DataRoot, config: TrainingCasesConfig) -> list[TuningCase]:
    datasets = DECLARED.datasets()
    for name in config.datasets:
        if name not in datasets:
            raise NotMaterialized(
                f"training_cases: no dataset {name!r}{suggest_names(name, datasets)}."
            )
    if config.perturbation in DECLARED.attacks and config.encoder is None:
        raise NotMaterialized(
            f"training_cases: {config.perturbation} is made for an encoder. Name it in the config, "
            "as in encoder: llava, or choose a common perturbation."
        )
    return [
        case
        for name in (config.datasets or datasets)
        for case in DECLARED.load_training_cases(home, name, config.perturbation, config.encoder)
    ]


def _explain_nothing(config: TrainingCasesConfig, case_count: int) -> str:
    group = DECLARED.group
    if not case_count:
        return (
            f"{group}/training_cases: there are no rephrased cases. Materialize "
            f"{group}/rephrased_cases of the datasets to train on first."
        )
    encoder_suffix = f" for {config.encoder}" if config.perturbation in DECLARED.attacks else ""
    return (
        f"{group}/training_cases: none of {case_count:,} rephrased cases has a picture perturbed "
        f"by {config.perturbation}{encoder_suffix}. Materialize these pictures first, or choose "
        "another perturbation."
    )


def _split_general(home: DataRoot, config: TrainingCasesConfig, cases: set[str]) -> GeneralSplit:
    if config.vqa is None:
        if config.vqa_triples:
            raise NotMaterialized(
                "training_cases: both arms need general questions, and no collection is set. Set "
                "vqa to one of collections.yaml, or vqa_triples to 0 to train on cases alone."
            )
        return GeneralSplit([], [])
    collection = collection_key(config.vqa)
    table = home.find(collection)
    if table is None:
        raise NotMaterialized(
            f"training_cases: there is no table of {config.vqa}. Materialize "
            f"{collection.to_user_string()} first."
        )
    questions = [
        GeneralQuestion(
            name=row["image_id"],
            collection=config.vqa,
            sha256=row["sha256"],
            question=row["question"],
            answer=row["answer"],
        )
        for row in select_stored_rows(COLLECTION_COLUMNS.read_rows(table, collection))
        if row["question"] and row["answer"]
    ]
    return split_general(questions, cases, config.vqa_triples, config.vqa_held_out)


def _names(cases: Sequence[TuningCase]) -> set[tuple[str, str]]:
    return {(case.dataset, case.case_id) for case in cases}


def _find_shortages(
    config: TrainingCasesConfig, split: GeneralSplit, unperturbed_cases: Sequence[TuningCase]
) -> Iterator[tuple[str, str]]:
    """Yield a description of each shortage: the cases or questions missing, and examples."""
    if unperturbed_cases:
        examples = ", ".join(case.case_id for case in unperturbed_cases[:_MAX_LISTED])
        yield (
            f"{len(unperturbed_cases):,} cases have no picture perturbed by {config.perturbation}",
            examples,
        )
    if config.vqa and len(split.training) < config.vqa_triples:
        count_text = f"{len(split.training):,} of {config.vqa_triples:,}"
        yield "general questions, without pictures of cases and what is held out", count_text


def _build_metadata(
    rows: Sequence[dict[str, Any]], unperturbed_cases: Sequence[TuningCase], split: GeneralSplit
) -> dict[str, Any]:
    counts = Counter((row["arm"], row["kind"], row["dataset"]) for row in rows)
    table = pd.DataFrame(
        [(*labels, number) for labels, number in counts.items()],
        columns=["arm", "kind", "of", "rows"],
    )
    unperturbed_table = pd.DataFrame(
        [(case.case_id,) for case in unperturbed_cases], columns=["case_id"]
    )
    return {
        **{
            f"{arm.replace(' ', '_')}_rows": sum(r["arm"] == arm for r in rows)
            for arm in (*ARMS, HELD_OUT)
        },
        "general_held_out": len(split.held_out),
        "overlap_with_evaluation": len(find_shared_pictures(rows)),
        "rows_by_arm": markdown_table(table),
        **(
            {"cases_without_perturbed_picture": markdown_table(unperturbed_table.head(20))}
            if unperturbed_cases
            else {}
        ),
        "is_stand_in": any(row["is_stand_in"] for row in rows),
    }
