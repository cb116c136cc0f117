"""A small stand-in for ProtoBias's assets, an instance, and models.yaml, for tests of sensors."""

import json
from hashlib import sha256

from dagster import AssetKey, AssetMaterialization, DagsterRun, DagsterRunStatus, RunRequest, asset
from dagster._core.utils import make_new_run_id

from assets.kit.benchmarks import load_benchmarks
from assets.kit.partitions import BY_PAINTER, painters, partition_tags
from assets.protobias.common import pairs, protobias_domains
from generators.prompts.concepts import DOMAINS
from resources.models.catalog import CatalogFiles
from sensors.painter_backlog import PAINTER_TAG, QUOTED_TAG, PainterBacklog
from tests.resources.models.test_patterns import PATTERN

TRIPLETS, IMAGE_PAIRS, FILTERED, SUMMARY, REPORT = (
    AssetKey(["protobias", name])
    for name in ("prompt_triplets", "image_pairs", "filtered_pairs", "summary", "report")
)
PRICED = {"per_image": {"1024x1024/high": 0.13}}
PAINTER_ENTRY = {
    **{key: value for key, value in PATTERN.items() if key != "pattern"},
    "name": "flux",
    "model": "flux",
}
SKETCH = {
    "name": "sketch",
    "backend": "stand_in",
    "model": "sketch",
    "family": "stand_in",
    "roles": ["painter"],
}
PRIOR = {**SKETCH, "name": "prior", "model": "prior", "roles": ["judge"]}
SEER = {
    "name": "seer",
    "backend": "openai",
    "model": "seer",
    "family": "gpt",
    "roles": ["judge", "captioner"],
    "price": {"input_per_million": 1.0, "output_per_million": 1.0},
}


def painter(name, **fields):
    return {**PAINTER_ENTRY, "name": name, "model": name, **fields}


def _asset(key, partitions):
    @asset(key=key, partitions_def=partitions, config_schema=dict)
    def made():
        return None

    return made


SCORES = [("protobias", f"scores_{name}") for name in ("prior", "seer")]
ASSETS = {
    made.key: made
    for made in (
        _asset(TRIPLETS, protobias_domains),
        *(_asset(key, pairs) for key in (IMAGE_PAIRS, FILTERED, *map(list, SCORES))),
        _asset(SUMMARY, painters),
        _asset(REPORT, None),
    )
}


class Bench:
    """An instance and a models.yaml."""

    def __init__(self, instance, folder):
        self.instance = instance
        self.files = CatalogFiles(folder / "models.yaml", folder / "discovered.yaml")

    def coverage(self):
        """What ProtoBias lacks of painters now."""
        return PainterBacklog(
            self.instance, self.files.load(), ASSETS, load_benchmarks()["protobias"]
        )

    def models(self, *entries):
        text = "".join(f"- {json.dumps(entry)}\n" for entry in entries)
        self.files.models.write_text(text)

    def noticed(self, *names):
        for partitions_def in BY_PAINTER:
            self.instance.add_dynamic_partitions(partitions_def.name, list(names))

    def quoted(self, *names):
        """A quote of each painter."""
        for name in names:
            self.ran(RunRequest(job_name="quote", tags={QUOTED_TAG: name}))

    def written(self, *domains, number=2400, version="1"):
        """Triplets of so many concepts; the paper has no more of any domain."""
        for domain in domains or DOMAINS:
            tags = {"dagster/data_version": version}
            self.made(TRIPLETS, domain, metadata={"triplets": number}, tags=tags)

    def painted(self, painter, domain, version="1", **metadata):
        """Pairs of the triplets of that version."""
        read = sha256(version.encode()).hexdigest()
        tags = {f"dagster/input_data_version/{TRIPLETS.to_user_string()}": read}
        self.made(IMAGE_PAIRS, f"{domain}|{painter}", tags=tags, metadata=metadata)

    def made(self, key, partition=None, **more):
        self.instance.report_runless_asset_event(
            AssetMaterialization(key, partition=partition, **more)
        )

    def pairs_made(self, painter, *domains):
        """Every table of a painter's domains."""
        for domain in domains or DOMAINS:
            for key in [IMAGE_PAIRS, FILTERED, *map(list, SCORES)]:
                self.made(key, f"{domain}|{painter}")

    def ran(self, request, status=DagsterRunStatus.SUCCESS):
        """The run that a request started, at its end or under way."""
        tags = {
            **request.tags,
            **(
                partition_tags(
                    request.partition_key, pairs if "|" in request.partition_key else painters
                )
                if request.partition_key
                else {}
            ),
        }
        run = DagsterRun(
            request.job_name,
            make_new_run_id(),
            status=status,
            tags=tags,
            asset_selection=frozenset(request.asset_selection or ()),
        )
        self.instance.add_run(run)
        return run.run_id


__all__ = ["ASSETS", "PAINTER_TAG", "PRICED", "PRIOR", "SEER", "SKETCH", "Bench", "painter"]
