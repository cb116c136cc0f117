"""The table that a release has: figures and controls, each with both questions."""

from collections.abc import Iterable

from assets.illusions.answers import QUESTIONS, list_questions
from assets.illusions.common import GROUP, asset_key
from assets.illusions.pictures import PICTURES
from assets.kit.picture_questions import build_release_table
from assets.kit.release_cards import ReleaseCard
from assets.kit.release_tables import ReleaseInputs
from assets.kit.step_run import Row

_KEY = asset_key("pictures")


def _list_questions(inputs: ReleaseInputs) -> Iterable[Row]:
    if not inputs.home.holds(_KEY):
        return ()
    return list_questions(PICTURES.iterate_rows(inputs.home.open_table(_KEY)))


RELEASE_TABLES = (
    build_release_table(
        GROUP,
        description="Illusions and their controls, each with two opposite questions.",
        asset=_KEY,
        questions=QUESTIONS,
        id_columns=("image_id", "polarity"),
        scene_column="pair_id",
        list_questions=_list_questions,
    ),
)
CARD = ReleaseCard(
    summary=(
        "Six optical illusions, drawn by code with parts that are equal or differ, beside the same "
        "parts without what misleads. Two opposite questions are asked about every picture: a "
        "judge that knows the illusion answers both, and is wrong where the parts differ."
    ),
    citation="""\
@inproceedings{sun2026vlms,
  title = {Do VLMs Perceive or Recall? Probing Visual Perception vs. Memory with Classic Visual
           Illusions},
  author = {Xiaoxiao Sun and Mingyang Li and Kun Yuan and Min Woo Sun and Mark Endo and
            Shengguang Wu and Changlin Li and Yuhui Zhang and Zeyu Wang and Serena Yeung-Levy},
  booktitle = {CVPR},
  eprint = {2601.22150},
  archivePrefix = {arXiv},
  year = {2026}
}""",
    seed_effect="Another seed changes nothing.",
    omissions=("The paper's 27 illusions, which are another data set.",),
    task_categories=("visual-question-answering",),
    tags=("llm-as-a-judge", "counterfactual", "optical-illusions"),
    limitations=(
        "Of some illusions one control shows equal parts, since strengths differ in the inducer "
        "alone.",
        "The vertical-horizontal figure has no inducer of its own: its control stands apart.",
    ),
    biases=("Black ink on white, without any scene.",),
    use_cases=("To ask whether a judge sees what an illusion compares.",),
)
