"""Former names of assets and partitions, and their present ones.

Tables, sums of money, batches and Dagster's log may still say `vlmbias/answers/gpt`, which is
`vlmbias/answers_gpt`, and `sketch|animals` for ProtoBias's pairs, which is `animals|sketch`.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from generators.prompts.concepts import DOMAINS

_FORMER = {
    "vlmbias/answers/": "vlmbias/answers_",
    "vlmbias/edited_flags/": "vlmbias/edited_flags_",
    "protobias/scores/": "protobias/scores_",
}
_PAIRS = ("protobias/image_pairs", "protobias/filtered_pairs", "protobias/scores_")


def asset_now(name: str) -> str:
    """Today's name of an asset ("vlmbias/answers_gpt"), for a former one or its own."""
    for former, now in _FORMER.items():
        if name.startswith(former):
            return now + name.removeprefix(former)
    return name


def partition_now(asset: str, partition: str) -> str:
    """Today's key of a partition of an asset, by either name: of pairs "domain|painter".

    Where a painter is named like a domain, a key that could be either is taken for today's.
    """
    first, bar, second = partition.partition("|")
    is_former = bar and second in DOMAINS and first not in DOMAINS
    return f"{second}|{first}" if is_former and partitions_renamed(asset) else partition


def partitions_renamed(asset: str) -> bool:
    """Whether the partitions of an asset had other keys, as those of ProtoBias's pairs had."""
    return asset_now(asset).startswith(_PAIRS)


def move_tables(root: Path) -> None:
    """Move the tables below a data root that lie where former names put them.

    A table that is there under today's name stays. May be repeated, and broken off anywhere.
    """
    for path in list(_tables(root)):
        now = root / _place_now(path.relative_to(root).with_suffix("").as_posix())
        now = now.with_name(f"{now.name}.parquet")
        if now == path or now.exists():
            continue
        now.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # Another process was faster.
            path.rename(now)
        for folder in path.parents[:3]:
            with suppress(OSError):  # It holds something else.
                folder.rmdir()


def _tables(root: Path) -> Iterator[Path]:
    """The tables that may lie under a former name."""
    for former in _FORMER:
        yield from (root / former).rglob("[!.]*.parquet")
    for folder in ("image_pairs", "filtered_pairs"):
        yield from (root / "protobias" / folder).glob("*/[!.]*.parquet")


def _place_now(place: str) -> str:
    """Where the table of an asset and partition belongs that lay at `place`."""
    benchmark, name, *parts = asset_now(place).split("/")
    partition = partition_now(f"{benchmark}/{name}", "|".join(parts))
    return "/".join([benchmark, name, *filter(None, partition.split("|"))])
