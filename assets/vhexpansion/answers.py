"""Answers: what a judge says to every case, its negation, and both about perturbed pictures.

Clean answers are what it says to the cases themselves, before anything is done to them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from assets.kit.columns import Columns
from assets.kit.forecast import PENDING
from assets.kit.model_lookup import validate_names
from assets.kit.step import Extent, StepAsset
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.adversarial_perturbations import ADVERSARIAL_COLUMNS
from assets.vhexpansion.attack_config import METHODS
from assets.vhexpansion.common import asset_key, dataset_partitions, limit_cases
from assets.vhexpansion.common_perturbations import PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS as NEGATED_CASES
from assets.vhexpansion.seed_cases import SEED_CASES
from assets.vhexpansion.yes_no_step import (
    COMMON,
    FORMS,
    NONE,
    CasePicture,
    RepeatsConfig,
    YesNoStep,
)
from metrics.vhexpansion.symmetry import ORIGINAL
from resources.models.catalog import Catalog, Model

ATTACK_COLUMNS = Columns(
    **ADVERSARIAL_COLUMNS.subset("case_id", "encoder", "method", "parameters", "sha256", "outcome")
)
"""Columns read from adversarial perturbations."""


class YesNoAnswersConfig(RepeatsConfig):
    """Questions that a judge gets about each case. Default: all."""

    forms: Annotated[list[str], validate_names(FORMS)] = Field(
        default=[*FORMS],
        min_length=1,
        description=f"Question forms to ask: {' and '.join(FORMS)}, or one of them.",
    )
    perturbations: Annotated[list[str], validate_names((NONE, *COMMON, *METHODS))] = Field(
        default=[],
        description=(
            f"Perturbed pictures to ask about: any of {', '.join((NONE, *COMMON))}, i_fgsm and "
            "pgd. Default: all."
        ),
    )
    encoders: list[str] = Field(
        default=[], description="Models of models.yaml whose encoders were attacked. Default: all."
    )


class CleanAnswers(YesNoStep):
    """Answers of one judge to the cases themselves; they show which trigger a hallucination."""

    config = RepeatsConfig
    asset = StepAsset(
        key=asset_key("clean_answers"),
        description=(
            "Answers of {name} to each unperturbed case. Whether it already hallucinates decides "
            "the direction of an attack (§3.2)."
        ),
        partitions_def=dataset_partitions,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {
            "cases": Input(
                asset_key("seed_cases"), row_columns=SEED_CASES, uses_default_config=True
            )
        }

    def rows(self, work: StepRun[RepeatsConfig]) -> Iterator[dict[str, Any]]:
        """Yield each accepted case, once for each repeat."""
        for case in limit_cases(work.read_rows("cases"), "taken", work.config.limit):
            yield from self.iterate_question_rows(
                case, CasePicture(case["sha256"]), (ORIGINAL,), work.config.repeats
            )

    def extent(self, work: StepRun[RepeatsConfig], rows: Sequence[Row]) -> Extent:
        """Count the cases asked, of all accepted ones."""
        total = work.tables["cases"]["outcome"].eq("taken").sum()
        return Extent(count=len({row["case_id"] for row in rows}), total=int(total), unit="cases")


class YesNoAnswers(YesNoStep):
    """Answers of one judge to cases and their negations, with original and perturbed pictures."""

    config = YesNoAnswersConfig
    asset = StepAsset(
        key=asset_key("answers"),
        description=(
            "Answers of {name} to each case and its negation, about the original picture and "
            "common and adversarial perturbations (§5)."
        ),
        partitions_def=dataset_partitions,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        attacks = {
            f"adversarial_{encoder.name}": Input(
                asset_key(f"adversarial_perturbations_{encoder.name}"),
                row_columns=ATTACK_COLUMNS,
                is_optional=True,
            )
            for encoder in select_encoders(catalog)
        }
        self.inputs = {
            "cases": Input(
                asset_key("negated_cases"), row_columns=NEGATED_CASES, uses_default_config=True
            ),
            "perturbed": Input(
                asset_key("common_perturbations"),
                row_columns=PERTURBED_PICTURE_COLUMNS,
                uses_default_config=True,
            ),
            **attacks,
        }

    def rows(self, work: StepRun[YesNoAnswersConfig]) -> Iterator[dict[str, Any]]:
        """Yield each case that has a negation, for each picture, form and repeat."""
        config, pictures = work.config, self._pictures(work)
        for case in limit_cases(work.read_rows("cases"), "negated", config.limit):
            for picture in (CasePicture(case["sha256"]), *pictures(case)):
                if not config.perturbations or picture.perturbation in config.perturbations:
                    yield from self.iterate_question_rows(
                        case, picture, config.forms, config.repeats
                    )

    def extent(self, work: StepRun[YesNoAnswersConfig], rows: Sequence[Row]) -> Extent:
        """Count the cases asked, of all that have a negation."""
        total = work.tables["cases"]["outcome"].eq("negated").sum()
        return Extent(count=len({row["case_id"] for row in rows}), total=int(total), unit="cases")

    def _pictures(
        self, work: StepRun[YesNoAnswersConfig]
    ) -> Callable[[Row], Iterator[CasePicture]]:
        """The perturbed pictures of a case: those of its picture, and attacks on the case."""
        common, attacked = defaultdict(list), defaultdict(list)
        for row in work.read_rows("perturbed"):
            if row["outcome"] in ("perturbed", PENDING):
                metadata = (row["perturbation"], row["parameters"], None, row["is_stand_in"])
                picture = CasePicture(row["sha256"], *metadata, row["outcome"] == PENDING)
                common[row["image_id"]].append(picture)
        for encoder in select_encoders(self.catalog):
            if work.config.encoders and encoder.name not in work.config.encoders:
                continue
            for row in work.read_rows(f"adversarial_{encoder.name}"):
                if row["outcome"] in ("attacked", PENDING):
                    metadata = (row["method"], row["parameters"], row["encoder"], False)
                    picture = CasePicture(row["sha256"], *metadata, row["outcome"] == PENDING)
                    attacked[row["case_id"]].append(picture)

        def pictures(case: Row) -> Iterator[CasePicture]:
            yield from common.get(case["image_id"], ())
            yield from attacked.get(case["case_id"], ())

        return pictures


def select_encoders(catalog: Catalog) -> tuple[Model, ...]:
    """The models whose encoders are attacked."""
    return catalog.select_role("encoder")
