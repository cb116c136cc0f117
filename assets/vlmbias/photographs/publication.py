"""The photographs of a topic: what all painters have made of it, at the sizes of the design."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetKey,
    MaterializeResult,
    MetadataValue,
)

from assets.kit.columns import TEXT, TEXTS, WHOLE, Columns, to_materialize_result
from assets.kit.limits import partial_metadata
from assets.kit.pictures import draw_missing_pictures, sample_contact_sheet
from assets.kit.previews import markdown_table
from assets.kit.review import review_file, review_page
from assets.kit.step_run import Row
from assets.kit.verdicts import read_verdicts
from assets.vlmbias.common import GROUP, photographed_topics, table_asset
from assets.vlmbias.images import IMAGES
from assets.vlmbias.photographs.candidates import load_candidates
from assets.vlmbias.photographs.selection import (
    PublishedCandidate,
    count_retention,
    format_published_id,
    require_known_candidates,
    select_published,
    write_candidates,
)
from assets.vlmbias.photographs.subjects import ground_truth, list_photographs
from generators.fingerprint import fingerprint
from generators.perturbations.resize import ResizeJob, resize_png
from generators.photographs import Photograph
from generators.scene import ImageSet, Setting
from resources.settings.image_design import ImageDesign
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

PHOTOGRAPHS = Columns(
    **IMAGES.columns,
    source_sha256=(TEXT, "sha256 of the picture as its painter or editor made it"),
    source_width=(WHOLE, "Its width in px: a larger size is enlarged from it"),
    source_height=(WHOLE, "Its height in px"),
    calls=(TEXTS, "Keys of the stored calls behind it, from the suggestion of subjects on"),
)

_MOST_SHOWN = 50


class NoCandidates(ValueError):
    """Error for a topic without pictures from any painter."""


@table_asset(
    kinds=["image"],
    columns=PHOTOGRAPHS,
    partitions=photographed_topics,
    deps=[AssetDep([GROUP, "subjects"]), AssetDep([GROUP, "candidates"])],
    description="Photographs of a topic that people accepted or have not reviewed yet.",
)
def photographs(
    context: AssetExecutionContext,
    design: ImageDesign,
    home: DataRoot,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Choose an edit for each base image and painter, and render it at every size.

    Raises `NoCandidates` where there are none, and `UserFileError` for a review file that cannot be
    followed.
    """
    topic, file = context.partition_key, review_file(home, context.partition_key)
    candidates = _candidates(context, home)
    verdicts = read_verdicts(file)
    require_known_candidates(verdicts, candidates, file, review_page(file))
    write_candidates(home, images, topic, candidates, verdicts)
    photographs_by_key = _index_photographs(
        list_photographs(topic, home.table(AssetKey([GROUP, "subjects"]), topic)["suggestion"])
    )
    current_candidates = [row for row in candidates if _key(row) in photographs_by_key]
    if len(current_candidates) < len(candidates):
        context.log.warning(
            "%d candidates are of other subjects than vlmbias/subjects (%s) holds now and are left "
            "out: %s. Materialize their paintings, edits and candidates again.",
            len(candidates) - len(current_candidates),
            topic,
            ", ".join(
                sorted({row["painter"] for row in candidates if row not in current_candidates})
            ),
        )
    published, dropped_images = select_published(current_candidates, verdicts)
    sizes = design.select_photograph_sizes()
    rendered = render_sizes(
        {choice.candidate["sha256"] for choice in published}, sizes, images, work_cache
    )
    px = images.sizes({digest for by_size in rendered.values() for digest in by_size.values()})
    rows = [
        _row(
            choice,
            photographs_by_key[_key(choice.candidate)],
            size,
            design.seed,
            digest,
            px[digest],
        )
        for choice in published
        for size, digest in rendered[choice.candidate["sha256"]].items()
    ]
    return to_materialize_result(
        PHOTOGRAPHS.build_table(rows, unstored_keys=("edit", "paintings", "standard", "truth")),
        images=len(rows),
        **partial_metadata(
            len({row["base_id"] for row in current_candidates}),
            len({base_id for base_id, *_ in photographs_by_key}),
            "base images",
        ),
        **Counter[str](choice.review for choice in published),
        dropped=len(dropped_images),
        why_dropped=markdown_table(pd.DataFrame(dropped_images).head(_MOST_SHOWN)),
        retention=markdown_table(count_retention(current_candidates, rows)),
        review=MetadataValue.path(str(review_page(file))),
        review_file=MetadataValue.path(str(file)),
        contact_sheet=sample_contact_sheet(
            [row for row in rows if row["size"] == sizes[0]], lambda row: row["base_id"], images
        ),
    )


def _key(candidate: Row) -> tuple[str, str, str]:
    """Return the values that a candidate shares with its base image."""
    return candidate["base_id"], candidate["variant"], candidate["prompt"]


def _index_photographs(photographs: Sequence[Photograph]) -> dict[tuple[str, str, str], Photograph]:
    counterfactuals = {
        (photograph.base_id, "counterfactual", photograph.edit): photograph
        for photograph in photographs
    }
    originals = {
        (photograph.base_id, "original", photograph.paintings[0].prompt): photograph
        for photograph in photographs
        if photograph.has_original
    }
    return counterfactuals | originals


def _candidates(context: AssetExecutionContext, home: DataRoot) -> list[Row]:
    """The candidates of every painter that there are."""
    topic, names = context.partition_key, context.instance.get_dynamic_partitions("painters")
    candidates = [row for name in names for row in load_candidates(home, name, topic)]
    if not candidates:
        raise NoCandidates(
            f"No painter has candidates of {topic} yet: materialize vlmbias/paintings, edits and "
            f"candidates for one of {', '.join(names) or 'the painters of models.yaml'} first."
        )
    return candidates


def render_sizes(
    digests: Iterable[str], sizes: Sequence[int], images: ImageStore, work_cache: WorkCache
) -> dict[str, dict[int, str]]:
    """Resize each picture to each size; return the sha256s of the results by picture and size."""
    code = fingerprint("generators.perturbations.resize")
    keys = {
        (digest, size): build_work_key("resize", code, digest, size)
        for digest in sorted(digests)
        for size in sizes
    }
    rendered = draw_missing_pictures(
        keys,
        lambda digest_and_size: ResizeJob(images.get(digest_and_size[0]), digest_and_size[1]),
        resize_png,
        images,
        work_cache,
    ).results
    return {digest: {size: rendered[digest, size] for size in sizes} for digest, _ in keys}


def _row(
    published: PublishedCandidate,
    photograph: Photograph,
    size: int,
    seed: int,
    digest: str,
    px: tuple[int, int],
) -> dict[str, Any]:
    (row, review), (width, height) = published, px
    original = row["variant"] == "original"
    base_id = format_published_id(
        photograph.original_id if original else photograph.base_id, row["painter"]
    )
    return {
        **asdict(photograph),
        **{name: row[name] for name in ("variant", "painter", "is_stand_in", "calls")},
        "image_id": f"{base_id}/{size}",
        "base_id": base_id,
        "original_id": format_published_id(photograph.original_id, row["painter"]),
        "sha256": digest,
        "modification": "none" if original else photograph.modification,
        "image_set": _image_set(published),
        "width": width,
        "height": height,
        "size": size,
        "seed": seed,
        "targets": [photograph.target],
        "truths": [ground_truth(photograph, row["variant"])],
        "standards": [photograph.standard],
        "settings": json.dumps(_settings(row, photograph), ensure_ascii=False, sort_keys=True),
        "generator_version": row["served_model"] or "unknown",
        "rasteriser": f"Pillow {version('pillow')}, Lanczos",
        "review": review,
        "source_sha256": row["sha256"],
        "source_width": row["width"],
        "source_height": row["height"],
    }


def _image_set(published: PublishedCandidate) -> ImageSet:
    """Return the image set: a stand-in stays one; a photograph without a verdict is unreviewed."""
    if published.candidate["is_stand_in"]:
        return "stand-in"
    if published.review == "unreviewed":
        return "unreviewed"
    return "originals" if published.candidate["variant"] == "original" else "benchmark"


def _settings(row: Row, photograph: Photograph) -> dict[str, Setting]:
    """Return the settings with which the picture was made."""
    settings: dict[str, Setting] = {**photograph.settings, "painter": row["painter"]}
    for place, painting in enumerate(photograph.paintings, start=1):
        settings[f"painting {place}"] = painting.prompt
    if row["variant"] == "counterfactual":
        settings |= {
            "editor": row["editor"],
            "edit": photograph.edit,
            "edit_number": row["edit_number"],
        }
    return settings
