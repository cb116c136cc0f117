"""What Dagster's log holds under former names counts as made, and is not made again."""

import pytest
from dagster import (
    AssetKey,
    AssetMaterialization,
    AssetRecordsFilter,
    MultiPartitionKey,
    StaticPartitionsDefinition,
    asset,
    materialize,
)

from assets.kit.benchmarks import benchmarks
from generators.prompts.concepts import DOMAINS
from sensors.former_log import take_over
from sensors.monthly_schedules import missing
from tests.sensors.bench import ASSETS, FILTERED, IMAGE_PAIRS, PRIOR, SEER, painter

pytestmark = pytest.mark.filterwarnings("ignore:Non-compliant tag keys:DeprecationWarning")
# Those are Dagster's own, of a partition in two dimensions.

FORMER, NOW = AssetKey(["vlmbias", "answers", "gpt"]), AssetKey(["vlmbias", "answers_gpt"])


def answer(instance, partition, answers):
    """Materialize answers as an earlier version did."""

    @asset(key=FORMER, partitions_def=StaticPartitionsDefinition(["flags", "logos"]))
    def made(context):
        context.add_output_metadata({"answers": answers})

    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    return materialize([made], partition_key=partition, instance=instance, run_config=quiet).run_id


def latest(instance, key, partition):
    of = AssetRecordsFilter(key, asset_partitions=[partition])
    return instance.fetch_materializations(of, limit=9).records


def test_answers_are_materialized_under_todays_name_alone(bench):
    answer(bench.instance, "flags", 3)
    run = answer(bench.instance, "flags", 4)
    bench.made(AssetKey(["vlmbias", "edited_flags", "gpt"]))
    for _ in range(2):
        take_over(bench.instance, ASSETS)
    names = {key.to_user_string() for key in bench.instance.all_asset_keys()}
    assert names == {"vlmbias/answers_gpt", "vlmbias/edited_flags_gpt"}
    assert bench.instance.get_materialized_partitions(NOW) == {"flags"}
    (record,) = latest(bench.instance, NOW, "flags")
    told = {name: value.value for name, value in record.asset_materialization.metadata.items()}
    assert (told["answers"], told["materialized_by"]) == (4, run)


def test_what_a_user_wipes_or_makes_anew_is_left_alone(bench):
    answer(bench.instance, "flags", 3)
    bench.made(NOW, "flags")
    answer(bench.instance, "logos", 5)
    take_over(bench.instance, ASSETS)
    assert len(latest(bench.instance, NOW, "flags")) == 1
    assert len(latest(bench.instance, NOW, "logos")) == 1
    bench.instance.wipe_assets([NOW])
    take_over(bench.instance, ASSETS)
    assert bench.instance.get_materialized_partitions(NOW) == set()


def test_a_painter_of_before_lacks_nothing(bench):
    bench.models(PRIOR, SEER, painter("flux"))
    bench.noticed("flux")
    bench.written()
    scores = [AssetKey(["protobias", "scores", name]) for name in ("prior", "seer")]
    for key in (IMAGE_PAIRS, FILTERED, *scores):
        for domain in DOMAINS:
            former = MultiPartitionKey({"painter": "flux", "topic": domain})
            assert former == f"flux|{domain}"
            event = AssetMaterialization(key, partition=former)
            bench.instance.report_runless_asset_event(event)
    requests, _ = missing(bench.instance, bench.files, ASSETS, benchmarks()["protobias"], "2026-11")
    assert requests == []
    assert {f"{domain}|flux" for domain in DOMAINS} <= bench.instance.get_materialized_partitions(
        IMAGE_PAIRS
    )
    (record,) = latest(bench.instance, IMAGE_PAIRS, "animals|flux")
    assert record.asset_materialization.partition.keys_by_dimension == {
        "domain": "animals",
        "painter": "flux",
    }
