"""Negations by rule and their check, against tables written by hand and properties."""

import contextlib
from time import process_time

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from generators.prompts.negation import (
    RULES,
    NotNegatable,
    check_negation,
    negate,
    quote,
    read_negation,
    write_negation_prompt,
)

PROMPT = (
    "Rephrase the following question to be a negated question for the original question. The "
    "rephrase method is to add prefix ‘Is it false’ before the original question in a declarative "
    "sentence or change all occurrences of the “a/an” to “no” for simple cases. Below are the "
    "rules must be followed when rephrasing the question: DO NOT CHANGE OR ADD ANY INFORMATION to "
    "the sentence, such as the case of any letters except the first letter of the sentence, "
    "tenses, the order of clauses, pronouns, etc.. You should only return the rephrased question. "
    "The question is: Is the sky blue?."
)

BY_RULE = {
    "Is there a dog in the image?": "Is there no dog in the image?",
    "Is there an umbrella?": "Is there no umbrella?",
    "In the photo, is there a cat?": "In the photo, is there no cat?",
    "Is there a dog on a sofa?": "Is it false that there is a dog on a sofa?",
    "Is there a lot of snow?": "Is it false that there is a lot of snow?",
    "Is there a dog without a leash?": "Is it false that there is a dog without a leash?",
    "Are there 5 apples in the image?": "Is it false that there are 5 apples in the image?",
    "Are there any clouds?": "Is it false that there are any clouds?",
    "Is the sky blue?": "Is it false that the sky is blue?",
    "Is the dog facing left?": "Is it false that the dog is facing left?",
    "Is the cat on the sofa sleeping?": "Is it false that the cat on the sofa is sleeping?",
    "Is the vase beside the lamp?": "Is it false that the vase is beside the lamp?",
    "Is the traffic light green?": "Is it false that the traffic light is green?",
    "Is the text on the left red?": "Is it false that the text on the left is red?",
    "Is the left line as long as the right one?": (
        "Is it false that the left line is as long as the right one?"
    ),
    "Are the duck's feet visible?": "Is it false that the duck's feet are visible?",
    "Does the man wear a hat?": "Is it false that the man wears a hat?",
    "Does the woman in the red coat carry a bag?": (
        "Is it false that the woman in the red coat carries a bag?"
    ),
    "Does the clock face show ten?": "Is it false that the clock face shows ten?",
    "Do the lines have the same length?": "Is it false that the lines have the same length?",
    "Did the snake stick out its tongue?": "Is it false that the snake did stick out its tongue?",
    "Can you see the key in the lock?": "Is it false that you can see the key in the lock?",
    "Has the peacock opened its tail?": "Is it false that the peacock has opened its tail?",
    "In the picture, is the nail polish dark?": (
        "Is it false that in the picture, the nail polish is dark?"
    ),
    'Is the word on the sign "STOP"?': 'Is it false that the word on the sign is "STOP"?',
    "Is the number on the jersey 23?": "Is it false that the number on the jersey is 23?",
    "Is the boy in room 5?": "Is it false that the boy is in room 5?",
    "Is the glass half full?": "Is it false that the glass is half full?",
    "Is the left half of it dark?": "Is it false that the left half of it is dark?",
    "Is this red?": "Is it false that this is red?",
    "Is this red car new?": "Is it false that this red car is new?",
    "Is this the flag of Brazil?": "Is it false that this is the flag of Brazil?",
    "Is the logo on this car Mercedes-Benz logo?": (
        "Is it false that the logo on this car is Mercedes-Benz logo?"
    ),
    "Are the logos on these shoes Adidas logos?": (
        "Is it false that the logos on these shoes are Adidas logos?"
    ),
    "Is the flag behind the other French flag?": (
        "Is it false that the flag is behind the other French flag?"
    ),
    "Is the cat in the blue Toyota?": "Is it false that the cat is in the blue Toyota?",
    "Is circle A bigger than circle B?": "Is it false that circle A is bigger than circle B?",
    "Is the text on the sign 'STOP'?": "Is it false that the text on the sign is 'STOP'?",
    "Is the number of dogs in it three?": "Is it false that the number of dogs in it is three?",
    "Is the lamp on the wall on?": "Is it false that the lamp on the wall is on?",
    "Does cell C3 contain 3 circles?": "Is it false that cell C3 contains 3 circles?",
    "It is a room. Is the door open? Answer yes or no.": (
        "It is a room. Is it false that the door is open? Answer yes or no."
    ),
}
ADJECTIVES = ("filthy", "gloomy", "messy", "deep blue", "verdant", "good-looking")
BY_RULE |= {
    f"Is the cloud {quality} in it?": f"Is it false that the cloud is {quality} in it?"
    for quality in ADJECTIVES
} | {
    "Is there a nine round vector?": "Is it false that there is a nine round vector?",
    "Do the two horizontal lines run parallel?": (
        "Is it false that the two horizontal lines run parallel?"
    ),
    "Does the man do his homework?": "Is it false that the man does his homework?",
    "Was Elon Musk richer than Mark Zuckerberg?": (
        "Is it false that Elon Musk was richer than Mark Zuckerberg?"
    ),
    "Did Samsung sell most units?": "Is it false that Samsung did sell most units?",
    "Is the shape in the top left corner a circle?": (
        "Is it false that the shape in the top left corner is a circle?"
    ),
    "Are those flowers real?": "Is it false that those flowers are real?",
    "Is half the pizza gone?": "Is it false that half the pizza is gone?",
    "The man closes the door. According to the images, are they in the correct order?": (
        "The man closes the door. Is it false that according to the images, they are in the "
        "correct order?"
    ),
    "Is the teddy bear touching the fire hydrant?": (
        "Is it false that the teddy bear is touching the fire hydrant?"
    ),
    "Are the animals in the picture horses?": (
        "Is it false that the animals in the picture are horses?"
    ),
    "Are the men wearing safety jackets?": "Is it false that the men are wearing safety jackets?",
    'Is "We shall fight on the beaches" made in the U.K.?': (
        'Is it false that "We shall fight on the beaches" is made in the U.K.?'
    ),
    "Is the person inside the red bounding box named Michael J. Fox?": (
        "Is it false that the person inside the red bounding box is named Michael J. Fox?"
    ),
    "Is there a mouse for every keyboard?": (
        "Is it false that there is a mouse for every keyboard?"
    ),
    "Is this hyper realistic?": "Is it false that this is hyper realistic?",
    "Has this food been cooked?": "Is it false that this food has been cooked?",
    "Is the light above the sink on?": "Is it false that the light above the sink is on?",
}
NOT_BY_RULE = {
    "Is the town square in the image?": "several ways",
    "Is the cloud square in this image?": "several ways",
    "Is the horse racing track in a straight line?": "where its subject ends",
    "Are the safety jackets neon yellow?": "where its subject ends",
    "Is this fantasy art?": "subject ends",
    "Is the facepaint neon green?": "subject ends",
    "Is the sun semicircle in this image?": "subject ends",
    "Is the house brand new in this image?": "subject ends",
    "Is the album cover film grain?": "where its subject ends",
    "Does this event take place outside?": "subject ends",
    "Is the boy taking his shirt off?": "subject ends",
    "Is this surfer about to fall over?": "subject ends",
    "Is the man about to hit the ball?": "subject ends",
    "Is this photo from decades past?": "subject ends",
    "Is the TV right side up?": "subject ends",
    "Is the man outside happy?": "subject ends",
    "Are all the items here engineering tools?": "subject ends",
    "Are the tracks seen indicative of force?": "subject ends",
    "Is the person shown an American?": "subject ends",
    "Is the color red in this picture?": "subject ends",
    "Is the red line on the left different length?": "subject ends",
    "Is the furniture in the room of high quality?": "subject ends",
    "Is the man in red playing too?": "subject ends",
    "Is the object being held edible?": "subject ends",
    "Is the television set turned on?": "subject ends",
    "Is the juice in the foreground tomato juice?": "subject ends",
    "Is this good food for a diabetic?": "subject ends",
    "Is this taking place in a city?": "subject ends",
    "Is this vegetarian friendly?": "subject ends",
    "Is the building wheelchair accessible?": "subject ends",
    "Is this couple over 20 years old?": "subject ends",
    "Is the hand part of a real human?": "subject ends",
    "Has the boat been recently painted?": "subject ends",
    "Are the photo frames in front of the wall?": "subject ends",
    "Can this man text and walk?": "subject ends",
    "Is the man showing someone something?": "subject ends",
    "Are the people looking at the camera adults?": "subject ends",
    "Are all the fruits on display apples?": "subject ends",
    "Is this kid potty trained?": "subject ends",
    "Is that water in the distance?": "subject ends",
    "Is that chocolate filling?": "subject ends",
    "Is this shot in focus?": "subject ends",
    "Is the person horseback riding in this image?": "subject ends",
    "Is the woolly mammoth in the snow?": "subject ends",
    "Is the person in a wide stance squat?": "subject ends",
    "Are the people at the water cooler?": "subject ends",
    "Is the hair rainbow colored?": "subject ends",
    "Is the art style matte painting?": "subject ends",
    "Is the paint in the shape of the word 'swirl'?": "subject ends",
    "Is the bakery called Just What I Kneaded?": "subject ends",
    "Is this world war II?": "subject ends",
    "Is the woman in white in a wedding dress?": "subject ends",
    "Is the stage with the raw concrete?": "subject ends",
    "Does he has a beard?": "After Does comes 'has'",
    "Do you see tracks? If so, describe them.": "depends on the answer",
    "Is the cup on the table in the kitchen?": "several ways",
    "Are all the penguins in this figure characters of the movie Madagascar?": "subject ends",
    "Can you tell me if there is a dog?": "another question within",
    "Could you look at the dog?": "favour",
    "Are there any zippers and, if so, what is their position?": "another question after",
    "If angle A is 110, is the angle B larger?": "condition",
    "Is the \U0001f436 on the sofa?": "where its subject ends",
    f"Is the {'very ' * 50}big dog red?": "longer than 40 words",
    f"Is the {'x' * 3000} red?": "longer than 2,000 characters",
    "What colour is the dog?": "no yes/no question",
    "Isn't the sky blue?": "asks for agreement",
    "The sky is blue.": "question mark",
    "Is it red? Is it blue?": "several questions",
    "Is the man wearing a hat riding a horse?": "several ways",
    "Is the dog next to the man wearing a hat?": "several ways",
    "Do the people who sit outside wear hats?": "no reading of it is known",
    "Is the car on the street Toyota?": "where its subject ends",
    "Is the person on the left Donald Trump?": "Where its subject ends",
    "Is the letter on the sign A?": "Where its subject ends",
    "Is it?": "no predicate",
    "": "question mark",
    "?": "empty",
}
RIGHT = [
    ("Is there a dog in the image?", "Is it false that there is a dog in the image?", "prefix"),
    ("Is there a dog in the image?", "Is it false that in the image there is a dog?", "prefix"),
    ("Is there a dog in the image?", "Is it false that a dog is in the image?", "prefix"),
    ("Is there a dog in the image?", "Is it not true that there is a dog in the image?", "prefix"),
    ("Is there a dog in the image?", "Is it false there is a dog in the image?", "prefix"),
    ("Is there a dog in the image?", ' "Is there no dog in the image?"\n', "no"),
    ("Are there any apples?", "Are there no apples?", "no"),
    ("Are there any apples?", "Is it false that there are some apples?", "prefix"),
    ("Are there apples on it?", "Are there no apples on it?", "no"),
    ("Does the man wear a hat?", "Does the man wear no hat?", "no"),
    ("Does the man wear glasses?", "Does the man wear no glasses?", "no"),
    ("Does the man wear a hat?", "Does the man not wear a hat?", "not"),
    ("Does the man wear a hat?", "Is it false that the man does wear a hat?", "prefix"),
    ("Did the dog stick it out?", "Is it false that the dog stuck it out?", "prefix"),
    ("Did the man stop?", "Is it false that the man stopped?", "prefix"),
    ("In the image, is it cloudy?", "Is it false that it is cloudy in the image?", "prefix"),
    ("Is there no dog?", "Is it false that there is no dog?", "prefix"),
    ("Is the cat on a sofa?", "Is the cat on no sofa?", "no"),
    ("Is the dog facing left?", "Is the dog not facing left?", "not"),
    ("Is this an illusion?", "Is this no illusion?", "no"),
    ("Is this the flag of Brazil?", "Is this not the flag of Brazil?", "not"),
    ("Is there a dog? Answer yes or no.", "Is there no dog? Answer yes or no.", "no"),
    ("Is there a dog? Yes or No.", "Is there no dog? Yes or No.", "no"),
    ("Does the man do his homework?", "Is it false that the man does his homework?", "prefix"),
    ("Is the man behind the woman?", "Is it false that the man is behind the woman?", "prefix"),
    (
        "Is the town square in the image?",
        'Is "no" the right answer to the question "Is the town square in the image?"?',
        "quoted",
    ),
    ("Is it a corn or two corns?", "Is it false that it is a corn or two corns?", "prefix"),
]
WRONG = [
    ("What is there?", "Is it false that What is there?", "order kept"),
    ("Isn't there a dog?", "Is it false that Isn't there a dog?", "order kept"),
    ("Is there a dog?", "Is there a dog?", "a negation"),
    ("Is there a dog?", "is there a DOG?", "a negation"),
    ("Is there a dog?", "Isn't there a dog?", "a negation"),
    ("Is there a dog?", "Is there not a dog?", "a negation"),
    ("Is there a dog?", "Is it false that there is no dog?", "one negation"),
    ("Is there a dog?", "Is it false that there isn't a dog?", "one negation"),
    ("Is there a dog on a mat?", "Is there no dog on no mat?", "one negation"),
    ("Is there no dog?", "Is it false that there is a dog?", "one negation"),
    ("Is there no dog?", "Is there a dog?", "words kept"),
    ("Is there a dog?", "No.", "one question"),
    ("Is there a dog?", "No, there is no dog.", "one question"),
    ("Is there a dog?", "", "one question"),
    ("Is there a dog?", "Is there no dog? Is there no cat?", "one question"),
    ("Is there a dog?", "Is there no cat?", "words kept"),
    ("Is there a mug for every guest?", "Is there no mug for every guest?", "a negation"),
    ("Is there a dog?", "Is there a cat?", "words kept"),
    ("Is there a dog here?", "Is there no dog?", "words kept"),
    ("Is there a dog?", "Is it false that?", "words kept"),
    ("Is there a dog?", "Is it false that ?", "words kept"),
    ("Are there 5 dogs?", "Is it false that there are 6 dogs?", "words kept"),
    ("Are there 5 dogs?", "Is it false that there are five dogs?", "words kept"),
    ("Are there 5 dogs?", "Are there no dogs?", "words kept"),
    ("Are there 5 dogs?", "Are there no 5 dogs?", "a negation"),
    ("Is the sky blue?", "Is it false that the sky was blue?", "words kept"),
    ("Does the man wear it?", "Is it false that the man wore it?", "words kept"),
    ("Is there a dog?", "Is there no big dog?", "nothing added"),
    ("Is the sky blue?", "Is it false that the sky is blue and clear?", "nothing added"),
    ("Is there a dog?", "Is there no Dog?", "case kept"),
    (
        "Is the man behind the woman?",
        "Is it false that behind the man is the woman?",
        "order kept",
    ),
    ("Is the man behind the woman?", "Is it false that the woman is behind the man?", "order kept"),
    ("Is the cup on the table?", "Is it false that on the cup is the table?", "order kept"),
    ("Is the cloud filthy?", "Is it false that the cloud filthy is?", "order kept"),
    ("Is the cat filthy in it?", "Is it false that the cat filthy is in it?", "order kept"),
    (
        "Is the sky blue?",
        'Is "no" the right answer to the question "Is the sky red?"?',
        "one question",
    ),
    ("Is there a dog?", "Is there a no", "one question"),
    ("Is the dog here?", "Is the dog here no?", "a negation"),
    ("?", "Is it false that it is red?", "a negation"),
    ("Is the sky blue?", "Is it false that The sky is blue?", "case kept"),
    ("Is the sky blue?", "Is it false that is the sky blue?", "order kept"),
    ("Is the dog by the cat big?", "Is it false that the cat by the dog is big?", "order kept"),
    ("Is the man with a hat happy?", "Is the man with no hat happy?", "a negation"),
    ("Is the man in a hat on a bus?", "Is the man in a hat on no bus?", "a negation"),
    ("Are all dogs black?", "Are all dogs not black?", "a negation"),
    ("Is a man wearing a hat smiling?", "Is a man wearing no hat smiling?", "a negation"),
]


def test_the_prompt_is_the_paper_s_letter_for_letter():
    assert write_negation_prompt("Is the sky blue?") == PROMPT


@pytest.mark.parametrize(("question", "negated"), BY_RULE.items())
def test_grammar_negates_in_the_paper_s_two_ways(question, negated):
    found = negate(question)
    assert found.question == negated
    assert read_negation(question, negated) == (found.way, None)


@pytest.mark.parametrize(("question", "why"), NOT_BY_RULE.items())
def test_what_grammar_cannot_negate_it_reports(question, why):
    with pytest.raises(NotNegatable, match=why):
        negate(question)


@pytest.mark.parametrize(("question", "negated", "way"), RIGHT)
def test_right_negations_pass(question, negated, way):
    assert read_negation(question, negated) == (way, None)


@pytest.mark.parametrize(("question", "negated", "rule"), WRONG)
def test_wrong_ones_name_the_rule_that_they_break(question, negated, rule):
    reason = check_negation(question, negated)
    assert reason is not None
    assert reason.partition(":")[0] == rule
    assert rule in RULES


def test_every_rule_is_broken_by_some_wrong_negation():
    assert {rule for _, _, rule in WRONG} == set(RULES)


NOUNS = st.sampled_from(["dog", "school bus", "clock tower", "apple", "red car", "butterfly"])
PLACES = st.sampled_from(["", " in the image", " on the left", " near a lamp", " of the house"])
SUBJECTS = st.builds("{} {}{}".format, st.sampled_from(["the", "this", "her"]), NOUNS, PLACES)
PREDICATES = st.sampled_from(
    ["black", "facing left", "a toy", "on the table", "larger than the other one", "very old",
     "covered in snow", "holding 3 balloons", "the same as before", 'labelled "ABC"']
)  # fmt: skip
VERBS = st.sampled_from(["have a tail", "wear 2 hats", "look at the camera", "fly", "touch it"])
QUESTIONS = st.one_of(
    st.builds("Is there {} {}{}?".format, st.sampled_from(["a", "an"]), NOUNS, PLACES),
    st.builds("Are there {} {}s{}?".format, st.integers(2, 60), NOUNS, PLACES),
    st.builds("Is {} {}?".format, SUBJECTS, PREDICATES),
    st.builds("In the photo, was {} {}?".format, SUBJECTS, PREDICATES),
    st.builds("Does {} {}?".format, SUBJECTS, VERBS),
    st.builds("Can {} {}? Answer yes or no.".format, SUBJECTS, VERBS),
)


@given(QUESTIONS)
def test_what_grammar_writes_passes_and_changes_nothing_else(question):
    try:
        found = negate(question)
    except NotNegatable:
        assume(False)
    assert read_negation(question, found.question) == (found.way, None)
    assert check_negation(found.question, question) is not None
    assert check_negation(question, question) is not None
    words = found.question.split()
    for place in range(len(words)):
        assert check_negation(
            question, " ".join(words[:place] + words[place + 1 :])
        ) is not None or (words[place] in ("that", "there"))


@given(QUESTIONS)
def test_a_negation_negated_again_is_the_question_again_in_meaning(question):
    try:
        once = negate(question).question
        twice = negate(once).question
    except NotNegatable:
        assume(False)
    assert check_negation(once, twice) is None
    assert check_negation(question, twice) is not None


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_breaks_the_check_or_the_grammar(question, negated):
    check_negation(question, negated)
    try:
        found = negate(question)
    except NotNegatable:
        return
    assert check_negation(question, found.question) is None


@given(st.lists(st.sampled_from(["Is", "is", "there", "a", "no", "not", "the", "dog", "?", "it"])))
def test_no_heap_of_words_does_either(words):
    text = " ".join(words)
    check_negation(text, text[::-1])
    try:
        found = negate(text)
    except NotNegatable:
        return
    check_negation(text, found.question)


@given(st.text(min_size=1, max_size=40).filter(lambda text: "?" not in text))
def test_what_can_be_quoted_is_the_question_letter_for_letter(middle):
    question = f"Is the {middle}red?"
    negation = quote(question)
    assert read_negation(question, negation.question) == ("quoted", None)
    assert " ".join(f"Is the {middle}red?".split()) in " ".join(negation.question.split())


@pytest.mark.parametrize("question", ["What colour is it?", "It is red.", "Is it? Is it not?", "?"])
def test_what_asks_nothing_with_yes_or_no_is_not_quoted(question):
    with pytest.raises(NotNegatable):
        quote(question)


def test_what_depends_on_the_answer_is_not_quoted():
    with pytest.raises(NotNegatable, match="depends on the answer"):
        quote("Is there a dog? If so, name its colour.")


@pytest.mark.parametrize("words", ["light cut", "open", "in the square", "and painted", "of that"])
@pytest.mark.parametrize("first", ["Is the", "Are", "Does the", "Has the"])
def test_a_question_of_words_that_may_be_anything_is_read_in_a_moment(words, first):
    question = " ".join([first, *(words.split() * 40)[:38], "red?"])
    with contextlib.suppress(NotNegatable):
        negate("Is the cup red?")
        started = process_time()
        negate(question)
    assert process_time() - started < 10, "hundred times what is needed"
