import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics import (
    ParsedAnswer,
    read_choice,
    read_count,
    read_plain_yes_no,
    read_yes_no,
    score_answer,
)
from metrics.reply_parsing.written_numbers import _VALUES, _spell

COUNTS = {
    # plain
    "{5}": "5",
    "{ 5 }": "5",
    "{\n5\n}": "5",
    "{5.0}": "5",
    "{5.}": "5",
    "{05}": "5",
    "{0}": "0",
    "{{5}}": "5",
    "｛5｝": "5",
    "｛５｝": "5",
    "{٥}": "5",
    "{five}": "5",
    "{Five}.": "5",
    "{fifty-one}": "51",
    "{Fifty One}": "51",
    "{one hundred}": "100",
    "{a hundred and one}": "101",
    "{one hundred twenty-three}": "123",
    "{1,000}": "1000",
    "{-5}": "-5",
    "{−5}": "-5",
    # text around, never joined, never preferred
    "I count 5 stripes, not 4: {5}": "5",
    "There are 4 legs in front and 1 behind, so {5}.": "5",
    "7 red and 6 white stripes make 13.\n\n{13}\n\nThe usual number is 13.": "13",
    "The flag has 51 stars {51} instead of 50.": "51",
    # markdown, LaTeX
    "**{5}**": "5",
    "**Answer:** __{5}__": "5",
    "{**5**}": "5",
    "`{5}`": "5",
    "```\n{5}\n```": "5",
    '"{5}"': "5",
    '{"5"}': "5",
    "$\\{5\\}$": "5",
    "\\(\\{5\\}\\)": "5",
    "$\\left\\{5\\right\\}$": "5",
    "\\boxed{5}": "5",
    "$\\boxed{\\{5\\}}$": "5",
    "$$\\boxed{\\text{five}}$$": "5",
    "$\\text{Stripes:}\\quad\\{5\\}$": "5",
    "$6^{2} - 31 = \\frac{10}{2} = \\{5\\}$": "5",
    "Sorted: 7 \\n{5}": "5",
    # more than the number inside
    "{5 stripes}": "5",
    "{5 (five)}": "5",
    "{five (5) stripes}": "5",
    "{five, five}": "5",
    "{5 - no doubt}": "5",
    "{Answer: 5}": "5",
    "{the number of stripes is 5}": "5",
    '{"answer": 5}': "5",
    '```json\n{"answer": "5"}\n```': "5",
    '{"result": {"count": 5}}': "5",
    "{5, including the hidden stripe}": "5",
    # said twice, or beside brackets that decide nothing
    "{5} ... so the final answer is {5}": "5",
    "{five}, that is {5}": "5",
    "{5}, {5}": "5",
    "In cell {C5} there are {4}": "4",
    "Colours {red, white}; stripes {5}": "5",
    "Counting {1}, {2}, {3}, {4}: {4}": "4",
    "It could be {5} or {6}. Looking again: {5}": "5",
    "Answer with a number in curly brackets, e.g., {9}.\n{5}": "5",
    'As asked ("e.g., **{9}**"): {5}': "5",
    "Such as {9} would be wrong; {5}": "5",
    # thinking is no answer
    "<think>Perhaps {4}? No.</think>{5}": "5",
    "Perhaps {4}? No.</think>\n{5}": "5",
    "<THINKING>{4}</THINKING> {5}": "5",
    "<think>{4}</think>So {6}?</think>{5}": "5",
    "{5}<think>or {6}, but the reply was cut": "5",
    # a hedge in the text, an answer in the brackets
    "I'm sorry, I can't help being unsure, but {5}": "5",
}

NO_COUNT = [
    "",
    "   ",
    "5",
    "There are five stripes.",
    "(5)",
    "[5]",
    "{5",
    "5}",
    "{}",
    "{ }",
    "{number}",
    "{?}",
    "{Yes}",
    "{none}",
    "{5} or {6}",
    "**{5}** or **{6}**",
    "{5}/{6}",
    "{5} {6}",
    "{4}... wait, recounting: {5}",
    "Not {4} but {5}",
    "{5 or 6}",
    "{5-6}",
    "{5–6}",
    "{5 - 6}",
    "{5, 6}",
    "{5 6}",
    "{1 000}",
    "{1,00}",
    "{five six}",
    "{fifty, one}",
    "{fifty (one)}",
    "{five, six}",
    "{fifty one hundred}",
    "{5.5}",
    "{5.5} or so, thus {5}",
    "{five and a half}",
    "{five point five}",
    "{5/6}",
    "{5+}",
    "{~5}",
    "{>5}",
    "{5%}",
    "{5th}",
    "{x5}",
    "{1e3}",
    "{about 5}",
    "{at least five}",
    "{more than 5}",
    "{not 5}",
    "{5, including the hidden one}",
    "{5²}",
    "{- 5}",
    "{3+2=5}",
    "{two dozen}",
    "{" + "5" * 5000 + "}",
    '{"count": 5, "confidence": 0.9}',
    "\\frac{5}{1}",
    "x^{5}",
    "Answer with a number in curly brackets, e.g., {9}.",
    "<think>{5}</think>",
    "<think>I see {5}",
    "I can't help but notice the five stripes.",
    "I cannot tell how many stripes there are in this image.",
    "I'm unable to count them: the picture is too small.",
]

YES_NO = {
    "{Yes}": "Yes",
    "{yes.}": "Yes",
    "{YES}": "Yes",
    "{ No }": "No",
    "{no}": "No",
    "**{No}**": "No",
    "{**No**}": "No",
    "｛Ｙｅｓ｝": "Yes",
    "$\\boxed{\\text{Yes}}$": "Yes",
    '{"answer": "No"}': "No",
    "{Answer: No}": "No",
    "{Yes, they are equal}": "Yes",
    "{No - there are 5 stripes}": "No",
    "{Yes, there is no difference}": "Yes",
    "{Yes}. Both are {yes}": "Yes",
    "Yes, one might think. But {No}.": "No",
    "Answer in curly brackets, e.g., {Yes} or {No}. {No}": "No",
    "{Yes} or {No}? {Yes}": "Yes",
    "<think>{Yes}</think>{No}": "No",
}

NO_YES_NO = [
    "Yes",
    "{Yes} or {No}",
    "{Yes}/{No}",
    "**{Yes}** or **{No}**",
    "{Yes or No}",
    "{Yes/No}",
    "{yes and no}",
    "{Yes} {No}",
    "{no difference}",
    "{Yes, but not exactly}",
    "{Yes, almost}",
    "{Yes they are equal}",
    "{No they are not}",
    "{I have no idea}",
    "{Yes, No}",
    "{Maybe}",
    "{5}",
    "{}",
    "{Noyes}",
    "Answer in curly brackets, e.g., {Yes} or {No}.",
]

REFUSALS = [
    "I'm sorry, I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "Sorry, I cannot comply with this request.",
    "I am unable to help with identifying this.",
    "I'm not able to assist with that.",
    "Sorry, can't help with that.",
    "I must decline to answer.",
    "This request violates our usage policies.",
    "Counting this would be against my guidelines. {}",
    "I won't be able to help; I cannot identify people in images.",
    "<think>{5} maybe</think>I'm sorry, I can't help with that.",
]


@pytest.mark.parametrize(("reply", "answer"), COUNTS.items())
def test_a_count_is_read_from_the_brackets(reply, answer):
    assert read_count(reply) == ParsedAnswer(answer, "answered")


@pytest.mark.parametrize("reply", NO_COUNT)
def test_what_gives_no_single_whole_number_is_unparsed(reply):
    assert read_count(reply) == ParsedAnswer(None, "unparsed")


@pytest.mark.parametrize(("reply", "answer"), YES_NO.items())
def test_yes_or_no_is_read_from_the_brackets(reply, answer):
    assert read_yes_no(reply) == ParsedAnswer(answer, "answered")


@pytest.mark.parametrize("reply", NO_YES_NO)
def test_what_gives_neither_yes_nor_no_is_unparsed(reply):
    assert read_yes_no(reply) == ParsedAnswer(None, "unparsed")


@pytest.mark.parametrize("reply", REFUSALS)
def test_declining_is_a_refusal_for_every_question(reply):
    assert read_count(reply) == read_yes_no(reply) == ParsedAnswer(None, "refused")


@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_answer_in_brackets_is_no_refusal(refusal):
    assert read_count(f"{refusal} {{5}}") == ParsedAnswer("5", "answered")


def test_score_counts_unparsed_as_wrong_and_refused_not_at_all():
    assert score_answer(ParsedAnswer("5", "answered"), "5") == 1.0
    assert score_answer(ParsedAnswer("4", "answered"), "5") == 0.0
    assert score_answer(ParsedAnswer(None, "unparsed"), "5") == 0.0
    assert score_answer(ParsedAnswer(None, "refused"), "5") is None
    assert score_answer(ParsedAnswer(None, "failed"), "5") is None


# Without what makes brackets, typesetting, thinking or an example (e.g., such as).
PROSE = st.text(st.characters(exclude_characters="{}｛｝﹛﹜\\^_<\ue000\ue001")).filter(
    lambda text: "e" not in text.lower() and "such" not in text.lower()
)
NUMBERS = st.integers(min_value=-(10**29), max_value=10**29)


@given(PROSE, NUMBERS, PROSE)
def test_any_number_in_brackets_is_read_whatever_is_around(before, number, after):
    assert read_count(f"{before}{{{number}}}{after}") == ParsedAnswer(str(number), "answered")


WORDS = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7},
    **{"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13},
    **{"fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18},
    **{"nineteen": 19, "twenty": 20, "twenty-one": 21, "thirty-two": 32, "forty": 40},
    **{"forty-nine": 49, "FIFTY": 50, "Fifty-one": 51, "sixty six": 66, "seventy-three": 73},
    **{"eighty-eight": 88, "ninety-nine": 99, "hundred": 100, "one hundred": 100},
    **{"a hundred": 100, "one hundred and one": 101, "a hundred and twenty": 120},
    **{"two hundred forty-one": 241, "nine hundred and ninety-nine": 999},
}


@pytest.mark.parametrize(("words", "number"), WORDS.items())
def test_number_words_are_read(words, number):
    assert read_count(f"{{{words}}}").answer == str(number)


@given(NUMBERS, NUMBERS, PROSE)
def test_two_different_answers_are_never_joined_or_chosen_from(first, second, between):
    parsed = read_count(f"{{{first}}}{between}{{{second}}}")
    assert parsed.answer in ({None} if first != second else {str(first), None})


@given(st.text())
def test_any_reply_is_answered_unparsed_or_refused(reply):
    for parsed in (read_count(reply), read_yes_no(reply), read_count(f"{{{reply}}}")):
        assert (parsed.answer is not None) == (parsed.outcome == "answered")
        assert parsed.outcome != "failed"


@pytest.mark.parametrize(
    ("response", "parsed"),
    {
        "No, there is none.": ParsedAnswer("No", "answered"),
        "**Yes**": ParsedAnswer("Yes", "answered"),
        "> yes - the two lines are equal": ParsedAnswer("Yes", "answered"),
        "Yes. It is {no}.": ParsedAnswer("No", "answered"),
        "{maybe} Yes, it is.": ParsedAnswer(None, "unparsed"),
        "No dog is there": ParsedAnswer(None, "unparsed"),
        "Yes {maybe}": ParsedAnswer(None, "unparsed"),
        "Yes and no": ParsedAnswer(None, "unparsed"),
        "Yes. Well, no.": ParsedAnswer(None, "unparsed"),
        "It is there, yes.": ParsedAnswer("Yes", "answered"),
        "Yes, but not exactly": ParsedAnswer(None, "unparsed"),
        "": ParsedAnswer(None, "unparsed"),
        "I'm sorry, but I can't assist with that.": ParsedAnswer(None, "refused"),
        "No. I'm sorry, but I can't assist with that.": ParsedAnswer(None, "refused"),
    }.items(),
)
def test_without_brackets_a_yes_or_no_stands_at_the_beginning(response, parsed):
    assert read_plain_yes_no(response) == parsed


def test_an_underlined_answer_is_one():
    assert read_yes_no("{_Yes_}").answer == "Yes"


def test_the_numbers_below_a_thousand_are_spelled():
    assert {_spell(number): number for number in range(1000)} == {
        name: number for name, number in _VALUES.items() if name != "hundred"
    }
    spelled = [_spell(number) for number in (0, 19, 20, 21, 99, 100, 101, 120, 342)]
    assert spelled == [
        *("zero", "nineteen", "twenty", "twenty one", "ninety nine", "one hundred"),
        *("one hundred one", "one hundred twenty", "three hundred forty two"),
    ]


NAMES = {"A": "four legs", "B": "five legs", "C": "six legs"}
CHOICES = {
    letter: [letter, f"{letter}.", f"{letter}. {name}", name] for letter, name in NAMES.items()
}


@pytest.mark.parametrize("letter", CHOICES)
@pytest.mark.parametrize(
    ("reply", "is_answer"),
    [
        *(
            (reply, True)
            for reply in ("{LETTER}", "{LETTER. NAME}", "{(LETTER)}", "{option LETTER}")
        ),
        *((reply, True) for reply in ("{LETTER: NAME}, so {the NAME}", "{NAME (LETTER)}")),
        *((reply, True) for reply in ("{The answer is LETTER.}", "{LETTER}.) {LETTER) NAME}")),
        *((reply, False) for reply in ("{LETTER} or {D}", "{LETTER}, no, {D}", "LETTER", "NAME")),
        *(
            (reply, False)
            for reply in ("{not LETTER}", "{LETTER or seven}", "{seven}, so {LETTER}")
        ),
        *(
            (reply, False)
            for reply in ("{LETTER. seven legs}", "{LETTER or NEXT}", "{LETTER. NEXT}")
        ),
    ],
)
def test_each_choice_is_read_in_the_same_way(letter, reply, is_answer):
    following = NAMES["ABCA"["ABC".index(letter) + 1]]
    words = {"LETTER": letter, "NAME": NAMES[letter], "NEXT": following}
    parsed = read_choice(re.sub("|".join(words), lambda word: words[word[0]], reply), CHOICES)
    assert parsed == ParsedAnswer(*(letter, "answered") if is_answer else (None, "unparsed"))


@pytest.mark.parametrize("reply", ["{}", "{the}", "{A}, so {B}", "{A or B}", "{D}", "{legs}"])
def test_what_is_no_choice_or_two_is_no_answer(reply):
    assert read_choice(reply, CHOICES) == ParsedAnswer(None, "unparsed")


def test_who_declines_has_refused_a_choice():
    assert read_choice("I'm sorry, I can't help with that.", CHOICES).outcome == "refused"
