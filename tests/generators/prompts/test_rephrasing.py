"""Rephrasings by rule, and what is noticed of those that a model writes."""

import pytest

from generators.prompts.rephrasing import (
    MAX_WORDINGS,
    find_rephrasing_problem,
    parse_wordings,
    rephrase,
    write_rephrasing_prompt,
)

QUESTION = "Is there a dog in the image?"


@pytest.mark.parametrize(
    "question",
    [QUESTION, "Is it false that there is a dog?", "Is there no dog?", "Does Rex look up?"],
)
def test_wordings_by_rule_pass_and_keep_every_word(question):
    wordings = rephrase(question, MAX_WORDINGS)
    assert len(set(wordings)) == MAX_WORDINGS
    assert find_rephrasing_problem(question, wordings, MAX_WORDINGS) is None
    assert all(each.casefold().endswith(question.casefold()) for each in wordings)


def test_the_prompt_names_the_question_and_how_many():
    asked = write_rephrasing_prompt(QUESTION, 4)
    assert QUESTION in asked
    assert "4 lines" in asked
    assert "{" not in asked


def test_lines_are_read_without_their_numbers():
    said = '1. Can you see a dog?\n\n2) "Does the image show a dog?"\n- Is a dog visible?'
    assert parse_wordings(said) == [
        *("Can you see a dog?", "Does the image show a dog?", "Is a dog visible?")
    ]


@pytest.mark.parametrize(
    ("wordings", "rule"),
    [
        (["Can you see a dog?"], "so many"),
        (["Can you see a dog?", "There is a dog."], "one question"),
        (["Can you see a dog?", "Can you see a dog? Or a cat?"], "one question"),
        (["Can you see a dog?", "is there a dog in the image?"], "another wording"),
        (["Can you see a dog?", "Can you see a DOG?"], "another wording"),
        (["Can you see a dog?", "Is there no dog in the image?"], "a negation"),
    ],
)
def test_what_breaks_a_rule_is_named(wordings, rule):
    assert find_rephrasing_problem(QUESTION, wordings, 2).startswith(f"{rule}:")


def test_the_negation_may_not_lose_its_negation():
    wordings = ["Is there a dog in the image?"]
    assert find_rephrasing_problem("Is there no dog in the image?", wordings, 1).startswith(
        "a negation:"
    )
