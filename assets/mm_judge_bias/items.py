"""Both sides of each item, checked before a judge is asked about any."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, AssetsDefinition, MaterializeResult

from assets.kit.collections import collection_key, read_collected_rows
from assets.kit.columns import TEXT, Columns, to_materialize_result
from assets.kit.previews import markdown_table
from assets.mm_judge_bias.common import SETS, table_asset
from resources.collections import CollectionError
from resources.collections.judge_biases import BIAS_SIDES, JUDGE_BIASES
from resources.storage.data_root import DataRoot

ITEMS = Columns(
    image_id=(TEXT, "Readable name: collection, item and side"),
    set=(TEXT, "The collection"),
    location=(TEXT, "Where the item stands in its file"),
    item_id=(TEXT, "Collection and item"),
    bias=(TEXT, "The bias that the item measures"),
    measure=(TEXT, "deviation (the score is to fall) or conformity (it is to stay)"),
    side=(TEXT, "unbiased (as it was) or biased (as it is changed)"),
    sha256=(TEXT, "Name of the side's picture in the image store; empty for a side without one"),
    picture_id=(TEXT, "The item's first picture; intervals resample it"),
    instruction=(TEXT, "Instruction of the side; may be empty where the bias removes it"),
    judged_response=(TEXT, "The response that is judged, the same on both sides"),
    outcome=(TEXT, "taken or rejected"),
    reason=(TEXT, "Reason for the rejection; empty if taken"),
)
_MAX_SHOWN = 20


class UnfitItems(CollectionError):
    """A collection's items cannot be judged; the message names one and the remedy."""


def build_items_asset() -> AssetsDefinition:
    """The asset `items`."""

    @table_asset(
        partitions=SETS.build_partitions(),
        columns=ITEMS,
        deps=[AssetDep(collection_key(name)) for name in SETS.load()],
        description=(
            "Responses with an instruction and a picture as they were and as a bias changes them; "
            "no judge is asked about an item that lacks a picture or that is not changed."
        ),
    )
    def items(context: AssetExecutionContext, home: DataRoot) -> MaterializeResult[pa.Table]:
        """Check all items. Raises `UnfitItems` where none is left."""
        name = context.partition_key
        rows = check_items(read_collected_rows(home, name), name)
        rejected = [row for row in rows if row["reason"]]
        if len(rejected) == len(rows):
            raise UnfitItems(
                f"{name}: no item can be judged. {rejected[0]['location']}: "
                f"{rejected[0]['reason']} Correct the download, or the entry in collections.yaml."
            )
        shown = pd.DataFrame(rejected, columns=["location", "bias", "reason"]).drop_duplicates()
        return to_materialize_result(
            ITEMS.build_table(rows),
            taken=len(rows) - len(rejected),
            rejected=len(rejected),
            rejected_rows=markdown_table(shown.head(_MAX_SHOWN)),
        )

    return items


def check_items(collected: Iterable[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """A row for each item and side, with `outcome` and `reason`."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in collected:
        groups[row["image_id"].rpartition("/")[0]].append(row)
    sides = {item: _read_sides(group) for item, group in groups.items()}
    uses = Counter(map(_identify, sides.values()))
    return [
        {
            "set": name,
            "location": _find_unfit(group)["location"].partition(", picture")[0],
            "item_id": item,
            "picture_id": group[0]["sha256"],
            **row,
        }
        for item, group in groups.items()
        for row in _list_rows(item, group, sides[item], uses[_identify(sides[item])])
    ]


_Sides = Mapping[str, Mapping[str, Any]]
"""The cells of an item by side; none for one that cannot be read."""


def _read_sides(group: Sequence[Mapping[str, Any]]) -> _Sides:
    records = [json.loads(row["other_columns"] or "{}") for row in group]
    if not all(records):
        return {}
    digests = {record["part"]: row["sha256"] for row, record in zip(group, records, strict=True)}
    return {
        side: {
            "bias": group[0]["domain"],
            "sha256": digests.get(side) or "",
            "instruction": records[0][f"{side}_instruction"],
            "judged_response": records[0]["response"],
        }
        for side in BIAS_SIDES
    }


def _find_unfit(group: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first row of a group that was rejected; the first of all where none was."""
    return next((row for row in group if row["reason"]), group[0])


def _identify(sides: _Sides) -> tuple[Any, ...]:
    return tuple(value for cells in sides.values() for value in cells.values())


def _list_rows(
    item: str, group: Sequence[Mapping[str, Any]], sides: _Sides, uses: int
) -> Iterator[dict[str, Any]]:
    """The rows of an item; a single one for a record that cannot be read."""
    reason = _find_unfit(group)["reason"]
    if not sides:
        yield {"image_id": item, "outcome": "rejected", "reason": reason}
        return
    problem = reason or _find_problem(sides, uses)
    for side, cells in sides.items():
        yield {
            "image_id": f"{item}/{side}",
            "measure": JUDGE_BIASES[cells["bias"]].measure,
            "side": side,
            **cells,
            "outcome": "rejected" if problem else "taken",
            "reason": problem,
        }


def _find_problem(sides: _Sides, uses: int) -> str | None:
    """Explain why an item, one of so many that are alike, cannot serve; None if it can."""
    unbiased, biased = sides.values()
    change = JUDGE_BIASES[unbiased["bias"]].change
    column = "sha256" if change == "picture" else "instruction"
    if unbiased[column] == biased[column]:
        return f"Its {change} is the same on both sides, which {unbiased['bias']} changes."
    if uses > 1:
        return "Another item has the same pictures and words: keep one."
    return None
