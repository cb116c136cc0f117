"""The letter A beside another choice, and the article that it may be instead."""

import pytest

from metrics import ParsedAnswer, read_choice


def build_choices(*options):
    """The phrases of lettered options."""
    letters = zip("ABCD", options, strict=False)
    return {
        letter: [letter, f"{letter}.", f"{letter}. {option}", option] for letter, option in letters
    }


DEGREES = build_choices("Hot", "Warm", "Cold", "Room temperature")
CUTLERY = build_choices("A fork", "A knife", "A plate", "A spoon")
COUNTS = build_choices("5", "6", "7 feet", "8-legged dog")


@pytest.mark.parametrize(
    "reply",
    [
        *("{A/B}", "{A, B}", "{A B}", "{A|D}", "{A; C}", "{A & C}", "{a, c}", "{A (C)}", "{A+B}"),
        *("{A, Warm}", "{A - Warm}", "{A (Warm)}", "{A-Warm}", "{A: Warm}", "{A\nWarm}", "{A\nB}"),
        *("{_A_, B}", "{**A**, B}", "{the A, B}", "{Option A, B}", "{Option A/Option B}"),
        *("{The answer is A, Warm}", '{"answer": "A, B"}', "{Final answer: A, B}", "{A B C}"),
        *("{Warm (A)}", "{Warm, A}", "{Warm - A}", "{Warm A}", "{B - Hot}", "{Hot (B)}"),
        *("{A is wrong}", "{not A, Warm}", "{A or B}", "{A and B}", "{A vs. B}", "{The answer}"),
    ],
)
def test_a_letter_beside_another_choice_is_no_answer(reply):
    assert read_choice(reply, DEGREES) == ParsedAnswer(None, "unparsed")


@pytest.mark.parametrize("reply", ["{A 6}", "{A 7 feet}", "{A, 6}"])
def test_no_number_has_an_article(reply):
    assert read_choice(reply, COUNTS) == ParsedAnswer(None, "unparsed")


@pytest.mark.parametrize(
    ("reply", "choices", "letter"),
    [
        *((reply, DEGREES, "A") for reply in ("{A}", "{A, Hot}", "{a}", "{A.}", "{(A)}", "{_A_}")),
        *((reply, DEGREES, "A") for reply in ("{Hot (A)}", "{**A** - Hot}", "{A – Hot, A}")),
        *((reply, DEGREES, "B") for reply in ("{Warm (B)}", "{B option}", "{B is the answer}")),
        *((reply, DEGREES, "D") for reply in ("{a room temperature}", "{D, the room temperature}")),
        *((reply, CUTLERY, "A") for reply in ("{A fork}", "{A, a fork}", "{a 'fork'}", "{fork}")),
        *((reply, CUTLERY, "D") for reply in ("{D – A spoon}", "{the spoon}", "{A spoon (D)}")),
        *((reply, COUNTS, "A") for reply in ("{A 5}", "{A: 5}", "{5}")),
        *((reply, COUNTS, "D") for reply in ("{an 8-legged dog}", "{a 8-legged dog}")),
        *((f"{{The {word} answer is B}}", DEGREES, "B") for word in ("correct", "final")),
        *((reply, DEGREES, "A") for reply in ("{Final answer: A}", '{"final_answer": "A"}')),
    ],
)
def test_a_letter_and_an_article_differ(reply, choices, letter):
    assert read_choice(reply, choices) == ParsedAnswer(letter, "answered")


@pytest.mark.parametrize(
    ("reply", "side"),
    [
        *(
            ("{White}", "White"),
            ("{a White win}", None),
            ("{A draw}", None),
            ("{the white}", "White"),
        ),
        *(("{The correct answer is Black}", "Black"), ("{White, Black}", None)),
    ],
)
def test_choices_without_letters_are_read_likewise(reply, side):
    assert read_choice(reply, {"White": ["White"], "Black": ["Black"]}).answer == side
