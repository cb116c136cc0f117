"""Pictures of positions, and the questions about them, each label read back from the pixels."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pandas as pd
import pyarrow as pa
from dagster import AssetExecutionContext, AssetIn, MaterializeResult

from assets.game_rules.common import asset_key, games, table_asset
from assets.kit.columns import TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.pictures import compute_missing, draw_missing_pictures
from assets.kit.previews import contact_sheet, markdown_table
from generators.fingerprint import fingerprint
from generators.game_rules.positions import list_scenes
from generators.game_rules.rules import PositionJob, find_winners, read_position, write_questions
from generators.worker_jobs import DrawJob, draw_png
from resources.settings.image_design import ImageDesign
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache, build_work_key

SIZE = 768
"""The longer side of a picture, px."""
PICTURES = Columns(
    image_id=(TEXT, "Readable name: game, position and size"),
    base_id=(TEXT, "The position"),
    game=(TEXT, "chess or xiangqi"),
    sha256=(TEXT, "Name of the PNG in the image store"),
    width=(WHOLE, "px"),
    height=(WHOLE, "px"),
    seed=(WHOLE, "Seed of the positions"),
    fen=(TEXT, "Placement of the pieces, as FEN"),
)
QUESTIONS = Columns(
    **PICTURES.columns,
    goal=(TEXT, "checkmate or pieces: what the rule is about"),
    rule=(TEXT, "usual or inverse rule"),
    question=(TEXT, "The question, with the rule"),
    ground_truth=(TEXT, "The side that has won by the rule of the question"),
    expected_bias=(TEXT, "The side that has won by the usual rule"),
)


class Unverified(ValueError):
    """Labels contradict the pixels."""


@table_asset(
    kinds=["image"],
    columns=PICTURES,
    partitions=games,
    description="Positions of a game in which either side may have won, drawn by code.",
)
def pictures(
    context: AssetExecutionContext, design: ImageDesign, images: ImageStore, work_cache: WorkCache
) -> MaterializeResult[pa.Table]:
    """Draw the missing pictures."""
    game = context.partition_key
    scenes = list_scenes(game, design.seed)
    drawings = {scene.base_id: DrawJob(scene.domain, scene, SIZE) for scene in scenes}
    code = fingerprint("generators.domains.chess_pieces.draw")
    works = {
        name: build_work_key("game_rules/draw", code, asdict(drawing))
        for name, drawing in drawings.items()
    }
    drawn = draw_missing_pictures(works, drawings.__getitem__, draw_png, images, work_cache)
    sizes = images.sizes(drawn.results.values())
    rows = [
        {
            "image_id": scene.image_id(SIZE),
            "base_id": scene.base_id,
            "game": game,
            "sha256": drawn.results[scene.base_id],
            "width": sizes[drawn.results[scene.base_id]][0],
            "height": sizes[drawn.results[scene.base_id]][1],
            "seed": design.seed,
            "fen": scene.settings["fen"],
        }
        for scene in scenes
    ]
    return to_materialize_result(
        PICTURES.build_table(rows),
        pictures=len(rows),
        drawn_now=drawn.done,
        seed=design.seed,
        contact_sheet=contact_sheet([(row["fen"], images.get(row["sha256"])) for row in rows[:12]]),
    )


@table_asset(
    columns=QUESTIONS,
    partitions=games,
    ins={"pictures": AssetIn(asset_key("pictures"))},
    description=(
        "Questions about each position, by the usual rule and by its inverse; every label is read "
        "back from the pixels."
    ),
)
def questions(
    context: AssetExecutionContext,
    pictures: pd.DataFrame,
    images: ImageStore,
    work_cache: WorkCache,
) -> MaterializeResult[pa.Table]:
    """Ask about each picture; raises `Unverified` where pixels show other winners than the FEN."""
    picture_rows = PICTURES.read_rows(pictures, asset_key("pictures"))
    _require_verified(context.partition_key, picture_rows, images, work_cache)
    rows = list(_iterate_questions(picture_rows))
    examples = pd.DataFrame(rows).drop_duplicates("question")
    return to_materialize_result(
        QUESTIONS.build_table(rows),
        questions=len(rows),
        verified_pictures=len(picture_rows),
        examples=markdown_table(examples[["question", "ground_truth", "expected_bias"]]),
    )


def _iterate_questions(picture_rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in picture_rows:
        for question in write_questions(row["game"], find_winners(row["game"], row["fen"])):
            yield row | question._asdict()


def _require_verified(
    game: str, rows: list[dict[str, Any]], images: ImageStore, work_cache: WorkCache
) -> None:
    """Raise `Unverified` unless the pixels of each picture show the winners of its FEN."""
    code = fingerprint("generators.game_rules.rules")
    works = {
        row["sha256"]: build_work_key("game_rules/read", code, game, row["sha256"]) for row in rows
    }
    readings = compute_missing(
        works, lambda digest: PositionJob(game, images.get(digest)), read_position, work_cache
    )
    wrong_rows = [
        f"{row['image_id']} ({problem or f'shows {winners}'})"
        for row in rows
        for winners, problem in [readings[row["sha256"]]]
        if winners != find_winners(game, row["fen"])
    ]
    if wrong_rows:
        raise Unverified(
            f"{len(wrong_rows)} pictures of {game} do not show the winner of their label: "
            f"{', '.join(wrong_rows[:5])}. Materialize game_rules/pictures ({game}) again; if that "
            "does not help, generators/game_rules draws or reads them wrong."
        )
