"""The tables that a release of Philautia-Eval has: captions with their scores, and rated ones."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from assets.kit.columns import REALS, TEXT, TEXTS, Columns
from assets.kit.licences import OWN
from assets.kit.picture_tables import BenchmarkPicture
from assets.kit.release_rows import (
    SPLITS,
    find_part,
    find_split,
    list_stored,
    load_benchmark_pictures,
    read_partition,
)
from assets.kit.release_tables import ReleaseInputs, ReleaseRow, ReleaseTable
from assets.philautia.captions import CAPTIONED, CAPTIONS
from assets.philautia.common import (
    asset_key,
    dataset_partition,
    load_declared_tables,
    select_captioners,
    select_evaluators,
)
from assets.philautia.pictures import PICTURES
from assets.philautia.rated_captions import RATED_CAPTION_COLUMNS
from assets.philautia.scores import SCORES

_PICTURES_KEY, _RATED_KEY = asset_key("pictures"), asset_key("rated_captions")
_MATRIX_KEY = asset_key("preference_matrix")
"""It is made of all models' captions and scores, which no configuration can name beforehand."""

_CAPTION_COLUMNS = Columns(
    id=(TEXT, "Name of the row: the model that wrote the caption, and the picture"),
    image=(TEXT, "The picture"),
    **PICTURES.subset("sha256", "image_id", "dataset", "references"),
    generator=(TEXT, "Model that wrote the caption, as models.yaml names it"),
    **CAPTIONS.subset("caption", "prompt_version"),
    evaluators=(TEXTS, "Models that scored it, one of each score"),
    settings=(TEXTS, "Setting of each score: reference_free or reference_based"),
    scores=(REALS, "Scores, 0 to 100, or on a metric's own scale"),
    proof=(TEXT, "construction: the caption is what the model wrote"),
)
_RATED_COLUMNS = Columns(
    id=(TEXT, "Name of the row: the scored caption in the collection"),
    image=(TEXT, "The picture"),
    **RATED_CAPTION_COLUMNS.subset("sha256", "image_id", "caption", "references", "human_score"),
    **RATED_CAPTION_COLUMNS.subset("human_scores", "scale_low", "scale_high"),
    proof=(TEXT, "people: they have scored the caption"),
)


class _Score(NamedTuple):
    evaluator: str
    setting: str
    score: float


def _read_captions(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    """Yield captions of models that are no stand-ins, by dataset and model."""
    captioners = [model.name for model in select_captioners(inputs.catalog, {})]
    for dataset in list_stored(inputs, _PICTURES_KEY):
        sources = load_benchmark_pictures(
            inputs, load_declared_tables().get(dataset, ()), dataset_partition(dataset)
        )
        pictures = {
            row["image_id"]: row
            for row in read_partition(inputs, _PICTURES_KEY, dataset, PICTURES)
            if find_split(_find_base_image(row, sources)) == split
        }
        scores = _load_scores(inputs, dataset)
        for generator in captioners:
            key = asset_key(f"captions_{generator}")
            if not inputs.home.holds(key, dataset):
                continue
            for row in read_partition(inputs, key, dataset, CAPTIONS):
                picture = pictures.get(row["image_id"])
                if picture and row["outcome"] == CAPTIONED:
                    caption_scores = scores.get((row["image_id"], generator), ())
                    yield _build_caption(inputs, picture, row, caption_scores, sources)


def _load_scores(inputs: ReleaseInputs, dataset: str) -> Mapping[tuple[str, str], Sequence[_Score]]:
    """Load the scores of a dataset's captions by picture and generator."""
    scores = defaultdict[tuple[str, str], list[_Score]](list)
    for evaluator in select_evaluators(inputs.catalog, {}):
        key = asset_key(f"scores_{evaluator.name}")
        if not evaluator.is_stand_in and inputs.home.holds(key, dataset):
            for row in read_partition(inputs, key, dataset, SCORES):
                if row["generator"] and row["score"] is not None:
                    score = _Score(evaluator.name, row["setting"], row["score"])
                    scores[row["image_id"], row["generator"]].append(score)
    return scores


def _build_caption(
    inputs: ReleaseInputs,
    picture: Mapping[str, Any],
    row: Mapping[str, Any],
    scores: Sequence[_Score],
    sources: Mapping[str, BenchmarkPicture],
) -> ReleaseRow:
    generator = row["model"]
    name = f"{generator}/{picture['image_id']}"
    return ReleaseRow(
        row_id=name,
        cells={
            "id": name,
            "image": picture["sha256"],
            **{column: picture[column] for column in ("sha256", "image_id", "dataset")},
            "references": picture["references"],
            "generator": generator,
            "caption": row["caption"],
            "prompt_version": row["prompt_version"],
            "evaluators": [score.evaluator for score in scores],
            "settings": [score.setting for score in scores],
            "scores": [score.score for score in scores],
            "proof": "construction",
        },
        base_image=_find_base_image(picture, sources),
        proof="construction",
        parts=_list_parts(inputs, picture, sources, generator),
        is_stand_in=row["is_stand_in"] or picture["is_stand_in"],
    )


def _find_base_image(row: Mapping[str, Any], sources: Mapping[str, BenchmarkPicture]) -> str:
    source = sources.get(row["sha256"])
    return source.scene if source else str(row["image_id"])


def _list_parts(
    inputs: ReleaseInputs,
    picture: Mapping[str, Any],
    sources: Mapping[str, BenchmarkPicture],
    generator: str,
) -> tuple[str, ...]:
    source = sources.get(picture["sha256"])
    made_by = source.parts if source else (picture["dataset"],)
    names = [find_part(inputs, name) for name in (*made_by, generator)]
    return tuple(dict.fromkeys([OWN, *names]))


def _read_rated(inputs: ReleaseInputs, split: str) -> Iterator[ReleaseRow]:
    for dataset in list_stored(inputs, _RATED_KEY):
        for row in read_partition(inputs, _RATED_KEY, dataset, RATED_CAPTION_COLUMNS):
            if find_split(row["image_id"]) == split:
                cells = {name: row.get(name) for name in _RATED_COLUMNS.columns}
                cells |= {"id": row["candidate"], "image": row["sha256"], "proof": "people"}
                yield ReleaseRow(row["candidate"], cells, row["image_id"], "people", (dataset,))


_FROM_PICTURES = ("image", "sha256", "image_id", "dataset", "references")

RELEASE_TABLES = (
    ReleaseTable(
        config="captions",
        description="What each model says that a picture shows, with the scores that judges gave.",
        columns=_CAPTION_COLUMNS,
        sources={
            **dict.fromkeys(_CAPTION_COLUMNS.columns, _MATRIX_KEY),
            **dict.fromkeys(_FROM_PICTURES, _PICTURES_KEY),
        },
        splits=SPLITS,
        read_rows=_read_captions,
    ),
    ReleaseTable(
        config="rated_captions",
        description="Captions of collections that people have scored.",
        columns=_RATED_COLUMNS,
        sources=dict.fromkeys(_RATED_COLUMNS.columns, _RATED_KEY),
        splits=SPLITS,
        read_rows=_read_rated,
    ),
)
