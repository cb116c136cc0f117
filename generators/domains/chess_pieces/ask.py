"""The questions about a position (VLMBias, Appendices A, F and N)."""

from dataclasses import replace
from typing import Literal

from generators.domains.chess_pieces._games import GAMES, Game
from generators.game_names import build_name_question
from generators.reading import Inquiry, build_count_inquiry, build_yes_no_inquiry
from generators.scene import Question, Scene

_COUNT_IDS: tuple[Literal["Q1", "Q2"], ...] = ("Q1", "Q2")
_COUNT_FORMAT = "Answer with a number in curly brackets, e.g., {9}."
_YES_NO_FORMAT = "Answer in curly brackets, e.g., {Yes} or {No}."


def write_questions(scene: Scene) -> list[Question]:
    """Q1, Q2 and Q3 of a scene.

    A missing piece is asked for by the count of all pieces, a replaced one by the count of the
    type that took its place. A start position is asked for both, and for each type in turn, and
    has the sanity check's questions: N2 is worded as Q1, for which the paper's own example of it
    ("chess pieces") becomes "xiangqi pieces" with the board.
    """
    game = GAMES[scene.subtopic]
    if scene.variant == "counterfactual":
        return [
            *_build_count_questions(scene, game, scene.target),
            _build_identity_question(scene, game),
        ]
    counted = [game.total_target, *game.letters]
    questions = [
        question for target in counted for question in _build_count_questions(scene, game, target)
    ]
    usual_count = replace(questions[0], question_id="N2")
    return [
        *questions,
        _build_identity_question(scene, game),
        build_name_question(scene),
        usual_count,
    ]


def parse_question(prompt: str) -> Inquiry | None:
    """Find what to measure for a prompt with one of this domain's questions; None for any other."""
    return next((inquiry for text, inquiry in _INQUIRIES.items() if text in prompt), None)


def _build_count_questions(scene: Scene, game: Game, target: str) -> list[Question]:
    truth, standard = (str(round(values[target])) for values in (scene.truths, scene.standards))
    return [
        Question(
            question_id=question_id,
            target=target,
            subtopic=scene.subtopic,
            text=text,
            ground_truth=truth,
            expected_bias=standard,
        )
        for question_id, text in zip(_COUNT_IDS, _write_count_texts(game, target), strict=True)
    ]


def _build_identity_question(scene: Scene, game: Game) -> Question:
    return Question(
        question_id="Q3",
        target=game.total_target,
        subtopic=scene.subtopic,
        text=_write_identity_text(game),
        ground_truth="Yes" if scene.truths == scene.standards else "No",
        expected_bias="Yes",
    )


def _write_count_texts(game: Game, target: str) -> tuple[str, str]:
    pieces = target if target == game.total_target else f"{target} pieces"
    return (
        f"How many {pieces} are there on this board? {_COUNT_FORMAT}",
        f"Count the {pieces} on this board. {_COUNT_FORMAT}",
    )


def _write_identity_text(game: Game) -> str:
    return f"Is this the {game.spoken_name} starting position? {_YES_NO_FORMAT}"


def _build_inquiries(game: Game) -> dict[str, Inquiry]:
    at_start = game.count_pieces(game.parse_fen(game.start_fen))
    counting = {
        text: build_count_inquiry(target)
        for target in at_start
        for text in _write_count_texts(game, target)
    }
    types = {target: at_start[target] for target in game.letters}
    return counting | {_write_identity_text(game): build_yes_no_inquiry(types)}


_INQUIRIES = {
    text: inquiry for game in GAMES.values() for text, inquiry in _build_inquiries(game).items()
}
