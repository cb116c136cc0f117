"""The answers of one judge about pictures drawn anew, asked as it is about those of the set."""

from dataclasses import replace

from assets.kit.step import StepAsset
from assets.kit.step_run import Input
from assets.vlmbias.answers import CountingAnswers
from assets.vlmbias.common import asset_key, rerolled_topics
from assets.vlmbias.rerolled_questions import REROLLED_QUESTIONS
from resources.models.catalog import Catalog, Model


class RerolledAnswers(CountingAnswers):
    """A judge's answers about pictures that nobody has published; a limit is on questions."""

    asset = StepAsset(
        key=asset_key("rerolled_answers"),
        description="Answers of {name} about pictures drawn anew with another seed.",
        is_automatic=False,
    )

    def __init__(self, catalog: Catalog, judge: Model) -> None:
        super().__init__(catalog, judge)
        questions = Input(asset_key("rerolled_questions"), row_columns=REROLLED_QUESTIONS)
        self.inputs = {"questions": questions}
        # Not of the kind "judge": who selects all judges' answers asks about the set.
        kinds = (judge.backend,)
        self.asset = replace(self.asset, partitions_def=rerolled_topics, kinds=kinds)
