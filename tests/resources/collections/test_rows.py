"""Rows that are wrong are told by row; the rest goes on."""

import io
import json
import os
import unicodedata

import numpy as np
import pytest
from PIL import Image

from resources.collections.pictures import take
from resources.user_files.rows import UserFileError

CSV = "- {name: mine, path: mine.csv, scale: [1, 5], columns: {image: file, text: text, "
SCORED = f"{CSV}human_score: score}}}}"


@pytest.fixture
def told(tmp_path, collected):
    """Why each row was rejected, by its place; None where it was taken."""

    def rows(csv, entry=SCORED):
        data = csv if isinstance(csv, bytes) else csv.encode()
        (tmp_path / "mine.csv").write_bytes(data)
        return {row["location"]: row["reason"] for row in collected(entry)}

    return rows


def test_each_wrong_row_has_its_reason_and_the_rest_is_taken(tmp_path, picture, told):
    picture("red.png")
    picture("blue.png", "blue")
    (tmp_path / "cut.png").write_bytes((tmp_path / "red.png").read_bytes()[:40])
    (tmp_path / "text.png").write_text("no picture at all")
    (tmp_path / "folder.png").mkdir()
    found = told(
        b"file,text,score\n"
        b"red.png,good,5\n"
        b"gone.png,missing,5\n"
        b"text.png,not an image,5\n"
        b"cut.png,cut short,5\n"
        b"folder.png,a folder,5\n"
        b"red.png,good,1\n"
        b"red.png,above,6\n"
        b"red.png,below,0.5\n"
        b"red.png,word,five\n"
        b"red.png,\xe9t\xe9,5\n"
        b"red.png, ,5\n"
        b"red.png,cells\n"
        b",no name,5\n"
        b"https://example.org/a.png,address,5\n"
        b"blue.png,unscored,\n"
        b"blue.png,last,3\n"
    )
    assert {
        place: reason and reason.replace(f"{tmp_path}/", "") for place, reason in found.items()
    } == {
        "line 2": None,
        "line 3": "gone.png is not there.",
        "line 4": "17 bytes that are no image (JPEG, PNG, WEBP).",
        "line 5": "40 bytes that are no image (JPEG, PNG, WEBP).",
        "line 6": "folder.png is no file.",
        "line 7": "It has the picture and the words of line 2: keep one.",
        "line 8": "Its human score 6 is off the scale of 1 to 5.",
        "line 9": "Its human score 0.5 is off the scale of 1 to 5.",
        "line 10": "Its human score 'five' is no number.",
        "line 11": "It is not text in UTF-8: save the table as UTF-8, or name its encoding.",
        "line 12": "Its `text` is empty.",
        "line 13": "It has 2 cells where line 1 names 3 columns: put cells that hold "
        'commas or quotes in "quotes".',
        "line 14": "It names no picture.",
        "line 15": "Its picture is an address (https://example.org/a.png): download it, and name "
        "the file.",
        "line 16": None,
        "line 17": None,
    }


def test_the_encoding_can_be_named(picture, told):
    picture("red.png")
    entry = f"{CSV}human_score: score}}, encoding: latin-1}}"
    assert told("file,text,score\nred.png,été,5\n".encode("latin-1"), entry) == {"line 2": None}
    entry = entry.replace("latin-1", "utf-16")
    assert told("file,text,score\nred.png,été,5\n".encode("utf-16"), entry) == {"line 2": None}
    marked = "\ufefffile,text,score\nred.png,été,5\n".encode("utf-16-le")
    assert told(marked, entry.replace("utf-16", "utf-16-le")) == {"line 2": None}


def test_quotes_that_do_not_end_are_of_their_row(picture, told):
    picture("red.png")
    quotes = 'put cells that hold commas or quotes in "quotes"'
    found = told('file,text,score\nred.png,a "b" c,5\nred.png,"x"y,5\nred.png,z,5\n')
    assert found == {
        "line 2": None,
        "line 3": f"It is no CSV (',' expected after '\"'): {quotes}.",
        "line 4": None,
    }
    # One that never ends takes all that follows with it, which is told.
    found = told('file,text,score\nred.png,"open,5\nred.png,x,5\nred.png,z,5\n')
    assert found == {"line 2": f"It is no CSV (unexpected end of data), up to line 4: {quotes}."}


def test_two_rows_of_one_name_are_not_both_taken(picture, told):
    picture("red.png")
    entry = f"{CSV}name: file, human_score: score}}}}"
    found = told("file,text,score\nred.png,one,5\nred.png,two,5\n", entry)
    assert found == {
        "line 2": None,
        "line 3": "It has the name 'red.png', as does line 2: rename one.",
    }


def test_a_pattern_takes_a_number_as_it_is_meant_and_nothing_for_none(tmp_path, picture, collected):
    """Where a row lacks a whole number, Parquet and pandas have real ones in all rows."""
    picture("7.png")
    (tmp_path / "mine.jsonl").write_text('{"n": 7.0}\n{"n": null}\n')
    rows = collected('- {name: mine, path: mine.jsonl, columns: {image: "{n}.png"}}')
    assert [row["reason"] for row in rows] == [None, "Its `n` is empty."]


def test_a_score_that_no_computer_holds_is_of_its_row(tmp_path, picture, collected):
    picture("red.png")
    row = '{"file": "red.png", "text": "x", "score": %s}\n'
    (tmp_path / "mine.jsonl").write_text(row % f"1{'0' * 400}" + row % 5)
    rows = collected(SCORED.replace(".csv", ".jsonl"))
    assert [row["outcome"] for row in rows] == ["rejected", "taken"]
    assert "is no number" in rows[0]["reason"]


@pytest.mark.parametrize(
    "score", ["Infinity", "-Infinity", "[Infinity, 3]", "1e999", "[-1e999, 3]"]
)
def test_an_infinite_score_is_told_in_json_as_in_csv(tmp_path, picture, collected, score):
    picture("red.png")
    line = f'{{"file": "red.png", "text": "good", "score": {score}}}'
    (tmp_path / "mine.jsonl").write_text(line)
    (tmp_path / "mine.csv").write_text(f'file,text,score\nred.png,good,"{score}"\n')
    for entry in (SCORED.replace(".csv", ".jsonl"), SCORED):
        [row] = collected(entry)
        assert row["outcome"] == "rejected"
        assert "is no number" in row["reason"]


def test_json_lines_that_are_none_are_of_their_row(tmp_path, picture, collected):
    picture("red.png")
    good = json.dumps({"image": "red.png", "text": "good"})
    lines = [good, "{", "[1]", '{"image": "red.png"}', "[" * 100_000, "", '{"text": "x"}']
    (tmp_path / "mine.jsonl").write_text("\n".join(lines))
    rows = collected("- {name: mine, path: mine.jsonl, columns: {text: text}}")
    assert [(row["location"], row["reason"]) for row in rows] == [
        ("line 1", None),
        ("line 2", "It is no JSON object on one line."),
        ("line 3", "It is no JSON object on one line."),
        ("line 4", "It has no `text`."),
        ("line 5", "It is no JSON object on one line."),
        ("line 7", "It has no `image`."),
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.csv", None, "gone.csv is not there. Correct `path`"),
        ("mine.csv", b"", "the first line names no columns"),
        ("mine.csv", "file,t\xe9xt\n".encode("cp1252"), "line 1: it is not text in UTF-8: save"),
        ("mine.csv", "file,text\n".encode("utf-16"), "line 1: it is not text in UTF-8: save"),
        ("mine.csv", b"file,texts,score\n", "no column 'text', did you mean texts?"),
        ("mine.csv", b"file,text,text,score\n", "column 'text' is listed twice"),
        ("mine.csv", b"file,text,score\n", "holds no rows"),
        ("mine.xlsx", b"PK", "is no table. Save it as one of .csv, .tsv"),
        ("mine.json", b'"a"', "neither a list of objects nor objects by name"),
        ("mine.json", b'{"data": [{"file": "a.png"}]}', "nor objects by name"),
        ("mine.json", b'{"version": 1, "data": [{"file": "a.png"}]}', "nor objects by name"),
        ("mine.json", b"[{", "Save or export it again, as JSON"),
        ("mine.json", b'[{"text": "\xe9"}]', "line 1: it is not text in UTF-8"),
        ("mine.parquet", b"PAR1", "mine.parquet cannot be read"),
        ("mine.arrow", b"", "mine.arrow cannot be read"),
        ("mine.arrow", b"ARROW1\0\0", "is an Arrow file, not an Arrow stream. Save it as Parquet"),
        ("mine/state.json", b"{}", "is not as `datasets` writes it"),
        ("mine/state.json", b'{"_data_files": [{"filename": "a"}]}', "a cannot be read"),
    ],
)
def test_a_table_of_no_use_is_one_clear_error(tmp_path, collected, name, content, message):
    if content is not None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserFileError) as error:
        collected(SCORED.replace("mine.csv", name.partition("/")[0]))
    assert message in str(error.value)


def test_pictures_of_any_mode_and_turn_are_as_the_store_keeps_them(tmp_path, collected, stores):
    turned = Image.Exif()
    turned[0x0112] = 6
    half = Image.new("RGBA", (4, 2), (255, 0, 0, 0))
    deep = Image.fromarray(np.full((2, 4), 0xFFFF, np.uint16))
    for name, image, options in (
        ("1.png", half, {}),
        ("2.png", deep, {}),
        ("3.png", Image.new("P", (4, 2)), {}),
        ("4.jpg", Image.new("CMYK", (4, 2), (0, 255, 255, 0)), {}),
        ("5.jpg", Image.new("L", (4, 2)), {"exif": turned}),
        ("6.webp", Image.new("RGB", (4, 2), "blue"), {"lossless": True}),
    ):
        (tmp_path / "mine").mkdir(exist_ok=True)
        image.save(tmp_path / "mine" / name, **options)
    rows = collected("- {name: mine, path: mine}")
    assert [(row["outcome"], row["reason"]) for row in rows] == [
        ("taken", None),
        # Transparent and white are alike on white, at 8 bits a channel.
        ("rejected", "It has the picture and the words of 1.png: keep one."),
        *[("taken", None)] * 4,
    ]
    sizes = [(row["width"], row["height"]) for row in rows if row["sha256"]]
    assert sizes == [(4, 2), (4, 2), (4, 2), (2, 4), (4, 2)]
    for row in rows:
        if row["sha256"]:
            with Image.open(io.BytesIO(stores[0].get(row["sha256"]))) as kept:
                assert (kept.mode, kept.format, kept.info) == ("RGB", "PNG", {})


@pytest.mark.parametrize(
    ("image_format", "kind"), [("GIF", "a GIF"), ("BMP", "a BMP"), ("TIFF", "a TIFF")]
)
def test_an_image_of_another_format_is_called_one(tmp_path, picture, collected, image_format, kind):
    path = picture("mine/a.png").with_suffix(f".{image_format.lower()}")
    with Image.open(tmp_path / "mine/a.png") as image:
        image.save(path)
    reasons = [row["reason"] for row in collected("- {name: mine, path: mine}") if row["reason"]]
    assert reasons == [f"{path} is {kind}: convert it to JPEG, PNG or WebP."]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\0\0\0\x1cftypavif", "an AVIF"),
        (b"\0\0\0\x18ftypheic", "a HEIC"),
        (b"MM\0*\0\0", "a TIFF"),
        (b"BMW and others", None),
    ],
)
def test_an_image_in_a_table_is_called_its_rows(data, kind, stores):
    ((_, taken),) = take([(1, data)], *stores)
    if kind:
        assert taken.problem == f"its picture is {kind}: convert it to JPEG, PNG or WebP"
    else:
        assert taken.problem == "14 bytes that are no image (JPEG, PNG, WEBP)"


@pytest.mark.parametrize(("named", "stored"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_in_another_normal_form_is_that_of_its_file(
    tmp_path, picture, collected, named, stored
):
    picture(f"mine/{unicodedata.normalize(stored, 'Ünï.png')}")
    file = unicodedata.normalize(named, "Ünï.png")
    (tmp_path / "mine/rows.jsonl").write_text(json.dumps({"image": file}))
    (row,) = collected("- {name: mine, path: mine/rows.jsonl}")
    assert (row["reason"], row["file"]) == (None, file)


def test_a_name_in_another_normal_form_does_not_leave_the_folder(tmp_path, picture, collected):
    picture("mine/red.png")
    (tmp_path / "mine/Ü.png").symlink_to(picture("secret.png", "blue"))
    file = unicodedata.normalize("NFD", "Ü.png")
    (tmp_path / "mine/rows.jsonl").write_text(json.dumps({"image": file}))
    (row,) = collected("- {name: mine, path: mine/rows.jsonl}")
    assert "lies outside" in row["reason"]


def test_a_second_time_nothing_is_decoded_and_what_is_damaged_heals(
    picture, told, stores, monkeypatch, tmp_path
):
    for number in range(3):
        picture(f"{number}.png", (number, 0, 0))
    csv = "file,text,score\n" + "".join(f"{n}.png,{n},5\n" for n in range(3)) + "x.png,x,5\n"
    (tmp_path / "x.png").write_text("none")
    first = told(csv)
    decoded = []
    monkeypatch.setattr(
        "resources.execution.work_loop.map_in_workers",
        lambda work, items: [(key, decoded.append(each) or work(each)) for key, each in items],
    )
    assert told(csv) == first
    # What is no picture may have been too much for the machine: it is tried again.
    assert decoded == [b"none"]
    decoded.clear()
    kept = next((tmp_path / "data/images").rglob("*.png"))
    whole = kept.read_bytes()
    kept.write_bytes(whole[:-9])
    assert told(csv) == first
    assert len(decoded) == 2
    assert kept.read_bytes() == whole


def test_few_pictures_are_held_at_once(picture, stores, monkeypatch):
    """However many there are: what is read and not yet given back stays below a bound."""
    monkeypatch.setattr("resources.collections.pictures._MOST_AT_ONCE", 4)
    path, read, most = picture("red.png"), 0, 0

    def many():
        nonlocal read
        for number in range(50):
            read += 1
            yield number, path

    for number, _ in take(many(), *stores):
        most = max(most, read - number)
    assert (read, most) == (50, 4)


def test_a_file_that_never_ends_is_not_read(tmp_path, told):
    os.mkfifo(tmp_path / "pipe.png")
    assert told("file,text,score\npipe.png,a,5\n") == {"line 2": f"{tmp_path}/pipe.png is no file."}


@pytest.mark.parametrize("name", ["../secret.png", "{outside}", "link.png", "linked/secret.png"])
def test_pictures_outside_the_folder_are_refused_unless_the_entry_allows_them(
    tmp_path, picture, collected, name
):
    outside = picture("secret.png")
    picture("mine/more/red.png", "blue")
    (tmp_path / "mine/link.png").symlink_to(outside)
    (tmp_path / "mine/linked").symlink_to(tmp_path)
    (tmp_path / "mine/inside.png").symlink_to("more/red.png")
    file = name.format(outside=outside)
    (tmp_path / "mine/rows.csv").write_text(f"image\n{file}\nmore/../inside.png\n")
    refused, inside = collected("- {name: mine, path: mine/rows.csv}")
    assert (refused["outcome"], refused["sha256"], refused["file"]) == ("rejected", None, None)
    assert f"{file} lies outside {tmp_path}/mine: move it there, or write" in refused["reason"]
    assert inside["outcome"] == "taken"
    allowed, _ = collected("- {name: mine, path: mine/rows.csv, may_leave_folder: true}")
    assert allowed["outcome"] == "taken"


def test_a_neighbour_whose_name_begins_alike_is_outside(picture, tmp_path, collected):
    picture("mine-too/red.png")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/rows.csv").write_text("image\n../mine-too/red.png\n")
    (row,) = collected("- {name: mine, path: mine/rows.csv}")
    assert "lies outside" in row["reason"]


def test_links_in_a_folder_of_pictures_do_not_leave_it(picture, tmp_path, collected):
    picture("mine/red.png")
    (tmp_path / "mine/blue.png").symlink_to(picture("secret.png", "blue"))
    outside, inside = collected("- {name: mine, path: mine}")
    assert "lies outside" in outside["reason"]
    assert inside["outcome"] == "taken"


@pytest.mark.parametrize("name", ["\\ud800.png", "\\u0000.png", "a" * 5000, "~", "..", "."])
def test_a_name_that_no_file_has_is_of_its_row(picture, tmp_path, collected, name):
    picture("red.png")
    (tmp_path / "mine.jsonl").write_text(f'{{"image": "{name}"}}\n{{"image": "red.png"}}\n')
    wrong, right = collected("- {name: mine, path: mine.jsonl}")
    assert (wrong["outcome"], right["outcome"]) == ("rejected", "taken")
