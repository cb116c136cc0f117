"""Every run says which process it is; none begins with a config of names that are not there."""

import os
import re

import dagster as dg
import pytest
from dagster._core.definitions.reconstruct import ReconstructableRepository

import definitions
from resources.executors import in_process, multiprocess, process_of_run
from resources.processes import this_process


@dg.asset
def concepts(context: dg.AssetExecutionContext) -> None:
    context.log.info("drawn")


@dg.asset
def others() -> None:
    pass


location = dg.Definitions([concepts, others], resources={"home": 1}, executor=in_process)


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as instance:
        yield instance


def launched(instance, config, **more):
    """What comes of a config as Dagster's launchpad sends it."""
    found = ReconstructableRepository.for_file(__file__, "location")
    return dg.execute_job(
        found.get_reconstructable_job("__ASSET_JOB"),
        instance=instance,
        run_config=config,
        asset_selection=[dg.AssetKey("concepts")],
        **more,
    )


def test_a_run_config_may_name_what_is_not_selected(instance):
    assert launched(instance, {"ops": {"others": {}}, "resources": {"home": {}}}).success


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (
            {"ops": {"concept": {}}},
            "`ops` has 'concept', which is not there, did you mean c",
        ),
        ({"resources": {"hone": {}}}, "`resources` has 'hone', which is not there, did you mean h"),
    ],
)
def test_a_misspelt_name_stops_the_run_of_an_asset_that_asks_nothing(instance, config, said):
    """Dagster passes over such a name when assets are materialized."""
    with pytest.raises(ValueError, match=re.escape(said)):
        launched(instance, config, raise_on_error=True)
    result = launched(instance, config)
    assert not result.success
    assert "STEP_START" not in {event.event_type_value for event in result.all_events}


def test_a_run_says_which_process_it_is(instance):
    run = instance.get_run_by_id(launched(instance, {}).run_id)
    assert process_of_run(run) == this_process()
    assert this_process().pid == os.getpid()


def test_no_run_goes_without():
    ours = {in_process.executor_creation_fn, multiprocess.executor_creation_fn}
    jobs = definitions.defs.get_repository_def().get_all_jobs()
    assert {job.executor_def.executor_creation_fn for job in jobs} == ours
