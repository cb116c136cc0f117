"""A judge's stored answers under the baseline prompting, for other harnesses' scores."""

import pandas as pd

from assets.kit.table_asset import NotMaterialized
from assets.vlmbias.common import GROUP, answers_key
from generators.name_suggestions import suggest_names
from generators.topics import DRAWN, PHOTOGRAPHED
from metrics import BASELINE
from metrics.vlmbias.harness_scores import SCORED_QUESTIONS
from resources.storage.data_root import DataRoot
from resources.storage.files import list_folder

_COLUMNS = [
    *("image_id", "domain", "image_set", "question_id", "ground_truth", "expected_bias"),
    *("prompting", "response", "answer", "outcome"),
]


def load_judge_answers(home: DataRoot, judge: str) -> pd.DataFrame:
    """Load a judge's answers to the questions that harnesses score, about the benchmark's pictures.

    Topics without any such answer are left out, as those that an imported log lacks. Raises
    `NotMaterialized` for a judge without answers, with those that have some.
    """
    key = answers_key(judge)
    tables = {topic: home.find(key, topic, _COLUMNS) for topic in (*DRAWN, *PHOTOGRAPHED)}
    answers = [table for table in tables.values() if table is not None]
    if not answers:
        prefix = answers_key("").path[-1]
        names = [
            folder.name.removeprefix(prefix)
            for folder in list_folder(home.path(GROUP))
            if folder.name.startswith(prefix)
        ]
        raise NotMaterialized(
            f"{judge}: not among the judges with answers to VLMBias{suggest_names(judge, names)}. "
            f"To add it, materialize vlmbias/answers_{judge} or import a finished run's log."
        )
    rows = pd.concat(answers, ignore_index=True)
    is_scored = rows["question_id"].isin(SCORED_QUESTIONS) & (rows["image_set"] == "benchmark")
    scored = rows[is_scored & (rows["prompting"] == BASELINE)]
    answered_topics = scored.loc[scored["outcome"] != "failed", "domain"].unique()
    return scored[scored["domain"].isin(answered_topics)]
