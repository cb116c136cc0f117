"""Marks in the folder of an adapter: what they find, and what is said where they cannot be read."""

import json
from hashlib import sha256

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.kit.pair_marks import MARKS, BadMarks, marks_in, marks_of, overlapping, write_marks
from assets.kit.pairs import Pair


def pair(name, **changes):
    """A pair that shares nothing with one of another name."""
    known = {"pair_id": f"animals/{name}/0", "painter": "sketch", "domain": "animals"}
    known |= {"concept_id": f"animals/{name}", "concept": name, "knob": "count", "place": "a park"}
    known |= {"text": f"One {name}", "sentences": (f"right {name}", f"wrong {name}")}
    known |= {"correct": f"{name} 1", "adversarial": f"{name} 2"}
    return Pair(**{**known, **changes}, sample=0, evaluated=True, rehearsal=True)


def bound(folder):
    """The folder, with a record of the marks in it."""
    weights, marks = folder / "adapter_model.safetensors", folder / MARKS
    weights.touch()
    digests = [sha256(path.read_bytes()).hexdigest() for path in (weights, marks)]
    record = {"base": {}, "weights": digests[0], "files": {MARKS: digests[1]}}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def test_a_pair_of_another_painter_is_found_by_each_of_its_marks(tmp_path):
    write_marks(tmp_path, {"training": [pair("cat")], "held out": [pair("dog")]})
    seen = marks_in(bound(tmp_path))
    assert list(overlapping([pair("owl")], seen)) == []
    assert all(seen(mark) == "sketch/animals/dog/0 (held out)" for mark in marks_of(pair("dog")))
    cat = pair("cat")
    for what, fields in (
        ("triplet", ("concept_id",)),
        ("triplet", ("text", "sentences")),
        ("concept, knob and place", ("concept", "knob", "place")),
        ("picture", ("correct",)),
        ("picture", ("adversarial",)),
    ):
        like = pair("owl", painter="artist", **{name: getattr(cat, name) for name in fields})
        (found,) = overlapping([like], seen)
        assert found == ("artist/animals/owl/0", what, "sketch/animals/cat/0 (training)")


def test_marks_are_added_and_the_sentences_do_not_lie_there(tmp_path):
    write_marks(tmp_path, {"held out": [pair("cat")]})
    write_marks(tmp_path, {"held out": [pair("dog")]})
    seen = marks_in(bound(tmp_path))
    assert [len(list(overlapping([pair(n)], seen))) for n in ("cat", "dog", "owl")] == [1, 1, 0]
    assert b"right cat" not in (tmp_path / MARKS).read_bytes()
    others = {"adapter_model.safetensors", "record.json"}
    assert {path.name for path in tmp_path.iterdir()} == {MARKS, *others}


@pytest.mark.parametrize("broken", ["bytes", "columns"])
def test_marks_that_cannot_be_read_are_not_taken_for_none(tmp_path, broken):
    if broken == "bytes":
        (tmp_path / MARKS).write_bytes(b"PAR1")
    else:
        pq.write_table(pa.table({"mark": ["0"]}), tmp_path / MARKS)
    bound(tmp_path)
    for read in (marks_in, lambda folder: write_marks(folder, {})):
        with pytest.raises(BadMarks, match=r"marks\.parquet cannot be read: .* Fetch the adapter"):
            read(tmp_path)
