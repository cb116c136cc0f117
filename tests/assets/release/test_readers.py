"""Releases opened by others' readers, networking off: each row, picture and label agrees."""

import csv
import io
import json
import logging
import socket
import sys
from hashlib import sha256

import pytest
from PIL import Image

from assets.release import ReleaseOptions, write_release
from tests.assets.release.varied import PAIRS, SQUARES, VARIED, list_cells

SPLITS = [(SQUARES, "dev"), (SQUARES, "test"), (PAIRS, "main"), (PAIRS, "with_title")]

old_calls = pytest.mark.filterwarnings(
    "ignore:ConjunctiveGraph is deprecated", "ignore:The inplace keyword in"
)
"""Mark of tests of mlcroissant, which calls rdflib and pandas in ways that are to go."""


@pytest.fixture
def mlcroissant():
    """The library of that name, imported here as `datasets` is."""
    import mlcroissant  # noqa: PLC0415 - see there

    return mlcroissant


@pytest.fixture
def webdataset():
    """The library of that name, imported here as `datasets` is."""
    import webdataset  # noqa: PLC0415 - see there

    return webdataset


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*address):
        raise AssertionError(f"a connection to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def folder(sources, tmp_path, no_network):
    write_release(tmp_path / "out", VARIED, sources, ReleaseOptions(has_webdataset=True))
    return tmp_path / "out"


@pytest.mark.parametrize(("table", "split"), SPLITS)
def test_datasets(datasets, sources, folder, tmp_path, table, split):
    rows = datasets.load_dataset(
        str(folder), table.config, split=split, cache_dir=str(tmp_path / "cache")
    )
    for name in table.image_columns:
        assert isinstance(rows[0][name], Image.Image)
        rows = rows.cast_column(name, datasets.Image(decode=False))
    read = [
        {
            name: hash_bytes(cell["bytes"]) if name in table.image_columns and cell else cell
            for name, cell in row.items()
        }
        for row in rows
    ]
    assert read == list_cells(sources, table, split)


@old_calls
def test_mlcroissant(mlcroissant, sources, folder, caplog):
    with caplog.at_level(logging.ERROR):
        dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    assert {record_set.id for record_set in dataset.metadata.record_sets} == {
        *("squares", "squares-splits", "pairs", "pairs-splits")
    }
    for table in (SQUARES, PAIRS):
        splits = {
            row[f"{table.config}-splits/name"]: row[f"{table.config}-splits/rows"]
            for row in dataset.records(f"{table.config}-splits")
        }
        read = {split: [] for split in splits}
        for record in dataset.records(table.config):
            row = {name.partition("/")[2]: to_plain(value) for name, value in record.items()}
            read[row.pop("split")].append(row)
        assert read == {split: list_cells(sources, table, split) for split in table.splits}
        assert splits == {split: len(rows) for split, rows in read.items()}


@old_calls
def test_mlcroissant_finds_the_statements_and_the_provenance(mlcroissant, folder):
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    metadata = dataset.metadata.to_json()
    for name in (
        *("dataLimitations", "dataBiases", "personalSensitiveInformation", "dataUseCases"),
        *("dataSocialImpact", "hasSyntheticData"),
    ):
        assert metadata[f"rai:{name}"]
    fields = {
        field["@id"]: field["prov:wasGeneratedBy"]["@id"]
        for record_set in metadata["recordSet"]
        for field in record_set["field"]
        if "prov:wasGeneratedBy" in field
    }
    assert fields["squares/shade"] == "asset/shapes/squares"
    assert fields["squares/prompt"] == "release"


@old_calls
def test_the_sha256_of_each_file(mlcroissant, folder):
    dataset = mlcroissant.Dataset(str(folder / "croissant.json"))
    described = {
        item.content_url: item.sha256
        for item in dataset.metadata.distribution
        if isinstance(item, mlcroissant.FileObject)
    }
    assert described == {
        path.relative_to(folder).as_posix(): hash_bytes(path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and path.name not in {"croissant.json", "SHA256SUMS"}
    }


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Files left open.
@pytest.mark.parametrize(("table", "split"), SPLITS)
def test_webdataset(webdataset, sources, folder, table, split):
    shards = sorted(map(str, (folder / "webdataset" / table.config).glob(f"{split}-*.tar")))
    samples = webdataset.WebDataset(shards, shardshuffle=False, empty_check=False)
    read = []
    for sample in samples:
        row = json.loads(sample["json"])
        for name in table.image_columns:
            picture = sample.get("png" if len(table.image_columns) == 1 else f"{name}.png")
            row[name] = picture and hash_bytes(picture)
        read.append(row)
    assert read == list_cells(sources, table, split)


def test_the_tsv_of_vlmevalkit(sources, folder):
    limit = csv.field_size_limit(sys.maxsize)
    for split in SQUARES.splits:
        text = (folder / f"vlmevalkit/squares_{split}.tsv").read_text()
        rows = [*csv.DictReader(io.StringIO(text), delimiter="\t")]
        assert [row["index"] for row in rows] == [
            cells["id"] for cells in list_cells(sources, SQUARES, split)
        ]
    csv.field_size_limit(limit)


def hash_bytes(data):
    return sha256(data).hexdigest()


def to_plain(value):
    """A value of mlcroissant as Python has it: it reads texts as bytes, and decodes pictures."""
    if isinstance(value, Image.Image):
        return hash_bytes(value.fp.getvalue())
    if isinstance(value, list):
        return [*map(to_plain, value)]
    if isinstance(value, bytes):
        return value.decode()
    return value.item() if hasattr(value, "item") else value
