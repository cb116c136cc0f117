"""Ratings in plain words that a judge would give, and those on a condition."""

import pytest

from metrics import read_plain_rating


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("I would give this a 9 out of 10.", 9),
        ("I would rate this response 9/10.", 9),
        ("The response should get 8/10.", 8),
        ("I'd give it 9 out of 10", 9),
        ("I would score it 7", 7),
        ("The dog is red. I would therefore give the response a score of 8/10.", 8),
        ("The score would be 8/10.", 8),
        ("The final rating for this response should be 6 out of 10.", 6),
        (r"\boxed{8}", 8),
        (r"The dog is red. $\boxed{8/10}$", 8),
        (r"$$\boxed{\text{8 out of 10}}$$", 8),
        (r"It is \boxed{8}/10, so \boxed{8}.", 8),
        (r"It lacks 2 dogs of 4: $\boxed{6}$", 6),
    ],
)
def test_a_score_that_a_judge_would_give_is_read(reply, score):
    assert read_plain_rating(reply, 1, 10) == (score, "scored", None)


@pytest.mark.parametrize(
    "reply",
    [
        "Normally this would be 10, but 7/10",
        "Normally I would give this a 10/10.",
        "I would give this a 9/10 if it were sharper.",
        "If it were sharper, I would give it 9 out of 10.",
        "If it named the dog, it would score 10.",
        "If it named the dog, I would rate it 10.",
        "Had it named the dog, I would give it 10/10.",
        "I would give it 10/10 were it not for the dog.",
        "I would give it 10/10, but the dog is blue.",
        "I would give it 10/10 with more detail.",
        "I would give it 10/10 without the blur.",
        "I would otherwise give it 10/10.",
        "I would ordinarily give this 10/10.",
        "I would give 10/10 to a response that names the dog.",
        "I would give it 10/10 with a red dog.",
        "I would have given it 10/10.",
        "I would not give this a 9/10.",
        "I would hardly give this a 9/10.",
        "I would rate it 7/10 at best.",
        "A perfect response would get 10/10.",
        "A perfect response would score 10.",
        "The response would get 10/10 for a blue dog.",
        "I would give this about 9/10.",
        "I would give this an 8/10 or 9/10.",
        "I would give this a 9 out of 5.",
        r"\boxed{}",
        r"\boxed{8 or 9}",
        r"\boxed{4}/5",
        r"\boxed{85}",
        r"\boxed{8} or \boxed{9}",
        r"\boxed{8}, {9}",
        r"\boxed{\frac{9}{10}}",
    ],
)
def test_a_score_on_a_condition_and_an_open_one_are_none(reply):
    assert read_plain_rating(reply, 1, 10).score is None
