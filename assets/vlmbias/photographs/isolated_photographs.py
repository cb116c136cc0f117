"""Photographs of a topic without their background, at the sizes of those with it."""

import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from dagster import AssetDep, AssetExecutionContext, MaterializeResult, MetadataValue

from assets.kit.columns import TEXT, Columns, to_materialize_result, to_records
from assets.kit.pictures import sample_contact_sheet
from assets.kit.review import review_file, review_page
from assets.kit.review_forms import ACCEPT
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized
from assets.kit.verdicts import read_verdicts
from assets.vlmbias.common import GROUP, asset_key, photographed_topics, table_asset
from assets.vlmbias.images import ISOLATED
from assets.vlmbias.photographs.isolated_edits import (
    list_painters,
    load_isolated_edits,
    name_review,
    select_accepted,
)
from assets.vlmbias.photographs.publication import PHOTOGRAPHS, render_sizes
from assets.vlmbias.photographs.selection import require_known_candidates
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache

ISOLATED_PHOTOGRAPHS = Columns(
    **PHOTOGRAPHS.columns,
    photograph_sha256=(TEXT, "sha256 of the photograph in this size, with its background"),
)


@table_asset(
    kinds=["image"],
    columns=ISOLATED_PHOTOGRAPHS,
    partitions=photographed_topics,
    deps=[AssetDep([GROUP, "photographs"]), AssetDep([GROUP, "isolated_edits"])],
    description="Photographs without their background that people accepted.",
)
def isolated_photographs(
    context: AssetExecutionContext, home: DataRoot, images: ImageStore, work_cache: WorkCache
) -> MaterializeResult[pa.Table]:
    """Take the accepted edit of each photograph, and render it at the photograph's sizes.

    Raises `NotMaterialized` where no editor has removed any background, and `UserFileError` for a
    review file that cannot be followed.
    """
    topic = context.partition_key
    file = review_file(home, name_review(topic))
    edits = [row for name in list_painters(home) for row in load_isolated_edits(home, name, topic)]
    photographs = home.find(asset_key("photographs"), topic)
    if photographs is None or not edits:
        raise NotMaterialized(
            f"vlmbias/isolated_edits ({topic}): no background was removed yet. Materialize it for "
            f"a painter, as in 'gemini_image|{topic}', and review the pictures."
        )
    verdicts = read_verdicts(file)
    accepted_verdicts = {
        name: verdict for name, verdict in verdicts.items() if verdict.decision == ACCEPT
    }
    require_known_candidates(accepted_verdicts, edits, file, review_page(file))
    changed = [row for row in to_records(photographs) if row["image_set"] == "benchmark"]
    # The first accepted edit of a photograph is the one that is shown.
    accepted = {row["sources"][0]: row for row in reversed(select_accepted(edits, verdicts))}
    pairs = [
        (row, accepted[row["source_sha256"]]) for row in changed if row["source_sha256"] in accepted
    ]
    rendered = render_sizes(
        {edit["sha256"] for _, edit in pairs},
        sorted({row["size"] for row in changed}),
        images,
        work_cache,
    )
    shown = {row["sha256"]: rendered[edit["sha256"]][row["size"]] for row, edit in pairs}
    px = images.sizes(shown.values())
    rows = [_build_row(row, edit, shown[row["sha256"]], px) for row, edit in pairs]
    scenes = {row["base_id"] for row in changed}
    return to_materialize_result(
        ISOLATED_PHOTOGRAPHS.build_table(rows),
        images=len(rows),
        photographs=len(scenes),
        isolated=len({row["base_id"] for row in rows}),
        review=MetadataValue.path(str(review_page(file))),
        contact_sheet=sample_contact_sheet(
            [row for row in rows if row["size"] == min(r["size"] for r in rows)],
            lambda row: row["base_id"],
            images,
        ),
    )


def _build_row(
    row: Row, edit: Row, sha256: str, px: Mapping[str, tuple[int, int]]
) -> dict[str, Any]:
    width, height = px[sha256]
    settings = json.loads(row["settings"]) | {
        "background_editor": edit["editor"],
        "background_edit": edit["prompt"],
        "background_edit_number": edit["edit_number"],
    }
    return {
        **row,
        "photograph_sha256": row["sha256"],
        "sha256": sha256,
        "image_set": ISOLATED,
        "width": width,
        "height": height,
        "settings": json.dumps(settings, ensure_ascii=False, sort_keys=True),
        "generator_version": edit["served_model"] or "unknown",
        "source_sha256": edit["sha256"],
        "source_width": edit["width"],
        "source_height": edit["height"],
        "calls": edit["calls"],
    }
