"""Human scores: how well people find that pictures fit their original instructions, 0 to 5."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

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

from assets.frame.biases import NONE
from assets.frame.common import asset_key, table_asset
from assets.frame.images import IMAGES
from assets.frame.people import BINS, bin_scores, correlate_annotators
from assets.kit.collections import COLLECTION_COLUMNS, collection_key
from assets.kit.columns import BOOLEAN, REAL, TEXT, Columns, to_materialize_result
from assets.kit.drawn_sheets import (
    CHANCE_COLUMN,
    UncertainChoiceConfig,
    describe_choice,
    draw_by_uncertainty,
    find_estimate_chances,
    read_earlier_draws,
    require_judge,
    unite_draws,
)
from assets.kit.partitions import sources
from assets.kit.previews import markdown_table
from assets.kit.score_files import check_scores, pair_with_rows, read_score_files
from assets.kit.score_sheets import CHANCE, SHEET, ScoreForm, write_score_part, write_sheets
from assets.kit.step_run import Row
from assets.kit.table_asset import NotMaterialized
from generators.prompts.judging_templates import SCALE, STANDARD, TEMPLATES
from generators.prompts.visual_concepts import DOMAINS
from resources.storage.data_root import DataRoot
from resources.storage.image_store import ImageStore

HUMAN_SCORES = Columns(
    domain=(TEXT, "people, animals, illustration, indoor or outdoor"),
    source=(TEXT, "The painter, or the collection"),
    item_id=(TEXT, "The item"),
    image_id=(TEXT, "Source, item and sample"),
    instruction=(TEXT, "Original instruction, by which the picture is scored"),
    sha256=(TEXT, "Name of the picture in the image store"),
    annotator=(TEXT, "Annotator; for a collection with only mean scores, the collection"),
    score=(REAL, "Score, 0 to 5; a collection's own scores are rescaled"),
    chance=CHANCE_COLUMN,
    is_stand_in=(BOOLEAN, "True if stand-ins made the pictures, so that it is no result"),
)
"""Table with one row per picture and annotator."""

_PICTURE_COLUMNS = [
    name for name in HUMAN_SCORES.columns if name not in ("annotator", "score", "chance")
]
_JUDGED = ["image_id", "bias", "template", "score"]
_TASK = "Score how well each picture follows the instruction that it was generated for."
_GUIDE = {
    int(score): words
    for score, words in re.findall(r"^(\d): (.+)$", TEMPLATES[STANDARD].text, re.MULTILINE)
}
FORM = ScoreForm(
    task=_TASK,
    guide=_GUIDE,
    guidelines="\n\n".join(
        [
            _TASK,
            "Weigh what the instruction asks for, and neither style nor beauty. An instruction "
            "that no picture could follow, or that should not be followed, is not scored: reject "
            "it in the review of frame/instructions, and another is drawn.",
            "\n".join(f"- {score}: {words}" for score, words in _GUIDE.items()),
        ]
    ),
    asset="frame/human_scores",
    source="frame/images",
)


class NoHumanScores(ValueError):
    """A source has no human scores of its own, and they are asked for."""


class FrameHumanScoresConfig(UncertainChoiceConfig):
    """Source of people's scores, and pictures for them to score."""

    scored_by: Literal["either", "people", "collection"] = Field(
        default="either",
        description=(
            "people: score sheets that people fill in. collection: the human scores of a "
            "collection. either: a collection's scores if it has any, else sheets."
        ),
    )
    images: int | None = Field(
        default=None,
        ge=1,
        description=(
            "Pictures to score; a smaller number selects a subset of a larger one. With chosen_by "
            "it is an average. Default: all."
        ),
    )
    seed: int = Field(
        default=0, description="Random seed for the order in which people see the pictures."
    )


def build_human_scores_asset(judges: Sequence[str]) -> AssetsDefinition:
    """The asset `human_scores`, whose pictures these judges may choose."""

    @table_asset(
        columns=HUMAN_SCORES,
        partitions=sources,
        deps=[AssetDep(asset_key("images"))],
        description=(
            "Human scores of a source's pictures, 0 to 5, and their agreement (FRAME, Tables 2 and "
            "7). Writes score sheets and reads those filled in, or takes a collection's own scores."
        ),
    )
    def human_scores(
        context: AssetExecutionContext,
        config: FrameHumanScoresConfig,
        home: DataRoot,
        images: ImageStore,
    ) -> MaterializeResult[pa.Table]:
        """Take a collection's scores, or read filled files and write sheets for who scores next.

        Raises `NoHumanScores`, `UserFileError` for a file that cannot be followed,
        `NotMaterialized` without pictures.
        """
        source = context.partition_key
        pictures = list_scored_pictures(home, source)
        own_scores = _load_own_scores(home, source) if config.scored_by != "people" else {}
        if config.scored_by == "collection" and not own_scores:
            raise NoHumanScores(
                f"frame/human_scores: {source} has no human scores of its own. Name their column "
                "in collections.yaml as human_score, or have people score it: scored_by: people."
            )
        if own_scores:
            rows = list(_build_own_rows(pictures, own_scores))
            return to_materialize_result(HUMAN_SCORES.build_table(rows), **_build_metadata(rows))
        folder = home.path("reviews", "frame", source)
        by_hash = _group_by_hash(pictures)
        filled_scores = check_scores(read_score_files(folder, FORM), FORM, by_hash)
        drawn = read_earlier_draws(folder, filled_scores)
        lots = _shuffle(by_hash, 0)
        if config.chosen_by:
            scores = load_judge_scores(home, source, config.chosen_by, judges)
            answers = scores.reindex([by_hash[digest][0]["image_id"] for digest in lots])
            draw = draw_by_uncertainty(answers.set_axis(lots), config.images or len(lots))
            drawn = unite_draws([drawn, draw])
        drawn = {digest: chance for digest, chance in drawn.items() if digest in by_hash}
        digests = _shuffle(drawn or lots[: config.images], config.seed)
        pictures_to_score = [
            {**by_hash[digest][0], **({CHANCE: drawn[digest]} if drawn else {})}
            for digest in digests
        ]
        chances = find_estimate_chances(drawn, filled_scores)
        write_sheets(folder, FORM, pictures_to_score, images)
        write_score_part(home, FORM, source, folder, pictures_to_score)
        rows = [
            {name: row[name] for name in _PICTURE_COLUMNS}
            | {"annotator": entry.annotator, "score": float(entry.score)}
            | {"chance": chances[entry.image]}
            for entry, row in pair_with_rows(filled_scores, by_hash)
        ]
        if shared := sum(
            row["text"] != same[0]["text"] for same in by_hash.values() for row in same
        ):
            context.log.warning(
                "%d instructions have a picture that another one has as well; it is shown with the "
                "first of them alone.",
                shared,
            )
        return to_materialize_result(
            HUMAN_SCORES.build_table(rows),
            to_score=len(digests),
            choice=describe_choice(drawn, filled_scores),
            sheet=MetadataValue.path(str(folder / SHEET)),
            **_build_metadata(rows),
        )

    return human_scores


def list_scored_pictures(home: DataRoot, source: str) -> list[dict[str, Any]]:
    """The first picture of each item of a source, of all domains. Raises `NotMaterialized`."""
    images = asset_key("images")
    tables = (home.find(images, f"{domain}|{source}") for domain in DOMAINS)
    rows = [row for table in tables if table is not None for row in IMAGES.read_rows(table, images)]
    pictures = [
        row | {"text": row["instruction"]}
        for row in rows
        if row["outcome"] in ("painted", "taken") and row["sample"] == 0
    ]
    if not pictures:
        reasons = Counter(row["reason"] for row in rows if row["reason"])
        if reasons:
            ((reason, count),) = reasons.most_common(1)
            raise NotMaterialized(
                f"frame/human_scores: none of {len(rows):,} pictures of {source} can be scored. Of "
                f"{count:,}: {reason}"
            )
        raise NotMaterialized(
            f"frame/human_scores: there are no pictures of {source} to score yet. Materialize "
            f"frame/images of {source} first, for some of {', '.join(DOMAINS)}."
        )
    return pictures


def load_judge_scores(
    home: DataRoot, source: str, chosen_by: Sequence[str], judges: Sequence[str]
) -> pd.DataFrame:
    """Load judges' scores of unbiased pictures, with pictures as rows and judges as columns.

    Those of one judge alone are less the middle of the scale. Raises `NotMaterialized` where one
    has scored nothing, `NoSuchModel` where it is none of `judges` either.
    """
    middle = sum(SCALE) / 2 if len(chosen_by) == 1 else 0.0
    columns = {}
    for judge in chosen_by:
        key = asset_key(f"scores_{judge}")
        stored = (home.find(key, f"{domain}|{source}", _JUDGED) for domain in DOMAINS)
        tables = [table for table in stored if table is not None]
        if not tables:
            require_judge("frame/human_scores", judge, judges)
            raise NotMaterialized(
                f"frame/human_scores: {judge} has scored no picture of {source}, so that its "
                f"uncertainty is unknown. Materialize frame/scores_{judge} of {source} first, or "
                "name another judge in chosen_by."
            )
        scores = pd.concat(tables)
        scores = scores[scores["bias"].eq(NONE) & scores["template"].eq(STANDARD)]
        columns[judge] = scores.set_index("image_id")["score"] - middle
    return pd.DataFrame(columns)


def _shuffle(digests: Iterable[str], seed: int) -> list[str]:
    return sorted(digests, key=lambda digest: sha256(f"{seed}/{digest}".encode()).digest())


def _group_by_hash(pictures: Iterable[Row]) -> Mapping[str, Sequence[Row]]:
    groups = defaultdict(list)
    for row in pictures:
        groups[row["sha256"]].append(row)
    return groups


def _load_own_scores(home: DataRoot, source: str) -> dict[str, dict[str, float]]:
    """Return annotators' scores (0 to 5) by name of a collection's row; empty for a painter."""
    collection = collection_key(source)
    table = home.find(collection)
    rows = [] if table is None else COLLECTION_COLUMNS.read_rows(table, collection)
    scores_by_row = {}
    for row in rows:
        several = dict(enumerate(row["human_scores"] or [], 1))
        annotator_scores = {f"{source} {place}": score for place, score in several.items()}
        if not annotator_scores and row["human_score"] is not None:
            annotator_scores = {source: row["human_score"]}
        if annotator_scores:
            scores_by_row[row["image_id"]] = {
                name: _rescale(score, row["scale_low"], row["scale_high"])
                for name, score in annotator_scores.items()
            }
    return scores_by_row


def _rescale(score: float, lowest: float, highest: float) -> float:
    low, high = SCALE
    return low + (high - low) * (score - lowest) / (highest - lowest)


def _build_own_rows(
    pictures: Iterable[Row], own_scores: Mapping[str, Mapping[str, float]]
) -> Iterable[dict[str, Any]]:
    for row in pictures:
        for annotator, score in own_scores.get(row["item_id"], {}).items():
            picture_columns = {name: row[name] for name in _PICTURE_COLUMNS}
            yield picture_columns | {"annotator": annotator, "score": score, "chance": 1.0}


def _build_metadata(rows: Sequence[Row]) -> dict[str, Any]:
    """Tables 2 and 7 of some rows, and who scored how many."""
    if not rows:
        return {"annotators": "No picture has been scored yet."}
    scores = pd.DataFrame(rows)
    means = [
        (binned.domain, *binned.counts, round(binned.mean, 2)) for binned in bin_scores(scores)
    ]
    return {
        "annotators": markdown_table(scores.groupby("annotator").size().reset_index(name="scored")),
        "scores": markdown_table(pd.DataFrame(means, columns=["domain", *BINS, "mean"])),
        "agreement": _format_agreement(scores),
    }


def _format_agreement(scores: pd.DataFrame) -> MarkdownMetadataValue:
    agreements = correlate_annotators(scores)
    if not agreements:
        return MetadataValue.md("Correlations need two annotators who have scored the same.")
    lines = []
    for agreement in agreements:
        correlation = agreement.correlation
        numbers = (
            correlation.reason if r is None else f"{r:.3f}"
            for r in (correlation.pearson, correlation.spearman)
        )
        lines.append(
            (agreement.domain, agreement.first, agreement.second, correlation.images, *numbers)
        )
    columns = ["domain", "first", "second", "pictures", "pearson", "spearman"]
    return markdown_table(pd.DataFrame(lines, columns=columns))
