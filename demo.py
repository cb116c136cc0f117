"""Build VLMBias from nothing: images, labels, questions, answers and report. Rehearse ProtoBias.

What is drawn by code is real. Photographs are painted by models: here an offline one stands in for
them, so that the two photographed topics are a rehearsal, and are marked as one everywhere. So is
all of ProtoBias, of a few concepts a domain.

Runs the graph in one process into the Dagster instance at DAGSTER_HOME, so that the Dagster UI
shows the same materializations afterwards. Exits with 1 if any run fails.

Dagster is imported inside the functions that use it: worker processes import this file as well,
and have no use for it.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from dotenv import load_dotenv

from generators.domains import domains
from generators.prompts.concepts import DOMAINS
from generators.topics import DRAWN, PHOTOGRAPHED

if TYPE_CHECKING:
    from dagster import DagsterInstance, ExecuteInProcessResult

_COLUMNS = ("images", "originals", "verified", "distinct", "seconds")
_TABLE = "{:<20} {:>7} {:>10} {:>13} {:>9} {:>8}\n"
_PAIRS = ("triplets", "pairs", "kept", "seconds")
_PAIR_TABLE = "{:<20} {:>8} {:>7} {:>7} {:>8}\n"
_CONCEPTS, _SAMPLES = 6, 1


class _Step(NamedTuple):
    """Assets that one run makes, with its partition; none for what is over all topics.

    `config` is that of its assets, by name.
    """

    assets: Sequence[str]
    partition: str | None = None
    group: str = "vlmbias"
    config: Mapping[str, Mapping[str, int]] = MappingProxyType({})


def main() -> int:
    """Materialize all topics, then accuracy and report; then ProtoBias. Print what came of it."""
    from dagster import DagsterInstance  # noqa: PLC0415 - see above

    load_dotenv(".env")
    arguments = _arguments()
    try:
        painter = _check(arguments)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    started = perf_counter()
    sys.stdout.write(_TABLE.format("topic", *_COLUMNS))
    totals: Counter[str] = Counter()
    with DagsterInstance.get() as instance:
        instance.add_dynamic_partitions("painters", [painter])
        for topic in (*DRAWN, *PHOTOGRAPHED):
            topic_started = perf_counter()
            for step in _steps(topic, painter):
                result = _run(instance, arguments, step)
                if not result.success:
                    return _failed(result, topic)
            made = _drawn(result) if topic in DRAWN else _photographed(topic)
            totals += made
            sys.stdout.write(_line(topic, made, topic_started))
        result = _run(instance, arguments, _Step(["accuracy", "report"]))
        if not result.success:
            return _failed(result, "report")
        sys.stdout.write(_line("all", totals, started))
        sys.stdout.write(
            f"\n{totals['images']} images, {totals['rehearsed']} of them a rehearsal by {painter}, "
            f"and {totals['originals']} originals, {totals['rehearsed_originals']} of them "
            f"likewise.\nReport: {_metadata(result, 'report')['path']}\n"
        )
        if _rehearse(instance, arguments, painter):
            return 1
    sys.stdout.write("Now run `make ui` to see it all in Dagster.\n")
    return 0


def _rehearse(instance: "DagsterInstance", arguments: argparse.Namespace, painter: str) -> int:
    """Materialize ProtoBias, small and offline, and print what came of it; 1 if a run fails."""
    sys.stdout.write(f"\n{_PAIR_TABLE.format('ProtoBias, rehearsed', *_PAIRS)}")
    for domain in DOMAINS:
        started = perf_counter()
        for step in _rehearsal(domain, painter):
            result = _run(instance, arguments, step)
            if not result.success:
                return _failed(result, f"ProtoBias ({domain})")
        sys.stdout.write(
            _PAIR_TABLE.format(domain, *_paired(domain, painter), f"{perf_counter() - started:.1f}")
        )
    result = _run(instance, arguments, _Step(["summary", "report"], painter, "protobias"))
    if not result.success:
        return _failed(result, "ProtoBias' report")
    sys.stdout.write(
        f"\nAll pictures of ProtoBias are a rehearsal by {painter}: schematics, and no results.\n"
        f"Report: {_metadata(result, 'report', 'protobias')['path']}\n"
    )
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="any whole number (SEED=7)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[384, 768, 1152],
        help="lengths of the longer side in px (SIZES='384 768')",
    )
    return parser.parse_args()


def _check(arguments: argparse.Namespace) -> str:
    """The painter that stands in.

    Raises a ValueError that names what is wrong with data root, seed, sizes or models, if anything.
    """
    from definitions import catalog  # noqa: PLC0415 - refuses a data root that cannot be one
    from resources.design import Design  # noqa: PLC0415 - see above

    design = Design(seed=arguments.seed, sizes=arguments.sizes)
    for domain in domains().values():
        design.sizes_for(domain)
    for model in catalog.models:
        if model.rehearses and {"painter", "editor"} <= set(model.roles):
            return model.name
    raise ValueError(
        f"{catalog.path} lists no painter that runs offline, for the demo spends nothing. Add:\n"
        "- {name: sketch, backend: offline, model: sketch, family: reference, "
        "roles: [painter, editor]}"
    )


def _steps(topic: str, painter: str) -> Iterator[_Step]:
    """How a topic is made.

    Of the judges, those that cost nothing: the demo never spends, whatever models.yaml lists.
    """
    from assets.vlmbias.answers import topics_of  # noqa: PLC0415 - see above
    from definitions import catalog  # noqa: PLC0415 - see above

    answers = [
        f"answers_{judge.name}"
        for judge in catalog.with_role("judge")
        if judge.rehearses and topic in topics_of(judge).get_partition_keys()
    ]
    if topic in DRAWN:
        images = ["drawn_images", "original_images", "measurements"]
        yield _Step([*images, "questions", *answers], topic)
    else:
        yield _Step(["subjects"], topic)
        yield _Step(["paintings", "edits", "candidates"], f"{painter}|{topic}")
        yield _Step(["photographs", "questions", *answers], topic)


def _rehearsal(domain: str, painter: str) -> Iterator[_Step]:
    """How a domain of ProtoBias is made, small; of the judges, again those that cost nothing."""
    from definitions import catalog  # noqa: PLC0415 - see above

    scores = [f"scores_{judge.name}" for judge in catalog.with_role("judge") if judge.rehearses]
    yield _Step(
        ["concepts", "prompt_triplets"],
        domain,
        "protobias",
        {"concepts": {"instances": _CONCEPTS}},
    )
    yield _Step(
        ["image_pairs", "filtered_pairs", *scores],
        f"{domain}|{painter}",
        "protobias",
        {"image_pairs": {"samples": _SAMPLES}},
    )


def _run(
    instance: "DagsterInstance", arguments: argparse.Namespace, step: _Step
) -> "ExecuteInProcessResult":
    from dagster import AssetSelection  # noqa: PLC0415 - see above

    from assets.kit.partitions import tags_of  # noqa: PLC0415 - see above
    from definitions import defs  # noqa: PLC0415 - see above

    assets = AssetSelection.assets(*(f"{step.group}/{name}" for name in step.assets))
    graph = defs.resolve_asset_graph()
    job = defs.resolve_implicit_global_asset_job_def()
    return job.execute_in_process(
        instance=instance,
        # Tags and not `partition_key`, which all assets of a run would have to share.
        tags=tags_of(step.partition, _division(graph, assets)) if step.partition else None,
        asset_selection=sorted(assets.resolve(graph)),
        run_config={
            "ops": {f"{step.group}__{name}": {"config": of} for name, of in step.config.items()},
            "resources": {"design": {"config": {"seed": arguments.seed, "sizes": arguments.sizes}}},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        raise_on_error=False,
    )


def _division(graph: Any, assets: Any) -> Any:
    """How the assets of a run are divided: by painter as well, if any of them is."""
    divisions = [graph.get(key).partitions_def for key in assets.resolve(graph)]
    return max(divisions, key=lambda each: hasattr(each, "partitions_defs"))


def _drawn(result: "ExecuteInProcessResult") -> Counter[str]:
    """Images of a drawn topic, how many are verified in their pixels, and how many distinct."""
    found: dict[str, Any] = {}
    for evaluation in result.get_asset_check_evaluations():
        found |= {name: value.value for name, value in evaluation.metadata.items()}
    return Counter(
        images=_metadata(result, "drawn_images")["images"],
        originals=_metadata(result, "original_images")["images"],
        verified=found["verified"],
        distinct=found["distinct"],
    )


def _photographed(topic: str) -> Counter[str]:
    """Images of a photographed topic, and how many are rehearsed."""
    from dagster import AssetKey  # noqa: PLC0415 - see above

    from definitions import data_root  # noqa: PLC0415 - see above
    from resources.home import Home  # noqa: PLC0415 - see above

    table = Home(root=data_root()).table(AssetKey(["vlmbias", "photographs"]), topic)
    original = table["variant"] == "original"
    return Counter(
        images=int((~original).sum()),
        originals=int(original.sum()),
        rehearsed=int((table["rehearsal"] & ~original).sum()),
        rehearsed_originals=int((table["rehearsal"] & original).sum()),
        distinct=table["sha256"].nunique(),
    )


def _paired(domain: str, painter: str) -> tuple[int, int, int]:
    """Triplets of a domain, pairs of pictures, and how many of these the filter kept."""
    from assets.protobias.common import key  # noqa: PLC0415 - see above
    from definitions import data_root  # noqa: PLC0415 - see above
    from resources.home import Home  # noqa: PLC0415 - see above

    home = Home(root=data_root())
    triplets = home.table(key("prompt_triplets"), domain, ["outcome"])
    pictures = home.table(key("filtered_pairs"), f"{domain}|{painter}", ["pair_id", "pair_kept"])
    pairs = pictures.drop_duplicates("pair_id")["pair_kept"]
    return int(triplets["outcome"].eq("accepted").sum()), len(pairs), int(pairs.sum())


def _line(what: str, made: Counter[str], started: float) -> str:
    """A line of the table; photographs cannot be verified by code."""
    there = made["images"] + made["originals"]
    rehearsed = made["rehearsed"] + made["rehearsed_originals"]
    verified = f"{made['verified']} of {there - rehearsed}" if rehearsed < there else "rehearsal"
    seconds = f"{perf_counter() - started:.1f}"
    return _TABLE.format(
        what, made["images"], made["originals"], verified, made["distinct"], seconds
    )


def _metadata(
    result: "ExecuteInProcessResult", asset: str, group: str = "vlmbias"
) -> dict[str, Any]:
    (event,) = result.asset_materializations_for_node(f"{group}__{asset}")
    return {name: value.value for name, value in event.metadata.items()}


def _failed(result: "ExecuteInProcessResult", what: str) -> int:
    sys.stderr.write(f"\n{what} failed:\n")
    for event in result.get_step_failure_events():
        error = event.step_failure_data.error
        cause = error.cause if error and error.cause else error
        sys.stderr.write(f"- {event.step_key}: {cause.message.strip() if cause else 'unknown'}\n")
    for check in result.get_asset_check_evaluations():
        if not check.passed:
            wrong = check.metadata["wrong"].value
            sys.stderr.write(f"\n{check.check_name}: {check.description}\n{wrong}\n")
    sys.stderr.write(f"The run is {result.run_id}: see its log in `make ui`.\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
