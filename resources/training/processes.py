"""The processes of one training, as accelerate knows them."""

from pathlib import Path
from typing import Any

import yaml

from resources.training.training_errors import TrainingError, import_library

_OF_PROCESSORS = ("NO", "MULTI_CPU")


def get_process_state() -> Any:
    """Their number, which of them this is, and where they wait for each other.

    Without a GPU accelerate has to be told so before all else: it takes each for the only one.
    """
    has_gpu = import_library("torch").cuda.is_available()
    return import_library("accelerate").PartialState(cpu=not has_gpu)


def read_process_count(config: str | None) -> int:
    """The number of processes that a file by `accelerate config` is for; raises `TrainingError`."""
    if config is None:
        return 1
    try:
        return int(yaml.safe_load(Path(config).read_text())["num_processes"])
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError) as error:
        raise TrainingError(
            f"accelerate_config: {Path(config).absolute()} says no number of processes ({error}). "
            f"Make it by accelerate config --config_file {config}. Nothing was begun."
        ) from error


def is_without_launcher(config: str) -> bool:
    """Return whether accelerate starts just one process by a configuration.

    It does for CPUs, unless MPI starts them; for GPUs, DeepSpeed and FSDP it has launchers.
    """
    settings = yaml.safe_load(Path(config).read_text())
    return settings.get("distributed_type") in _OF_PROCESSORS and not settings.get("mpirun_config")


def require_process_count(started: int, config: str | None) -> None:
    """Raise `TrainingError` where others have started than the adapter is named for."""
    if started != (expected := read_process_count(config)):
        raise TrainingError(
            f"accelerate_config: {config} is for {expected} processes, and {started} started. Make "
            "it again by accelerate config, for as many as there are GPUs. Nothing was trained."
        )
