"""The tables that a release of ProtoBias has: sentences by triplet, and pictures by pair."""

from collections.abc import Iterator, Mapping
from typing import Any

from assets.kit.columns import TEXT, WHOLE, Columns
from assets.kit.licences import OWN
from assets.kit.release_rows import SPLITS, find_part, find_split, list_stored, read_partition
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.protobias.common import FILTERED_KEY, TRIPLETS_KEY
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.image_pairs import SIDES
from assets.protobias.prompt_triplets import TRIPLETS

_CONCEPT = ("concept_id", "domain", "group", "concept")
_TRIPLET_COLUMNS = Columns(
    id=(TEXT, "Name of the row: that of its concept"),
    **TRIPLETS.subset(*_CONCEPT, "text", "correct", "adversarial", "hypernym", "non_prototype"),
    **TRIPLETS.subset("prototype", "attribute", "socio_attribute", "pole", "knob", "values"),
    **TRIPLETS.subset("extra_element", "environment_hint", "source", "writer", "seed"),
    proof=(TEXT, "construction: each sentence is checked by rule"),
)
_BY_SIDE = {
    name: (kind, description)
    for side in SIDES
    for name, kind, description in (
        (f"{side}_image", TEXT, f"Picture painted from the {side} sentence"),
        (f"{side}_sha256", TEXT, "Name of that picture in the image store"),
        (f"{side}_prompt", TEXT, "The sentence that it was painted from"),
        (f"{side}_filter_score", WHOLE, "Its fit to that sentence by the filter, 1 to 10"),
    )
}
_PAIR = ("pair_id", "text", "knob", "painter", "sample", "seed", "filter", "min_score")
_PAIR_COLUMNS = Columns(
    id=(TEXT, "Name of the row: painter and pair"),
    **_BY_SIDE,
    **FILTERED_COLUMNS.subset(*_CONCEPT, *_PAIR, "rank", "evaluated"),
    proof=(TEXT, "model: the filter alone has scored both pictures against their sentences"),
)
_IMAGES = tuple(f"{side}_image" for side in SIDES)


def _read_triplets(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for domain in list_stored(inputs, TRIPLETS_KEY):
        for row in read_partition(inputs, TRIPLETS_KEY, domain, TRIPLETS):
            if row["outcome"] == "accepted" and find_split(row["concept_id"]) == split:
                cells = {name: row.get(name) for name in _TRIPLET_COLUMNS.columns}
                yield ReleaseRow(
                    row_id=row["concept_id"],
                    cells={**cells, "id": row["concept_id"], "proof": "construction"},
                    base_image=row["concept_id"],
                    proof="construction",
                    parts=tuple({OWN: None, find_part(inputs, row["writer"]): None}),
                )


def _read_pairs(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    """Yield pairs of which the filter kept both pictures."""
    for partition in list_stored(inputs, FILTERED_KEY):
        first_sides = dict[str, dict[str, Any]]()
        for row in read_partition(inputs, FILTERED_KEY, partition, FILTERED_COLUMNS):
            if not row["pair_kept"] or find_split(row["concept_id"]) != split:
                continue
            if (first := first_sides.pop(row["pair_id"], None)) is None:
                first_sides[row["pair_id"]] = row
            else:
                yield _build_pair(inputs, {first["side"]: first, row["side"]: row})


def _build_pair(inputs: ReleaseInputs, pictures: Mapping[str, Mapping[str, Any]]) -> ReleaseRow:
    row = pictures[SIDES[0]]
    name = f"{row['painter']}/{row['pair_id']}"
    cells = {column: row.get(column) for column in _PAIR_COLUMNS.columns}
    cells |= {"id": name, "proof": "model"}
    for side, picture in pictures.items():
        cells[f"{side}_image"] = picture["sha256"]
        for column in ("sha256", "prompt", "filter_score"):
            cells[f"{side}_{column}"] = picture[column]
    return ReleaseRow(
        row_id=name,
        cells=cells,
        base_image=row["concept_id"],
        proof="model",
        parts=tuple({OWN: None, find_part(inputs, row["painter"]): None}),
        is_stand_in=any(picture["is_stand_in"] for picture in pictures.values()),
    )


RELEASE_TABLES = (
    ReleaseTable(
        config="pairs",
        description=(
            "Two pictures of each sentence: one that fits it, and one of the prototype, which does "
            "not. A metric fails where it scores the second as high as the first."
        ),
        columns=_PAIR_COLUMNS,
        image_columns=_IMAGES,
        sources=dict.fromkeys(_PAIR_COLUMNS.columns, FILTERED_KEY),
        splits=SPLITS,
        read_rows=_read_pairs,
    ),
    ReleaseTable(
        config="triplets",
        description="A neutral sentence, one that fits it, and one of the prototype; no pictures.",
        columns=_TRIPLET_COLUMNS,
        image_columns=(),
        sources=dict.fromkeys(_TRIPLET_COLUMNS.columns, TRIPLETS_KEY),
        splits=SPLITS,
        read_rows=_read_triplets,
    ),
)
