"""Topics, subtopics and files as the published data set of VLMBias spells them."""

from unicodedata import normalize

from assets.kit.step_run import Row
from assets.vlmbias.yes_no import slugify
from generators.topics import format_caption, get_title

_TOPICS = {"optical_illusions": "Optical Illusion", "patterned_grids": "Patterned Grid"}
"""Topics that are spelled in the singular."""
_SUBTOPICS = {
    ("chess_pieces", "chess"): "Chess Pieces",
    ("chess_pieces", "xiangqi"): "Xiangqi Pieces",
    ("game_boards", "chess"): "Chess Grid",
    ("game_boards", "go"): "Go Grid",
    ("game_boards", "sudoku"): "Sudoku Grid",
    ("game_boards", "xiangqi"): "Xiangqi Grid",
    ("flags", "stars"): "Flags 2D Stars",
    ("flags", "stripes"): "Flags 2D Stripes",
    ("logos", "cars"): "Car Logos",
    ("logos", "shoes"): "Shoe Logos",
}
_ORIGINAL_SUBTOPICS = {"animals": "animal", "flags": "flags"}
"""Topics that the split `original` spells in another way."""


def format_topic(topic: str) -> str:
    """Spell a topic, as in "Game Boards"."""
    return _TOPICS.get(topic) or get_title(topic).title()


def find_subtopic(row: Row, *, is_original: bool = False) -> str:
    """Find the subtopic of a question, one of 19; of a user's own topic, its own."""
    topic, subject = row["topic"], row["subject"]
    if is_original and topic in _ORIGINAL_SUBTOPICS:
        return _ORIGINAL_SUBTOPICS[topic]
    match topic:
        case "animals":
            return "Animal Add Legs"
        case "optical_illusions":
            return format_caption(topic, subject).replace("–", "-")
        case "patterned_grids":
            grid, _, _ = subject.partition(" ")
            return f"{grid.title()} Pattern"
    subtopic: str = row["subtopic"]
    return _SUBTOPICS.get((topic, subtopic), subtopic)


def format_folder(subtopic: str) -> str:
    """Write a published subtopic as the folder of its pictures, as in "chess_pieces"."""
    plain = normalize("NFKD", subtopic).encode("ascii", "ignore").decode()
    return slugify(plain).replace("-", "_").lower()


def format_file_name(base_id: str) -> str:
    """Write the name of a scene as part of the name of a row or a file."""
    return base_id.replace("/", "_")
