"""Answers: what a judge says to every case, its negation, and both about perturbed pictures.

Clean answers are what it says to the cases themselves, before anything is done to them.
"""

from collections import defaultdict
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
from assets.vhexpansion.seed_cases import SEED_CASES
from metrics.symmetry import ORIGINAL
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


class CleanAnswers(Asking):
    """What one judge says to the cases themselves: which of them trigger a hallucination."""

    named, config = "clean_answers", Repeated

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        self.inputs = {"cases": Input(key("seed_cases"), read_by=SEED_CASES, by_default=True)}
        self.description = (
            f"What {judge.name} says to each case as it stands, and so whether it already "
            "hallucinates, which decides the direction of an attack (§3.2)."
        )

    def each_row(self, work: Work[Repeated]) -> Iterator[dict[str, Any]]:
        """Each case that was taken, so many times."""
        for case in limited(work.rows("cases"), "taken", work.config.limit):
            yield from self.asked(case, Picture(case["sha256"]), (ORIGINAL,), work.config.repeats)

    def extent(self, work: Work[Repeated], rows: Sequence[Row]) -> Extent:
        """Of all cases that were taken."""
        there = work.tables["cases"]["outcome"].eq("taken").sum()
        return Extent(len({row["case_id"] for row in rows}), int(there), "cases")


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
        common, attacked = defaultdict(list), defaultdict(list)
        for row in work.rows("perturbed"):
            if row["outcome"] in ("perturbed", PENDING):
                told = (row["perturbation"], row["parameters"], None, row["rehearsal"])
                picture = Picture(row["sha256"], *told, row["outcome"] == PENDING)
                common[row["image_id"]].append(picture)
        for encoder in encoders_of(self.catalog):
            if work.config.encoders and encoder.name not in work.config.encoders:
                continue
            for row in work.rows(f"adversarial_{encoder.name}"):
                if row["outcome"] in ("attacked", PENDING):
                    told = (row["method"], row["parameters"], row["encoder"], False)
                    picture = Picture(row["sha256"], *told, row["outcome"] == PENDING)
                    attacked[row["case_id"]].append(picture)

        def pictures(case: Row) -> Iterator[Picture]:
            yield from common.get(case["image_id"], ())
            yield from attacked.get(case["case_id"], ())

        return pictures


def encoders_of(catalog: Catalog) -> tuple[Model, ...]:
    """The models whose encoders are attacked."""
    return catalog.with_role("encoder")
