"""Yes/no questions made of counting questions and of questions with options."""

import pytest

from generators.domains import load_domains
from generators.photographs import load_photograph_topics
from generators.prompts.binary_questions import (
    NotBinary,
    find_option_letter,
    parse_options,
    parse_yes_no,
    state_count,
    state_option,
)
from generators.prompts.vocabulary import to_plural, to_singular

COUNTING = {
    ("How many stars are there on this flag?", "50"): "Are there 50 stars on this flag?",
    ("How many dogs are in the image?", "1"): "Is there 1 dog in the image?",
    ("How many people were there?", "1"): "Was there 1 person?",
    ("How many legs does this animal have?", "5"): "Does this animal have 5 legs?",
    ("How many wheels can you see in the image?", "2"): "Are there 2 wheels in the image?",
    ("In this image, how many eyes of the cat can you see?", "1"): (
        "In this image, is there 1 eye of the cat?"
    ),
}
STATED = [
    ("Is the door open or closed?", "(a) Open (b) Closed", "Is the door open?"),
    ("Is it left or right from here?", "(a) Right (b) Left", "Is it right from here?"),
    ("Is the bus driving towards or away from us?", "(a) Towards us (b) Away from us",
     "Is the bus driving towards us?"),
    ("Do you see it from the top or the side?", "(a) Side (b) Top", "Do you see it from the side?"),
    ("Is the hand closer to 12 or closer to 1?", "(a) 1 (b) 12", "Is the hand closer to 1?"),
    ("Is the frame black or silver in color?", "(a) Silver (b) Black",
     "Is the frame silver in color?"),
    ("Does it have long or short tusks?", "(a) Short (b) Long", "Does it have short tusks?"),
    ("Is it on the left or right side?", "(a) Left (b) Right", "Is it on the left side?"),
    ("What color is the hen's body?", "(a) Black (b) Red", "Is the hen's body black?"),
    ("In it, what colour are the cars?", "(a) Red (b) Blue (c) Grey", "In it, are the cars red?"),
    ("How many spots are on it?", "(a) 5 (b) 6", "Are there 5 spots on it?"),
    ("How many spots are on it?", "(a) 5, (b) 6, (c) 7", "Are there 5 spots on it?"),
]  # fmt: skip
NOT_STATED = [
    ("From which angle is this taken?", "(a) Front (b) Side"),
    ("Is it at eye level or looking down?", "(a) Eye level (b) Above"),
    (
        "Are they holding hands or leaning against each other?",
        "(a) Holding hands (b) Leaning against",
    ),
    ("Which is it?", "(a) One (b) Two (c) Three"),
    ("How many are there?", "(a) One (b) More than one"),
    ("How many legs, by and large, does one need?", "(a) 1 (b) 2"),
]


@pytest.mark.parametrize(("asked", "turned"), COUNTING.items())
def test_a_number_is_stated(asked, turned):
    assert state_count(*asked) == turned


def test_every_counting_question_of_vlmbias_can_be_turned():
    drawn = (
        (scene.truths, question)
        for domain in load_domains().values()
        for scene in domain.draw_module.list_scenes(0)[::7]
        for question in domain.ask_module.write_questions(scene)
    )
    asked = {
        question.text.partition(" Answer ")[0]
        for _, question in drawn
        if question.question_id == "Q1" and question.ground_truth.isdigit()
    }
    asked |= {
        question.text.partition(" Answer ")[0]
        for topic in load_photograph_topics().values()
        for photograph in topic.list_photographs(topic.BUILT_IN)
        for question in topic.write_questions(photograph, "counterfactual")
        if question.question_id == "Q1"
    }
    assert len(asked) > 30
    for question in asked:
        turned = state_count(question, "7")
        assert turned.startswith(("Are there 7 ", "Does this animal have 7 legs?"))


@pytest.mark.parametrize(("question", "options", "turned"), STATED)
def test_an_option_is_stated(question, options, turned):
    said = list(parse_options(options).values())
    assert state_option(question, said, said[0]) == turned


@pytest.mark.parametrize(("question", "options"), NOT_STATED)
def test_what_does_not_name_its_options_is_not_turned(question, options):
    said = list(parse_options(options).values())
    for stated in said:
        with pytest.raises(NotBinary):
            state_option(question, said, stated)


@pytest.mark.parametrize("text", ["Open or closed", "(a) Open", "(a) (b)", "(a) A (a) B", ""])
def test_options_are_lettered(text):
    with pytest.raises(NotBinary, match="Its options are"):
        parse_options(text)


@pytest.mark.parametrize("answer", ["(b)", "b", "B", " closed ", "Closed."])
def test_an_answer_is_a_letter_or_an_option(answer):
    assert find_option_letter(answer, {"a": "Open", "b": "Closed"}) == "b"


def test_an_answer_that_is_no_option_is_not_taken():
    with pytest.raises(NotBinary, match="none of its options"):
        find_option_letter("c", {"a": "Open", "b": "Closed"})


@pytest.mark.parametrize(
    ("answer", "said"), [("Yes", "yes"), ("no.", "no"), (" NO ", "no"), ("true", "yes")]
)
def test_yes_and_no_are_read(answer, said):
    assert parse_yes_no(answer) == said


@pytest.mark.parametrize("answer", ["maybe", "(a)", "", "2", "Yes, it is"])
def test_another_answer_is_not(answer):
    with pytest.raises(NotBinary, match="neither yes nor no"):
        parse_yes_no(answer)


@pytest.mark.parametrize(
    "noun",
    [
        "dog",
        "red apple",
        "box",
        "bus",
        "horse",
        "berry",
        "leaf",
        "knife",
        "person",
        "foot",
        "woman",
    ],
)
def test_a_plural_is_one_again(noun):
    assert to_singular(to_plural(noun)) == noun
