"""Letters of options that hold commas, and letters after words about the answer."""

import pytest

from assets.cdh_bench.answers import read_letter

SIZES = ["Both are small", "Both are big", "Cat is building-sized, bed is tiny", "No cat"]
FOODS = ["No", "Yes", "Yes, edible", "Yes, a toy"]
COUNTS = ["5 fingers", "6 fingers", "7 fingers"]


@pytest.mark.parametrize(
    ("reply", "options", "letter"),
    [
        ("{C - Cat is building-sized, bed is tiny}", SIZES, "C"),
        ("{C, Cat is building-sized, bed is tiny}", SIZES, "C"),
        ("{Cat is building-sized, bed is tiny (C)}", SIZES, "C"),
        ("{Cat is building-sized, bed is tiny}", SIZES, "C"),
        ("{A - Cat is building-sized, bed is tiny}", SIZES, None),
        ("{Cat is building-sized, bed is tiny (A)}", SIZES, None),
        ("{Cat is building-sized, bed is tiny (D)}", SIZES, None),
        ("{C (Yes, edible)}", FOODS, "C"),
        ("{Yes, edible (C)}", FOODS, "C"),
        ("{D: Yes, a toy}", FOODS, "D"),
        ("{B (Yes, edible)}", FOODS, None),
        ("{C (Yes)}", FOODS, None),
        ('{"answer": "B. 6 fingers"}', COUNTS, "B"),
        ('{"answer": "B"}', COUNTS, "B"),
        ("{The answer is B}", COUNTS, "B"),
        ("{The correct answer is B}", COUNTS, "B"),
        ("{Final answer: B}", COUNTS, "B"),
        ("{My final answer is B. 6 fingers}", COUNTS, "B"),
        ("{The correct answer is B. 5 fingers}", COUNTS, None),
        ("{The correct answer is not B}", COUNTS, None),
        ("{Incorrect answer: B}", COUNTS, None),
    ],
)
def test_a_letter_counts_with_its_own_option_alone(reply, options, letter):
    assert read_letter(reply, options).answer == letter
