"""Logos: the paper's words, its numbers, and lists that cannot serve."""

import re
from collections import Counter

import pytest
from jsonschema import Draft202012Validator

from generators.isolated_photographs import write_isolation_prompt, write_isolation_task
from generators.photographs import Unsuitable, logos

BUILT_IN = logos.list_photographs(logos.BUILT_IN)
BY_ID = {p.base_id: p for p in BUILT_IN}
NUMBER = "Answer with a number in curly brackets, e.g., {9}."
YES_NO = "Answer in curly brackets, e.g., {Yes} or {No}."

TRUTHS = {
    "Adidas": ("4", "3"),
    "Nike": ("2", "1"),
    "Audi": ("5", "4"),
    "Mercedes-Benz": ("4", "3"),
    "Maserati": ("5", "3"),
}
"""Correct answer and expected bias of Q1 and Q2, typed from Appendix D.2."""

ASKED = {
    "logos/adidas-tennis-black": (
        "How many visible stripes are there in the logo of the left shoe?",
        "Count the visible stripes in the logo on the left shoe.",
        "Are the logos on these shoes Adidas logos?",
    ),
    "logos/nike-running-red": (
        "How many visible white stylized curves are there in the logo of the left shoe?",
        "Count the visible white stylized curves in the logo on the left shoe.",
        "Are the logos on these shoes Nike logos?",
    ),
    "logos/nike-running-white": (
        "How many visible black stylized curves are there in the logo of the left shoe?",
        "Count the visible black stylized curves in the logo on the left shoe.",
        "Are the logos on these shoes Nike logos?",
    ),
    "logos/mercedes-benz-suv-grey": (
        "How many points are there on the star in the logo of this car?",
        "Count the points on the star in the logo of this car.",
        "Is the logo on this car Mercedes-Benz logo?",
    ),
    "logos/audi-station-wagon-black": (
        "How many overlapping circles are there in the logo of this car?",
        "Count the overlapping circles in the logo of this car.",
        "Is the logo on this car Audi logo?",
    ),
    "logos/maserati-sports-car-white": (
        "How many prongs are there in the logo of this car?",
        "Count the prongs in the logo of this car.",
        "Is the logo on this car Maserati logo?",
    ),
}
"""Appendix A's questions, without how to answer them."""


def test_there_are_the_papers_numbers():
    assert len(BUILT_IN) == len(BY_ID) == 69
    assert Counter((p.subtopic, p.subject) for p in BUILT_IN) == {
        ("cars", "Mercedes-Benz"): 15,
        ("cars", "Maserati"): 15,
        ("cars", "Audi"): 15,
        ("shoes", "Adidas"): 12,
        ("shoes", "Nike"): 12,
    }
    cars = [p.settings for p in BUILT_IN if p.subtopic == "cars"]
    shoes = [p.settings for p in BUILT_IN if p.subtopic == "shoes"]
    assert Counter(s["colour"] for s in cars) == {"white": 15, "grey": 15, "black": 15}
    assert Counter(s["colour"] for s in shoes) == {"black": 8, "red": 8, "white": 8}
    assert Counter(s["sport"] for s in shoes) == {
        **{"tennis": 6, "running": 6, "basketball": 6, "soccer": 6}
    }
    assert all(p.domain == "logos" and p.modification == "add" for p in BUILT_IN)


def test_every_base_image_is_made_of_other_prompts():
    assert len({(p.paintings, p.edit) for p in BUILT_IN}) == 69
    painted = {painting for p in BUILT_IN for painting in p.paintings}
    assert Counter(painting.content for painting in painted) == {"logo": 3, "car": 45, "shoe": 6}
    assert all(re.fullmatch(r"logos/[a-z]+(-[a-z]+)+", p.base_id) for p in BUILT_IN)


def test_no_logo_has_an_original():
    for photograph in BUILT_IN:
        assert not photograph.has_original
        assert photograph.original_id == photograph.base_id
    with pytest.raises(ValueError, match=r"logos/mercedes-benz-sedan-white has no original"):
        logos.write_questions(BUILT_IN[0], "original")


def test_a_car_is_painted_as_in_appendix_m():
    logo, car = BY_ID["logos/maserati-coupe-grey"].paintings
    assert (logo.content, car.content) == ("logo", "car")
    assert logo.prompt == "Generate a Maserati logo but with 5 prongs instead of 3."
    assert car.prompt == (
        "Generate a photo-realistic front-view image of a grey Maserati coupe on the road in the "
        "middle of the day. Zoom out a bit so that we can see the road."
    )
    mercedes, _ = BY_ID["logos/mercedes-benz-sedan-white"].paintings
    assert mercedes.prompt == (
        "Generate a Mercedes-Benz logo but with 4 points on the star instead of 3."
    )
    audi, _ = BY_ID["logos/audi-sedan-white"].paintings
    assert audi.prompt == "Generate a Audi logo but with 5 overlapping circles instead of 4."


def test_a_shoe_is_painted_as_in_appendix_m_and_in_its_colour():
    [adidas] = BY_ID["logos/adidas-soccer-white"].paintings
    assert adidas.content == "shoe"
    assert adidas.prompt == (
        "Generate an Adidas style running shoe but with 4 stripes instead of 3. "
        "The shoe is white and its stripes are black."
    )
    [nike] = BY_ID["logos/nike-soccer-red"].paintings
    assert nike.prompt == (
        "Generate an Nike style running shoe but with 2 stylized curves instead of 1. "
        "The shoe is red and its stylized curves are white."
    )


def test_an_athlete_is_painted_around_a_shoe_as_in_appendix_m():
    assert BY_ID["logos/adidas-tennis-black"].edit == (
        "Generate a side-view image of an athlete wearing this pair of shoes. Keep all the "
        "fine-grained details of the shoes, particularly the 4 stripes on both shoes. The person "
        "is playing tennis, showing their tennis skills, and is wearing a tennis outfit. Zoom out "
        "a bit to see their full body."
    )


def test_a_logo_is_placed_on_its_car_by_an_edit_that_names_no_brand():
    for photograph in BUILT_IN:
        if photograph.subtopic == "cars":
            body, colour = photograph.settings["body"], photograph.settings["colour"]
            assert f"on the front of the {colour} {body} of the second image" in photograph.edit
            assert f"particularly the {photograph.truth} {photograph.target}." in photograph.edit
            assert photograph.subject not in photograph.edit


def test_what_is_counted_stands_out_from_the_shoe():
    for photograph in BUILT_IN:
        if photograph.subtopic == "shoes":
            assert photograph.settings["mark_colour"] != photograph.settings["colour"]
            mark = photograph.settings["mark_colour"]
            assert photograph.paintings[0].prompt.endswith(f" are {mark}.")


@pytest.mark.parametrize("base_id", ASKED)
def test_questions_are_appendix_as(base_id):
    how_many, count_the, is_it = ASKED[base_id]
    assert [
        (q.question_id, q.text) for q in logos.write_questions(BY_ID[base_id], "counterfactual")
    ] == [
        ("Q1", f"{how_many} {NUMBER}"),
        ("Q2", f"{count_the} {NUMBER}"),
        ("Q3", f"{is_it} {YES_NO}"),
    ]


def test_truths_are_those_of_appendix_d():
    for photograph in BUILT_IN:
        counting, identity = TRUTHS[photograph.subject], ("No", "Yes")
        questions = logos.write_questions(photograph, "counterfactual")
        assert [(q.ground_truth, q.expected_bias) for q in questions] == [
            *(counting, counting, identity)
        ]
        assert (str(photograph.truth), str(photograph.standard)) == counting


def test_no_check_asks_or_hints_how_many_or_names_the_brand():
    for photograph in BUILT_IN:
        checks = logos.write_checks(photograph)
        assert list(checks) == ["subject", "framing", "visibility"]
        for text in checks.values():
            assert text.endswith(f"? {YES_NO}")
            assert not re.search(
                rf"\d|\bmany\b|\bcount|\bnumber|\bmore\b|\bextra\b|{photograph.subject}"
                r"|stripe|curve|circle|point|prong|star\b|\bnatural|\bnormal",
                text,
                re.IGNORECASE,
            )


def test_checks_are_grammatical():
    def subject(base_id):
        return logos.write_checks(BY_ID[base_id])["subject"].removesuffix(f" {YES_NO}")

    assert subject("logos/audi-suv-grey") == "Does this image show a grey SUV on a road?"
    assert subject("logos/nike-running-red") == (
        "Does this image show an athlete who is running in red shoes?"
    )
    assert subject("logos/adidas-soccer-black") == (
        "Does this image show an athlete who is playing soccer in black shoes?"
    )


def test_a_review_says_how_many_in_one_sentence():
    assert logos.write_review_task(BY_ID["logos/audi-suv-grey"], "counterfactual") == (
        "Accept it if the logo of this car can be seen clearly, has exactly 5 overlapping circles "
        "and looks natural in its place."
    )
    shoe = logos.write_review_task(BY_ID["logos/nike-soccer-red"], "counterfactual")
    assert "the logo of the left shoe" in shoe
    assert "exactly 2 stylized curves" in shoe


def test_without_background_the_car_stays_and_of_an_athlete_the_shoes():
    car, shoes = (BY_ID[f"logos/{name}"] for name in ("audi-suv-grey", "nike-soccer-red"))
    assert write_isolation_prompt(car) == (
        "Edit this image: Remove everything except the car, so that only the car is left on a "
        "plain white background. Keep all the fine-grained details of the car, particularly the 5 "
        "overlapping circles, in the same place and at the same size."
    )
    assert "only the pair of shoes is left on plain white" in write_isolation_task(shoes)
    assert "exactly 2 stylized curves" in write_isolation_task(shoes)


def test_suggestions_are_asked_for_as_in_appendix_m_with_examples_of_other_brands():
    words, examples = logos.SUGGESTION.split(" { ", 1)
    assert words == (
        "Generate a JSON list of subtle logo modification prompts and corresponding VLM question "
        "prompts to test visual bias. For each entry: Slightly modify the visual components of a "
        "well-known car or sportswear logo. The selected logo must be geometrically simple and "
        "widely recognized. You must include a generation prompt to create the altered image. "
        'Include a question prompt (e.g., "How many…"). Include metadata: element being modified, '
        "actual count (ground truth), common expected count (bias)."
    )
    assert examples.count("expected_bias") == 2
    assert not any(brand in examples for brand in TRUTHS)


def test_the_list_is_in_the_form_that_a_model_is_asked_for():
    Draft202012Validator(logos.SCHEMA).validate({"modifications": logos.BUILT_IN})
    assert [(e["logo"], str(e["actual_count"]), str(e["expected_bias"])) for e in logos.BUILT_IN]
    for entry in logos.BUILT_IN:
        counts = (str(entry["actual_count"]), str(entry["expected_bias"]))
        assert counts == TRUTHS[entry["logo"]]


def entry(logo, element, actual, expected):
    return {
        "logo": logo,
        "generation_prompt": "Generate it.",
        "question_prompt": "How many?",
        "element": element,
        "actual_count": actual,
        "expected_bias": expected,
    }


STRIPES, RINGS = entry("adidas", "Stripes", 5, 3), entry("Audi", "interlocking rings", 3, 4)


def test_a_suggested_count_is_taken_and_the_words_are_the_papers():
    listed = [entry("BMW", "quarters", 5, 4), STRIPES, RINGS, entry("Audi", "rings", 6, 4)]
    made = logos.list_photographs(listed)
    assert Counter((p.subject, p.truth, p.standard, p.modification) for p in made) == {
        ("Audi", 3, 4, "remove"): 15,
        ("Adidas", 5, 3, "add"): 12,
    }
    assert made[0].paintings[0].prompt == (
        "Generate a Audi logo but with 3 overlapping circles instead of 4."
    )
    assert [q.ground_truth for q in logos.write_questions(made[0], "counterfactual")] == [
        "3",
        "3",
        "No",
    ]


@pytest.mark.parametrize(
    ("logo", "element", "actual", "expected", "brand"),
    [
        ("Mercedes", "points of the star", 5, 3, "Mercedes-Benz"),
        ("Mercedes-Benz logo", "star arms", 4, 3, "Mercedes-Benz"),
        ("Maserati trident", "tines", 4, 3, "Maserati"),
    ],
)
def test_a_modification_in_other_words_fits(logo, element, actual, expected, brand):
    made = logos.list_photographs([entry(logo, element, actual, expected), STRIPES])
    assert {p.subject for p in made} == {brand, "Adidas"}


@pytest.mark.parametrize(
    "unfit",
    [
        entry("Audi", "lettering", 5, 4),
        entry("Audi", "rings", 4, 4),
        entry("Audi", "rings", 5, 3),
        entry("Audi", "rings", 0, 4),
        entry("Audi", "rings", 10, 4),
        entry("Audience", "rings", 5, 4),
    ],
)
def test_a_modification_that_does_not_fit_is_passed_over(unfit):
    with pytest.raises(Unsuitable, match="none of the 2 modifications fits cars"):
        logos.list_photographs([unfit, STRIPES])


@pytest.mark.parametrize(
    ("listed", "why"),
    [
        ([], "none of the 0 modifications fits cars: it has to be Mercedes-Benz with another"),
        (
            [RINGS],
            "fits shoes: it has to be Adidas with another number of stripes than 3; "
            "Nike with another number of stylized curves than 1",
        ),
        ([STRIPES, {"logo": "Audi"}], "modification 2 has logo: each has to have logo, gen"),
        ([{}], "modification 1 has nothing: each has to have"),
        ([{**RINGS, "why": "x"}], "each has to have logo, generation_prompt"),
        ([{**RINGS, "element": 4}], "modification 1 has element 4, which is no text"),
        ([{**RINGS, "actual_count": "5"}], "has actual_count '5': it has to be a whole number"),
        ([{**RINGS, "expected_bias": None}], "has expected_bias None: it has to be a whole"),
        ([{**RINGS, "actual_count": True}], "has actual_count True: it has to be a whole"),
    ],
)
def test_a_list_that_cannot_serve_says_why(listed, why):
    with pytest.raises(Unsuitable, match=re.escape(why)):
        logos.list_photographs(listed)
