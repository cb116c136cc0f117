"""Forms of a release besides what `datasets` reads: row groups, shards, tar files and TSV."""

import base64
import json
import tarfile
from dataclasses import replace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from assets.release import ReleaseOptions, parquet, webdataset, write_release
from tests.assets.release.small import SHADES, SHAPES, TABLE, picture, read_rows

SPLIT_IDS = [f"{name}/{shade}" for name, shades in SHADES.items() for shade in shades[1:]]


def repeated(times):
    def read_repeated(inputs, split):
        for row in read_rows(inputs, split):
            for number in range(times):
                name = f"{row.row_id}/{number}"
                yield row._replace(row_id=name, cells={**row.cells, "id": name})

    return replace(SHAPES, release_tables=[replace(TABLE, read_rows=read_repeated)])


def test_a_row_group_has_a_hundred_pictures_and_a_page_index(sources, tmp_path):
    write_release(tmp_path / "out", repeated(60), sources, ReleaseOptions())
    file = pq.ParquetFile(tmp_path / "out/data/squares/test-00000-of-00001.parquet")
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [100, 100, 40]
    for group in groups:
        columns = [group.column(number) for number in range(group.num_columns)]
        assert all(column.has_offset_index for column in columns)
        compressions = {column.path_in_schema: column.compression for column in columns}
        assert compressions.pop("image.bytes") == "UNCOMPRESSED"
        assert {*compressions.values()} == {"ZSTD"}


def test_large_groups_and_splits_are_cut_by_bytes(sources, tmp_path, monkeypatch):
    size = len(picture(10))
    monkeypatch.setattr(parquet, "GROUP_BYTES", 5 * size)
    monkeypatch.setattr(parquet, "SHARD_BYTES", 11 * size)
    monkeypatch.setattr(webdataset, "SHARD_BYTES", 11 * size)
    options = ReleaseOptions(has_webdataset=True)
    release = write_release(tmp_path / "out", repeated(6), sources, options)
    test = release.tables[0].splits[1]
    assert test.files == [f"data/squares/test-{n:05d}-of-00003.parquet" for n in range(3)]
    files = [pq.ParquetFile(tmp_path / "out" / file) for file in test.files]
    assert sum(file.metadata.num_rows for file in files) == 24
    assert max(file.metadata.num_rows for file in files) <= 11
    assert all(
        file.metadata.row_group(number).num_rows <= 5
        for file in files
        for number in range(file.num_row_groups)
    )
    ids = [name for file in files for name in file.read(["id"])["id"].to_pylist()]
    assert ids == [f"{name}/{number}" for name in SPLIT_IDS for number in range(6)]
    tars = sorted((tmp_path / "out/webdataset/squares").glob("test-*.tar"))
    assert [path.name for path in tars] == [f"test-{n:06d}.tar" for n in range(3)]
    keys = []
    for path in tars:
        with tarfile.open(path) as tar:
            keys += [name.partition(".")[0] for name in tar.getnames()]
    assert len({*keys}) == 24
    assert all(keys.count(key) == 2 for key in keys)


def test_a_sample_of_webdataset_is_a_picture_and_its_columns(sources, tmp_path):
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions(has_webdataset=True))
    with tarfile.open(tmp_path / "out/webdataset/squares/test-000000.tar") as tar:
        assert {(member.mtime, member.uid, member.uname) for member in tar} == {(0, 0, "")}
        assert tar.getnames()[:2] == ["test-00000000.png", "test-00000000.json"]
        assert tar.extractfile("test-00000000.png").read() == picture(20)
        cells = json.load(tar.extractfile("test-00000000.json"))
    assert (cells["id"], cells["accepted"], "image" in cells) == ("dark/20", ["20", "14"], False)


def test_the_tsv_is_read_by_pandas_as_vlmevalkit_does(sources, tmp_path):
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions())
    table = pd.read_csv(tmp_path / "out/vlmevalkit/squares_test.tsv", sep="\t")
    assert [*table.columns] == ["index", "image", "question", "answer"]
    assert [*table["index"]] == SPLIT_IDS
    assert base64.b64decode(table["image"][0]) == picture(20)
    assert json.loads(table["answer"][0]) == ["20", "14"]
    assert table["question"][0] == "Is it 20?"


@pytest.mark.parametrize("text", ['tab\tand "quotes"', "two\nlines", "naïve — ✓"])
def test_the_tsv_keeps_any_text(text, sources, tmp_path):
    def read_changed(inputs, split):
        for row in read_rows(inputs, split):
            yield row._replace(cells={**row.cells, "prompt": text})

    benchmark = replace(SHAPES, release_tables=[replace(TABLE, read_rows=read_changed)])
    write_release(tmp_path / "out", benchmark, sources, ReleaseOptions())
    table = pd.read_csv(tmp_path / "out/vlmevalkit/squares_dev.tsv", sep="\t")
    assert [*table["question"]] == [text, text]
