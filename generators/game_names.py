"""Names of the board games, and the question for them: shared by pieces and boards."""

from collections.abc import Mapping

from generators.scene import Question, Scene

_NAMES: Mapping[str, tuple[str, ...]] = {
    "chess": ("Chess", "Chessboard", "International chess", "Western chess"),
    "xiangqi": (
        *("Xiangqi", "Xiang qi", "Chinese chess", "Elephant chess", "Cờ tướng"),
        *("象棋", "中国象棋", "中國象棋"),
    ),
    "sudoku": ("Sudoku", "Su doku", "Number place", "数独", "數獨"),
    "go": (
        *("Go", "Goban", "Igo", "I-go", "Weiqi", "Wei qi", "Wei chi", "Baduk", "Paduk"),
        *("围棋", "圍棋", "囲碁", "바둑"),
    ),
}
"""The names of a game by its subtopic, the usual one first. Shogi and janggi are others."""


def build_name_question(scene: Scene) -> Question:
    """N1 of an original: which game it shows (Appendix N).

    The words are the paper's for every game, be it a puzzle. An empty chessboard would do for
    draughts as well; what is right is the game that its other questions speak of.
    """
    names = _NAMES[scene.subtopic]
    return Question(
        question_id="N1",
        target=scene.target,
        subtopic=scene.subtopic,
        text="What board game is this? Answer in curly brackets, e.g., {Shogi}.",
        ground_truth=names[0],
        expected_bias=names[0],
        accepted=names,
    )
