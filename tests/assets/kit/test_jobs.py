"""The Jobs page: named jobs, as many whatever models there are, that make what asks models."""

import dagster as dg

import assets
from assets.kit.benchmarks import (
    build_definitions,
    build_job_specs,
    build_planners,
    load_benchmarks,
)
from assets.kit.jobs import build_jobs
from definitions import defs
from resources.execution import executors
from resources.models.catalog import Catalog, Model
from resources.settings.default_resources import build_default_resources
from tests.runs import of_others

ROLES = ("judge", "captioner", "writer", "painter", "editor")


def _loaded(*names):
    """The assets by key, and those that ask models, with models that can do everything."""
    catalog = Catalog(
        tuple(
            Model(name=name, backend="openai", model=name, family=name, roles=ROLES)
            for name in names
        )
    )
    made = [*dg.load_assets_from_package_module(assets), *build_definitions(catalog)]
    by_key = {
        key: each for each in made if isinstance(each, dg.AssetsDefinition) for key in each.keys
    }
    return by_key, set(build_planners(catalog))


def test_whatever_asks_a_model_is_in_one_named_job_and_models_add_none():
    by_key, asking = _loaded("gpt", "gemini")
    jobs = build_jobs(build_job_specs(by_key), by_key)
    assert asking <= set(jobs.by_asset)
    names = [job.name for job in jobs.all]
    assert names == [
        job.name for job in build_jobs(build_job_specs(_loaded("gpt")[0]), _loaded("gpt")[0]).all
    ]
    assert len(names) == len(set(names))
    ours = [name for name in names if not name.startswith(of_others(load_benchmarks()))]
    assert len(ours) == 40
    assert not any(character.isdigit() for name in names for character in name)
    assert all(job.description for job in jobs.all)


def test_without_models_there_is_no_flow_that_has_no_job():
    """Schedules are made of job specs, and one whose job is not there keeps all from loading."""
    by_key, _ = _loaded()
    there = build_job_specs(by_key)
    assert {job_spec.job_name for job_spec in there} == {
        job.name for job in build_jobs(there, by_key).all
    }
    assert "frame_analyses" not in {job_spec.job_name for job_spec in there}


def test_jobs_have_the_partitions_and_assets_of_the_main_flows(tmp_path):
    by_key, _ = _loaded("gpt")
    jobs = build_jobs(build_job_specs(by_key), by_key)
    resolved = dg.Definitions(
        assets=list(by_key.values()),
        jobs=jobs.all,
        resources=build_default_resources(str(tmp_path)),
    )

    def made_by(name):
        return {key.path[-1] for key, job in jobs.by_asset.items() if job.name == name}

    def partitions_def(name):
        return resolved.resolve_job_def(name).partitions_def

    assert made_by("vlmbias_answers") == {"answers_gpt"}
    assert "flags" in partitions_def("vlmbias_answers").get_partition_keys()
    assert made_by("protobias_prompts") == {"concepts", "prompt_triplets"}
    assert "animals" in partitions_def("protobias_prompts").get_partition_keys()
    assert made_by("painter_pairs") == {"image_pairs", "filtered_pairs", "scores_gpt"}
    assert partitions_def("painter_pairs").partition_dimension_names == ["domain", "painter"]
    assert made_by("vlmbias_report") == {"accuracy", "report"}


def test_no_job_goes_without_the_executor_that_notes_its_process():
    jobs = defs.get_repository_def().get_all_jobs()
    modules = {job.executor_def.executor_creation_fn.__module__ for job in jobs}
    assert modules == {executors.__name__}
