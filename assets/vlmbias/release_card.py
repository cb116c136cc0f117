"""Sentences of VLMBias's data card."""

from assets.kit.release_cards import ReleaseCard

_EXAMPLE = (
    "The prompts give the paper's example `{9}`, which is the familiar answer for sudoku, Greece "
    "and Uruguay."
)
_FLAG_LIMITS = (
    "Three changed flags were once in force (49 stars of the United States, 7 of Venezuela, 4 of "
    "Samoa): the answer of Q3 about them is No, as in the paper, and `disputable` marks them in "
    "`questions`.",
    "Proportions of eight flags and most shades were fitted to drawings; counts were not.",
)
_FLAG_BIASES = (
    "Flags are of a few countries.",
    "A drawn flag is flat and whole; photographs of flags are not.",
)
_BOARD_BIAS = "Board games are of a few countries."
_STATES, _FIRMS = "Flags are of states, none of a person.", "Logos are of firms, none of a person."
_FLAG_IMPACT = "Changed flags are wrong on purpose, and no statement about any country."
_LOGO_IMPACT = "Changed logos are wrong on purpose, and no statement about any firm."

CARD = ReleaseCard(
    summary=(
        "Pictures of well-known things with one change, such as a flag with a stripe too many, and "
        "questions whose familiar answer is wrong for them. Flags, chess and other boards, "
        "illusions and patterns are drawn by code, and other code reads each label back from the "
        "pixels; animals and logos, where they are in it, are painted by models and accepted by a "
        "person."
    ),
    citation="""\
@misc{vo2025vision,
  title = {Vision Language Models are Biased},
  author = {An Vo and Khai-Nguyen Nguyen and Mohammad Reza Taesiri and Vy Tuong Dang and
            Anh Totti Nguyen and Daeyoung Kim},
  year = {2025},
  eprint = {2505.23941},
  archivePrefix = {arXiv}
}""",
    tags=("counting", "counterfactual", "bias"),
    seed_effect=(
        "A seed chooses the squares of chess and xiangqi boards and the pieces put there, and the "
        "odd cells of patterned grids: most of these pictures are new with another one. Flags, "
        "game boards and illusions have all variants of the paper, and are the same with every "
        "seed: there, only other `sizes` in `seed.yaml` give other pixels, of the same scenes. "
        "`counterfactory reroll vlmbias --seed N` has judges answer about new squares and cells, "
        "and tells whether they do worse there, as one would that has seen these pictures."
    ),
    omissions=(
        "The published pictures: all here are new ones of the same kinds.",
        "Animals and logos in `remove_background_q1q2` and `remove_background_q3` of which no "
        "person has accepted a picture without its background.",
        "Topics that were not made, as those painted by models where no painter was set up.",
    ),
    limitations=(
        _EXAMPLE,
        *_FLAG_LIMITS,
        "Three sizes of a picture are not independent: take intervals over base images.",
        "How the published pictures lost their background is not known: in the splits "
        "`remove_background_q1q2` and `remove_background_q3`, code draws what is counted alone, "
        "and reads it back. Illusions have their two compared parts there, and some scenes share "
        "a picture. Of photographs an editor has removed all but the animal, the car or the shoes, "
        "which it may have drawn anew; a person has accepted the picture and its count.",
        "Of some originals Q1 and the sanity check's count are one question, in two rows.",
        "Harnesses print other numbers for the same replies: some join all digits of a reply, or "
        "stop it at 32 tokens.",
    ),
    biases=("Questions are in English.", *_FLAG_BIASES, _BOARD_BIAS),
    personal_information=(_STATES, _FIRMS),
    social_impact=(_FLAG_IMPACT, _LOGO_IMPACT),
    parts={
        _EXAMPLE: ("flags", "game_boards"),
        **dict.fromkeys((*_FLAG_LIMITS, *_FLAG_BIASES, _STATES, _FLAG_IMPACT), ("flags",)),
        _BOARD_BIAS: ("game_boards", "chess_pieces"),
        **dict.fromkeys((_FIRMS, _LOGO_IMPACT), ("logos",)),
    },
)
