"""Publication: an adapter as a folder that PEFT loads, with a record and a model card."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from upath import UPath

from resources.faults import MissingItem, write_errors
from resources.models.backends.adapters import (
    CONFIG,
    FILES,
    RECORD,
    WEIGHTS,
    digest_file,
    read_record,
)
from resources.storage.atomic_writes import (
    FilePath,
    is_remote,
    put_file,
    to_local_path,
    write_atomically,
)
from resources.storage.files import is_stored, read_file
from resources.training.job import TrainingJob, build_wording
from resources.training.worker import ADAPTER, TRAINED

ADAPTERS_FOLDER, CARD_FILE = "adapters", "README.md"
_HELD_OUT, _USE = "## On pictures that were held out", "## Use"
_STAND_IN = (
    "**A stand-in run:** a stand-in took the place of a model that made what it was trained on, "
    "so that none of its numbers is a result."
)
LIBRARIES = ("trl", "transformers", "peft", "accelerate", "datasets", "torch")


def build_adapter_path(home: UPath, name: str, digest: str) -> UPath:
    """Build an adapter's path: its folder names its training, and never changes."""
    return home / ADAPTERS_FOLDER / f"{name}-{digest}"


def publish_adapter(job: TrainingJob, place: FilePath) -> dict[str, Any]:
    """Put the trained adapter of a job in its place, and return its record.

    On a disk it gets its name by a rename; in an object store the record is written last, and no
    adapter of ours is there before. Removes the checkpoints then.
    """
    with write_errors(place):
        if is_remote(place):
            with TemporaryDirectory() as folder:
                record = _write_files(job, Path(folder))
                for name in (WEIGHTS, CONFIG, RECORD):
                    put_file(Path(folder, name), place / name)
        else:
            local_place = to_local_path(place)
            temporary = local_place.with_name(f".{place.name}.{uuid4().hex}")
            temporary.mkdir(parents=True)
            record = _write_files(job, temporary)
            temporary.rename(local_place)
    for checkpoint in Path(job.folder).glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    return record


def _write_files(job: TrainingJob, folder: Path) -> dict[str, Any]:
    """Write the files of a trained adapter into a folder of this machine; returns its record."""
    trained = Path(job.folder, ADAPTER)
    shutil.copy2(trained / WEIGHTS, folder)
    config = json.loads((trained / CONFIG).read_text())
    config |= {"base_model_name_or_path": job.base.model, "revision": job.base.revision}
    (folder / CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True))
    record = _record(job, folder)
    _write_record(folder, record)
    return record


def _record(job: TrainingJob, folder: Path) -> dict[str, Any]:
    """Build the record of an adapter's training."""
    return {
        "name": job.name,
        "kind": job.kind,
        "base": asdict(job.base),
        "data": job.data,
        "recipe": job.recipe,
        "wording": build_wording(job.kind),
        "trained": json.loads((Path(job.folder) / TRAINED).read_text()),
        "versions": {name: version(name) for name in LIBRARIES},
        "weights": digest_file(folder / WEIGHTS),
        FILES: {CONFIG: digest_file(folder / CONFIG)},
        **job.record_fields,
    }


def record_file(place: FilePath, name: str, replaced: str | None) -> None:
    """Add a file to the record of an adapter, in the place of another one."""
    record = read_record(place)
    assert record is not None
    digests = {other: digest for other, digest in record[FILES].items() if other != replaced}
    digest = sha256(read_file(place / name)).hexdigest()
    _write_record(place, {**record, FILES: {**digests, name: digest}})


def _write_record(place: FilePath, record: Mapping[str, Any]) -> None:
    write_atomically(place / RECORD, json.dumps(record, indent=2).encode())


def write_card(
    place: FilePath,
    summary: str,
    results: Sequence[Mapping[str, str]],
    entry: str,
    untried: Sequence[str],
) -> None:
    """Write the model card: what it is, how it does on what was held out, what was never tried.

    `results` are the rows of a table, `entry` the lines for models.yaml.
    """
    record = read_record(place)
    assert record is not None
    base = record["base"]
    base_version = (
        f" at `{base['revision']}`" if base["revision"] else f", weights `{base['sha256'][:12]}`"
    )
    lines = [
        "---",
        "library_name: peft",
        # The Hub takes no folder for a base.
        *([f"base_model: {json.dumps(base['model'])}"] if base["revision"] else []),
        "tags: [lora, trl, counterfactory]",
        "---",
        f"# {place.name}",
        "",
        summary,
        "",
        *([_STAND_IN, ""] if record.get("is_stand_in") else []),
        f"A LoRA adapter of `{base['model']}`{base_version}; with another base it is refused.",
        "",
        _HELD_OUT,
        "",
        *_table(results),
        "",
        _USE,
        "",
        "```yaml",
        entry.rstrip(),
        "```",
        "",
        "Or `PeftModel.from_pretrained(base, folder)`.",
        "",
        "## Never tried",
        "",
        *(f"- {use}" for use in untried),
        "",
        "## Record",
        "",
        f"Trained on {record['trained']['rows_trained']:,} of {record['trained']['rows']:,} rows "
        f"(sha256 `{record['data']}`), {record['trained']['steps']:,} steps in "
        f"{record['trained']['processes']} process(es), on {record['trained']['device']}. All of "
        f"it is in `{RECORD}`:",
        "",
        "```json",
        json.dumps({"recipe": record["recipe"], "versions": record["versions"]}, indent=2),
        "```",
        "",
    ]
    write_atomically(place / CARD_FILE, "\n".join(lines).encode())


def rewrite_results(place: FilePath, results: Sequence[Mapping[str, str]]) -> None:
    """Put the rows of another table into a model card, as once an adapter was judged.

    Raises `MissingItem` where the folder was removed.
    """
    card = place / CARD_FILE
    if not is_stored(card):
        raise MissingItem(
            f"{card}: the model card of an adapter is gone, or its whole folder. Restore it, or "
            "materialize the adapter again: it is trained again if its weights are gone as well."
        )
    before, _, rest = read_file(card).decode().partition(_HELD_OUT)
    _, _, after = rest.partition(_USE)
    table = "\n".join(_table(results))
    write_atomically(card, f"{before}{_HELD_OUT}\n\n{table}\n\n{_USE}{after}".encode())


def _table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    names = list(rows[0])
    cells = [names, ["---"] * len(names), *([row[name] for name in names] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in cells]
