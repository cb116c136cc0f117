"""Changed releases: each is caught, also where the checksums were written anew."""

import json
import shutil
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from assets.release import (
    ReleaseMismatch,
    ReleaseOptions,
    ReleaseRefused,
    verify_release,
    write_release,
)
from assets.release.checksums import write_checksums
from tests.assets.release.small import SHAPES, with_rows


@pytest.fixture
def folder(sources, tmp_path):
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions())
    return tmp_path / "out"


def verify(folder, sources, benchmark=SHAPES, **options):
    verify_release(folder, benchmark, sources, ReleaseOptions(**options))


def pick(items, name):
    return next(item for item in items if item["@id"] == name)


def record_set(document):
    return pick(document["recordSet"], "squares")


def field(document, name):
    return pick(record_set(document)["field"], f"squares/{name}")


def file_object(document):
    return pick(document["distribution"], "data/squares/dev-00000-of-00001.parquet")


def swap(items, first, second):
    items[first], items[second] = items[second], items[first]


CHANGES = {
    "another sha256": lambda d: file_object(d).update(sha256="0" * 64),
    "another size": lambda d: file_object(d).update(contentSize="1 B"),
    "another file name": lambda d: file_object(d).update({"@id": "data/squares/dev.parquet"}),
    "another address": lambda d: file_object(d).update(contentUrl="data/squares/test.parquet"),
    "a dropped file": lambda d: d["distribution"].remove(file_object(d)),
    "files of another table": lambda d: pick(d["distribution"], "squares-files").update(
        includes="data/circles/*.parquet"
    ),
    "a dropped column": lambda d: record_set(d)["field"].remove(field(d, "share")),
    "a column that is not there": lambda d: field(d, "share")["source"]["extract"].update(
        column="part"
    ),
    "another type": lambda d: field(d, "shade").update(dataType="sc:Text"),
    "no list": lambda d: field(d, "accepted").pop("isArray"),
    "swapped sources": lambda d: (
        swap({name: field(d, name) for name in ("id", "prompt")}, "id", "prompt")
        or field(d, "id").update(source=field(d, "prompt")["source"])
    ),
    "swapped order": lambda d: swap(record_set(d)["field"], 1, 2),
    "a repeated column": lambda d: record_set(d)["field"].append(field(d, "share")),
    "another split": lambda d: pick(d["recordSet"], "squares-splits")["data"][0].update(
        {"squares-splits/name": "train"}
    ),
    "another count": lambda d: pick(d["recordSet"], "squares-splits")["data"][0].update(
        {"squares-splits/rows": 3}
    ),
    "a dropped record set": lambda d: d["recordSet"].remove(record_set(d)),
    "a missing statement": lambda d: d.pop("rai:dataLimitations"),
    "synthetic data denied": lambda d: d.update({"rai:hasSyntheticData": False}),
    "another licence": lambda d: d.update(license=["https://spdx.org/licenses/MIT"]),
    "a part without its licence": lambda d: d["prov:wasDerivedFrom"][0].pop("license"),
    "another asset": lambda d: field(d, "shade").update(
        {"prov:wasGeneratedBy": {"@id": "asset/shapes/circles"}}
    ),
    "another code version": lambda d: d["prov:wasGeneratedBy"][0].update(softwareVersion="2"),
    "a dropped asset": lambda d: d["prov:wasGeneratedBy"].pop(0),
    "another vocabulary": lambda d: d["@context"].update(rai="http://example.com/"),
    "an older specification": lambda d: d["conformsTo"].pop(0),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_croissant_file_is_caught(folder, sources, name):
    path = folder / "croissant.json"
    document = json.loads(path.read_text())
    CHANGES[name](document)
    path.write_text(json.dumps(document))
    write_checksums(folder, {})
    with pytest.raises(ReleaseMismatch, match=r"\n- croissant\.json"):
        verify(folder, sources)


def test_an_unchanged_release_passes(folder, sources):
    verify(folder, sources)
    document = json.loads((folder / "croissant.json").read_text())
    (folder / "croissant.json").write_text(json.dumps(document))
    with pytest.raises(ReleaseMismatch, match=r"SHA256SUMS: croissant\.json is") as caught:
        verify(folder, sources)
    assert str(caught.value).count("\n- ") == 1


def test_a_changed_cell_and_picture_are_caught_by_their_row(folder, sources):
    path = folder / "data/squares/test-00000-of-00001.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[1]["shade"] = 31
    rows[2]["image"] = rows[0]["image"]
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    write_checksums(folder, {})
    with pytest.raises(ReleaseMismatch) as caught:
        verify(folder, sources)
    assert "squares/test/dark/30: shade is 31 instead of 30" in str(caught.value)
    assert "squares/test/light/210: image is" in str(caught.value)


def test_rows_more_or_fewer_are_caught(folder, sources):
    path = folder / "data/squares/test-00000-of-00001.parquet"
    table = pq.read_table(path)
    for count, words in ((3, "fewer rows than the tables"), (5, "more rows than the tables")):
        pq.write_table(table.take([*range(4), 0][:count]), path)
        write_checksums(folder, {})
        with pytest.raises(ReleaseMismatch, match=f"squares/test: it has {words}"):
            verify(folder, sources)


def test_a_file_that_is_no_parquet_is_caught(folder, sources):
    (folder / "data/squares/test-00000-of-00001.parquet").write_bytes(b"PAR1")
    write_checksums(folder, {})
    with pytest.raises(ReleaseMismatch, match="squares/test: "):
        verify(folder, sources)


def test_a_changed_card_and_other_licences_are_caught(folder, sources):
    card = folder / "README.md"
    card.write_text(card.read_text().replace("Seed: 7", "Seed: 8"))
    write_checksums(folder, {})
    with pytest.raises(ReleaseMismatch, match=r'README\.md, line \d+ is "Seed: 8\." instead of'):
        verify(folder, sources)
    with pytest.raises(ReleaseMismatch, match=r"LICENCES\.md, line \d+"):
        verify(folder, sources, licence="MIT")


def test_an_empty_folder_and_a_missing_file_are_caught(folder, sources, tmp_path):
    with pytest.raises(ReleaseMismatch, match=r"README\.md is missing\n.*\n- croissant\.json: "):
        verify(tmp_path / "nowhere", sources)
    shutil.rmtree(folder / "data/squares")
    with pytest.raises(ReleaseMismatch, match="squares/dev: it has fewer rows"):
        verify(folder, sources)


def test_without_the_options_that_it_was_made_with_it_says_to_give_them(sources, tmp_path):
    benchmark = with_rows(lambda row, _: row._replace(is_stand_in=row.row_id.startswith("dark")))
    write_release(tmp_path / "out", benchmark, sources, ReleaseOptions(partitions=["light"]))
    verify(tmp_path / "out", sources, benchmark, partitions=["light"])
    with pytest.raises(ReleaseRefused) as caught:
        verify(tmp_path / "out", sources, benchmark)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'out'}: not compared, as nothing of Shapes could be")
    assert "Give the --partitions, --licence and --webdataset that the folder was" in message
    assert "\n- 3 rows made by stand-ins: squares/dev/dark/10, " in message
    assert message.endswith("counterfactory release shapes --check FOLDER --partitions 'light'")
    assert "--to" not in message


def test_a_release_of_other_words_is_caught(folder, sources):
    card = replace(SHAPES.release_card, limitations=["Squares alone."])
    with pytest.raises(ReleaseMismatch, match="rai:dataLimitations is"):
        verify(folder, sources, replace(SHAPES, release_card=card))
