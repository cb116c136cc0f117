"""Captions that people have scored, in the layouts of Flickr8k-Expert and Nebula."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from resources.user_files.rows import UserFileError

ENTRY = """
- name: flickr8k_expert
  path: Flickr8k_text/ExpertAnnotations.txt
  heads: [image, caption, first, second, third]
  images: Flicker8k_Dataset
  captions: Flickr8k_text/Flickr8k.token.txt
  columns: {image: image, text: caption, human_score: [first, second, third]}
  scale: [1, 4]
"""
"""As collections.yaml has it."""

EXPERT = """\
dog.jpg\tdog.jpg#1\t4\t4\t3
dog.jpg\tcat.jpg#0\t1\t1\t2
dog.jpg\tbird.jpg#0\t1\t1\t1
cat.jpg\tdog.jpg#0\t1\t2\t5
"""
TOKENS = """\
dog.jpg#0\tA brown dog runs .
dog.jpg#1\tA dog on the grass , "running" .
dog.jpg#2\tA dog .
cat.jpg#0\tA cat sleeps .
"""


@pytest.fixture
def flickr(tmp_path, picture):
    for name, colour in (("dog", "brown"), ("cat", "grey")):
        picture(f"Flicker8k_Dataset/{name}.jpg", colour)

    def files(expert=EXPERT, tokens=TOKENS):
        folder = tmp_path / "Flickr8k_text"
        folder.mkdir(exist_ok=True)
        (folder / "ExpertAnnotations.txt").write_text(expert)
        (folder / "Flickr8k.token.txt").write_text(tokens)

    return files


def test_ratings_by_experts_name_captions_of_another_file(flickr, collected):
    flickr()
    rows = collected(ENTRY)
    right, other, nameless, off = rows
    assert (right["text"], right["human_score"]) == ('A dog on the grass , "running" .', 11 / 3)
    assert right["human_scores"] == [4, 4, 3]
    assert right["references"] == [
        "A brown dog runs .",
        'A dog on the grass , "running" .',
        "A dog .",
    ]
    assert other["text"] == "A cat sleeps ."
    assert other["references"] == right["references"]
    assert (right["file"], other["sha256"]) == ("dog.jpg", right["sha256"])
    assert nameless["outcome"] == "rejected"
    assert "its caption is 'bird.jpg#0', which" in nameless["reason"].lower()
    assert "5 is off the scale of 1 to 4" in off["reason"]


@pytest.mark.parametrize(
    ("tokens", "said"),
    [
        ("dog.jpg#0 A dog\n", "line 1: it is no caption"),
        ("dog.jpg\tA dog\n", "line 1: it is no caption"),
        ("dog.jpg#0\t \n", "line 1: it is no caption"),
        ("dog.jpg#0\tA dog\n\ndog.jpg#0\tA dog\n", "line 3: 'dog.jpg#0' is listed twice"),
    ],
)
def test_captions_that_are_none_are_named_with_their_line(flickr, collected, tokens, said):
    flickr(tokens=tokens)
    with pytest.raises(UserFileError, match=said):
        collected(ENTRY)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("Flickr8k.token.txt", "tokens.txt", "tokens.txt is not there. Correct `captions`"),
        ("text: caption, ", "", "no effect without `text` among `columns`"),
        ("text: caption,", "text: caption, references: [caption],", "has the references: remove"),
        ("ExpertAnnotations.txt", "expert.json", "are for a .csv, .tsv or .txt: remove them"),
        ("[image, caption,", "[picture, caption,", "no column 'image'"),
    ],
)
def test_what_cannot_be_is_said(flickr, collected, old, new, said):
    flickr()
    with pytest.raises(UserFileError, match=said):
        collected(ENTRY.replace(old, new))


def test_nebula_has_a_picture_references_a_candidate_and_a_score(tmp_path, collected):
    png = io.BytesIO()
    Image.new("RGB", (8, 6), "brown").save(png, "PNG")
    pictures = [{"bytes": png.getvalue(), "path": "000000000042.jpg"}] * 2
    table = {
        "file_name": ["000000000042.jpg"] * 2,
        "image": pictures,
        "refs": [["A dog.", "A brown dog."]] * 2,
        "mt": ["a dog is running", "a red car"],
        "human_score": [0.75, 0.0],
    }
    (tmp_path / "data").mkdir()
    pq.write_table(pa.table(table), tmp_path / "data/test-00000-of-00001.parquet")
    rows = collected(
        "- name: nebula\n"
        "  path: data/test-00000-of-00001.parquet\n"
        "  columns: {image: image, text: mt, references: refs, human_score: human_score}\n"
        "  scale: [0, 1]\n"
    )
    assert [(row["text"], row["human_score"]) for row in rows] == [
        ("a dog is running", 0.75),
        ("a red car", 0),
    ]
    assert rows[0]["references"] == ["A dog.", "A brown dog."]
    assert rows[0]["sha256"] == rows[1]["sha256"]
    assert rows[0]["file"] == "000000000042.jpg"
