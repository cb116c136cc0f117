"""The table that a release of FRAME has: each picture beside the same one with a bias."""

from collections.abc import Iterator

from assets.frame.biased_images import BIASED_IMAGE_COLUMNS
from assets.frame.common import asset_key
from assets.kit.columns import TEXT, Columns
from assets.kit.licences import GLYPHS, OWN
from assets.kit.release_rows import (
    SPLITS,
    digest_parameters,
    find_part,
    find_split,
    list_stored,
    read_partition,
)
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable

_BIASED_KEY = asset_key("biased_images")
_ORIGINAL = ("item_id", "domain", "source", "image_id", "instruction", "keyword")
_CHANGE = ("concepts", "changes", "alignment", "bias", "parameters", "readable", "boxes")
_COLUMNS = Columns(
    id=(TEXT, "Name of the row: the picture, its bias and a digest of the parameters"),
    image=(TEXT, "The picture as it was"),
    sha256=(TEXT, "Name of it in the image store"),
    biased_image=(TEXT, "The same picture with a bias that does not change what it shows"),
    biased_sha256=(TEXT, "Name of the biased picture in the image store"),
    **BIASED_IMAGE_COLUMNS.subset(*_ORIGINAL, *_CHANGE),
    proof=(TEXT, "construction: code adds the bias to the very same picture"),
)


def _read_rows(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for partition in list_stored(inputs, _BIASED_KEY):
        for row in read_partition(inputs, _BIASED_KEY, partition, BIASED_IMAGE_COLUMNS):
            if row["outcome"] != "biased" or find_split(row["item_id"]) != split:
                continue
            name = f"{row['image_id']}/{row['bias']}/{digest_parameters(row['parameters'])}"
            cells = {column: row.get(column) for column in _COLUMNS.columns} | {
                "id": name,
                "image": row["original"],
                "sha256": row["original"],
                "biased_image": row["sha256"],
                "biased_sha256": row["sha256"],
                "proof": "construction",
            }
            yield ReleaseRow(
                row_id=name,
                cells=cells,
                base_image=row["item_id"],
                proof="construction",
                parts=tuple({OWN: None, GLYPHS: None, find_part(inputs, row["source"]): None}),
                is_stand_in=row["is_stand_in"],
            )


RELEASE_TABLES = (
    ReleaseTable(
        config="biased_images",
        description=(
            "Pictures and the same pictures with a bias, such as brightness or a text, to be "
            "scored against their instruction: a judge that looks gives both the same score. All "
            "pictures of one instruction are in one split."
        ),
        columns=_COLUMNS,
        image_columns=("image", "biased_image"),
        sources=dict.fromkeys(_COLUMNS.columns, _BIASED_KEY),
        splits=SPLITS,
        read_rows=_read_rows,
    ),
)
