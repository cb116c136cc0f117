"""Marks in the folder of an adapter: what they find, and what is said where they cannot be read."""

import io
import json
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assets.kit.pair_marks import BadMarks, add_marks, build_marks, find_overlaps, load_mark_finder
from assets.kit.pairs import TrainingPair
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import list_folder, open_address, read_file
from tests.adapters import adapter_record


def pair(name, **changes):
    """A pair that shares nothing with one of another name."""
    known = {"pair_id": f"animals/{name}/0", "painter": "sketch", "domain": "animals"}
    known |= {
        "concept_id": f"animals/{name}",
        "concept": name,
        "knob": "count",
        "setting": "a park",
    }
    known |= {"text": f"One {name}", "sentences": (f"right {name}", f"wrong {name}")}
    known |= {"correct": f"{name} 1", "adversarial": f"{name} 2"}
    return TrainingPair(**{**known, **changes}, sample=0, evaluated=True, is_stand_in=True)


@pytest.fixture
def adapter(address):
    """The folder of an adapter, without marks yet."""
    folder = open_address(address) / "adapters" / "small-0"
    for name in ("adapter_model.safetensors", "adapter_config.json"):
        write_atomically(folder / name, b"")
    write_atomically(folder / "record.json", json.dumps(adapter_record()).encode())
    return folder


def marks_file(folder):
    """The one file of marks in a folder."""
    (path,) = (path for path in list_folder(folder) if path.suffix == ".parquet")
    return path


def test_a_pair_of_another_painter_is_found_by_each_of_its_marks(adapter):
    add_marks(adapter, {"training": [pair("cat")], "held out": [pair("dog")]})
    seen = load_mark_finder(adapter)
    assert list(find_overlaps([pair("owl")], seen)) == []
    assert all(seen(mark) == "sketch/animals/dog/0 (held out)" for mark in build_marks(pair("dog")))
    cat = pair("cat")
    for what, fields in (
        ("triplet", ("concept_id",)),
        ("triplet", ("text", "sentences")),
        ("concept, knob and setting", ("concept", "knob", "setting")),
        ("picture", ("correct",)),
        ("picture", ("adversarial",)),
    ):
        like = pair("owl", painter="artist", **{name: getattr(cat, name) for name in fields})
        (found,) = find_overlaps([like], seen)
        assert found == ("artist/animals/owl/0", what, "sketch/animals/cat/0 (training)")


def found_in(folder):
    """Which of three pairs the marks of an adapter have."""
    seen = load_mark_finder(folder)
    return [name for name in ("cat", "dog", "owl") if [*find_overlaps([pair(name)], seen)]]


def test_marks_are_added_and_the_sentences_do_not_lie_there(adapter):
    before = {path.name for path in list_folder(adapter)}
    add_marks(adapter, {"held out": [pair("cat")]})
    add_marks(adapter, {"held out": [pair("dog")]})
    assert found_in(adapter) == ["cat", "dog"]
    marks = marks_file(adapter)
    assert b"right cat" not in read_file(marks)
    assert {path.name for path in list_folder(adapter)} == {*before, marks.name}
    add_marks(adapter, {"held out": [pair("dog")]})
    assert marks_file(adapter) == marks, "nothing is new"


def record_marks(adapter):
    """Have the record name the marks as they are."""
    path = marks_file(adapter)
    record = json.loads(read_file(adapter / "record.json"))
    record["files"] = {path.name: sha256(read_file(path)).hexdigest()}
    write_atomically(adapter / "record.json", json.dumps(record).encode())


@pytest.mark.parametrize("address", ["folder"], indirect=True)
def test_a_kill_at_any_write_leaves_marks_and_record_that_fit(adapter, monkeypatch):
    """Files are renamed into place and removed: it is stopped before each of these, in turn."""
    add_marks(adapter, {"held out": [pair("cat")]})
    allowed, stopped = 0, True
    while stopped:
        left = allowed

        def or_stop(method):
            def changed(path, *target, **terms):
                nonlocal left
                if not path.name.startswith(".") or target:
                    left -= 1
                    if left < 0:
                        raise KeyboardInterrupt
                return method(path, *target, **terms)

            return changed

        with monkeypatch.context() as patch:
            for name in ("rename", "unlink"):
                patch.setattr(Path, name, or_stop(getattr(Path, name)))
            try:
                add_marks(adapter, {"held out": [pair("dog")]})
                stopped = False
            except KeyboardInterrupt:
                allowed += 1
        assert found_in(adapter) in (["cat"], ["cat", "dog"])
    assert allowed == 3, "the marks, the record, and the marks before"
    assert found_in(adapter) == ["cat", "dog"]
    marks_file(adapter)


@pytest.mark.parametrize("broken", ["bytes", "columns"])
def test_marks_that_cannot_be_read_are_not_taken_for_none(adapter, broken):
    add_marks(adapter, {"held out": [pair("cat")]})
    if broken == "bytes":
        write_atomically(marks_file(adapter), b"PAR1")
    else:
        data = io.BytesIO()
        pq.write_table(pa.table({"mark": ["0"]}), data)
        write_atomically(marks_file(adapter), data.getvalue())
    record_marks(adapter)
    for read in (load_mark_finder, lambda folder: add_marks(folder, {})):
        with pytest.raises(BadMarks, match=r"marks-\w+.parquet cannot be read: .* Fetch the ada"):
            read(adapter)
