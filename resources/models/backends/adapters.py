"""Adapters: LoRA weights that are trained for one base model, and held to that base.

A folder as PEFT writes it, with `record.json` beside the weights where they were trained here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from resources.models.backends.adapter_files import (
    BadAdapterFile,
    LoraFields,
    RecordFields,
    read_fields,
)
from resources.models.backends.local_models import (
    LocalSettings,
    import_library,
    translate_loading_errors,
)
from resources.models.catalog import Model
from resources.models.replies import ModelUnavailable
from resources.models.weights import NoWeights, Weights, find_weights, read_shapes
from resources.settings.locations import find_data_root
from resources.storage.atomic_writes import FilePath
from resources.storage.files import fetch, is_stored, resolve_path

RECORD, CONFIG, WEIGHTS = "record.json", "adapter_config.json", "adapter_model.safetensors"
FILES = "files"
"""Field of a record with the sha256 of the files beside the weights."""
_AGAIN = (
    "Fetch the folder again; or, if it was trained here, remove it and materialize the adapter "
    "again: what lies in data/training is published once more, and not trained anew"
)


class BadRecord(ValueError):
    """The folder of an adapter and its record do not fit; the message says what to do."""


class AdapterSettings(LocalSettings):
    """Settings of a vision-language model; `adapter` is a folder, relative to the data root."""

    adapter: str | None = None


def attach_adapter(network: Any, model: Model, adapter: str, base_commit: str | None) -> Any:
    """A network with an adapter, which stays apart from its weights: merged, it would be rounded.

    `base_commit` is that of the base. Raises `ModelUnavailable` for a folder that is no adapter,
    one whose files are not those that were recorded, and one that was trained for another base.
    """
    folder = resolve_adapter_folder(adapter)
    _require_files(model, folder)
    local_folder = fetch(folder)
    try:
        fields = LoraFields(**read_fields(local_folder / CONFIG, LoraFields))
        _require_base(model, folder, fields, base_commit)
        fields.require_ranks(read_shapes(local_folder / WEIGHTS))
        config = fields.to_config(name for name, _ in network.named_modules())
    except BadRecord as error:
        raise ModelUnavailable(str(error)) from error
    except (BadAdapterFile, NoWeights) as error:
        message = str(error).replace(str(local_folder), str(folder))
        raise ModelUnavailable(f"The adapter {folder} is not taken: {message}.") from error
    with translate_loading_errors(model, None):
        peft = import_library("peft")
        return peft.PeftModel.from_pretrained(network, str(local_folder), config=config).eval()


def resolve_adapter_folder(adapter: str) -> FilePath:
    """Resolve the folder of an entry's adapter, which may be in an object store."""
    return resolve_path(find_data_root(), str(Path(adapter).expanduser()))


def find_snapshot(name: str, commit: str | None) -> Path:
    """The folder of a base: the one that is named, or that of a commit in the Hub's cache."""
    if commit is None:
        return Path(name)
    hub = import_library("huggingface_hub")
    try:
        return Path(hub.snapshot_download(name, revision=commit, local_files_only=True))
    except (hub.errors.LocalEntryNotFoundError, OSError) as error:
        raise NoWeights(
            f"{name} at {commit} is not in the cache of the Hugging Face Hub"
        ) from error


def find_base_weights(name: str, commit: str | None) -> Weights:
    """The weights of a base on this machine; raises `NoWeights`."""
    return find_weights(find_snapshot(name, commit))


def _require_files(model: Model, folder: FilePath) -> None:
    if not is_stored(folder / CONFIG) or not is_stored(folder / WEIGHTS):
        raise ModelUnavailable(
            f"{model.name} has the adapter {folder}, which is none: {CONFIG} and {WEIGHTS} have to "
            "lie in it. Correct `adapter` in models.yaml"
        )


def _require_base(
    model: Model, folder: FilePath, fields: LoraFields, base_commit: str | None
) -> None:
    trained = read_checked_record(folder)
    base = trained["base"] if trained is not None else _find_peft_base(fields)
    if not _is_base(base, model.model, base_commit):
        expected_revision = f" at {base['revision']}" if base["revision"] else ""
        actual_revision = f" at {base_commit}" if base_commit else ""
        raise ModelUnavailable(
            f"The adapter {folder} was trained for {base['model']}{expected_revision}, and "
            f"{model.name} has {model.model}{actual_revision}. Set `model`, and `revision` among "
            "the parameters, to that base in models.yaml"
        )


def read_record(folder: FilePath) -> dict[str, Any] | None:
    """The record of an adapter; None for a folder without one. Raises `BadRecord`."""
    path = folder / RECORD
    if not is_stored(path):
        return None
    try:
        return read_fields(path, RecordFields)
    except BadAdapterFile as error:
        raise BadRecord(f"{path}: it cannot be read: {error}. {_AGAIN}") from None


def read_checked_record(folder: FilePath) -> dict[str, Any] | None:
    """The same, once weights and other files are those that it is about. Raises `BadRecord`.

    What lies in an object store is fetched to this machine for that.
    """
    record = read_record(folder)
    if record is not None:
        local_folder = fetch(folder)
        for name, digest in {WEIGHTS: record["weights"], **record[FILES]}.items():
            path = local_folder / name
            if not path.is_file() or digest_file(path) != digest:
                mismatch = "not the one" if path.is_file() else "missing, one of those"
                raise BadRecord(
                    f"{folder / name}: it is {mismatch} that {RECORD} is about. {_AGAIN}"
                )
    return record


def digest_file(path: Path) -> str:
    """The sha256 of a file."""
    return Weights(folder=path.parent, files=(path,), parameters=0, size=0).digest


def _find_peft_base(fields: LoraFields) -> Mapping[str, Any]:
    return {
        "model": fields.base_model_name_or_path,
        "revision": fields.revision,
        "sha256": None,
    }


def _is_base(base: Mapping[str, Any], name: str, base_commit: str | None) -> bool:
    """Return whether a model is that base: by id and commit, or else by its weights."""
    if base["sha256"] is None:
        return bool(base["model"] == name and base["revision"] in (None, base_commit))
    if base_commit is not None and (name, base_commit) == (base["model"], base["revision"]):
        return True
    try:
        return find_base_weights(name, base_commit).digest == str(base["sha256"])
    except NoWeights:
        return False
