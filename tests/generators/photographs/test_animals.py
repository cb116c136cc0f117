"""Animals: the paper's words, its numbers, and lists that cannot serve."""

import re
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from generators.photographs import Unsuitable, animals
from metrics.reply_parsing.bracketed_answers import ParsedAnswer, read_name
from metrics.reply_parsing.written_names import normalize_name

BUILT_IN = {p.subject: p for p in animals.list_photographs(animals.BUILT_IN)}
NUMBER = "Answer with a number in curly brackets, e.g., {9}."
YES_NO = "Answer in curly brackets, e.g., {Yes} or {No}."


def entries(birds=("heron",), mammals=("horse",)):
    return [
        *({"name": name, "num_legs": 2} for name in birds),
        *({"name": name, "num_legs": 4} for name in mammals),
    ]


def subjects(listed):
    return [p.subject for p in animals.list_photographs(listed)]


def test_suggestions_are_asked_for_as_in_appendix_m():
    assert animals.SUGGESTION == (
        "Generate a JSON list containing 100 animal objects. Each object should represent a common "
        'animal and follow the structure below: { "name": "<Common Animal Name>", "num_legs": '
        "<Typical Number of Legs> } Ensure the following for each animal: 1. the number of legs of "
        "this animal is 2 or 4. 2. the animal’s legs must be long enough to be seen easily from "
        "the body using a side-view perspective. Prioritize animals whose legs are thin and/or "
        "long."
    )


def test_a_bird_is_painted_and_edited_as_in_appendix_m():
    ostrich = BUILT_IN["ostrich"]
    [painting] = ostrich.paintings
    assert painting.content == "original"
    assert painting.prompt == (
        "Generate a clear, full-body, side-view image of a(n) ostrich with 2 legs that is walking "
        "in a real-world natural background. The 2-legged animal must look photo-realistic in "
        "nature. All 2 legs must be clearly visible."
    )
    assert ostrich.edit == (
        "Edit this image: Add 1 more leg to the ostrich so that it has 3 legs in total. The "
        "3-legged ostrich must be photo-realistic. All 3 legs must be clearly visible."
    )


def test_a_mammal_is_painted_and_edited_as_in_appendix_m():
    horse = BUILT_IN["horse"]
    [painting] = horse.paintings
    assert "a(n) horse with 4 legs" in painting.prompt
    assert "The 4-legged animal" in painting.prompt
    assert "All 4 legs" in painting.prompt
    assert "Add 1 more leg to the horse so that it has 5 legs in total." in horse.edit


def test_the_built_in_list_has_the_papers_numbers():
    assert len(animals.BUILT_IN) == len(BUILT_IN) == 91
    made = Counter((p.subtopic, p.standard, p.truth) for p in BUILT_IN.values())
    assert made == {("birds", 2, 3): 23, ("mammals", 4, 5): 68}
    assert {(p.domain, p.target, p.modification) for p in BUILT_IN.values()} == {
        ("animals", "legs", "add")
    }


def test_every_base_id_and_prompt_is_told_apart():
    assert len({p.base_id for p in BUILT_IN.values()}) == 91
    assert len({p.paintings[0].prompt for p in BUILT_IN.values()}) == 91
    assert len({p.edit for p in BUILT_IN.values()}) == 91
    assert all(re.fullmatch(r"animals/[a-z]+(-[a-z]+)*", p.base_id) for p in BUILT_IN.values())
    assert all(p.has_original for p in BUILT_IN.values())
    assert BUILT_IN["secretary bird"].original_id == "animals/secretary-bird-original"


def test_the_list_is_in_the_form_that_a_model_is_asked_for():
    Draft202012Validator(animals.SCHEMA).validate({"animals": animals.BUILT_IN})


def asked(photograph, variant):
    return [
        (q.question_id, q.text, q.ground_truth, q.expected_bias)
        for q in animals.write_questions(photograph, variant)
    ]


def test_an_edited_animal_is_asked_appendix_as_questions():
    assert asked(BUILT_IN["horse"], "counterfactual") == [
        ("Q1", f"How many legs does this animal have? {NUMBER}", "5", "4"),
        ("Q2", f"Count the legs of this animal. {NUMBER}", "5", "4"),
        ("Q3", f"Is this an animal with 4 legs? {YES_NO}", "No", "Yes"),
    ]
    assert asked(BUILT_IN["heron"], "counterfactual") == [
        ("Q1", f"How many legs does this animal have? {NUMBER}", "3", "2"),
        ("Q2", f"Count the legs of this animal. {NUMBER}", "3", "2"),
        ("Q3", f"Is this an animal with 2 legs? {YES_NO}", "No", "Yes"),
    ]


def test_an_original_is_asked_the_same_and_the_sanity_check():
    assert asked(BUILT_IN["heron"], "original") == [
        ("Q1", f"How many legs does this animal have? {NUMBER}", "2", "2"),
        ("Q2", f"Count the legs of this animal. {NUMBER}", "2", "2"),
        ("Q3", f"Is this an animal with 2 legs? {YES_NO}", "Yes", "Yes"),
        ("N1", "What animal is this? Answer in curly brackets, e.g., {Fish}.", "Heron", "Heron"),
        ("N2", f"How many legs do this animal have? {NUMBER}", "2", "2"),
    ]


ACCEPTED = {
    q.ground_truth: q.accepted
    for p in BUILT_IN.values()
    for q in animals.write_questions(p, "original")
    if q.question_id == "N1"
}


def test_every_animal_has_names_and_no_two_share_one():
    assert len(ACCEPTED) == 91
    assert all(names[0] == truth for truth, names in ACCEPTED.items())
    names = Counter(normalize_name(name) for names in ACCEPTED.values() for name in names)
    assert names.most_common(1)[0][1] == 1
    assert "" not in names
    assert "fish" not in names


@pytest.mark.parametrize(
    ("reply", "animal"),
    [
        ("{great blue heron}", "Heron"),
        ("{Secretary Bird}", "Secretary bird"),
        ("{Secretarybird}", "Secretary bird"),
        ("{A Dromedary camel}", "Camel"),
        ("{Cougar (mountain lion)}", "Puma"),
        ("{Caribou}", "Reindeer"),
        ("{Grevy’s zebra}", "Zebra"),
        ("{Gnu}", "Wildebeest"),
        ("{HEN}", "Chicken"),
        ("{Labrador Retriever}", "Dog"),
    ],
)
def test_an_animal_as_models_call_it_is_right(reply, animal):
    assert read_name(reply, ACCEPTED[animal]) == ParsedAnswer(animal, "answered")


@pytest.mark.parametrize(
    ("reply", "animal"),
    [
        ("{Egret}", "Heron"),
        ("{Bird}", "Heron"),
        ("{Deer}", "Moose"),
        ("{Polar bear}", "Bear"),
        ("{Lion}", "Puma"),
        ("{Horse or donkey}", "Horse"),
        ("{Mammal}", "Zebra"),
    ],
)
def test_another_animal_or_a_kind_of_them_is_not_right(reply, animal):
    assert read_name(reply, ACCEPTED[animal]).answer != animal


def test_a_suggested_animal_is_called_by_its_own_name_alone():
    [quetzal, _] = animals.list_photographs(entries(birds=["Quetzal"]))
    name = animals.write_questions(quetzal, "original")[3]
    assert name.accepted == ("Quetzal",)


def test_no_check_asks_or_hints_how_many():
    for photograph in BUILT_IN.values():
        checks = animals.write_checks(photograph)
        assert list(checks) == ["subject", "framing", "visibility"]
        for text in checks.values():
            assert text.endswith(f"? {YES_NO}")
            assert not re.search(
                r"\d|\bmany\b|\bcount|\bnumber|\btwo\b|\bthree\b|\bfour\b|\bfive\b|\ball\b"
                r"|\bextra\b|\badd|\bmore\b|\bevery\b|\beach\b|\bnormal|\bnatural",
                text,
                re.IGNORECASE,
            )


def test_articles_are_right_where_the_words_are_ours():
    def article(name):
        return (
            animals.write_checks(BUILT_IN[name])["subject"].split("is ")[-1].split("image ")[1][:2]
        )

    assert [article(name).strip() for name in ("ostrich", "ibis", "heron", "eland", "horse")] == [
        *("an", "an", "a", "an", "a")
    ]
    review = animals.write_review_task(BUILT_IN["ostrich"], "counterfactual")
    assert review.startswith("Accept it if an ostrich is ")


def test_a_review_says_how_many_legs_in_one_sentence():
    for photograph in BUILT_IN.values():
        assert f"exactly {photograph.truth} legs" in animals.write_review_task(
            photograph, "counterfactual"
        )
        assert f"exactly {photograph.standard} legs" in animals.write_review_task(
            photograph, "original"
        )
        assert animals.write_review_task(photograph, "original").count(".") == 1


def test_names_are_cleaned_and_said_once():
    listed = entries(
        birds=["Great  Heron", "great heron", "An Emu", "Sea Gull", "sea-gull"],
        mammals=["The HORSE", " horse ", "Père David's Deer"],
    )
    assert subjects(listed) == ["great heron", "emu", "sea gull", "horse", "père david's deer"]
    assert animals.list_photographs(listed)[-1].base_id == "animals/pere-davids-deer"


def test_of_a_longer_list_the_first_are_taken():
    letters = "abcdefghijklmnopqrstuvwxyz"
    birds = [f"bird {letter}" for letter in letters]
    mammals = [f"beast {a}{b}" for a in letters for b in letters]
    made = subjects(entries(birds, mammals))
    assert made == [*birds[:23], *mammals[:68]]


def test_of_a_shorter_list_all_are_taken():
    assert subjects(entries(["emu", "heron"], ["cat"])) == ["emu", "heron", "cat"]


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ([], "there are no birds among the 0 animals: at least one has to have 2 legs"),
        (entries(birds=[]), "there are no birds among the 1 animals"),
        (entries(mammals=[]), "there are no mammals among the 1 animals"),
        ([*entries(), {"name": "stool", "num_legs": 3}], "stool has 3 legs: it has to be 2 or 4"),
        ([*entries(), {"name": "emu", "num_legs": "2"}], "emu has '2' legs"),
        ([*entries(), {"name": "emu", "num_legs": 2.0}], "emu has 2.0 legs"),
        ([*entries(), {"name": "emu", "num_legs": True}], "emu has True legs"),
        ([*entries(), {"name": "emu"}], "animal 3 has name: each has to have name and num_legs"),
        ([*entries(), {"name": "emu", "legs": 2}], "animal 3 has legs, name: each has"),
        ([{}], "animal 1 has nothing: each has"),
        ([*entries(), {"name": None, "num_legs": 2}], "the name None, which is no text"),
        ([*entries(), {"name": " ", "num_legs": 2}], "the name ' ': it has to be words"),
        ([*entries(), {"name": "鶴", "num_legs": 2}], "the name '鶴': it has to be words"),
        ([*entries(), {"name": "emu {x}", "num_legs": 2}], "it has to be words of letters"),
        ([*entries(), {"name": "Emu (original)", "num_legs": 2}], "words of letters"),
        ([*entries(), {"name": "Emu Original", "num_legs": 2}], "cannot be told from the original"),
        ([*entries(), {"name": "e" * 41, "num_legs": 2}], "40 characters at most"),
        (entries(["kangaroo"], ["Kangaroo"]), "kangaroo is listed with 2 legs and with 4"),
    ],
)
def test_a_list_that_cannot_serve_says_why(listed, why):
    with pytest.raises(Unsuitable, match=re.escape(why)):
        animals.list_photographs(listed)
