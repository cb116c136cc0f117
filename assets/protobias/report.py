"""The report: one folder that opens in a browser wherever it lies."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    DataVersion,
    MaterializeResult,
    MetadataValue,
    asset,
)

from assets.kit.partitions import painters
from assets.kit.table_asset import OWNERS, NothingYet, Reporting
from assets.protobias import pages as site
from assets.protobias.common import GROUP, key
from assets.protobias.reported import facts, painted_by, prompts, unsummarised
from assets.report.beside import introduce
from assets.report.revision import content_version, written
from resources.faults import writing
from resources.home import Home
from resources.images import ImageStore
from resources.models.catalog import Model
from resources.models.client import ModelClient

_SHOWN = ("concepts", "prompt_triplets", "image_pairs", "filtered_pairs")


def report_over(scorers: Sequence[Model]) -> AssetsDefinition:
    """The asset `report` of the painters there are, as these judges and metrics score them."""

    @asset(
        key_prefix=GROUP,
        group_name=GROUP,
        owners=OWNERS,
        kinds={"python", "html"},
        # Scores are read without edges: `summary` changes whenever they do.
        deps=[AssetDep(key(name)) for name in (*_SHOWN, "summary")],
        description="ProtoBias: does a metric prefer the picture that fits the text, or the one "
        "that is typical? The results of this group as a static site: failure rates, Tables 1 and "
        "2, retention, pairs side by side.",
    )
    def report(
        context: AssetExecutionContext,
        config: Reporting,
        home: Home,
        images: ImageStore,
        models: ModelClient,
    ) -> MaterializeResult[None]:
        """Write the site beside the tables, from what is materialized so far.

        Raises `NothingYet` where no painter is summarised, and `Mismatch` where a table is older
        than what it was made from: a report never mixes two states of the benchmark.
        """
        started = perf_counter()
        known = context.instance.get_dynamic_partitions(str(painters.name))
        found = [each for name in known if (each := painted_by(home, name, scorers)) is not None]
        if not found:
            raise NothingYet(
                "No painter is summarised yet: materialize protobias/summary for one first."
            )
        folder = Path(home.root) / GROUP / "report"
        told = written()
        with writing(folder):
            index = site.build(
                folder,
                painters=found,
                prompts=prompts(home),
                png_of=images.get,
                title="ProtoBias",
                facts=facts(found) | told,
                missing=unsummarised(home, known, found),
                spent=[
                    each for each in models.calls.spending() if each.asset.startswith(f"{GROUP}/")
                ],
                originals=config.originals,
            )
        introduce(Path(home.root))
        return MaterializeResult(
            data_version=DataVersion(content_version(folder, told)),
            metadata={
                "path": MetadataValue.path(str(index)),
                "address": MetadataValue.path(index.as_uri()),
                "painters": len(found),
                "rehearsals": sum(painted.rehearsal for painted in found),
                "seconds": round(perf_counter() - started, 2),
            },
        )

    return report
