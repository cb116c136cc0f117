"""Publication: an adapter as a folder that PEFT loads, with a record and a model card."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import uuid4

from upath import UPath

from resources.atomic_writes import write_whole
from resources.faults import Missing, writing
from resources.models.backends.adapters import (
    CONFIG,
    FILES,
    RECORD,
    WEIGHTS,
    digest_of,
    record_in,
)
from resources.training.job import Job, wording
from resources.training.worker import ADAPTER, TRAINED

FOLDER, CARD = "adapters", "README.md"
_HELD_OUT, _USE = "## On pictures that were held out", "## Use"
_STAND_IN = (
    "**A stand-in run:** something offline stood in for a model that made what it was trained on, "
    "so that none of its numbers is a result."
)
LIBRARIES = ("trl", "transformers", "peft", "accelerate", "datasets", "torch")


def place_of(home: Path, name: str, digest: str) -> Path:
    """Where an adapter lies: its folder's name says what it was trained with, and never changes."""
    return home / FOLDER / f"{name}-{digest}"


def publish(job: Job, place: Path) -> dict[str, Any]:
    """Put the trained adapter of a job in its place, and return its record.

    Removes the checkpoints then.
    """
    made = Path(job.folder)
    temporary = place.with_name(f".{place.name}.{uuid4().hex}")
    with writing(place):
        temporary.mkdir(parents=True)
        shutil.copy2(made / ADAPTER / WEIGHTS, temporary)
        config = json.loads((made / ADAPTER / CONFIG).read_text())
        config |= {"base_model_name_or_path": job.base.model, "revision": job.base.revision}
        (temporary / CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True))
        record = _record(job, temporary)
        _write_record(temporary, record)
        temporary.rename(place)
    for checkpoint in made.glob("checkpoint-*"):
        shutil.rmtree(checkpoint)
    return record


def _record(job: Job, folder: Path) -> dict[str, Any]:
    """What an adapter was made of."""
    return {
        "name": job.name,
        "kind": job.kind,
        "base": asdict(job.base),
        "data": job.data,
        "recipe": job.recipe,
        "wording": wording(job.kind),
        "trained": json.loads((Path(job.folder) / TRAINED).read_text()),
        "versions": {name: version(name) for name in LIBRARIES},
        "weights": digest_of(folder / WEIGHTS),
        FILES: {CONFIG: digest_of(folder / CONFIG)},
        **job.told,
    }


def record_file(place: Path, name: str, replaced: str | None) -> None:
    """Add a file to the record of an adapter, in the place of another one."""
    record = record_in(place)
    assert record is not None
    digests = {other: digest for other, digest in record[FILES].items() if other != replaced}
    _write_record(place, {**record, FILES: {**digests, name: digest_of(place / name)}})


def _write_record(place: Path, record: Mapping[str, Any]) -> None:
    write_whole(UPath(place / RECORD), json.dumps(record, indent=2).encode())


def write_card(
    place: Path,
    summary: str,
    results: Sequence[Mapping[str, str]],
    entry: str,
    untried: Sequence[str],
) -> None:
    """Write the model card: what it is, how it does on what was held out, what was never tried.

    `results` are the rows of a table, `entry` the lines for models.yaml.
    """
    record = record_in(place)
    assert record is not None
    base = record["base"]
    at = f" at `{base['revision']}`" if base["revision"] else f", weights `{base['sha256'][:12]}`"
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
        *([_STAND_IN, ""] if record.get("rehearsal") else []),
        f"A LoRA adapter of `{base['model']}`{at}; with another base it is refused.",
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
        *(f"- {each}" for each in untried),
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
    write_whole(UPath(place / CARD), "\n".join(lines).encode())


def rewrite_results(place: Path, results: Sequence[Mapping[str, str]]) -> None:
    """Put the rows of another table into a model card, as once an adapter was judged.

    Raises `Missing` where the folder was removed.
    """
    card = place / CARD
    if not card.exists():
        raise Missing(
            f"{card}: the model card of an adapter is gone, or its whole folder. Restore it, or "
            "materialize the adapter again: it is trained again if its weights are gone as well."
        )
    before, _, rest = card.read_text().partition(_HELD_OUT)
    _, _, after = rest.partition(_USE)
    table = "\n".join(_table(results))
    write_whole(UPath(card), f"{before}{_HELD_OUT}\n\n{table}\n\n{_USE}{after}".encode())


def _table(rows: Sequence[Mapping[str, str]]) -> list[str]:
    names = list(rows[0])
    cells = [names, ["---"] * len(names), *([row[name] for name in names] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in cells]
