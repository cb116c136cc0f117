"""ProtoBias at the paper's size, 62,750 pictures by `sketch`: seconds and memory of each step.

Each run is a process of its own, as Dagster starts it; the last figures are pages of its UI.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

from playwright.sync_api import Error, Page, sync_playwright

from bench.figure import Figure, answer
from bench.machine import peak_of
from generators.prompts.concepts import DOMAINS
from tests.ports import free_port

_ROOT = Path(__file__).parents[1]
_PAINTER = "sketch"
_PAIR_ASSETS = ("image_pairs", "filtered_pairs", "scores_prior", "scores_pixels")
_MEGABYTES, _REPORT_S, _PAGE_S = 1000, 60, 1
"""Limits: memory of a process, summary and report together, and a page of the UI."""


def figures(instances: int = 0) -> Iterator[Figure]:
    """Run all domains; `instances` concepts of each, or the paper's number for 0."""
    with TemporaryDirectory(prefix="counterfactory-bench-") as folder:
        home = Path(folder, "dagster")
        home.mkdir()
        shutil.copy(_ROOT / "dagster.yaml.example", home / "dagster.yaml")
        places = {"DAGSTER_HOME": str(home), "COUNTERFACTORY_HOME": f"{folder}/data"}
        for domain in DOMAINS:
            yield from _measure(places, instances, ("concepts", "prompt_triplets"), domain)
            for asset in _PAIR_ASSETS:
                yield from _measure(places, instances, (asset,), f"{domain}|{_PAINTER}")
        reporting = 0.0
        for asset, partition in (("summary", _PAINTER), ("report", "")):
            for figure in _measure(places, instances, (asset,), partition):
                reporting += figure.value if figure.unit == "s" else 0
                yield figure
        yield Figure("summary and report", reporting, "s", _REPORT_S)
        yield from _measure_pages(places)


def _measure(
    places: dict[str, str], instances: int, assets: Sequence[str], partition: str
) -> Iterator[Figure]:
    """Seconds of a run, and the memory of its largest process."""
    command = [sys.executable, "-m", "bench.paper_size", str(instances), partition, *assets]
    started = perf_counter()
    with (
        subprocess.Popen(
            command, cwd=_ROOT, env=os.environ | places, stdout=subprocess.PIPE, text=True
        ) as run,
        peak_of(run.pid) as peak,
    ):
        output, _ = run.communicate()
    if run.returncode:
        raise subprocess.CalledProcessError(run.returncode, command)
    run_name = f"{', '.join(assets)} of {partition or 'all'}"
    yield Figure(run_name, perf_counter() - started, "s", note=f"{int(output):,} rows")
    yield Figure("its largest process", peak.largest / 1e6, "MB", _MEGABYTES)


def materialize(instances: str, partition: str, *names: str) -> int:
    """Materialize assets here, and count the rows of the last; raises what a step raises."""
    from dagster import AssetKey, DagsterInstance  # noqa: PLC0415 - in the measured process alone

    from assets.kit.partitions import add_painters, partition_tags  # noqa: PLC0415 - as above
    from definitions import by_key, catalog, defs  # noqa: PLC0415 - as above

    keys = [AssetKey(["protobias", name]) for name in names]
    ops = {}
    if "concepts" in names and int(instances):
        ops["protobias__concepts"] = {"config": {"instances": int(instances)}}
    loggers = {"console": {"config": {"log_level": "CRITICAL"}}}
    partitions_def = by_key[keys[-1]].partitions_def
    with DagsterInstance.get() as instance:
        add_painters(instance, catalog)
        result = defs.resolve_implicit_global_asset_job_def().execute_in_process(
            instance=instance,
            asset_selection=keys,
            tags=partition_tags(partition, partitions_def) if partition else {},
            run_config={"ops": ops, "loggers": loggers},
        )
    (last,) = result.asset_materializations_for_node(f"protobias__{names[-1]}")
    row_count = last.metadata.get("dagster/row_count")
    return int(str(row_count.value)) if row_count is not None else 0


def _measure_pages(places: dict[str, str]) -> Iterator[Figure]:
    """Seconds until a page of the UI shows its content, the second time that it is opened."""
    port = free_port()
    command = [sys.executable, "-m", "commands.app", "ui", "--port", str(port)]
    url = f"http://127.0.0.1:{port}"
    pages = {
        "pairs of a partition": (
            f"/assets/protobias/image_pairs?partition=animals%7C{_PAINTER}&view=partitions",
            "contact_sheet",
        ),
        "its lineage": ("/assets/protobias/image_pairs?view=lineage", "filtered_pairs"),
        "the report's overview": ("/assets/protobias/report?view=overview", "seconds"),
        "runs": ("/runs", "Success"),
    }
    with (
        subprocess.Popen(
            command,
            cwd=_ROOT,
            env=os.environ | places,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            _wait_for_server(page, url)
            for name, (path, text) in pages.items():
                for _ in range(2):
                    started = perf_counter()
                    page.goto(url + path)
                    page.get_by_text(text).first.wait_for()
                    seconds = perf_counter() - started
                yield Figure(f"the UI's page of {name}", seconds, "s", _PAGE_S)
        finally:
            browser.close()
            server.terminate()


def _wait_for_server(page: Page, url: str) -> None:
    """Open the UI once it listens; raises playwright's error where it does not within a minute."""
    for attempt in range(61):
        try:
            page.goto(url)
        except Error:
            if attempt == 60:
                raise
            sleep(1)
        else:
            return


if __name__ == "__main__":
    answer(materialize)
