"""Answers to cases, their negations and both of six perturbed versions: seconds and peak memory.

The answers are stored already, so that what is measured is ours: making rows, looking calls up,
reading replies, writing the table and checking it, through the asset itself.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from dagster import AssetSpec, DagsterInstance, materialize

from assets.kit.step_asset import build_step_asset
from assets.vhexpansion.answers import YesNoAnswers
from assets.vhexpansion.common import GROUP, asset_key, dataset_partitions
from assets.vhexpansion.common_perturbations import PERTURBED_PICTURE_COLUMNS
from assets.vhexpansion.negated_cases import NEGATED_CASE_COLUMNS
from assets.vhexpansion.yes_no_step import COMMON, FORMS, NONE
from bench.client import client_in, model_named, stored_call
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.prompts.yes_no import write_yes_no_prompt
from resources.calls import CallStore
from resources.models.catalog import Catalog
from resources.models.requests import LookRequest, Turn
from resources.settings.budget import Budget
from resources.storage.chunks import split_into_chunks
from resources.storage.data_root import DataRoot
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache

DATASET = "flags"
VERSIONS = (*COMMON, "i_fgsm", "pgd")
PICTURES_OF = 20
"""Cases about one picture, as POPE has them."""
_JUDGE = model_named("bench", "openai_compatible", "judge", base_url="http://127.0.0.1:9")


def figures(few: int = 1_000, many: int = 10_000) -> Iterator[Figure]:
    """Of few and of many cases, one answer each."""
    peaks = []
    for number in (few, many):
        with TemporaryDirectory() as root:
            prepare(Path(root), number)
            rows, seconds, peak = in_a_process(
                "bench.answers", root, environment={"DAGSTER_HOME": ""}
            )
        assert rows == number * len(FORMS) * (1 + len(VERSIONS))
        peaks.append(peak)
        yield Figure(f"{rows:,} answers to {number:,} cases", seconds, "s", note=f"{peak:.0f} MB")
    rows = (many - few) * len(FORMS) * (1 + len(VERSIONS))
    grown = 1000 * (peaks[1] - peaks[0]) / rows
    yield Figure("memory for each further answer", grown, "KB", 5)


def prepare(root: Path, number: int) -> None:
    """Store so many cases and their pictures' versions, and every answer of the judge."""
    cases = [_case(place) for place in range(number)]
    pictures = sorted({case["image_id"] for case in cases})
    versions = [_perturbed(image, name) for image in pictures for name in VERSIONS]
    _write(root, "negated_cases", NEGATED_CASE_COLUMNS.build_table(cases))
    _write(root, "common_perturbations", PERTURBED_PICTURE_COLUMNS.build_table(versions))
    requests = (
        LookRequest(
            (Turn("user", write_yes_no_prompt(case[question]), (_sha256(case["image_id"], name),)),)
        )
        for case in cases
        for name in (NONE, *VERSIONS)
        for question in ("question", "negated_question")
    )
    with closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as store:
        for some in split_into_chunks(requests):
            store.keep([stored_call(_JUDGE, request, "It is there, so {Yes}.") for request in some])


def ask(root: str) -> tuple[int, float, float]:
    """Materialize a data root's answers here: how many, seconds, and the process's peak in MB."""
    upstream = [
        AssetSpec(asset_key(name), group_name=GROUP, partitions_def=dataset_partitions())
        for name in ("negated_cases", "common_perturbations")
    ]
    answers = build_step_asset(YesNoAnswers(Catalog((_JUDGE,)), _JUDGE))
    with client_in(root) as client, DagsterInstance.ephemeral() as instance:
        started = perf_counter()
        result = materialize(
            [answers, *upstream],
            instance=instance,
            partition_key=DATASET,
            run_config={
                "ops": {f"{GROUP}__answers_bench": {"config": {"repeats": 1}}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
            resources={
                "io_manager": ParquetTables(root=root),
                "home": DataRoot(root=root),
                "images": client.images,
                "models": client,
                "work_cache": WorkCache(root=root),
                "budget": Budget.from_environment({}),
            },
        )
        seconds = perf_counter() - started
    (event,) = result.asset_materializations_for_node(f"{GROUP}__answers_bench")
    return int(str(event.metadata["answered"].value)), seconds, peak_megabytes()


def _write(root: Path, name: str, table: pa.Table) -> None:
    path = root / GROUP / name / f"{DATASET}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(table, path)


def _case(place: int) -> dict[str, Any]:
    image = f"{DATASET}/{place // PICTURES_OF}"
    return {
        "case_id": f"{image}/{place}",
        "dataset": DATASET,
        "image_id": image,
        "sha256": _sha256(image, NONE),
        "question": f"Is there a thing of kind {place} on this flag?",
        "answer": ("yes", "no")[place % 2],
        "case_number": place,
        "is_stand_in": False,
        "negated_question": f"Is there no thing of kind {place} on this flag?",
        "negated_answer": ("no", "yes")[place % 2],
        "outcome": "negated",
    }


def _perturbed(image: str, name: str) -> dict[str, Any]:
    known = {"dataset": DATASET, "image_id": image, "original": _sha256(image, NONE)}
    parameters = f'[{{"kind":"{name}"}}]'
    made = {"perturbation": name, "parameters": parameters, "sha256": _sha256(image, name)}
    return known | made | {"is_stand_in": False, "outcome": "perturbed"}


def _sha256(image: str, name: str) -> str:
    return f"{image.rpartition('/')[2]}{(NONE, *VERSIONS).index(name)}".rjust(64, "0")


if __name__ == "__main__":
    answer(ask)
