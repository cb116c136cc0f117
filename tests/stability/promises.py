"""The names that version 1 keeps (docs/stability.md): `python -m tests.stability.promises`.

That writes those of this code to names.json. A name that was released in a 1.x stays there: the
test of them fails where one is gone, and where one is new that the file lacks.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from typer.main import get_command

from assets.kit.benchmarks import load_benchmarks
from commands.app import app
from generators.prompts.taxonomy import Taxonomy
from resources.cassette.archive_format import VERSION
from resources.collections.entry import Collection
from resources.models.backend_names import BackendName, Role
from resources.models.catalog import Model

PROJECT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("names.json")
INTERNAL = {"COUNTERFACTORY_UI_ORIGINS"}
"""Variables by which processes of the program tell each other."""


def list_names() -> dict[str, Any]:
    """The names by kind; each value is a sorted list of what belongs to a name."""
    return {
        "commands": {
            name: sorted(option for each in command.params for option in each.opts)
            for name, command in sorted(get_command(app).commands.items())
        },
        "fields": {
            "models.yaml": sorted(list_fields(Model)),
            "collections.yaml": sorted(list_fields(Collection)),
            "taxonomy.yaml": sorted(list_fields(Taxonomy)),
        },
        "values": {"backend": sorted(get_args(BackendName)), "roles": sorted(get_args(Role))},
        "variables": {"environment": sorted(find_variables())},
        "formats": {"cassette": [str(VERSION)]},
        "released_columns": {
            f"{benchmark.name}/{table.config}": sorted(
                f"{column.name}: {column.type}" for column in table.columns.build_table([]).schema
            )
            for benchmark in load_benchmarks().values()
            for table in benchmark.release_tables
        },
        "released_splits": {
            f"{benchmark.name}/{table.config}": sorted(table.splits)
            for benchmark in load_benchmarks().values()
            for table in benchmark.release_tables
        },
    }


def list_fields(model: type[BaseModel]) -> Iterator[str]:
    """The fields of a file's entry, and those of their fields as `price.per_image`."""
    for name, field in model.model_fields.items():
        yield name
        for inner in find_models(field.annotation):
            yield from (f"{name}.{other}" for other in list_fields(inner))


def find_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from find_models(argument)


def find_variables() -> set[str]:
    """The environment variables that the product reads."""
    folders = ("assets", "commands", "generators", "resources", "sensors")
    paths = [path for folder in folders for path in (PROJECT / folder).rglob("*.py")]
    quoted = re.compile(r'"(COUNTERFACTORY_[A-Z_]+)"')
    return {name for path in paths for name in quoted.findall(path.read_text())} - INTERNAL


def main() -> None:
    FILE.write_text(json.dumps(list_names(), indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
