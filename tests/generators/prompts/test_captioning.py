"""What models are asked for captions and scores."""

from generators.prompts.captioning import (
    SETTINGS,
    TEMPLATES,
    write_caption_prompt,
    write_score_prompt,
)
from metrics import read_rating


def test_every_setting_has_a_prompt_with_a_version():
    assert set(TEMPLATES) == {"caption", *SETTINGS}
    assert {template.version for template in TEMPLATES.values()} == {"1"}
    assert "{" not in write_caption_prompt()


def test_right_captions_go_before_the_one_that_is_judged():
    words = write_score_prompt("A cat.", ["A dog.", "A brown dog."])
    assert words.index("- A dog.\n- A brown dog.") < words.index("A cat.")
    assert "known to be right" in words
    assert "known to be right" not in write_score_prompt("A cat.")


def test_words_that_look_like_a_field_stay_as_they_are():
    words = write_score_prompt("Of {references} and {caption}.", ["Says {caption}."])
    assert "Of {references} and {caption}." in words
    assert "- Says {caption}." in words
    assert words.count("Of {references}") == 1


def test_the_scale_that_is_asked_for_is_no_score_when_it_is_repeated():
    reply = f'{write_score_prompt("A cat.").splitlines()[-1]} So: {{"score": 71}}'
    assert read_rating(reply, 0, 100).score == 71
