"""Give others the answers behind a table in one file, or take such a file in. Sends nothing.

Dagster is imported inside the functions that use it, as in the other scripts.
"""

import argparse
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dotenv import load_dotenv


def main() -> int:
    """Export or import; say what is wrong and return 1 if that cannot be."""
    from resources.faults import StoreError  # noqa: PLC0415 - see above
    from resources.models.catalog import CatalogError  # noqa: PLC0415 - see above

    load_dotenv(".env")
    arguments = _arguments()
    try:
        if arguments.what == "export":
            said = _exported(arguments.file, arguments.select, arguments.partitions)
        else:
            said = _imported(arguments.file)
    except (ValueError, CatalogError, StoreError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{said}\n")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="cassette.py", description=__doc__)
    what = parser.add_subparsers(dest="what", required=True)
    exporting = what.add_parser("export", help="write a cassette")
    exporting.add_argument(
        "--select", required=True, help="assets, in Dagster's words (SELECT=vlmbias/accuracy)"
    )
    exporting.add_argument(
        "--partitions", nargs="*", default=[], help="their partitions; all by default"
    )
    importing = what.add_parser("import", help="take a cassette in")
    for each in (exporting, importing):
        each.add_argument("file", type=Path, help="the cassette (FILE=answers.cassette)")
    return parser.parse_args()


def _exported(file: Path, select: str, partitions: list[str]) -> str:
    from assets.kit.upstream_calls import behind  # noqa: PLC0415 - see above
    from definitions import data_root, defs  # noqa: PLC0415 - see above
    from resources.cassette import export_cassette  # noqa: PLC0415 - see above

    found = behind(defs, select, Path(data_root()), partitions)
    with _models() as models:
        done = export_cassette(file, found.keys, models.calls, models.images, found.reviews)
    lines = [
        f"{file}: answers: {done.calls:,}, pictures: {done.pictures:,}, review files: "
        f"{', '.join(found.reviews) or 'none'}; {done.bytes / 1e6:,.1f} MB."
    ]
    if found.failed:
        lines.append(
            f"{found.failed:,} rows of these tables failed and have no answer: materialize them "
            "again before, or whoever makes the tables from this file needs a key for the rest."
        )
    return "\n".join(lines)


def _imported(file: Path) -> str:
    from definitions import data_root  # noqa: PLC0415 - see above
    from resources.cassette import import_cassette  # noqa: PLC0415 - see above

    with _models() as models:
        done = import_cassette(file, models.calls, models.images, Path(data_root()) / "reviews")
    lines = [
        f"{file}: answers: {done.calls:,}, new here: {done.new:,}, pictures: {done.pictures:,}, "
        f"new review files: {done.reviews}."
    ]
    if done.others:
        lines.append(f"{done.others:,} requests have another answer here, which stays.")
    return "\n".join(lines)


@contextmanager
def _models() -> Iterator[Any]:
    """The call store and the image store, as runs use them."""
    from dagster import build_resources  # noqa: PLC0415 - see above

    from definitions import data_root, resources_at  # noqa: PLC0415 - see above

    with warnings.catch_warnings():
        # Dagster's own, while it makes a resource that is part of another one.
        warnings.filterwarnings("ignore", ".*InitResourceContext.dagster_run", DeprecationWarning)
        with build_resources({"models": resources_at(data_root())["models"]}) as known:
            yield known.models


if __name__ == "__main__":
    sys.exit(main())
