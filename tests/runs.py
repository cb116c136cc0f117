"""Materializing parts of the graph in tests, in process, into a folder of their own."""

import dagster as dg

import assets
from definitions import resources_at

PER_TOPIC = dg.AssetSelection.all() - dg.AssetSelection.assets("vlmbias/accuracy", "vlmbias/report")
OVER_TOPICS = dg.AssetSelection.assets("vlmbias/accuracy", "vlmbias/report")


def materialize(root, *names, topic=None, seed=0, sizes=(384,), instance=None):
    """Materialize `vlmbias/<name>` of each name, or all, at small size; returns the result."""
    selection = PER_TOPIC if topic else OVER_TOPICS
    if names:
        keys = [f"vlmbias/{name}" for name in names]
        checks = dg.AssetSelection.checks_for_assets(*[dg.AssetKey(k.split("/")) for k in keys])
        selection = dg.AssetSelection.assets(*keys) | checks
    design = {"seed": seed, "sizes": list(sizes)}
    return dg.materialize(
        [
            *dg.load_assets_from_package_module(assets),
            *dg.load_asset_checks_from_package_module(assets),
        ],
        selection=selection,
        partition_key=topic,
        resources=resources_at(str(root)),
        run_config={
            "resources": {"design": {"config": design}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        instance=instance,
        raise_on_error=False,
    )


def failure(result):
    """What the failed step says, without Dagster's wrapping."""
    (event,) = result.get_step_failure_events()
    error = event.step_failure_data.error
    return (error.cause or error).message


def metadata(result, name):
    """The metadata of the materialization of `vlmbias/<name>`, as plain values."""
    node = f"vlmbias__{name.replace('/', '__')}"
    (event,) = result.asset_materializations_for_node(node)
    return {key: value.value for key, value in event.metadata.items()}
