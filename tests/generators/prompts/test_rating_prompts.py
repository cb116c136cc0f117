"""The prompts by which pictures are rated."""

from hashlib import sha256

from generators.prompts.rating_prompts import write_filter_prompt, write_rating_prompt

TEXT = "An animal stands near a pond with exactly two {bamboo} stalks in the background."


def test_table_6_is_asked_letter_for_letter_with_the_text_after_it():
    instruction, _, text = write_rating_prompt(TEXT).partition("\n\nText prompt:\n\n")
    # The digest of Table 6 as the paper prints it: another word would be another question, and
    # every answer that was paid for would be asked for again.
    digest = sha256(instruction.encode()).hexdigest()
    assert digest == "8d50a50cc666c051451fbb2d51f46af391f225ce8acb52df3d6ceab2ab69ceb5"
    assert text == TEXT


def test_the_filter_is_asked_for_1_to_10_under_the_prompt_alone():
    instruction, _, prompt = write_filter_prompt(TEXT).partition("\n\nText prompt:\n\n")
    assert '"score": <integer 1–10>' in instruction
    assert prompt == TEXT
