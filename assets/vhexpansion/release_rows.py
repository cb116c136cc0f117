"""Cases as a release has them: each beside its negation, about its picture or a perturbed one."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assets.kit.benchmarks import load_benchmarks
from assets.kit.licences import OWN
from assets.kit.picture_tables import BenchmarkPicture
from assets.kit.release_rows import (
    digest_parameters,
    find_part,
    list_stored,
    load_benchmark_pictures,
    read_partition,
)
from assets.kit.release_tables import ReleaseInputs, ReleaseRow
from assets.vhexpansion.common import asset_key, load_declared_tables
from assets.vhexpansion.common_perturbations import DONE, PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.training import base_picture_name
from assets.vhexpansion.yes_no_step import FORMS, NONE
from generators.prompts.yes_no import write_yes_no_prompt
from metrics.vhexpansion.symmetry import ORIGINAL

CASES_KEY, PERTURBED_KEY = asset_key("negated_cases"), asset_key("common_perturbations")
_UNPERTURBED: Mapping[str, Any] = {"perturbation": NONE, "parameters": "", "readable": None}


def read_cases(inputs: ReleaseInputs, *, are_perturbed: bool = False) -> Iterator[ReleaseRow]:
    """Yield both forms of each case that has a negation, by dataset; cells have all columns.

    A perturbed picture that no longer shows its truth to code is left out.
    """
    for dataset in list_stored(inputs, CASES_KEY):
        sources = _load_sources(inputs, dataset)
        perturbed = _load_perturbed(inputs, dataset) if are_perturbed else {}
        for case in read_partition(inputs, CASES_KEY, dataset, NEGATED_CASE_COLUMNS):
            if case["outcome"] != "negated":
                continue
            original = {**_UNPERTURBED, "sha256": case["sha256"]}
            for picture in perturbed.get(case["image_id"], ()) if are_perturbed else [original]:
                for form in FORMS:
                    yield _build_row(inputs, case, picture, form, sources.get(case["sha256"]))


def _load_sources(inputs: ReleaseInputs, dataset: str) -> Mapping[str, BenchmarkPicture]:
    """Load the pictures of a dataset of another benchmark; none of a collection."""
    tables = [
        table
        for benchmark in load_benchmarks().values()
        if any(dataset in questions.partitions for questions in benchmark.yes_no_tables)
        for table in benchmark.picture_tables
        if dataset in table.partitions
    ]
    return load_benchmark_pictures(inputs, tables, dataset)


def _load_perturbed(
    inputs: ReleaseInputs, dataset: str
) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    pictures = defaultdict[str, list[Mapping[str, Any]]](list)
    if inputs.home.holds(PERTURBED_KEY, dataset):
        for row in read_partition(inputs, PERTURBED_KEY, dataset, PERTURBED_PICTURE_COLUMNS):
            if row["outcome"] == DONE and row["readable"] is not False:
                pictures[row["image_id"]].append(row)
    return pictures


def _build_row(
    inputs: ReleaseInputs,
    case: Mapping[str, Any],
    picture: Mapping[str, Any],
    form: str,
    source: BenchmarkPicture | None,
) -> ReleaseRow:
    prefix = "" if form == ORIGINAL else "negated_"
    question, answer = case[f"{prefix}question"], case[f"{prefix}answer"]
    is_plain = picture["perturbation"] == NONE
    suffix = (
        "" if is_plain else f"/{picture['perturbation']}/{digest_parameters(picture['parameters'])}"
    )
    base_image = base_picture_name(case["dataset"], case["image_id"])
    is_collection = case["dataset"] not in load_declared_tables()
    proof = "source" if is_collection else (source.proof if source else None)
    picture_parts = [case["dataset"]] if is_collection else (source.parts if source else ())
    return ReleaseRow(
        row_id=f"{case['case_id']}/{form}{suffix}",
        cells={
            **case,
            "id": f"{case['case_id']}/{form}{suffix}",
            "image": picture["sha256"],
            **{name: picture[name] for name in ("sha256", *_UNPERTURBED)},
            "prompt": write_yes_no_prompt(question),
            "question": question,
            "answer": answer,
            "ground_truth": answer.title(),
            "form": form,
            "topic": case["dataset"],
            "subtopic": case["topic"],
            "base_image": base_image,
            "proof": proof,
        },
        base_image=base_image,
        proof=proof,
        parts=tuple(dict.fromkeys([OWN, *picture_parts, find_part(inputs, case["writer"])])),
        is_stand_in=case["is_stand_in"],
        unfit_reason=None if is_collection or proof else "a picture that nobody has reviewed",
    )
