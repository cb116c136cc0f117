"""Human scores: several people's scores of the same pictures.

What they are shown is a sample, in the words of Table 6.
"""

import re
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa
from dagster import (
    AssetDep,
    AssetExecutionContext,
    AssetsDefinition,
    MarkdownMetadataValue,
    MaterializeResult,
    MetadataValue,
)
from pydantic import Field

from assets.kit.columns import TEXT, WHOLE, Columns, to_materialize_result
from assets.kit.drawn_sheets import (
    CHANCE_COLUMN,
    UncertainChoiceConfig,
    describe_choice,
    find_estimate_chances,
    read_earlier_draws,
    unite_draws,
)
from assets.kit.partitions import painters
from assets.kit.previews import markdown_table
from assets.kit.score_files import HumanScore, check_scores, pair_with_rows, read_score_files
from assets.kit.score_sheets import CHANCE, SHEET, ScoreForm, write_score_part, write_sheets
from assets.kit.step_run import Row
from assets.protobias.common import GROUP, asset_key, table_asset
from assets.protobias.filtered_pairs import FILTERED_COLUMNS
from assets.protobias.people_samples import (
    draw_pairs,
    load_filtered_pictures,
    load_margins,
    select_drawn,
    select_for_scoring,
)
from generators.prompts.rating_prompts import write_rating_prompt
from metrics.protobias.normalization import HUMAN, normalize_scores
from metrics.statistics.weighted_kappa import pairwise_agreement
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore

_PICTURED = (
    *("domain", "painter", "concept_id", "concept", "knob", "text", "pair_id", "side"),
    *("image_id", "sha256"),
)
HUMAN_SCORES = Columns(
    **FILTERED_COLUMNS.subset(*_PICTURED),
    annotator=(TEXT, "Annotator"),
    score=(WHOLE, "1 to 4"),
    chance=CHANCE_COLUMN,
    **FILTERED_COLUMNS.subset("is_stand_in"),
)
"""Table with one row per image and annotator who has decided on it."""


def _section(first: str, after: str) -> str:
    """Table 6 from one heading to the next."""
    return write_rating_prompt("").partition(f"{first}\n")[2].partition(f"{after}\n")[0].strip()


_TASK = _section("Task:", "Rules:")
_GUIDE = _section("Rating Guide (1-4):", "Output Format:")
FORM = ScoreForm(
    task=_TASK,
    guide={int(score): words for score, words in re.findall(r"- (\d) - (.+)", _GUIDE)},
    guidelines="\n\n".join(
        [
            _TASK,
            f"## Rules\n\n{_section('Rules:', 'Key Checks:')}",
            f"## Key checks\n\n{_section('Key Checks:', 'Rating Guide (1-4):')}",
            f"## Rating guide\n\n{_GUIDE}",
        ]
    ),
    asset="protobias/human_scores",
    source="protobias/filtered_pairs",
)


class ProtoHumanScoresConfig(UncertainChoiceConfig):
    """Pictures and texts for people to score."""

    images: int = Field(
        default=300,
        ge=2,
        multiple_of=2,
        description=(
            "Pictures with their texts to score, both of each pair, balanced over domains. A "
            "smaller number selects a subset of a larger one. With chosen_by it is an average."
        ),
    )
    seed: int = Field(
        default=0, description="Random seed for the order in which people see the pictures."
    )


def build_human_scores_asset(judges: Sequence[str]) -> AssetsDefinition:
    """The asset `human_scores`, whose pairs these judges may choose."""

    @table_asset(
        columns=HUMAN_SCORES,
        partitions=painters,
        deps=[AssetDep(asset_key("filtered_pairs"))],
        description="Human scores of a painter's pictures, 1 to 4, and their agreement (ProtoBias, "
        "§5.2). Writes score sheets, and reads those filled in.",
    )
    def human_scores(
        context: AssetExecutionContext,
        config: ProtoHumanScoresConfig,
        home: DataRoot,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Read all filled files of the painter's folder, then write sheets for who scores next.

        Raises `UserFileError` for a file that cannot be followed, `NotMaterialized` without pairs
        or without scores by a judge that is to choose.
        """
        painter = context.partition_key
        folder = home.path("reviews", GROUP, painter)
        pictures = load_filtered_pictures(home, painter)
        sheet_scores = check_scores(read_score_files(folder, FORM), FORM, pictures)
        drawn = read_earlier_draws(folder, sheet_scores)
        if config.chosen_by:
            margins = load_margins(home, painter, config.chosen_by, judges)
            drawn = unite_draws([drawn, draw_pairs(pictures, margins, config.images)])
        pictures_to_score = (
            select_drawn(pictures, drawn, config.seed)
            if drawn
            else select_for_scoring(pictures, config.images, config.seed)
        )
        drawn = {row["sha256"]: row[CHANCE] for row in pictures_to_score if CHANCE in row}
        chances = find_estimate_chances(drawn, sheet_scores)
        write_sheets(folder, FORM, pictures_to_score, images)
        write_score_part(home, FORM, painter, folder, pictures_to_score)
        rows = [
            {name: row[name] for name in (*_PICTURED, "is_stand_in")}
            | {"annotator": entry.annotator, "score": entry.score, "chance": chances[entry.image]}
            for entry, row in pair_with_rows(sheet_scores, pictures)
            if row["pair_kept"]
        ]
        table = HUMAN_SCORES.build_table(rows)
        scores = table.to_pandas()
        if unused_count := len(sheet_scores) - len(
            set(zip(scores["annotator"], scores["sha256"], strict=True))
        ):
            context.log.warning(
                "%d scores are of pictures that protobias/filtered_pairs does not keep now; they "
                "stay in their files and are left out of the table.",
                unused_count,
            )
        return to_materialize_result(
            table,
            to_score=len(pictures_to_score),
            choice=describe_choice(drawn, sheet_scores),
            sheet=MetadataValue.path(str(folder / SHEET)),
            annotators=markdown_table(_count_by_annotator(sheet_scores, pictures_to_score)),
            agreement=_agreement(scores, config.seed),
            scores=markdown_table(_means(scores).round(3)),
        )

    return human_scores


def _count_by_annotator(
    sheet_scores: Sequence[HumanScore], pictures_to_score: Sequence[Row]
) -> pd.DataFrame:
    """Count, by annotator, the scored pictures and those still to score."""
    digests, digests_by_annotator = (
        {row["sha256"] for row in pictures_to_score},
        dict[str, set[str]](),
    )
    for entry in sheet_scores:
        digests_by_annotator.setdefault(entry.annotator, set()).add(entry.image)
    counted = [
        (name, len(scored), len(digests - scored))
        for name, scored in sorted(digests_by_annotator.items())
    ]
    return pd.DataFrame(counted, columns=["annotator", "scored", "left"])


def _agreement(scores: pd.DataFrame, seed: int) -> MarkdownMetadataValue:
    """Quadratic weighted kappa of every two annotators (Figure 4)."""
    lines = []
    for agreement in pairwise_agreement(scores, seed=seed):
        kappa = (
            f"undefined: {agreement.reason}"
            if agreement.kappa is None
            else f"{agreement.kappa:.2f}"
        )
        interval = (
            f"{agreement.interval.low:.2f} to {agreement.interval.high:.2f}"
            if agreement.interval
            else "none"
        )
        lines.append((agreement.first, agreement.second, agreement.images, kappa, interval))
    if not lines:
        return MetadataValue.md("Kappa needs two annotators who have scored the same pictures.")
    columns = ["first", "second", "pictures", "kappa", "95 % interval"]
    return markdown_table(pd.DataFrame(lines, columns=columns))


def _means(scores: pd.DataFrame) -> pd.DataFrame:
    """Tabulate, by domain, the pictures and the mean scores (0 to 1) of both sides of the pairs.

    A picture's score is the mean over its annotators (Table 2).
    """
    of_pictures = scores.groupby(["domain", "side", "image_id"], as_index=False)["score"].mean()
    of_pictures["score"] = normalize_scores(of_pictures["score"], HUMAN)
    sides = of_pictures.pivot_table(index="domain", columns="side", values="score", observed=True)
    means = sides.reindex(columns=["correct", "adversarial"])
    means.columns = pd.Index(["SC", "PA"])
    counts = of_pictures.groupby("domain").size().rename("pictures")
    table: pd.DataFrame = means.assign(delta=means["SC"] - means["PA"]).join(counts).reset_index()
    return table
