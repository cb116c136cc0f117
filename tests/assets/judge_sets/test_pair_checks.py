"""Pairs with several pictures that are refused, each with a reason, before anything is asked."""

import json
from copy import deepcopy

import pytest
from PIL import Image

from assets.judge_sets.pair_checks import check_pairs, split_content
from generators.prompts.response_pairs import PICTURE_MARK as MARK
from resources.collections import load
from resources.collections.collecting import collect
from resources.storage.image_store import ImageStore
from resources.storage.work_cache import WorkCache
from resources.user_files.rows import UserFileError
from tests.assets.judge_sets.test_judge_sets import write_mixed

ENTRY = "- {name: mixed, path: mixed.json, layout: mmrb2}"


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """The pairs of a changed file, by name: outcome, location and reason."""
    folder = tmp_path_factory.mktemp("mixed")
    pairs = write_mixed(folder, 24)
    (folder / "collections.yaml").write_text(ENTRY)
    (collection,) = load(folder / "collections.yaml").values()
    stores = ImageStore(root=str(folder / "data")), WorkCache(root=str(folder / "data"))

    def check(change):
        changed = deepcopy(pairs)
        change(changed)
        (folder / "mixed.json").write_text(json.dumps({"pairs": changed}))
        rows, _ = check_pairs(collect(collection, *stores), collection)
        return {row["image_id"]: row for row in rows}

    check.folder = folder
    return check


def contents(pair, letter):
    return pair[f"response_{letter}"]["response_content"]


def set_picture(pair, letter, file):
    next(item for item in contents(pair, letter) if item[0] == "image")[1] = file


def exchange(pair):
    a, b = contents(pair, "a"), contents(pair, "b")
    a[0][1], b[0][1] = b[0][1], a[0][1]


STRAY = (
    "It has the picture {}, which is not named after it and in order, as the pictures of 11 of 12 "
    "rows of evalmuse are: one of the two is another row's."
)
FIRST, SECOND = "evalmuse_0_x", "evalmuse_1_x"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda pair: pair.update(chosen="C"), "Its preferred response is 'C': write response_a"),
        (
            lambda pair: pair.update(chosen="A"),
            "Its preferred response is A, but its annotators prefer the other (mean 2.3 of 1 to 6,",
        ),
        (lambda pair: set_picture(pair, "b", "images/gone.jpg"), "{}/images/gone.jpg is not there"),
        (lambda pair: set_picture(pair, "a", "../x.jpg"), "../x.jpg lies outside"),
        (lambda pair: set_picture(pair, "a", "mixed.json"), "bytes that are no image"),
        (
            lambda pair: set_picture(pair, "a", f"images/{SECOND}_0.jpg"),
            STRAY.format(f"images/{SECOND}_0.jpg"),
        ),
        (exchange, STRAY.format(f"images/{FIRST}_0.jpg")),
        (lambda pair: contents(pair, "a").clear(), "Its `response_a` is empty or missing."),
        (
            lambda pair: pair.update(response_a=None),
            "Its response_a holds None, neither a text nor",
        ),
        (lambda pair: pair.update(prompt_content=[["sound", "x.wav"]]), "Its prompt holds ['sound"),
        (lambda pair: pair.update(prompt_content=[]), "Its `prompt` is empty"),
        (
            lambda pair: pair.update(response_b=deepcopy(pair["response_a"])),
            "Both responses are the same.",
        ),
    ],
)
def test_a_pair_that_does_not_belong_together_is_named(checked, change, reason):
    rows = checked(lambda pairs: change(pairs[0]))
    first, *others = rows.values()
    assert first["outcome"] == "rejected"
    assert first["location"].startswith("pair 1")
    assert reason.format(checked.folder) in first["reason"]
    assert [row["outcome"] for row in others] == ["taken"] * 23


def test_a_pair_that_is_no_object_or_shows_no_picture_keeps_its_place(checked):
    def change(pairs):
        pairs[0] = "pair"
        for letter in "ab":
            contents(pairs[1], letter)[:] = [["text", f"Words {letter}"]]

    first, second, *others = checked(change).values()
    assert (first["location"], first["reason"]) == ("pair 1", "It is no JSON object.")
    assert (second["location"], second["reason"]) == ("pair 2", "It has no picture.")
    assert {row["outcome"] for row in others} == {"taken"}


def test_an_unreadable_pair_leaves_the_one_with_its_number_as_id_alone(checked):
    def change(pairs):
        pairs[0] = "pair"
        pairs[2]["id"] = 1
        for letter in "ab":
            contents(pairs[2], letter)[:] = [["text", f"Words of the harp, {letter}"]]

    rows = checked(change)
    assert rows["mixed/1"]["reason"] is None
    assert rows["mixed/row-1"]["reason"] == "It is no JSON object."


def test_picture_marks_in_a_plain_table_stand_for_no_picture(tmp_path):
    Image.new("RGB", (9, 7), "red").save(tmp_path / "a.png")
    (tmp_path / "pairs.csv").write_text(
        f"image,text,one,two,better\na.png,{MARK}Which?,A {MARK}{MARK}cat,{MARK} A dog,one\n"
    )
    (tmp_path / "collections.yaml").write_text(
        "- {name: plain, path: pairs.csv, columns: "
        "{image: image, question: text, responses: [one, two], preferred: better}}"
    )
    (collection,) = load(tmp_path / "collections.yaml").values()
    stores = ImageStore(root=str(tmp_path / "data")), WorkCache(root=str(tmp_path / "data"))
    ((row,), _) = check_pairs(collect(collection, *stores), collection)
    assert row["outcome"] == "taken"
    assert split_content(row) == [("Which?", (row["sha256"],)), ("A   cat", ()), ("A dog", ())]


def test_a_repeated_pair_is_refused_under_its_name_and_under_another(checked):
    rows = checked(lambda pairs: pairs.append(pairs[0]))
    assert rows["mixed/" + FIRST]["outcome"] == "taken"
    repeated = rows["mixed/row-25"]
    assert repeated["location"] == "pair 25"
    assert repeated["reason"] == f"It has the `id` {FIRST!r}, as does pair 1: keep one."

    def repeat(pairs):  # with the responses in the other order
        twin = deepcopy(pairs[1]) | {"id": "again"}
        twin["response_a"], twin["response_b"] = twin["response_b"], twin["response_a"]
        pairs.append(twin | {"chosen": "BA"["AB".index(twin["chosen"])], "human_annotations": None})

    rows = checked(repeat)
    assert rows["mixed/again"]["reason"] == "It shows the same as pair 2: keep one."
    assert rows["mixed/" + SECOND]["outcome"] == "taken"


def test_pairs_that_contradict_each_other_are_both_refused(checked):
    def contradict(pairs):  # with the responses in the other order, and the label as it was
        for name in ("again", "once more"):
            twin = deepcopy(pairs[1]) | {"id": name, "human_annotations": None}
            twin["response_a"], twin["response_b"] = twin["response_b"], twin["response_a"]
            pairs.append(twin)

    rows = checked(contradict)
    reason = (
        "It shows the same as {}, where the other response is preferred: correct the wrong one."
    )
    assert rows["mixed/" + SECOND]["reason"] == reason.format("pair 25")
    assert rows["mixed/again"]["reason"] == reason.format("pair 2")
    assert rows["mixed/once more"]["reason"] == reason.format("pair 2")
    assert [row["outcome"] for row in rows.values()].count("rejected") == 3


def test_a_name_that_is_there_twice_is_of_its_second_row(tmp_path):
    Image.new("RGB", (9, 7), "red").save(tmp_path / "a.png")
    (tmp_path / "pairs.csv").write_text(
        "id,image,text,one,two,better\nx,a.png,Which?,A cat,A dog,one\n"
        "x,a.png,What is it?,A fox,A hen,two\n"
    )
    (tmp_path / "collections.yaml").write_text(
        "- {name: plain, path: pairs.csv, columns: {name: id, image: image, question: text, "
        "responses: [one, two], preferred: better}}"
    )
    (collection,) = load(tmp_path / "collections.yaml").values()
    stores = ImageStore(root=str(tmp_path / "data")), WorkCache(root=str(tmp_path / "data"))
    rows, _ = check_pairs(collect(collection, *stores), collection)
    assert [(row["location"], row["reason"]) for row in rows] == [
        ("line 2", None),
        ("line 3", "It has the name 'x', as does line 2: rename one."),
    ]


def test_a_file_without_prompts_names_the_one_to_take(checked):
    def drop(pairs):
        for pair in pairs:
            del pair["prompt_content"]

    with pytest.raises(
        UserFileError,
        match=r"no pair has a `prompt_content`\. Name a file that .*"
        r"have written, as t2i\.json, not t2i_response_only\.json",
    ):
        checked(drop)
    rows = checked(lambda pairs: pairs[0].pop("prompt_content"))
    assert rows["mixed/row-1"]["reason"] == "It has no `prompt_content`."


def test_permuted_prompts_are_refused_by_source(checked):
    def permute(pairs):
        long_pairs = [pair for pair in pairs if pair["prompt_source"] == "isgbench"]
        prompts = [pair["prompt_content"] for pair in long_pairs]
        for pair, prompt in zip(long_pairs, prompts[2:] + prompts[:2], strict=True):
            pair["prompt_content"] = prompt

    rows = checked(permute).values()
    assert {row["outcome"] for row in rows if row["source"] == "evalmuse"} == {"taken"}
    (reason,) = {row["reason"] for row in rows if row["source"] == "isgbench"}
    assert reason.startswith("The responses of isgbench share no more words with their own")


def test_a_file_of_another_layout_is_an_error(checked):
    (collection,) = load(checked.folder / "collections.yaml").values()
    (checked.folder / "mixed.json").write_text("[]")
    with pytest.raises(UserFileError, match="no list `pairs`"):
        list(collect(collection, None, None))


def test_a_layout_takes_no_columns(tmp_path):
    (tmp_path / "collections.yaml").write_text(ENTRY[:-1] + ", columns: {image: x}}")
    with pytest.raises(UserFileError, match="have no effect with `layout: mmrb2`: remove one"):
        load(tmp_path / "collections.yaml")
