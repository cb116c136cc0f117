"""Tables as others publish them: their rows, pictures and scores are found."""

import errno
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from resources.user_files.rows import UserFileError

SAVED = Path(__file__).parent / "saved_by_datasets"
"""Four rows, one of them a CMYK JPEG, saved to disk in two parts by `datasets` 5.2.0."""

TIFA = {
    "coco_669925_mini_dalle": {
        "text_id": "coco_669925",
        "image_path": "coco_669925_mini_dalle.jpg",
        "text": "A Christmas tree with lights and teddy bear",
        "human_scores": [5, 5],
        "human_avg": 5.0,
    },
    "coco_325049_mini_dalle": {
        "text_id": "coco_325049",
        "image_path": "coco_325049_mini_dalle.jpg",
        "text": "A group of planes near a large wall of windows.",
        "human_scores": [3, 4],
        "human_avg": 3.5,
    },
    "drawbench_8_vq_diffusion": {
        "text_id": "drawbench_8",
        "image_path": "drawbench_8_vq_diffusion.jpg",
        "text": "A pink colored giraffe.",
        "human_scores": [1, 2, 2],
        "human_avg": 5 / 3,
    },
}
"""As in TIFA's human_annotations.json: items by the name of their picture."""


def outcomes(rows):
    return [(row["outcome"], row["reason"]) for row in rows]


def test_tifa_160(tmp_path, picture, collected):
    (tmp_path / "human_annotations.json").write_text(json.dumps(TIFA, indent=4))
    for number, item in enumerate(TIFA.values()):
        picture(f"annotated_images/{item['image_path']}", (90 * number, 10, 10))
    rows = collected(
        "- {name: tifa160, path: human_annotations.json, images: annotated_images, scale: [1, 5],"
        " columns: {image: image_path, text: text, human_score: human_scores}}"
    )
    assert outcomes(rows) == [("taken", None)] * 3
    assert [row["image_id"] for row in rows] == [f"tifa160/{name}" for name in TIFA]
    assert [row["text"] for row in rows] == [item["text"] for item in TIFA.values()]
    assert [row["human_scores"] for row in rows] == [item["human_scores"] for item in TIFA.values()]
    # The file states the mean itself.
    averages = [json.loads(row["other_columns"])["human_avg"] for row in rows]
    assert [row["human_score"] for row in rows] == pytest.approx(averages)
    assert {(row["scale_low"], row["scale_high"]) for row in rows} == {(1.0, 5.0)}


def test_pope_has_json_lines_in_a_file_that_is_called_json(tmp_path, picture, collected):
    asked = [
        {"question_id": 1, "image": "a.jpg", "text": "Is there a snowboard in it?", "label": "yes"},
        {"question_id": 2, "image": "a.jpg", "text": "Is there a car in it?", "label": "no"},
    ]
    (tmp_path / "pope.json").write_text("".join(f"{json.dumps(each)}\n" for each in asked))
    picture("val2014/a.jpg")
    rows = collected(
        "- {name: pope, path: pope.json, images: val2014,"
        " columns: {image: image, question: text, answer: label, name: question_id}}"
    )
    assert [(row["image_id"], row["question"], row["answer"]) for row in rows] == [
        ("pope/1", asked[0]["text"], "yes"),
        ("pope/2", asked[1]["text"], "no"),
    ]
    assert len({row["sha256"] for row in rows}) == 1


def test_a_single_line_with_a_list_of_objects_is_a_row(tmp_path, picture, collected):
    picture("a.jpg")
    row = {"image": "a.jpg", "boxes": [{"left": 1}]}
    (tmp_path / "one.json").write_text(json.dumps(row))
    (taken,) = collected("- {name: one, path: one.json}")
    assert (taken["reason"], json.loads(taken["other_columns"])) == (None, {"boxes": row["boxes"]})


def test_mmvp_names_pictures_by_number(tmp_path, picture, collected):
    (tmp_path / "Questions.csv").write_text(
        "Index,Question,Options,Correct Answer\n"
        '1,"Open or closed, which?",(a) Open (b) Closed,(a)\n2,Up?,(a) Yes (b) No,(b)\n'
    )
    picture("MMVP Images/1.jpg", "red")
    picture("MMVP Images/2.jpg", "blue")
    rows = collected(
        "- {name: mmvp, path: Questions.csv, images: MMVP Images, columns: "
        '{image: "{Index}.jpg", question: Question, answer: Correct Answer, name: Index}}'
    )
    assert outcomes(rows) == [("taken", None)] * 2
    assert [row["answer"] for row in rows] == ["(a)", "(b)"]
    assert json.loads(rows[0]["other_columns"]) == {"Options": "(a) Open (b) Closed"}


def test_flickr8k_expert_has_a_column_for_each_expert(tmp_path, picture, collected):
    (tmp_path / "expert.tsv").write_text(
        "image\tcaption\tone\ttwo\tthree\treferences\n"
        'a.jpg\tA dog runs .\t1\t1\t2\t["A dog", "Ein Hund"]\n'
        "a.jpg\tA man swims .\t3\t4\t\t\n"
    )
    picture("a.jpg")
    rows = collected(
        "- {name: expert, path: expert.tsv, scale: [1, 4], columns: {text: caption,"
        " references: references, human_score: [one, two, three]}}"
    )
    assert [row["human_scores"] for row in rows] == [[1.0, 1.0, 2.0], [3.0, 4.0]]
    assert [row["references"] for row in rows] == [["A dog", "Ein Hund"], []]


ENTRY = (
    "columns: {image: image, text: caption, references: captions, human_score: rating}, "
    "scale: [1, 5]"
)


def test_what_datasets_has_saved_to_disk(collected):
    rows = collected(f"- {{name: saved, path: {SAVED / 'train'}, {ENTRY}}}")
    assert [row["text"] for row in rows] == ["a red wall", "a green wall", "a blue wall", None]
    assert outcomes(rows) == [
        *[("taken", None)] * 3,
        ("rejected", "Its human score 7 is off the scale of 1 to 5."),
    ]
    assert [row["references"] for row in rows] == [["red"], ["green", "a lawn"], [], []]
    assert [row["file"] for row in rows][:3] == ["0.png", "1.png", "2.png"]
    assert (rows[0]["width"], rows[0]["height"]) == (8, 6)
    (card,) = collected(f"- {{name: card, path: {SAVED / 'train'}, columns: {{text: caption}}}}")[
        3:
    ]
    assert (card["outcome"], card["file"], card["width"], card["height"]) == ("taken", None, 5, 5)


def test_of_several_splits_one_has_to_be_named(collected):
    with pytest.raises(UserFileError, match=r"several splits: test, train.*path: .*/test`"):
        collected(f"- {{name: saved, path: {SAVED}, {ENTRY}}}")


@pytest.mark.parametrize("parts", [1, 2])
def test_parquet_with_pictures_inside(tmp_path, collected, parts):
    data = io.BytesIO()
    Image.new("L", (5, 4), 9).save(data, "WEBP", lossless=True)
    (tmp_path / "parts").mkdir()
    for part in range(parts):
        rows = [{"image": {"bytes": data.getvalue(), "path": None}, "caption": f"grey {part}"}]
        path = tmp_path / "parts" / f"{part}.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
    where = "parts" if parts > 1 else "parts/0.parquet"
    rows = collected(f"- {{name: inside, path: {where}, columns: {{text: caption}}}}")
    assert outcomes(rows) == [("taken", None)] * parts
    assert [row["location"] for row in rows] == ["row 1", "row 2"][:parts]
    assert {(row["width"], row["height"]) for row in rows} == {(5, 4)}


def test_a_folder_of_pictures(picture, collected, tmp_path):
    picture("mine/dogs/a.png", "red")
    picture("mine/b.jpg", "blue")
    (tmp_path / "mine/.DS_Store").write_bytes(b"x")
    (tmp_path / "mine/notes.txt").write_text("of a journey")
    rows = collected("- {name: mine, path: mine}")
    assert [(row["image_id"], row["outcome"]) for row in rows] == [
        ("mine/b", "taken"),
        ("mine/dogs/a", "taken"),
        ("mine/notes", "rejected"),
    ]
    assert rows[2]["reason"] == "12 bytes that are no image (JPEG, PNG, WEBP)."


def test_a_folder_with_metadata_is_the_table(picture, collected, tmp_path):
    picture("mine/a.png")
    (tmp_path / "mine/metadata.jsonl").write_text('{"file_name": "a.png", "text": "red"}\n')
    (row,) = collected("- {name: mine, path: mine, columns: {image: file_name, text: text}}")
    assert (row["outcome"], row["text"], row["file"]) == ("taken", "red", "a.png")


def test_links_that_lead_nowhere_or_to_a_folder_are_told(tmp_path, picture, collected):
    """As git-annex and DVC leave them where a picture was not fetched."""
    picture("mine/red.png")
    picture("elsewhere/blue.png", "blue")
    (tmp_path / "mine/gone.png").symlink_to("not-fetched.png")
    (tmp_path / "mine/more").symlink_to(tmp_path / "elsewhere")
    rows = collected("- {name: mine, path: mine}")
    outside = (
        f"lies outside {tmp_path}/mine: move it there, or write `may_leave_folder: true` in the "
        "entry if its table is to be trusted."
    )
    assert [(row["image_id"], row["reason"]) for row in rows] == [
        ("mine/gone", f"{tmp_path}/mine/gone.png is not there."),
        ("mine/more", f"{tmp_path}/mine/more {outside}"),
        ("mine/red", None),
    ]


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path, picture, collected, monkeypatch):
    picture("mine/red.png")

    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    monkeypatch.setattr("os.scandir", refused)
    with pytest.raises(UserFileError, match=r"mine cannot be read \(Permission denied\)"):
        collected("- {name: mine, path: mine}")
