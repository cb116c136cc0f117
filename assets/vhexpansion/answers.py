"""Answers: what a judge says to every case, its negation, and both about perturbed pictures."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from assets.kit.choice import names_among
from assets.kit.columns import Columns
from assets.kit.step import PENDING, Extent, Input, Row, Work
from assets.vhexpansion.adversarial_perturbations import ADVERSARIAL, METHODS
from assets.vhexpansion.asking import COMMON, FORMS, NONE, Asking, Picture, Repeated
from assets.vhexpansion.common import key, limited
from assets.vhexpansion.common_perturbations import PERTURBED
from assets.vhexpansion.negated_cases import NEGATED as NEGATED_CASES
from resources.models.catalog import Catalog, Model

ATTACKED = Columns(
    **ADVERSARIAL.some("case_id", "encoder", "method", "parameters", "sha256", "outcome")
)
"""What is read of adversarial perturbations."""


class Answering(Repeated):
    """What a judge is asked about each case; by default all that there is."""

    forms: Annotated[list[str], names_among(FORMS)] = Field(
        default=[*FORMS], min_length=1, description=f"{' and '.join(FORMS)}, or one of them."
    )
    perturbations: Annotated[list[str], names_among((NONE, *COMMON, *METHODS))] = Field(
        default=[],
        description=f"Some of {', '.join((NONE, *COMMON))}, i_fgsm and pgd; by default all.",
    )
    encoders: list[str] = Field(
        default=[], description="Attacks for some encoders of models.yaml; by default for all."
    )


class Answers(Asking):
    """What one judge says to cases and their negations, of pictures as they were and perturbed."""

    named, config = "answers", Answering

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        attacks = {
            f"adversarial_{encoder.name}": Input(
                key(f"adversarial_perturbations_{encoder.name}"), read_by=ATTACKED, optional=True
            )
            for encoder in encoders_of(catalog)
        }
        self.inputs = {
            "cases": Input(key("negated_cases"), read_by=NEGATED_CASES, by_default=True),
            "perturbed": Input(key("common_perturbations"), read_by=PERTURBED, by_default=True),
            **attacks,
        }
        self.description = (
            f"What {judge.name} says to each case and its negation, of the picture as it was and "
            "perturbed in common and adversarial ways (§5)."
        )

    def each_row(self, work: Work[Answering]) -> Iterator[dict[str, Any]]:
        """Each case with a negation, about each picture, in each form, so many times."""
        config, pictures = work.config, self._pictures(work)
        for case in limited(work.rows("cases"), "negated", config.limit):
            for picture in (Picture(case["sha256"]), *pictures(case)):
                if not config.perturbations or picture.perturbation in config.perturbations:
                    yield from self.asked(case, picture, config.forms, config.repeats)

    def extent(self, work: Work[Answering], rows: Sequence[Row]) -> Extent:
        """Of all cases that have a negation."""
        there = work.tables["cases"]["outcome"].eq("negated").sum()
        return Extent(len({row["case_id"] for row in rows}), int(there), "cases")

    def _pictures(self, work: Work[Answering]) -> Callable[[Row], Iterator[Picture]]:
        """The perturbed pictures of a case: those of its picture, and attacks on the case."""
        common: dict[str, list[Picture]] = {}
        for row in work.rows("perturbed"):
            if row["outcome"] in ("perturbed", PENDING):
                common.setdefault(row["image_id"], []).append(_perturbed(row))
        attacked: dict[str, list[Picture]] = {}
        for encoder in encoders_of(self.catalog):
            if work.config.encoders and encoder.name not in work.config.encoders:
                continue
            for row in work.rows(f"adversarial_{encoder.name}"):
                if row["outcome"] in ("attacked", PENDING):
                    attacked.setdefault(row["case_id"], []).append(_attacked(row))

        def pictures(case: Row) -> Iterator[Picture]:
            yield from common.get(case["image_id"], ())
            yield from attacked.get(case["case_id"], ())

        return pictures


def encoders_of(catalog: Catalog) -> tuple[Model, ...]:
    """The models whose encoders are attacked."""
    return catalog.with_role("encoder")


def _perturbed(row: Row) -> Picture:
    pending = row["outcome"] == PENDING
    told = (row["perturbation"], row["parameters"])
    return Picture(row["sha256"], *told, rehearsal=row["rehearsal"], is_pending=pending)


def _attacked(row: Row) -> Picture:
    pending = row["outcome"] == PENDING
    told = (row["method"], row["parameters"], row["encoder"])
    return Picture(row["sha256"], *told, is_pending=pending)
