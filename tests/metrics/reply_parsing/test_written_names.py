"""Names in replies: which are the same, which are others, which leave it open."""

import re
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metrics.reply_parsing.bracketed_answers import ParsedAnswer, read_name
from metrics.reply_parsing.written_names import match_name, normalize_name

SAMOA = ["Flag of Samoa", "Independent State of Samoa", "Western Samoa", "Samoan"]
AMERICA = ["Flag of the United States", "United States of America", "USA", "US", "American"]
CHESS = ["Chess", "Chessboard"]
XIANGQI = ["Xiangqi", "Chinese chess", "象棋"]
LYER = ["Müller-Lyer illusion", "Mueller-Lyer illusion"]
T_SHAPE = ["Vertical–Horizontal illusion", "Horizontal–Vertical illusion"]

RIGHT = {
    "{Flag of the United States}": AMERICA,
    "{flag of the united states}": AMERICA,
    "{FLAG OF UNITED STATES}": AMERICA,
    "{the United States}": AMERICA,
    "{United States' flag}": AMERICA,
    "{The flag of the United States of America.}": AMERICA,
    "{Flag of the U.S.A.}": AMERICA,
    "{U.S.}": AMERICA,
    "{American flag}": AMERICA,
    "{The American national flag}": AMERICA,
    "{Flag of the United States (USA)}": AMERICA,
    "{Flag of the United States, also known as the American flag}": AMERICA,
    "{This is the flag of the United States}": AMERICA,
    "{Flag_of_the_United_States}": AMERICA,
    "{🇺🇸 United States}": AMERICA,
    '{"country": "United States"}': AMERICA,
    "{Country: United States}": AMERICA,
    "**{Flag of Samoa}**": SAMOA,
    "{**Samoa**}": SAMOA,
    "{{Samoa}}": SAMOA,
    "{\n  Samoa\n}": SAMOA,
    "｛Ｓａｍｏａ｝": SAMOA,
    "$\\boxed{\\text{Flag of Samoa}}$": SAMOA,
    "{Samoa}. Yes: {Flag of Samoa}.": SAMOA,
    "It looks like Taiwan's, but {Samoa}": SAMOA,
    "<think>{Taiwan}?</think>{Samoa}": SAMOA,
    "Answer in curly brackets, e.g., {Flag of Vietnam}.\n{Samoa}": SAMOA,
    "{Chess board}": CHESS,
    "{Chess (starting position)}": CHESS,
    "{Chess - standard 8x8 board}": CHESS,
    "{The board game is chess}": CHESS,
    "{Xiangqi (Chinese Chess)}": XIANGQI,
    "{Chinese chess / Xiangqi}": XIANGQI,
    "{Xiangqi or Chinese chess}": XIANGQI,
    "{Chinese Chess, called Xiangqi}": XIANGQI,
    "{Xiangqi – Chinese chess}": XIANGQI,
    "{象棋 (Xiangqi)}": XIANGQI,
    "{象棋（Xiangqi）}": XIANGQI,
    "{Xiangqi}, that is {Chinese chess}": XIANGQI,
    "{Muller-Lyer}": LYER,
    "{Mu\u0308ller–Lyer Illusion}": LYER,
    "{the Müller‑Lyer optical illusion}": LYER,
    "{Mueller Lyer}": LYER,
    "{Vertical-horizontal}": T_SHAPE,
    "{Vertical/Horizontal illusion}": T_SHAPE,
    "{Horizontal – vertical illusion}": T_SHAPE,
}

WRONG = {
    "{American Samoa}": (SAMOA, "american samoa"),
    "{Flag of Côte d'Ivoire}": (SAMOA, "cote divoire"),
    "{Not Samoa}": (SAMOA, "not samoa"),
    "{Samoans}": (SAMOA, "samoans"),
    "{Sam oa}": (SAMOA, "sam oa"),
    "{Trinidad and Tobago}": (SAMOA, "trinidad and tobago"),
    "{United States Minor Outlying Islands}": (AMERICA, "united states minor outlying islands"),
    "{United Arab Emirates}": (AMERICA, "united arab emirates"),
    "{Australia}": (AMERICA, "australia"),
    "{Chinese chess}": (CHESS, "chinese chess"),
    "{Shogi or checkers}": (CHESS, "shogi or checkers"),
    "{Delboeuf illusion}": (LYER, "delboeuf"),
    "{Delboeuf}, that is the {Delboeuf illusion}": (LYER, "delboeuf"),
    "{unknown}": (LYER, "unknown"),
}

OPEN = {
    "": SAMOA,
    "Samoa": SAMOA,
    "(Samoa)": SAMOA,
    "{Samoa": SAMOA,
    "{}": SAMOA,
    "{?}": SAMOA,
    "{5}": SAMOA,
    "{🇼🇸}": SAMOA,
    "{Flag}": SAMOA,
    "{the flag of}": SAMOA,
    "{Flag of the country}": SAMOA,
    "{of}": SAMOA,
    "{Samoa (American)}": SAMOA,
    "{Samoa or Taiwan}": SAMOA,
    "{Samoa/Taiwan}": SAMOA,
    "{Samoa - Taiwan}": SAMOA,
    "{Samoa and Taiwan}": SAMOA,
    "{Samoa, near Fiji}": SAMOA,
    "{Samoa} or {Taiwan}": SAMOA,
    "{Samoa} ... wait, {Taiwan}": SAMOA,
    "{Taiwan} ... wait, {Samoa}": SAMOA,
    "{Taiwan}? {Fiji}?": SAMOA,
    "Colours {red, white}; {Samoa}": SAMOA,
    "Answer in curly brackets, e.g., {Flag of Samoa}.": SAMOA,
    "<think>{Samoa}</think>": SAMOA,
    "I cannot tell which flag this is.": SAMOA,
    "{Chess or Shogi}": CHESS,
    "{Chess (Chinese)}": CHESS,
    "{board game}": CHESS,
}


@pytest.mark.parametrize(("reply", "accepted"), RIGHT.items())
def test_any_accepted_name_is_read_as_the_first(reply, accepted):
    assert read_name(reply, accepted) == ParsedAnswer(accepted[0], "answered")


@pytest.mark.parametrize(("reply", "accepted", "answer"), [(r, *v) for r, v in WRONG.items()])
def test_another_name_is_an_answer_in_its_plain_form(reply, accepted, answer):
    assert read_name(reply, accepted) == ParsedAnswer(answer, "answered")


@pytest.mark.parametrize(("reply", "accepted"), OPEN.items())
def test_what_gives_no_name_or_leaves_it_open_is_unparsed(reply, accepted):
    assert read_name(reply, accepted) == ParsedAnswer(None, "unparsed")


def test_a_refusal_gives_no_name():
    assert read_name("I'm sorry, I can't help with that.", SAMOA) == ParsedAnswer(None, "refused")
    assert read_name("I can't assist further, but {Samoa}", SAMOA).answer == SAMOA[0]


NAMES = st.lists(
    st.sampled_from(["Flag of Samoa", "Cabo Verde", "象棋", "Müller-Lyer"]), min_size=1
)
ANY_CASE = st.sampled_from([str.lower, str.upper, str.title, str.swapcase, str.casefold])
FORM = st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"])
SPACE = st.text(st.sampled_from(" \t\u3000\u00a0*_'\"`."), max_size=4)


@given(st.text(), NAMES)
def test_any_reply_is_the_right_name_another_or_none(reply, accepted):
    for text in (reply, f"{{{reply}}}"):
        parsed = read_name(text, accepted)
        assert (parsed.answer is not None) == (parsed.outcome == "answered")
        assert (
            parsed.answer in (None, accepted[0]) or normalize_name(parsed.answer) == parsed.answer
        )


@given(st.sampled_from([*AMERICA, *XIANGQI, *LYER, *T_SHAPE]), ANY_CASE, FORM, SPACE, SPACE)
def test_case_spaces_marks_and_encoding_do_not_matter(name, cased, form, before, after):
    spread = re.sub(" ", lambda _: f" {after} ", name)
    written = unicodedata.normalize(form, cased(f"{before} {spread} {after}"))
    assert match_name(written, ["Something else", name]) == "Something else"


@given(st.text())
def test_a_plain_name_stays_as_it_is(name):
    assert normalize_name(normalize_name(name)) == normalize_name(name)


@given(st.text(), st.text())
def test_a_name_is_accepted_only_if_it_says_what_an_accepted_one_does(name, other):
    assume(normalize_name(other))
    assert normalize_name(other) in normalize_name(name) or match_name(name, [other]) != other
