"""VLMEvalKit's own run, with the released TSV files as data sets.

COUNTERFACTORY_RELEASE=vlmbias-release python integrations/vlmevalkit/run.py \
    --data counterfactory_vlms_are_biased_main --model GPT4o --reuse
"""

import os
import sys
from pathlib import Path
from typing import Any

from vlmeval import dataset
from vlmeval.dataset.image_base import ImageBaseDataset
from vlmeval.smp import load

sys.path.append(str(Path(__file__).parents[1]))
from counterfactory_scorer import mean_of_answered, score_reply

os.environ.setdefault("PRED_FORMAT", "tsv")
_FOLDER = Path(os.environ.get("COUNTERFACTORY_RELEASE", "vlmbias-release"), "vlmevalkit")
_FILES = {f"counterfactory_{file.stem}": str(file) for file in sorted(_FOLDER.glob("*.tsv"))}


class CounterfactoryVLMBias(ImageBaseDataset):
    """Each TSV of a release, under its name with `counterfactory_` before it."""

    TYPE = "VQA"
    DATASET_URL = _FILES

    def load_data(self, dataset: str) -> Any:
        """Load the table of a split."""
        return load(_FILES[dataset])

    @classmethod
    def evaluate(cls, eval_file: str, **judge_kwargs: Any) -> dict[str, float]:
        """Score the replies in a result file, as Counterfactory does."""
        rows = load(eval_file).fillna("").astype(str).to_dict("records")
        scores = [
            score_reply(row["prediction"], row["answer"], row["expected_bias"] or None)
            for row in rows
        ]
        return {
            name: mean_of_answered([score[name] for score in scores])
            for name in ("accuracy", "bias")
        }


dataset.DATASET_CLASSES.append(CounterfactoryVLMBias)

if __name__ == "__main__":
    from vlmeval.run import main

    main()
