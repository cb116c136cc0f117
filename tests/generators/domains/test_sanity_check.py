"""The sanity check of originals (VLMBias, Section 4.1 and Appendix N): words, truths and names."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.domains import load_domains
from metrics.reply_parsing.bracketed_answers import ParsedAnswer, read_name
from metrics.reply_parsing.written_names import normalize_name
from tests.generators.domains.samples import scenes_of

NUMBER = "Answer with a number in curly brackets, e.g., {9}."
ASKED = {
    "chess_pieces/chess": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Chess"),
        ("N2", f"How many chess pieces are there on this board? {NUMBER}", "32"),
    ],
    "chess_pieces/xiangqi": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Xiangqi"),
        ("N2", f"How many xiangqi pieces are there on this board? {NUMBER}", "32"),
    ],
    "game_boards/chess": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Chess"),
        ("N2", f"How many rows are there on this board? {NUMBER}", "8"),
    ],
    "game_boards/xiangqi": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Xiangqi"),
        ("N2", f"How many horizontal lines are there on this board? {NUMBER}", "10"),
    ],
    "game_boards/sudoku": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Sudoku"),
        ("N2", f"How many rows are there on this puzzle? {NUMBER}", "9"),
    ],
    "game_boards/go": [
        ("N1", "What board game is this? Answer in curly brackets, e.g., {Shogi}.", "Go"),
        ("N2", f"How many horizontal lines are there on this board? {NUMBER}", "19"),
    ],
    "flags/united-states": [
        (
            "N1",
            "What country flag is this? Answer in curly brackets, e.g., {Flag of Vietnam}.",
            "Flag of the United States",
        ),
        ("N2", f"How many stars are there in this flag? {NUMBER}", "50"),
        ("N2", f"How many stripes are there in this flag? {NUMBER}", "13"),
    ],
    "flags/thailand": [
        (
            "N1",
            "What country flag is this? Answer in curly brackets, e.g., {Flag of Vietnam}.",
            "Flag of Thailand",
        ),
        ("N2", f"How many stripes are there in this flag? {NUMBER}", "5"),
    ],
    "optical_illusions/zollner-strength-50": [
        (
            "N1",
            "What optical illusion is this? Answer in curly brackets, e.g., {Delboeuf illusion}.",
            "Zöllner illusion",
        ),
    ],
    "patterned_grids/dice-6x6": [],
}
SCENES = {scene.base_id: scene for domain in load_domains().values() for scene in scenes_of(domain)}
ORIGINALS = [scene for scene in SCENES.values() if scene.variant == "original"]


def sanity_check(scene):
    questions = load_domains()[scene.domain].ask_module.write_questions(scene)
    return [question for question in questions if question.question_id in ("N1", "N2")]


ACCEPTED = {
    question.ground_truth: question.accepted
    for scene in ORIGINALS
    for question in sanity_check(scene)
    if question.question_id == "N1"
}


@pytest.mark.parametrize("base_id", ASKED)
def test_words_and_truths_are_the_papers(base_id):
    asked = sanity_check(SCENES[base_id])
    assert [(q.question_id, q.text, q.ground_truth) for q in asked] == ASKED[base_id]
    assert all(q.expected_bias == q.ground_truth for q in asked)


def test_every_original_but_the_grids_is_asked_its_name_and_its_usual_count():
    for scene in ORIGINALS:
        asked = sanity_check(scene)
        counts = [q for q in asked if q.question_id == "N2"]
        assert len(asked) - len(counts) == (scene.domain != "patterned_grids")
        first = [
            (q.target, q.subtopic, q.ground_truth)
            for q in load_domains()[scene.domain].ask_module.write_questions(scene)
            if q.question_id == "Q1"
        ]
        assert {(q.target, q.subtopic, q.ground_truth) for q in counts} <= set(first)
        assert {q.target for q in asked} <= scene.truths.keys()
    asked = Counter(
        (scene.domain, question.question_id)
        for scene in ORIGINALS
        for question in sanity_check(scene)
    )
    assert asked == {
        ("chess_pieces", "N1"): 2,
        ("chess_pieces", "N2"): 2,
        ("flags", "N1"): 19,
        ("flags", "N2"): 20,
        ("game_boards", "N1"): 4,
        ("game_boards", "N2"): 4,
        ("optical_illusions", "N1"): 66,
    }


def test_a_subject_has_the_same_names_wherever_it_is_asked():
    for scene in ORIGINALS:
        for question in sanity_check(scene):
            if question.question_id == "N1":
                assert question.accepted == ACCEPTED[question.ground_truth]
    assert len(ACCEPTED) == 19 + 4 + 6


def test_no_name_of_one_subject_is_that_of_another_nor_said_twice():
    named = Counter(normalize_name(name) for names in ACCEPTED.values() for name in names)
    assert named.most_common(1)[0][1] == 1
    assert "" not in named


def test_the_papers_examples_name_no_subject():
    for example in ("Flag of Vietnam", "Shogi", "Delboeuf illusion"):
        for names in ACCEPTED.values():
            assert read_name(f"{{{example}}}", names) == ParsedAnswer(
                normalize_name(example), "answered"
            )


SUBJECTS = st.sampled_from(sorted(ACCEPTED))
AS_WRITTEN = st.sampled_from(["{}", "the {}", "Flag of {}", "{} flag", "{} illusion", "{} board"])
CASE = st.sampled_from([str, str.lower, str.upper, str.title])


@given(SUBJECTS, SUBJECTS, st.data())
def test_a_name_is_right_for_its_own_subject_alone(subject, other, data):
    name = data.draw(st.sampled_from(ACCEPTED[subject]))
    reply = f"{{{data.draw(CASE)(data.draw(AS_WRITTEN).format(name))}}}"
    assert read_name(reply, ACCEPTED[subject]) == ParsedAnswer(subject, "answered")
    if other != subject:
        assert read_name(reply, ACCEPTED[other]) == ParsedAnswer(normalize_name(name), "answered")


@given(SUBJECTS, SUBJECTS, st.data())
def test_two_subjects_in_one_reply_are_never_right(subject, other, data):
    first, second = (data.draw(st.sampled_from(ACCEPTED[each])) for each in (subject, other))
    between = data.draw(
        st.sampled_from([" or ", "/", ", ", " and ", " (", "} or {", "}, {", "} {"])
    )
    parsed = read_name(f"{{{first}{between}{second}}}", ACCEPTED[subject])
    assert other == subject or parsed.answer != subject


GIVEN = {
    "Flag of the United States": (
        *("{United States}", "{United States of America}", "{U.S.A.}", "{The American flag}"),
        *("{Flag of the U.S.}", "{Flag of the United States of America (USA)}"),
    ),
    "Flag of the European Union": (
        *("{European Union}", "{Flag of Europe}", "{EU flag}", "{European flag}", "{The EU}"),
        *("{European Union (EU)}", "{Flag of the Council of Europe}"),
    ),
    "Flag of China": ("{People’s Republic of China}", "{Chinese flag}", "{P.R. China}", "{PRC}"),
    "Flag of Australia": ("{the flag of Australia}", "{Commonwealth of Australia}"),
    "Flag of New Zealand": ("{New Zealand}", "{Aotearoa (New Zealand)}", "{New Zealand's flag}"),
    "Flag of Venezuela": (
        *("{Venezuela (Bolivarian Republic of)}", "{Bolivarian Republic of Venezuela}"),
        "{Venezuelan Flag}",
    ),
    "Flag of Honduras": ("{Republic of Honduras}", "{Honduran flag}"),
    "Flag of Cape Verde": (
        *("{Cabo Verde}", "{Flag of Cape Verde (Cabo Verde)}", "{Republic of Cabo Verde}"),
        "{Flag of Cabo Verde / Cape Verde}",
    ),
    "Flag of Micronesia": (
        *("{Federated States of Micronesia}", "{Flag of the Federated States of Micronesia}"),
        *("{Micronesia, Federated States of}", "{Federated States of Micronesia (FSM)}"),
    ),
    "Flag of the Solomon Islands": ("{Solomon Islands}", "{Flag of Solomon Islands}"),
    "Flag of Samoa": ("{Independent State of Samoa}", "{Western Samoa}", "{Samoan flag}"),
    "Flag of Greece": ("{Hellenic Republic}", "{Greece (Hellenic Republic)}", "{Greek flag}"),
    "Flag of Uruguay": ("{Oriental Republic of Uruguay}", "{Uruguayan flag}"),
    "Flag of Thailand": ("{Kingdom of Thailand}", "{Thai flag}"),
    "Chess": ("{chess}", "{Chess board}", "{Chessboard}", "{International Chess}"),
    "Xiangqi": ("{Chinese Chess}", "{Xiangqi (Chinese Chess)}", "{中国象棋}", "{Xiàngqí}"),
    "Sudoku": ("{sudoku}", "{Sudoku puzzle}", "{9x9 Sudoku}"),
    "Go": ("{GO}", "{Weiqi}", "{Baduk}", "{Go (Weiqi/Baduk)}", "{Wéiqí}", "{The game of Go}"),
    "Ebbinghaus illusion": (
        *("{Ebbinghaus}", "{Titchener circles}", "{Ebbinghaus illusion (Titchener circles)}"),
        "{Ebbinghaus–Titchener illusion}",
    ),
    "Müller-Lyer illusion": ("{Muller-Lyer}", "{Mueller-Lyer Illusion}", "{MÜLLER-LYER}"),
    "Ponzo illusion": ("{ponzo}", "{The Ponzo illusion}"),
    "Vertical–Horizontal illusion": (
        *("{Vertical-Horizontal illusion}", "{horizontal-vertical}", "{Bisection illusion}"),
        "{Vertical–horizontal (bisection) illusion}",
    ),
    "Zöllner illusion": ("{Zollner}", "{Zoellner illusion}", "{ZÖLLNER}"),
    "Poggendorff illusion": ("{Poggendorff}", "{poggendorff Illusion}"),
}
NOT_GIVEN = {
    "Flag of the United States": ("{American Samoa}", "{Liberia}", "{UK}", "{Puerto Rico, USA}"),
    "Flag of China": ("{Republic of China}", "{Taiwan}", "{China (Taiwan)}", "{Hong Kong, China}"),
    "Flag of Australia": ("{Austria}", "{New Zealand}", "{Australian Capital Territory}"),
    "Flag of New Zealand": ("{Zealand}", "{Cook Islands (New Zealand)}"),
    "Flag of Samoa": ("{American Samoa}", "{Samoa (American)}", "{Somoa}"),
    "Flag of the Solomon Islands": ("{Marshall Islands}", "{Islands}"),
    "Flag of Micronesia": ("{Federated States}", "{Flag of the States}", "{Melanesia}"),
    "Flag of Thailand": ("{Thailand or Costa Rica}", "{Costa Rica}"),
    "Chess": ("{Xiangqi}", "{Chinese chess}", "{Japanese chess}", "{Checkers}", "{Draughts}"),
    "Xiangqi": ("{Chess}", "{Janggi}", "{Shogi}", "{Chinese checkers}", "{Chinese}"),
    "Go": ("{Gomoku}", "{Othello}", "{Pente}", "{Go or Gomoku}"),
    "Sudoku": ("{Kakuro}", "{Crossword puzzle}"),
    "Ebbinghaus illusion": ("{Delboeuf illusion}", "{Ebbinghaus or Delboeuf}"),
    "Müller-Lyer illusion": ("{Ponzo illusion}", "{Lyer}", "{Müller}"),
    "Vertical–Horizontal illusion": ("{Vertical illusion}", "{Müller-Lyer illusion}"),
    "Zöllner illusion": ("{Hering illusion}", "{Poggendorff illusion}"),
}


@pytest.mark.parametrize(
    ("reply", "subject"), [(r, subject) for subject, replies in GIVEN.items() for r in replies]
)
def test_a_name_as_models_write_it_is_right(reply, subject):
    assert read_name(reply, ACCEPTED[subject]) == ParsedAnswer(subject, "answered")


@pytest.mark.parametrize(
    ("reply", "subject"), [(r, subject) for subject, replies in NOT_GIVEN.items() for r in replies]
)
def test_what_is_close_to_a_name_is_not_right(reply, subject):
    assert read_name(reply, ACCEPTED[subject]).answer != subject
