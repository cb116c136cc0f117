"""VLMBias on leaderboards of others: accuracy on the counting questions, the mean over topics."""

from collections.abc import Iterator

from assets.kit.columns import to_plain_records
from assets.kit.leaderboards import Leaderboard, ScoredSample
from assets.vlmbias.common import answers_key, topics
from assets.vlmbias.pages.figures import LEADING
from assets.vlmbias.pages.report import MEASURES
from assets.vlmbias.release_published import PUBLISHED_LAYOUT, format_row_name
from metrics import BASELINE, QUESTION_GROUPS
from resources.models.catalog import Model
from resources.storage.data_root import DataRoot

_SPLIT = "main"
_METADATA = ("subtopic", "question_id", "expected_bias", "outcome", "entry_version")
_COLUMNS = [
    *("base_id", "size", "target", "image_set", "prompting", "score", "shown_sha256"),
    *("prompt", "ground_truth", "response", "answer", *_METADATA),
]


def _load_samples(home: DataRoot, judge: Model, scope: str) -> Iterator[ScoredSample]:
    for topic in topics.get_partition_keys():
        answers = home.find(answers_key(judge.name), topic, _COLUMNS)
        if answers is None:
            continue
        is_counted = answers["prompting"].eq(BASELINE) & answers["score"].notna()
        is_counted &= answers["image_set"].eq(LEADING.image_set)
        is_counted &= answers["question_id"].map(QUESTION_GROUPS).eq(LEADING.questions)
        for row in to_plain_records(answers[is_counted]):
            yield ScoredSample(
                sample_id=format_row_name(row, _SPLIT),
                partition=topic,
                picture_sha256=row["shown_sha256"],
                prompts=(row["prompt"],),
                references=(row["ground_truth"],),
                replies=(row["response"] or "",),
                answers=(row["answer"],),
                score=row["score"],
                metadata={name: row[name] for name in _METADATA},
            )


LEADERBOARD = Leaderboard(
    measure=MEASURES["accuracy"].name,
    config=PUBLISHED_LAYOUT.config,
    split=_SPLIT,
    list_tasks=lambda partitions: {"counterfactual_accuracy": ""},
    load_samples=_load_samples,
)
