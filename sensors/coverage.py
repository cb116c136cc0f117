"""What ProtoBias lacks of a painter, and whether it may be had without asking the user first."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    DagsterInstance,
    IntMetadataValue,
    RunRequest,
    RunsFilter,
)
from dagster._core.storage.dagster_run import NOT_FINISHED_STATUSES

from assets.kit.choice import NoSuchModel
from assets.kit.partitions import painters, tags_of
from assets.planning.choice import Assets
from assets.protobias.common import GROUP, key
from assets.protobias.concepts import concepts_told
from assets.protobias.filters import filter_of
from assets.protobias.partitions import domain_and_painter, pairs
from assets.protobias.scoring import is_filed
from generators.prompts.concepts import DOMAINS
from generators.prompts.sampling import SIZES
from resources.former_names import partition_now
from resources.models.catalog import Catalog, Model
from resources.models.pricing import cost_of, why_unpriced
from resources.models.replies import Usage
from resources.models.requests import Look, Paint, Request, Score

TRIPLETS, IMAGE_PAIRS, FILTERED = key("prompt_triplets"), key("image_pairs"), key("filtered_pairs")
PAIRS_JOB, SUMMARY_JOB, REPORT_JOB = "painter_pairs", "painter_summary", "protobias_report"
PAINTER = "counterfactory/painter"
"""The tag of a run that was launched for a painter without anyone's pressing a button."""

SAMPLE = "counterfactory/sample"
"""The tag that says of such a run how large its sample is beside the paper's."""

_VERSION = "dagster/data_version"
_OF_TRIPLETS = f"dagster/input_data_version/{TRIPLETS.to_user_string()}"
_SCORES = f"{GROUP}/scores_"
_SOMETHING = Usage(1, 1, 1.0)
_LATEST = 100


def metric_of(asset: AssetKey) -> str | None:
    """The metric or judge whose scores an asset holds; None for another asset."""
    name = asset.to_user_string()
    return name.removeprefix(_SCORES) if name.startswith(_SCORES) else None


class Landing:
    """Which partitions painters lack, as things stand; `told` is what the user should know."""

    def __init__(self, instance: DagsterInstance, catalog: Catalog, assets: Assets) -> None:
        self.instance, self.catalog = instance, catalog
        self.told: list[str] = []
        self._assets = assets
        self._made: dict[AssetKey, set[str]] = {}
        self._may: dict[str, bool] = {}
        known = instance.get_dynamic_partitions(str(painters.name))
        self.painters = [
            model
            for model in catalog.with_role("painter")
            if model.name in known and not model.rehearses
        ]
        """Those that have partitions, and whose pictures are results."""

    @cached_property
    def domains(self) -> list[str]:
        """Domains whose triplets are there and may be painted; the others are told of.

        A sample smaller than the paper's may be a rehearsal's, or a trial. It is painted only where
        the user had a painter with results paint just that sample.
        """
        there = self.made(TRIPLETS)
        if missing := [domain for domain in DOMAINS if domain not in there]:
            self.told.append(
                f"Nothing is painted of {', '.join(missing)}: materialize "
                f"{TRIPLETS.to_user_string()} of that first."
            )
        found = []
        for domain in (domain for domain in DOMAINS if domain in there):
            if self.is_trial(domain) and not self._is_painted(domain):
                self.told.append(
                    f"Nothing is painted of {domain} by itself: its triplets are a trial sample, "
                    f"{self.sample(domain)}, of which no painter with results has pairs. "
                    f"Materialize protobias/concepts and {TRIPLETS.to_user_string()} of {domain} "
                    f"in full; or, to have the trial painted, {IMAGE_PAIRS.to_user_string()} of "
                    "one painter yourself."
                )
            else:
                found.append(domain)
        return found

    def is_trial(self, domain: str) -> bool:
        """Whether a domain has triplets of fewer concepts than the paper."""
        return self._concepts(domain) < SIZES[domain]

    def sample(self, domain: str) -> str:
        """Of how many concepts a domain has triplets, as in "6 of 2,000 concepts"."""
        return concepts_told(self._concepts(domain), domain)

    def _concepts(self, domain: str) -> int:
        number = self._latest(TRIPLETS, domain).metadata.get("triplets")
        return number.value if isinstance(number, IntMetadataValue) and number.value else 0

    def _is_painted(self, domain: str) -> bool:
        """Whether some pairs that are no rehearsal are of just the triplets that there are now."""
        version = self._tags(TRIPLETS, domain).get(_VERSION, "")
        # Of what a run has read of another asset's partition Dagster keeps the version's hash.
        read = sha256(version.encode()).hexdigest()
        of_domain = {
            f"{domain}|{model.name}" for model in self.catalog.models if not model.rehearses
        }
        return any(
            self._tags(IMAGE_PAIRS, partition).get(_OF_TRIPLETS) == read
            for partition in of_domain & self.made(IMAGE_PAIRS)
        )

    def _tags(self, asset: AssetKey, partition: str) -> Mapping[str, str]:
        return self._latest(asset, partition).tags or {}

    def _latest(self, asset: AssetKey, partition: str) -> AssetMaterialization:
        """The latest materialization of a partition that is there."""
        records = AssetRecordsFilter(asset, asset_partitions=[partition])
        (found,) = self.instance.fetch_materializations(records, limit=1).records
        assert found.asset_materialization is not None
        return found.asset_materialization

    @cached_property
    def targets(self) -> list[AssetKey]:
        """What is made of a painter's domain: pairs, filtered ones, and every score with a price.

        A metric or judge whose price is unknown is told of, and left to the user, and so are scores
        from a file, which nobody else writes.
        """
        by_name = {model.name: model for model in self.catalog.models}
        priced = []
        for asset in sorted(filter(metric_of, self._assets), key=AssetKey.to_user_string):
            model = by_name.get(str(metric_of(asset)))
            if model is None:
                continue
            if is_filed(model):
                continue
            request = Score("", "") if "metric" in model.roles else Look(())
            if lacks := price_lacking(model, request):
                self.told.append(f"{model.name} is not asked for scores by itself: {lacks}")
            else:
                priced.append(asset)
        return [IMAGE_PAIRS, FILTERED, *priced]

    def made(self, asset: AssetKey) -> set[str]:
        """The partitions of an asset that were ever materialized."""
        if asset not in self._made:
            self._made[asset] = set(self.instance.get_materialized_partitions(asset))
        return self._made[asset]

    def lacking(self, partition: str) -> list[AssetKey]:
        """What of a painter's domain is not there."""
        return [asset for asset in self.targets if partition not in self.made(asset)]

    def is_being_made(self, partition: str) -> bool:
        """Whether a run of anybody's makes some of it just now, or is about to."""
        tags = {"dagster/partition": partition}
        under_way = RunsFilter(tags=tags, statuses=NOT_FINISHED_STATUSES)
        return any(
            run.job_name == PAIRS_JOB or set(run.asset_selection or ()) & set(self.targets)
            for run in self.instance.get_runs(under_way)
        )

    def may_be_launched(self, painter: Model) -> bool:
        """Whether a painter's price, and that of who filters its pictures, are known.

        What is in the way is told.
        """
        if painter.name in self._may:
            return self._may[painter.name]
        lacks = price_lacking(painter, Paint(""))
        if lacks is None:
            name = self.design.get(FILTERED, {}).get("filter", "")
            try:
                seer = filter_of(self.catalog, painter, name)
            except NoSuchModel as why:
                lacks = (
                    f"{why} What {FILTERED.to_user_string()} of a painter with results was last "
                    "made with holds for new ones."
                )
            else:
                lacks = price_lacking(seer, Look(()))
        if lacks is not None:
            self.told.append(f"{painter.name} is not launched by itself: {lacks}")
        self._may[painter.name] = lacks is None
        return lacks is None

    @cached_property
    def design(self) -> Mapping[AssetKey, Mapping[str, Any]]:
        """By asset, the config with which it was last made of a painter that is no rehearsal.

        A new painter gets what the earlier ones got, or its figures could not be set beside theirs.
        """
        real = {model.name for model in self.catalog.models if not model.rehearses}
        found = {}
        for asset in (IMAGE_PAIRS, FILTERED):
            for run in self._runs_of(asset, real):
                config = run.get("ops", {}).get(asset.to_python_identifier(), {}).get("config")
                if config:
                    found[asset] = config
                break
        return found

    def _runs_of(self, asset: AssetKey, real: set[str]) -> Iterator[Mapping[str, Any]]:
        """The config of runs that made an asset of real painters, the latest first."""
        latest = self.instance.fetch_materializations(AssetRecordsFilter(asset), limit=_LATEST)
        for record in latest.records:
            partition = partition_now(asset.to_user_string(), record.partition_key or "")
            _, painter = domain_and_painter(partition)
            run = self.instance.get_run_by_id(record.run_id) if painter in real else None
            if run is not None:
                yield run.run_config

    @property
    def ops(self) -> dict[str, Any]:
        """The design as run config of ops."""
        return {
            asset.to_python_identifier(): {"config": dict(config)}
            for asset, config in self.design.items()
        }

    def request(
        self, run_key: str, painter: Model, partition: str, assets: Sequence[AssetKey]
    ) -> RunRequest:
        """The run that makes assets of a painter's domain."""
        names = {asset.to_python_identifier() for asset in assets}
        domain, _ = domain_and_painter(partition)
        said = f"trial: {self.sample(domain)}" if self.is_trial(domain) else self.sample(domain)
        self.told.append(f"{partition} is launched ({said}).")
        return RunRequest(
            run_key=run_key,
            job_name=PAIRS_JOB,
            asset_selection=list(assets),
            partition_key=partition,
            run_config={"ops": {name: of for name, of in self.ops.items() if name in names}},
            tags={**tags_of(partition, pairs), PAINTER: painter.name, SAMPLE: said},
        )


def price_lacking(model: Model, request: Request) -> str | None:
    """What to write in models.yaml for a model's price to be known; None where it is."""
    if cost_of(model, request, _SOMETHING) is not None:
        return None
    return (
        f"its price is unknown. Give its entry in models.yaml {why_unpriced(model, request)}, or "
        "materialize it yourself."
    )
