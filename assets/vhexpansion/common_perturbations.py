"""Common perturbations: the pictures with noise, brighter, out of focus, and compressed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Annotated, Any

import pandas as pd
from pydantic import Field

from assets.kit.columns import BOOLEAN, TEXT, WHOLE, Columns
from assets.kit.forecast import PENDING
from assets.kit.limits import LimitConfig, SamplingKey, stratified_head
from assets.kit.model_lookup import validate_names
from assets.kit.perturbed_pictures import (
    PerturbationRequest,
    PerturbationRequests,
    find_perturbed_pictures,
    make_perturbed_pictures,
)
from assets.kit.pictures import sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.step import Extent, Step, StepAsset, StepTable
from assets.kit.step_run import Input, Row, StepRun
from assets.vhexpansion.common import asset_key, dataset_partitions
from assets.vhexpansion.references import add_readings
from assets.vhexpansion.seed_cases import ACCEPTED, SEED_CASES
from generators.domains import load_domains
from generators.perturbations.grids import COMMON_PERTURBATIONS
from generators.perturbations.kinds.defocus import Defocus
from generators.perturbations.kinds.hsv_brightness import HsvBrightness
from generators.perturbations.kinds.jpeg import Jpeg
from generators.perturbations.kinds.noise import Noise
from generators.perturbations.perturbation import Perturbation
from generators.perturbations.registry import build_perturbation, to_json

PERTURBED_PICTURE_COLUMNS = Columns(
    dataset=(TEXT, "The dataset"),
    image_id=(TEXT, "The original picture, as cases name it"),
    original=(TEXT, "Name of the original picture in the image store"),
    perturbation=(TEXT, "noise, hsv_brightness, defocus or jpeg"),
    parameters=(TEXT, "The perturbation with its parameters, as JSON"),
    sha256=(TEXT, "Name of the perturbed picture in the image store; empty where there is none"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    readable=(
        BOOLEAN,
        "True if code reads the truth of all its cases; empty if it cannot from the "
        "original, or if it was not read again",
    ),
    seed=(WHOLE, "Random seed for noise"),
    is_stand_in=(BOOLEAN, "True if a stand-in took part, so that it is no result"),
    outcome=(TEXT, "perturbed, or inapplicable"),
    reason=(TEXT, "Reason why it is inapplicable; else empty"),
)
DONE = "perturbed"
NAMES = tuple(perturbation.name for perturbation in COMMON_PERTURBATIONS)
_PARAMETERS = {
    perturbation.name: tuple(perturbation.parameters) for perturbation in COMMON_PERTURBATIONS
}


class CommonPerturbationsConfig(LimitConfig):
    """Perturbations to apply; a limit is on pictures before they are perturbed."""

    perturbations: Annotated[list[str], validate_names(NAMES)] = Field(
        default=[*NAMES],
        min_length=1,
        description=f"Perturbations to apply: any of {', '.join(NAMES)}.",
    )
    sigma: float = Field(
        default=Noise().sigma,
        ge=0,
        le=1,
        description="Standard deviation of noise, as a fraction of 255.",
    )
    amount: float = Field(
        default=HsvBrightness().amount,
        ge=-1,
        le=1,
        description="Amount that hsv_brightness adds to V of HSV, as a fraction of 255.",
    )
    radius: int = Field(
        default=Defocus().radius, ge=0, le=50, description="Radius of defocus, in px."
    )
    quality: int = Field(
        default=Jpeg().quality, ge=1, le=95, description="JPEG quality of the perturbation jpeg."
    )
    seed: int = Field(
        default=0, ge=0, description="Random seed for noise; each picture has its own noise."
    )
    reread: bool = Field(
        default=True,
        description=(
            "Let code read drawn pictures again to see whether they still show the truth (about "
            "half a second each)."
        ),
    )

    def build_perturbations(self) -> list[Perturbation]:
        """The perturbations with their parameters, each once."""
        return [
            build_perturbation(
                name, **{parameter: getattr(self, parameter) for parameter in _PARAMETERS[name]}
            )
            for name in dict.fromkeys(self.perturbations)
        ]


class CommonPerturbations(Step[CommonPerturbationsConfig]):
    """The perturbed pictures of a dataset; code makes what is missing."""

    config = CommonPerturbationsConfig
    asset = StepAsset(
        key=asset_key("common_perturbations"),
        partitions_def=dataset_partitions,
        kinds=("image",),
        description=(
            "Pictures of cases with noise, changed brightness, defocus, and JPEG compression "
            "(§3.2, App. C). Existing pictures are kept."
        ),
    )
    table = StepTable(
        columns=PERTURBED_PICTURE_COLUMNS,
        key_columns=("image_id", "parameters"),
        filled_columns=MappingProxyType({DONE: ("sha256", "width", "height"), "inapplicable": ()}),
    )
    inputs = MappingProxyType(
        {"cases": Input(asset_key("seed_cases"), row_columns=SEED_CASES, uses_default_config=True)}
    )

    def rows(self, work: StepRun[CommonPerturbationsConfig]) -> list[dict[str, Any]]:
        """Build a row for each picture and perturbation."""
        perturbations = work.config.build_perturbations()
        rows = [
            _row(image, perturbation, work.config.seed)
            for image in _images(work)
            for perturbation in perturbations
        ]
        return find_perturbed_pictures(rows, _works(rows), DONE, work.images, work.work_cache)

    def prepare(
        self, work: StepRun[CommonPerturbationsConfig], rows: Sequence[dict[str, Any]]
    ) -> Sequence[dict[str, Any]]:
        """Make the pictures that are missing, and read them again where code can."""
        perturbed_rows, number = make_perturbed_pictures(
            rows, _works(rows), DONE, work.images, work.work_cache
        )
        work.log.info("made %d of %d perturbed pictures", number, len(perturbed_rows))
        if not work.config.reread or work.partition not in load_domains():
            return perturbed_rows
        return _reread(work, perturbed_rows)

    def extent(self, work: StepRun[CommonPerturbationsConfig], rows: Sequence[Row]) -> Extent:
        """Count the pictures perturbed, of all pictures of cases."""
        image_ids = {
            row["image_id"] for row in work.read_rows("cases") if row["outcome"] == ACCEPTED
        }
        return Extent(
            count=len({row["image_id"] for row in rows}), total=len(image_ids), unit="pictures"
        )

    def metadata(
        self, work: StepRun[CommonPerturbationsConfig], rows: Sequence[Row]
    ) -> dict[str, Any]:
        """Count the pictures, and those that code can still read; show a sample."""
        counts = Counter((row["perturbation"], _format_readable(row)) for row in rows)
        table = [(*labels, number) for labels, number in counts.items()]
        return {
            "pictures": len({row["sha256"] for row in rows if row["sha256"]}),
            "by_perturbation": markdown_table(
                pd.DataFrame(table, columns=["perturbation", "still shows its truth", "pictures"])
            ),
            "contact_sheet": sample_contact_sheet(
                rows, lambda row: str(row["perturbation"]), work.images
            ),
        }


def _images(work: StepRun[CommonPerturbationsConfig]) -> list[dict[str, Any]]:
    """The pictures of cases, each once."""
    cases = [row for row in work.read_rows("cases") if row["outcome"] in (ACCEPTED, PENDING)]
    images = {row["image_id"]: row for row in reversed(cases)}
    sorted_images = sorted(images.values(), key=lambda row: row["case_number"] or 0)
    return stratified_head(
        sorted_images, work.config.limit, lambda row: SamplingKey(row["image_id"], ())
    )


def _row(image: Row, perturbation: Perturbation, seed: int) -> dict[str, Any]:
    """Build the row of a perturbed picture before the picture is made."""
    is_pending = image["outcome"] == PENDING
    return {
        **{name: image[name] for name in ("dataset", "image_id", "is_stand_in")},
        "original": image["sha256"],
        "perturbation": perturbation.name,
        "parameters": to_json([perturbation]),
        "sha256": None,
        "width": None,
        "height": None,
        "readable": None,
        "seed": seed,
        "outcome": PENDING if is_pending else None,
        "reason": None,
    }


def _works(rows: Sequence[Row]) -> PerturbationRequests:
    return {
        place: PerturbationRequest(row["original"], row["parameters"], seed=_derive_seed(row))
        for place, row in enumerate(rows)
        if row["original"] and row["outcome"] != "inapplicable"
    }


def _derive_seed(row: Row) -> int:
    """Noise of a picture's own, or else all of one size would have the same; 0 without noise."""
    if row["perturbation"] != "noise":
        return 0
    return int.from_bytes(sha256(f"{row['seed']}/{row['original']}".encode()).digest()[:4])


def _reread(work: StepRun[Any], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with what code reads in drawn pictures, compared with the truth of their cases."""
    truths: dict[str, dict[str, str]] = {}
    for case in work.read_rows("cases"):
        if case["outcome"] == ACCEPTED:
            truths.setdefault(case["image_id"], {})[case["source_question"]] = case["truth"]
    original_legible = _find_legible(
        {row["original"]: row["image_id"] for row in rows}, truths, work
    )
    legible = {row["sha256"]: row["image_id"] for row in rows if original_legible[row["original"]]}
    perturbed_legible = _find_legible(
        {name: image_id for name, image_id in legible.items() if name}, truths, work
    )
    return [row | {"readable": perturbed_legible.get(row["sha256"])} for row in rows]


def _find_legible(
    pictures: Mapping[str, str], truths: Mapping[str, Mapping[str, str]], work: StepRun[Any]
) -> dict[str, bool]:
    """Return, by sha256, whether code reads the truth of every case in a picture of that name."""
    questions = [
        {"sha256": digest, "source_question": question, "truth": truth}
        for digest, image_id in pictures.items()
        for question, truth in truths[image_id].items()
    ]
    is_legible = dict.fromkeys(pictures, True)
    for row in add_readings(questions, work):
        is_legible[row["sha256"]] &= row["read"][0] == row["truth"]
    return is_legible


def _format_readable(row: Row) -> str:
    if row["outcome"] == "inapplicable":
        return "inapplicable"
    return {None: "not read", True: "yes", False: "no"}[row["readable"]]
