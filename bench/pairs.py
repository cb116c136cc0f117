"""A partition of 10,000 image pairs: seconds and peak memory, painted and when it is there already.

A provider in a process of its own paints small pictures at once, so that what is measured is ours:
asking, storing, looking for flaws and writing the table, through the asset itself.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import pyarrow.parquet as pq
from dagster import AssetSpec, DagsterInstance, materialize

from assets.kit.materializing import asset_of
from assets.kit.partitions import tags_of
from assets.protobias.common import GROUP, key
from assets.protobias.concepts import Sampling, sampled
from assets.protobias.pairs import ImagePairs
from assets.protobias.partitions import pairs, protobias_domains
from assets.protobias.triplets import TRIPLETS
from bench.machine import peak_megabytes
from generators.prompts.grammar import fields_of, triplet
from resources.budget import Budget
from resources.calls import CallStore
from resources.home import Home
from resources.images import ImageStore
from resources.ledger import WorkLedger
from resources.models.catalog import Catalog, Model
from resources.models.client import ModelClient
from resources.tables import ParquetTables
from tests.providers import provider_process

PAIRS, FEW, SAMPLES = 10_000, 1_000, 5
_DOMAIN = "animals"


class Painted(NamedTuple):
    """Seconds of one run, without loading Python, and the peak memory of its process in MB."""

    pairs: int
    seconds: float
    megabytes: float


def partitions(pairs: tuple[int, ...] = (FEW, PAIRS)) -> Iterator[tuple[Painted, Painted]]:
    """For each number of pairs: the run that paints them, and the one after it, that asks nothing.

    Raises `subprocess.CalledProcessError` where one fails.
    """
    for number in pairs:
        with TemporaryDirectory() as root, provider_process() as provider:
            write_triplets(Path(root), number // SAMPLES)
            yield _in_a_process(root, provider.url), _in_a_process(root, provider.url)


def _in_a_process(root: str, url: str) -> Painted:
    environment = {**os.environ, "GEMINI_API_KEY": "none", "DAGSTER_HOME": ""}
    told = subprocess.run(
        [sys.executable, "-m", "bench.pairs", root, url],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    ).stdout
    return Painted(*json.loads(told))


def write_triplets(root: Path, number: int) -> None:
    """Store triplets of so many concepts by grammar, as `prompt_triplets` keeps them."""
    rows = [
        {
            **asdict(concept),
            "place": place,
            "seed": 0,
            "writer": "grammar",
            **triplet(fields_of(concept)),
            "outcome": "accepted",
            "rules": [],
            "earlier_rules": [],
            "attempts": 1,
            "calls": [],
        }
        for place, concept in enumerate(sampled(_DOMAIN, Sampling(instances=number)))
    ]
    path = root / "protobias" / "prompt_triplets" / f"{_DOMAIN}.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(TRIPLETS.table(rows), path)


def paint(root: str, url: str) -> Painted:
    """Materialize the pairs of a data root, in this process."""
    painter = Model(
        name="bench",
        backend="gemini",
        model="bench-image",
        family="bench",
        roles=("painter",),
        base_url=url,
        concurrency=64,
    )
    triplets = AssetSpec(key("prompt_triplets"), group_name=GROUP, partitions_def=protobias_domains)
    partition, images = f"{_DOMAIN}|{painter.name}", ImageStore(root=root)
    with (
        closing(CallStore(url=f"sqlite:///{root}/calls.sqlite")) as calls,
        DagsterInstance.ephemeral() as instance,
    ):
        instance.add_dynamic_partitions("painters", [painter.name])
        started = perf_counter()
        result = materialize(
            [asset_of(ImagePairs(Catalog((painter,)))), triplets],
            instance=instance,
            partition_key=partition,
            tags=tags_of(partition, pairs),
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            resources={
                "io_manager": ParquetTables(root=root),
                "home": Home(root=root),
                "images": images,
                "models": ModelClient(calls=calls, images=images),
                "ledger": WorkLedger(root=root),
                "budget": Budget.of({}),
            },
        )
        seconds = perf_counter() - started
    (event,) = result.asset_materializations_for_node("protobias__image_pairs")
    return Painted(int(str(event.metadata["pairs"].value)), seconds, peak_megabytes())


if __name__ == "__main__":
    sys.stdout.write(json.dumps(paint(*sys.argv[1:])))
