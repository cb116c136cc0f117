"""A partition of 10,000 image pairs: seconds and peak memory, painted and when it is there already.

A provider in a process of its own paints small pictures at once, so that what is measured is ours:
asking, storing, looking for flaws and writing the table, through the asset itself.
"""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import pyarrow.parquet as pq
from dagster import AssetSpec, DagsterInstance, materialize

from assets.kit.partitions import partition_tags
from assets.kit.step_asset import build_step_asset
from assets.protobias.common import GROUP, asset_key, pairs, protobias_domains
from assets.protobias.concepts import ProtoConceptsConfig, sample_domain_concepts
from assets.protobias.image_pairs import ImagePairs
from assets.protobias.prompt_triplets import TRIPLETS
from bench.client import client_in, model_named
from bench.figure import Figure, answer, in_a_process
from bench.machine import peak_megabytes
from generators.prompts.triplet_grammar import build_triplet, to_triplet_fields
from resources.models.catalog import Catalog
from resources.settings.budget import Budget
from resources.storage.data_root import DataRoot
from resources.storage.parquet_tables import ParquetTables
from resources.storage.work_cache import WorkCache
from tests.providers import provider_process

SAMPLES = 5
_DOMAIN = "animals"


def figures(few: int = 1_000, many: int = 10_000) -> Iterator[Figure]:
    """A partition of few pairs and one of many: the run that paints it, and the one after it."""
    peaks = []
    for number in (few, many):
        with TemporaryDirectory() as root, provider_process() as provider:
            write_triplets(Path(root), number // SAMPLES)
            for what, limit in (("painting {:,} pairs", 180), ("asking for {:,} pairs again", 40)):
                pairs, seconds, peak = in_a_process(
                    "bench.pairs", root, provider.url, environment={"DAGSTER_HOME": ""}
                )
                assert pairs == number
                peaks.append(peak)
                yield Figure(what.format(number), seconds, "s", limit, f"{peak:.0f} MB")
    grown = 1000 * (peaks[2] - peaks[0]) / (many - few)
    yield Figure("memory for each further pair", grown, "KB", 40)


def write_triplets(root: Path, number: int) -> None:
    """Store triplets of so many concepts by grammar, as `prompt_triplets` keeps them."""
    rows = [
        {
            **asdict(concept),
            "sample_rank": place,
            "seed": 0,
            "writer": "grammar",
            **build_triplet(to_triplet_fields(concept)),
            "outcome": "accepted",
            "rules": [],
            "earlier_rules": [],
            "attempts": 1,
            "calls": [],
        }
        for place, concept in enumerate(
            sample_domain_concepts(_DOMAIN, ProtoConceptsConfig(instances=number))
        )
    ]
    path = root / "protobias" / "prompt_triplets" / f"{_DOMAIN}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(TRIPLETS.build_table(rows), path)


def paint(root: str, url: str) -> tuple[int, float, float]:
    """Materialize a data root's pairs here: how many, seconds, and the process's peak in MB."""
    os.environ["GEMINI_API_KEY"] = "none"
    terms = {"model": "bench-image", "base_url": url, "concurrency": 64}
    painter = model_named("bench", "gemini", "painter", **terms)
    triplets = AssetSpec(
        asset_key("prompt_triplets"), group_name=GROUP, partitions_def=protobias_domains
    )
    partition = f"{_DOMAIN}|{painter.name}"
    with client_in(root) as client, DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("painters", [painter.name])
        started = perf_counter()
        result = materialize(
            [build_step_asset(ImagePairs(Catalog((painter,)))), triplets],
            instance=instance,
            partition_key=partition,
            tags=partition_tags(partition, pairs),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
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
    (event,) = result.asset_materializations_for_node("protobias__image_pairs")
    return int(str(event.metadata["pairs"].value)), seconds, peak_megabytes()


if __name__ == "__main__":
    answer(paint)
