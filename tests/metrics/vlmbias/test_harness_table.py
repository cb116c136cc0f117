"""What harnesses would print: by hand on a few answers, and a published gap that was never one."""

import pandas as pd
import pytest

from metrics.vlmbias.harness_table import OURS, PAPER, compare_harnesses

REPLIES = [
    # topic, right, familiar, reply, our answer, outcome
    ("flags", "14", "13", "{14}", "14", "answered"),
    ("flags", "14", "13", "13 stripes, one more: {14}", "14", "answered"),
    ("flags", "14", "13", "I count 13.", None, "unparsed"),
    ("flags", "14", "13", None, None, "failed"),
    ("animals", "5", "4", "{4}", "4", "answered"),
    ("animals", "5", "4", "I'm sorry, I can't help with that.", None, "refused"),
]


def build_answers(replies=REPLIES, question="Q1", image_set="benchmark"):
    rows = [
        {
            "image_id": f"{topic}/{number}",
            "domain": topic,
            "image_set": image_set,
            "question_id": question,
            "ground_truth": truth,
            "expected_bias": bias,
            "response": reply,
            "answer": answer,
            "outcome": outcome,
        }
        for number, (topic, truth, bias, reply, answer, outcome) in enumerate(replies)
    ]
    return pd.DataFrame(rows)


def test_each_row_is_what_one_counts_by_hand():
    numbers = compare_harnesses(build_answers()).numbers.set_index("harness")
    # lmms-eval: right 1 (flags 1 of 4); familiar "I count 13." and {4}.
    for harness in ("lmms-eval", "VLMEvalKit", "evalscope"):
        row = numbers.loc[harness]
        assert row["accuracy"] == pytest.approx(1 / 6)
        assert row["bias_rate"] == pytest.approx(2 / 6)
        assert row["topic_accuracy"] == pytest.approx((1 / 4 + 0) / 2)
        assert row["topic_bias_rate"] == pytest.approx((1 / 4 + 1 / 2) / 2)
        assert (row["answers"], row["different_answers"]) == (6, 4)
    inspect = numbers.loc["inspect_ai"]
    assert inspect["accuracy"] == pytest.approx(2 / 6)
    assert inspect["bias_rate"] == pytest.approx(1 / 6)
    assert (inspect["answers"], inspect["different_answers"]) == (6, 2)
    # The last number of "I count 13." is read as well.
    ending = numbers.loc["inspect_ai match"]
    assert (ending["accuracy"], ending["bias_rate"]) == (2 / 6, pytest.approx(2 / 6))
    assert (ending["answers"], ending["different_answers"]) == (6, 3)
    ours, paper = numbers.loc[OURS], numbers.loc[PAPER]
    assert (ours["accuracy"], ours["bias_rate"], ours["answers"]) == (2 / 4, 1 / 4, 4)
    assert ours["topic_accuracy"] == pytest.approx((2 / 3 + 0) / 2)
    assert ours["topic_bias_rate"] == pytest.approx((0 + 1) / 2)
    assert (paper["accuracy"], paper["answers"]) == (pytest.approx(2 / 6), 6)
    assert paper["topic_accuracy"] == pytest.approx((2 / 4 + 0) / 2)
    assert (ours["different_answers"], paper["different_answers"]) == (0, 0)


def test_differences_name_answer_reason_and_both_verdicts():
    differences = compare_harnesses(build_answers()).differences
    lmms = differences[differences["harness"] == "lmms-eval"]
    assert lmms[["image_id", "theirs", "ours"]].to_numpy().tolist() == [
        ["flags/1", "wrong", "right"],
        ["flags/2", "familiar", "unparsed"],
        ["flags/3", "wrong", "failed"],
        ["animals/5", "wrong", "refused"],
    ]
    assert lmms["reason"].tolist() == [
        "joins all digits of the reply, as written, into one number",
        "reads an answer without brackets, or in brackets that do not decide",
        "counts a missing answer as a wrong one",
        "counts a refusal as a wrong answer",
    ]
    assert lmms["response"].tolist()[2] == ""
    assert set(lmms["question_id"]) == {"Q1"}
    assert lmms["ground_truth"].tolist() == ["14", "14", "14", "5"]
    assert lmms["expected_bias"].tolist() == ["13", "13", "13", "4"]
    inspect = differences[differences["harness"] == "inspect_ai"]
    assert inspect["image_id"].tolist() == ["flags/3", "animals/5"]


def test_the_reason_is_that_of_the_harness():
    """`{14.0}` is another number by its digits, and another text by its letters."""
    replies = [("flags", "14", "13", "{14.0}", "14", "answered")]
    differences = compare_harnesses(build_answers(replies)).differences.set_index("harness")
    digits = "joins all digits of the reply, as written, into one number"
    assert differences["reason"].to_dict() == {
        "lmms-eval": digits,
        "VLMEvalKit": digits,
        "evalscope": digits,
        "inspect_ai": "compares the first brackets letter by letter, and finds none in some "
        "notations",
        "inspect_ai match": "compares the end, and misses an answer with words behind it or in "
        "another notation",
    }


def test_a_topic_without_a_score_of_ours_has_no_mean():
    numbers = compare_harnesses(build_answers(REPLIES[:1] + REPLIES[5:])).numbers
    ours = numbers.set_index("harness").loc[OURS]
    assert ours["accuracy"] == 1
    assert pd.isna(ours["topic_accuracy"])


def test_other_questions_and_pictures_are_left_out():
    others = [build_answers(question="Q3"), build_answers(image_set="originals")]
    together = pd.concat([build_answers(), build_answers(question="Q2"), *others])
    assert set(compare_harnesses(together).numbers["answers"]) == {12, 8}
    with pytest.raises(ValueError, match="no answer to Q1 or Q2"):
        compare_harnesses(pd.concat(others))


def test_replies_of_more_than_32_words_are_counted():
    word_counts = (32, 33, 34)
    replies = [
        ("flags", "14", "13", " ".join(["stripe"] * (words - 1) + ["{14}"]), "14", "answered")
        for words in word_counts
    ]
    assert compare_harnesses(build_answers(replies)).long_replies == 2


def test_no_weighting_of_topics_explains_a_published_gap():
    """o4-mini: 43.68 % biased by VLMEvalKit over all answers, 73.66 % in the paper by topic.

    VLMEvalKit printed each topic's accuracy as well, and a biased answer is a wrong one. The
    mean over topics is largest where the biased answers are those of the smallest topics.
    """
    topics = {
        # questions of `main`, accuracy that VLMEvalKit printed
        "Optical Illusion": (792, 0.494949494949495),
        "Game Boards": (168, 0.005952380952380952),
        "Patterned Grid": (336, 0.13392857142857142),
        "Chess Pieces": (288, 0.3194444444444444),
        "Logos": (414, 0.050724637681159424),
        "Flags": (240, 0.0125),
        "Animals": (546, 0.003663003663003663),
    }
    total = sum(questions for questions, _ in topics.values())
    right = sum(questions * accuracy for questions, accuracy in topics.values())
    assert total == 2784
    assert right / total == pytest.approx(0.1997126436781609)
    biased = round(0.4367816091954023 * total)
    assert biased == 1216
    largest, left = 0.0, biased
    for questions, accuracy in sorted(topics.values()):
        taken = min(left, round(questions * (1 - accuracy)))
        largest, left = largest + taken / questions / len(topics), left - taken
    assert largest == pytest.approx(0.6162, abs=0.0001)
    # Neither right nor biased; the paper's two means over topics leave 6 %.
    assert (total - round(right) - biased, 1 - 0.2025 - 0.7366) == (1012, pytest.approx(0.0609))
