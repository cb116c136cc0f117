"""The table that a release has: positions with a question by either rule."""

from collections.abc import Iterator

from assets.game_rules.common import GROUP, asset_key
from assets.game_rules.pictures import QUESTIONS
from assets.kit.picture_questions import build_release_table
from assets.kit.release_cards import ReleaseCard
from assets.kit.release_rows import list_stored, read_partition
from assets.kit.release_tables import ReleaseInputs
from assets.kit.step_run import Row

_KEY = asset_key("questions")


def _list_questions(inputs: ReleaseInputs) -> Iterator[Row]:
    for game in list_stored(inputs, _KEY):
        yield from read_partition(inputs, _KEY, game, QUESTIONS)


RELEASE_TABLES = (
    build_release_table(
        GROUP,
        description="Positions of board games, each with questions by the usual and inverse rule.",
        asset=_KEY,
        questions=QUESTIONS,
        id_columns=("base_id", "goal", "rule"),
        scene_column="base_id",
        list_questions=_list_questions,
    ),
)
CARD = ReleaseCard(
    summary=(
        "Ends of board games, drawn by code. Each is asked about by the usual rule and by its "
        "inverse, which stands in the question: a judge that answers by the usual rule both times "
        "knows the game and does not read the rule."
    ),
    citation="""\
@misc{vlmfix,
  title = {Beyond Perception Errors: Semantic Fixation in Large Vision-Language Models},
  author = {Md Tanvirul Alam},
  eprint = {2604.12119},
  archivePrefix = {arXiv},
  year = {2026}
}""",
    seed_effect="Another seed changes all positions; rules and questions stay.",
    omissions=("The paper's four games, whose end states are another data set.",),
    task_categories=("visual-question-answering",),
    tags=("llm-as-a-judge", "counterfactual", "chess"),
    limitations=(
        "The moves are random: no player would have reached these positions.",
        "The rule about pieces asks for counting as well; the share by the usual rule bounds what "
        "a judge can count.",
    ),
    biases=("Two games alone; the pieces of chess are those of one drawn set.",),
    use_cases=("To ask whether a judge applies a rule that contradicts what it knows.",),
)
