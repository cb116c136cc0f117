"""A code location of a test's own, with batches: assets, their planners, jobs and the sensor."""

import warnings
from contextlib import contextmanager

import dagster as dg

from assets.kit.benchmarks import build_job_specs
from assets.kit.jobs import build_jobs
from assets.planning.batches import build_batch_jobs
from resources.settings.default_resources import build_default_resources
from sensors.batches import batches_sensor
from tests.assets.asked import JUDGE
from tests.cheap_runs import undescribed

ASSET = f"vlmbias/{JUDGE}"
_SILENT = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@contextmanager
def _quietly():
    with undescribed(), warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        # And of its own tags for a partition of two dimensions.
        warnings.filterwarnings("ignore", "Non-compliant tag keys", DeprecationWarning)
        yield


class Location:
    """Jobs, sensor and assets as Dagster loads them; runs are in process, into `root`."""

    def __init__(self, root, instance, assets, planners, jobs=None):
        self.instance = instance
        self.resources = build_default_resources(str(root))
        by_key = {
            key: asset
            for asset in assets
            if isinstance(asset, dg.AssetsDefinition)
            for key in asset.keys
        }
        self.jobs = jobs or build_jobs(build_job_specs(by_key), by_key)
        batches = build_batch_jobs(planners, by_key, self.jobs.by_asset, self.resources)
        self.sensor = batches_sensor(planners, by_key, batches)
        self.defs = dg.Definitions(
            assets=assets,
            jobs=[*self.jobs.all, *batches.jobs],
            sensors=[self.sensor],
            resources=self.resources,
        )
        self.calls = self.resources["models"].calls

    def run(self, job, config=None, **more):
        """Run a job in process."""
        with _quietly():
            return self.defs.resolve_job_def(job).execute_in_process(
                instance=self.instance,
                run_config=(config or {}) | _SILENT,
                raise_on_error=False,
                **more,
            )

    def submit(self, select=f'key:"{ASSET}"', partitions=(), config=None, **resources):
        """Run the job `submit_batch`; `resources` is run config, as for a budget."""
        ops = {"select": select, "partitions": list(partitions), "config": config or {}}
        run_config = {"ops": {"submit": {"config": ops}}}
        return self.run(
            "submit_batch", run_config | ({"resources": resources} if resources else {})
        )

    def collect(self, tag):
        return self.run("collect_batch", {"ops": {"collect": {"config": {"tag": tag}}}})

    def cancel(self, tag, **more):
        return self.run("cancel_batch", {"ops": {"cancel": {"config": {"tag": tag, **more}}}})

    def tick(self):
        """What the sensor says: the runs that it requests, and why none."""
        with (
            _quietly(),
            dg.build_sensor_context(
                instance=self.instance,
                repository_def=self.defs.get_repository_def(),
                resources=self.resources,
            ) as context,
        ):
            return self.sensor.evaluate_tick(context)

    def launch(self, request):
        """Do what the daemon does with a request for a run."""
        job = self.defs.resolve_job_def(request.job_name)
        if request.asset_selection:
            job = job.get_subset(asset_selection=set(request.asset_selection))
        with _quietly():
            return job.execute_in_process(
                instance=self.instance,
                run_config=dict(request.run_config) | _SILENT,
                tags=dict(request.tags),
                partition_key=request.partition_key,
                raise_on_error=False,
            )

    def see_through(self, ticks=6):
        """Let the sensor tick, and its runs run, until it wants nothing any more."""
        names = []
        for _ in range(ticks):
            tick = self.tick()
            if not tick.run_requests:
                return names, tick.skip_message
            for request in tick.run_requests:
                names.append(request.job_name)
                assert self.launch(request).success
        raise AssertionError(f"It goes on and on: {names}")
