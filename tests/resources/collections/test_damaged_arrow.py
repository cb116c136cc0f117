"""Arrow and Parquet that is damaged, hostile or very large rejects rows, and ends nothing."""

import io
import resource
import struct
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from resources.user_files.reader import read_rows
from resources.user_files.rows import TableFormat, UserFileError

ENTRY = "- {name: mine, path: mine.%s, columns: {image: image, text: text}}"


def png(colour="red"):
    file = io.BytesIO()
    Image.new("RGB", (4, 3), colour).save(file, "PNG")
    return file.getvalue()


def saved(path, table):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_stream(str(path), table.schema) as stream:
            stream.write_table(table)


@pytest.mark.parametrize("offset", [2_000_000_000, -5, 1])
def test_offsets_beyond_the_buffer_reject_their_rows(tmp_path, collected, offset):
    path, pictures = tmp_path / "mine.arrow", [png("red"), png("blue"), png("green")]
    saved(path, pa.table({"image": pictures, "text": ["one", "twotwo", "six"]}))
    honest, wrong = (struct.pack("<4i", 0, 3, end, 12) for end in (9, offset))
    data = path.read_bytes()
    assert data.count(honest) == 1
    path.write_bytes(data.replace(honest, wrong))
    first, second, _ = collected(ENTRY % "arrow")
    assert first["outcome"] == "taken"
    assert second["outcome"] == "rejected"
    assert second["reason"].startswith("Its cells cannot be read (")


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_bad_cell_rejects_its_row_and_the_rest_is_taken(tmp_path, collected, kind):
    texts = pa.array([b"good", b"\xff\xfe", b"fine"]).cast(pa.string(), safe=False)
    days = pa.array([0, 1, 2**62], pa.timestamp("us"))
    pictures = [png("red"), png("blue"), png("green")]
    saved(tmp_path / f"mine.{kind}", pa.table({"image": pictures, "text": texts, "day": days}))
    good, not_text, no_day = collected(ENTRY % kind)
    assert good["outcome"] == "taken"
    assert not_text["reason"].startswith("Its cells cannot be read (")
    assert no_day["reason"].startswith("Its cells cannot be read (")


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_bytes_are_no_text_and_other_pictures_are_not_read(tmp_path, collected, kind):
    table = {"image": [png()], "text": [b"good"], "mask": [b"\0" * 9], "parts": [[b"x"]], "n": [7]}
    saved(tmp_path / f"mine.{kind}", pa.table(table))
    [row] = collected(ENTRY % kind)
    assert row["reason"] == "Its `text` holds bytes, no text."
    [read] = read_rows(tmp_path / f"mine.{kind}", TableFormat(columns=("image",)))
    assert set(read.cells) == {"image", "n"}


def test_a_small_file_with_one_long_text_in_many_rows_takes_little_memory(tmp_path):
    text = pa.DictionaryArray.from_arrays([0] * 12, ["x" * 40_000_000])
    table = pa.table({"image": [b"?"] * 12, "text": text})
    pq.write_table(table, tmp_path / "mine.parquet", compression="zstd")
    assert (tmp_path / "mine.parquet").stat().st_size < 20_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows = read_rows(tmp_path / "mine.parquet", TableFormat(columns=("image", "text")))
    assert {row.problem for row in rows} == {
        "its cells cannot be read (`text` has more than 1,000,000 characters)"
    }
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000


def test_lists_of_very_many_values_are_refused(tmp_path):
    table = pa.table({"image": [b"?"], "scores": [[0] * 20_000]})
    pq.write_table(table, tmp_path / "mine.parquet")
    with pytest.raises(UserFileError, match=r"more than 10,000 values per row\. Save"):
        [*read_rows(tmp_path / "mine.parquet", TableFormat(columns=("image",)))]


FUZZ = """
import random, sys
from pathlib import Path
from resources.user_files.reader import read_rows
from resources.user_files.rows import TableFormat, UserFileError
source = Path(sys.argv[1])
data, chance = source.read_bytes(), random.Random(7)
path = source.with_name("fuzzed" + source.suffix)
read = refused = 0
for turn in range(150):
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        changed[chance.randrange(len(changed))] = chance.choice((0, 1, 127, 128, 255))
    path.write_bytes(changed[: chance.choice((None, None, None, chance.randrange(len(data))))])
    try:
        for row in read_rows(path, TableFormat(columns=("image", "text"))):
            read += 1
            assert row.problem or isinstance(row.cells["text"], str | None), row
    except UserFileError:
        refused += 1
print(read, refused)
"""


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_files_with_changed_bytes_end_no_process(tmp_path, kind):
    table = pa.table(
        {"image": [png()] * 3, "text": ["one", None, "three"], "list": [["a"], [], None]}
    )
    saved(tmp_path / f"mine.{kind}", table)
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, tmp_path / f"mine.{kind}"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read, refused = map(int, done.stdout.split())
    assert read > 30
    assert refused > 10
