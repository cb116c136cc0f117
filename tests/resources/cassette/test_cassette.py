"""Cassettes: what comes out of one store goes into another as it was, or not at all."""

import json
import random
import sqlite3
import struct
import zlib
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest

from resources.calls import CallStore, DamagedAnswers
from resources.cassette import BadCassette, export_cassette, import_cassette
from resources.cassette.archive_format import MAX_LINE_BYTES
from resources.cassette.archive_reader import open_cassette
from resources.cassette.importer import ReviewConflict
from resources.faults import CorruptItem, MissingItem, UnwritableStore
from resources.storage.atomic_writes import write_atomically
from resources.storage.files import open_address, read_file
from resources.storage.image_store import ImageStore
from tests.resources.cassette.cassettes import (
    edited,
    looked,
    painted,
    parts_of,
    png_of,
    refused,
    rewritten,
)

REVIEWS = {"animals": "image_id,decision\nanimals/dog,accepted ü\n".encode()}


PNG = png_of(7)


def chunk(kind, data):
    """A chunk of a PNG."""
    crc = zlib.crc32(data, zlib.crc32(kind))
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def png_with(*more, header=(1, 1, 8, 2, 0, 0, 0), rows=bytes(4), packed=None):
    """A PNG of one pixel, unless something else is said."""
    data = chunk(b"IDAT", zlib.compress(rows) if packed is None else packed)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", *header))
    return start + b"".join(more) + data + chunk(b"IEND", b"")


class Store:
    """A data root with calls, images and reviews."""

    def __init__(self, root):
        self.root = root
        root.mkdir()
        self.calls = CallStore(url=f"sqlite:///{root}/calls.sqlite")
        self.images = ImageStore(root=str(root))
        self.reviews = root / "reviews"

    def exported(self, path, keys=None, reviews=REVIEWS):
        keys = list(self.calls.iterate_keys()) if keys is None else keys
        return export_cassette(path, keys, self.calls, self.images, reviews)

    def imported(self, path):
        return import_cassette(path, self.calls, self.images, self.reviews)

    def files(self):
        """Everything in it but the database, and every call."""
        kept = {
            str(path.relative_to(self.root)): path.read_bytes()
            for path in sorted(self.root.rglob("*"))
            if path.is_file() and not path.name.startswith("calls.sqlite")
        }
        return kept, list(self.calls.iterate_calls(self.calls.iterate_keys()))


@pytest.fixture
def opened(tmp_path):
    stores = []

    def open_one(name):
        stores.append(Store(tmp_path / name))
        return stores[-1]

    yield open_one
    for store in stores:
        store.calls.close()


@pytest.fixture
def full(opened):
    """A store with texts, a refusal in odd letters and two pictures."""
    store = opened("full")
    store.calls.keep([looked(1), looked(2), refused(3), *painted_two(store)])
    return store


def painted_two(store):
    return [painted(1, store.images), painted(2, store.images)]


@pytest.fixture
def empty(opened):
    return opened("empty")


@pytest.fixture
def path(tmp_path, full):
    """A cassette of all of it."""
    path = tmp_path / "out" / "all.cassette"
    full.exported(path)
    return path


def refusal(store, path):
    """What is said of a cassette that is not taken; nothing may have changed."""
    before = store.files()
    with pytest.raises(BadCassette) as raised:
        store.imported(path)
    assert store.files() == before
    said = str(raised.value)
    assert str(path) in said
    assert "nothing was imported" in said
    return said


class TestThereAndBack:
    def test_everything_arrives_as_it_was(self, full, empty, path):
        assert empty.imported(path) == (5, 5, 0, 2, 1)
        kept, calls = empty.files()
        assert calls == full.files()[1]
        assert len(calls) == 5
        assert kept.pop("reviews/animals.csv") == REVIEWS["animals"]
        assert kept == full.files()[0]

    def test_a_second_import_changes_nothing(self, empty, path):
        empty.imported(path)
        before = empty.files()
        times = {each: each.stat().st_mtime_ns for each in empty.root.rglob("*.png")}
        assert empty.imported(path) == (5, 0, 0, 2, 0)
        assert empty.files() == before
        assert {each: each.stat().st_mtime_ns for each in empty.root.rglob("*.png")} == times

    def test_the_same_calls_give_the_same_bytes(self, full, empty, path, tmp_path):
        empty.imported(path)
        keys = list(empty.calls.iterate_keys())
        empty.exported(tmp_path / "again", keys[::-1])
        assert (tmp_path / "again").read_bytes() == path.read_bytes()
        assert next(iter(parts_of(path))) == "calls.jsonl"
        assert list(parts_of(path))[-2:] == ["reviews/animals.csv", "manifest.json"]

    def test_only_what_is_selected_is_in_it(self, full, empty, tmp_path):
        one = looked(1)
        assert full.exported(tmp_path / "one", [one.key], {})[:3] == (1, 0, 0)
        assert set(parts_of(tmp_path / "one")) == {"calls.jsonl", "manifest.json"}
        empty.imported(tmp_path / "one")
        assert empty.files() == ({}, [one])

    def test_an_answer_that_is_here_stays(self, empty, path):
        empty.calls.keep([looked(1, text="{9}"), looked(2)])
        assert empty.imported(path)[:3] == (5, 3, 1)
        assert empty.calls.find_calls([looked(1).key])[looked(1).key].answer["text"] == "{9}"

    def test_an_answer_that_is_damaged_here_heals(self, full, empty, path):
        empty.imported(path)
        with closing(sqlite3.connect(empty.root / "calls.sqlite")) as connection:
            connection.execute("UPDATE calls SET seconds = seconds + 1 WHERE kind = 'look'")
            connection.execute("UPDATE calls SET answer = upper(answer) WHERE kind = 'paint'")
            connection.commit()
        with pytest.raises(DamagedAnswers):
            empty.files()
        assert empty.imported(path)[1:3] == (5, 0)
        assert empty.files()[1] == full.files()[1]

    def test_a_picture_that_is_damaged_here_heals(self, full, empty, path):
        empty.imported(path)
        damaged = next(empty.root.rglob("*.png"))
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:-5])
        empty.imported(path)
        assert damaged.read_bytes() == whole

    def test_a_review_of_ones_own_is_not_overwritten(self, empty, path):
        empty.reviews.mkdir()
        (empty.reviews / "animals.csv").write_text("mine")
        before = empty.files()
        with pytest.raises(ReviewConflict, match=r"empty/reviews/animals\.csv is another review"):
            empty.imported(path)
        assert empty.files() == before

    def test_annotators_files_arrive_in_their_folders(self, full, empty, tmp_path):
        said = {f"vhexpansion/pope_1/gpt/{name}": b"pair,verdict\n" for name in ("Zoë B", "ben-2")}
        full.exported(tmp_path / "panel", reviews=said)
        assert empty.imported(tmp_path / "panel")[-1] == 2
        for name, sheet in said.items():
            assert (empty.reviews / f"{name}.csv").read_bytes() == sheet
        with pytest.raises(
            UnwritableStore, match=r"mine/ann\.a\.csv: a cassette holds .* Rename it"
        ):
            full.exported(tmp_path / "panel", reviews={"mine/ann.a": b"pair,verdict\n"})
        assert empty.imported(tmp_path / "panel")[-1] == 0

    @pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "a//x", " x", "a/b/c/d/e", "a/.x"])
    def test_no_review_lands_elsewhere(self, full, empty, tmp_path, name):
        path = tmp_path / "hostile.cassette"
        full.exported(path, reviews={})
        rewritten(path, parts_of(path) | {f"reviews/{name}.csv": b"pair,verdict\n"})
        with pytest.raises(BadCassette):
            empty.imported(path)
        assert not list(tmp_path.rglob("x.csv"))

    def test_no_cell_of_a_review_is_a_formula(self, full, empty, tmp_path):
        said = b'image,verdict,reason\nab,accept,"=HYPERLINK(""http://x"")"\n'
        path = tmp_path / "hostile.cassette"
        full.exported(path, reviews={"animals": said})
        assert b"'=HYPERLINK" in parts_of(path)["reviews/animals.csv"]
        rewritten(path, parts_of(path) | {"reviews/animals.csv": said})
        empty.imported(path)
        assert b",\"'=HYPERLINK" in (empty.reviews / "animals.csv").read_bytes()
        (empty.reviews / "animals.csv").write_bytes(said)
        assert empty.imported(path).reviews == 0

    def test_pictures_come_before_calls(self, empty, path, monkeypatch):
        def break_off(self, calls, costs=()):
            raise KeyboardInterrupt

        with monkeypatch.context() as broken:
            broken.setattr(CallStore, "keep", break_off)
            with pytest.raises(KeyboardInterrupt):
                empty.imported(path)
        assert len(list(empty.root.rglob("*.png"))) == 2
        assert empty.imported(path)[:3] == (5, 5, 0)


class TestExport:
    def test_a_call_that_is_not_stored_is_no_cassette(self, full, tmp_path):
        keys = [looked(1).key, looked(77).key]
        with pytest.raises(MissingItem, match=r"1 of 2 calls that the tables name are not in"):
            full.exported(tmp_path / "x" / "cassette", keys)
        assert not list((tmp_path / "x").iterdir())

    @pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"x")])
    def test_a_picture_that_is_not_whole_is_no_cassette(self, full, tmp_path, path, damage):
        before = path.read_bytes()
        damaged = next(full.root.rglob("*.png"))
        damage(damaged)
        with pytest.raises(
            (MissingItem, CorruptItem), match=f"{damaged}, which an answer holds, is gone"
        ):
            full.exported(path)
        assert path.read_bytes() == before
        assert list(path.parent.iterdir()) == [path]

    def test_a_call_that_was_edited_in_the_store_is_no_cassette(self, full, tmp_path):
        full.calls.keep([replace(looked(5), request=looked(6).request)])
        with pytest.raises(CorruptItem, match=looked(5).key):
            full.exported(tmp_path / "cassette")
        assert not (tmp_path / "cassette").exists()

    def test_a_place_that_cannot_be_written_is_named(self, full):
        with pytest.raises(UnwritableStore, match="/proc/nowhere/cassette cannot be written"):
            full.exported(Path("/proc/nowhere/cassette"))


class TestOutside:
    """A file that anyone may have made."""

    def test_no_damage_of_a_byte_is_more_than_a_bad_cassette(self, full, tmp_path):
        path = tmp_path / "damaged.cassette"
        full.exported(path)
        whole, chance = path.read_bytes(), random.Random(0)
        for _ in range(500):
            data = bytearray(whole)
            # Half of them in the list of parts at the end, of which zipfile believes most.
            data[chance.randrange(chance.choice([0, len(data) - 600]), len(data))] ^= chance.choice(
                [1, 16, 128, 255]
            )
            path.write_bytes(data)
            with suppress(BadCassette), open_cassette(path) as cassette:
                cassette.check()

    def test_one_that_is_not_there(self, empty, tmp_path):
        assert "cannot be read" in refusal(empty, tmp_path / "nothing")
        assert "cannot be read" in refusal(empty, tmp_path)

    def test_one_cut_short_anywhere(self, empty, path):
        whole = path.read_bytes()
        for length in [0, 1, 10, 21, 22, 100, len(whole) // 2, len(whole) - 1]:
            path.write_bytes(whole[:length])
            assert "cut short, or it is no cassette" in refusal(empty, path)

    def test_any_byte_that_differs(self, full, empty, path):
        """The zip's own dates and rights say nothing: any other change is seen."""
        whole = path.read_bytes()
        taken = 0
        for at in range(0, len(whole), len(whole) // 150):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
            with suppress(BadCassette):
                empty.imported(path)
                taken += 1
        assert taken < 30
        assert empty.files()[1] in ([], full.files()[1])

    def test_another_request_under_the_same_key(self, empty, path):
        parts = parts_of(path)
        lines = parts["calls.jsonl"].splitlines(keepends=True)
        told = json.loads(lines[0])
        told["request"]["model"] = "another"
        lines[0] = json.dumps(told).encode() + b"\n"
        rewritten(path, parts | {"calls.jsonl": b"".join(lines)})
        said = refusal(empty, path)
        assert "calls.jsonl, line 1: it is not what was exported (its request was changed" in said
        assert told["key"] in said

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"key": "../../etc"}, "key: "),
            ({"answer": {"outcome": "pending"}}, "answer: "),
            ({"answer": {"outcome": "answered", "text": "x"}}, "answer.answered.images: "),
            ({"seconds": -1}, "seconds: "),
            ({"seconds": True}, "seconds: "),
            ({"input_tokens": 2**31}, "input_tokens: "),
            ({"served_model": "a\x00"}, "served_model: "),
            ({"mode": "free"}, "mode: "),
            ({"finished_at": "2026-03-02T04:05:06"}, "finished_at: "),
            ({"finished_at": "0001-01-01T00:00:00+14:00"}, "it holds what no call does"),
            ({"price": 3}, "price: "),
            ({"request": []}, "request: "),
            ({"request": {"backend": "openai"}}, "request.model: Field required"),
        ],
    )
    def test_what_no_call_says(self, empty, path, change, says):
        parts = parts_of(path)
        lines = parts["calls.jsonl"].splitlines(keepends=True)
        lines[1] = edited(lines[1], **change)
        rewritten(path, parts | {"calls.jsonl": b"".join(lines)})
        assert f"calls.jsonl, line 2: it is not what was exported ({says}" in refusal(empty, path)

    @pytest.mark.parametrize(
        ("line", "says"),
        [
            (b"no json\n", "Expecting value"),
            (b'{"key": NaN}\n', "NaN is no JSON"),
            (b"[" * 100_000 + b"\n", "holds what no call does"),
            (b'{"seconds": ' + b"9" * 5000 + b"}\n", "Exceeds the limit"),
            (b"\xff\n", "decode"),
            (b"{}", "the last line is cut short"),
        ],
    )
    def test_what_is_no_line(self, empty, path, line, says):
        rewritten(path, parts_of(path) | {"calls.jsonl": line})
        assert says in refusal(empty, path)

    def test_a_call_twice(self, empty, path):
        parts = parts_of(path)
        lines = parts["calls.jsonl"].splitlines(keepends=True)
        rewritten(path, parts | {"calls.jsonl": b"".join([lines[0], *lines])})
        assert "line 2: its calls are not in order of key" in refusal(empty, path)

    def test_a_part_that_is_not_the_one_that_was_listed(self, empty, path):
        rewritten(path, parts_of(path) | {"reviews/animals.csv": b"mine"}, listed=False)
        assert "reviews/animals.csv: its sha256 is not the one" in refusal(empty, path)

    def test_answers_that_were_edited(self, empty, path):
        parts = parts_of(path)
        changed = parts["calls.jsonl"].replace(b"{8}", b"{9}")
        rewritten(path, parts | {"calls.jsonl": changed}, listed=False)
        assert "calls.jsonl: its sha256 is not the one" in refusal(empty, path)

    def test_a_call_left_out(self, empty, path):
        parts = parts_of(path)
        lines = parts["calls.jsonl"].splitlines(keepends=True)
        without = next(line for line in lines if b'"look"' in line)
        kept = b"".join(line for line in lines if line != without)
        rewritten(path, parts | {"calls.jsonl": kept})
        assert "it holds 4 calls and the manifest says 5" in refusal(empty, path)

    def test_another_picture_under_a_name(self, empty, path):
        parts = parts_of(path)
        name = next(name for name in parts if name.startswith("images/"))
        rewritten(path, parts | {name: png_of(99)})
        assert f"{name}: its sha256 is not its name" in refusal(empty, path)

    def test_a_picture_that_is_missing_or_not_asked_for(self, empty, path):
        parts = parts_of(path)
        name = next(name for name in parts if name.startswith("images/"))
        rewritten(path, {each: data for each, data in parts.items() if each != name})
        assert f"{name}: an answer holds it, and it is missing" in refusal(empty, path)
        foreign = f"images/{'a' * 64}.png"
        rewritten(path, parts | {foreign: png_of(99)})
        assert f"{foreign}: no answer holds it" in refusal(empty, path)

    @pytest.mark.parametrize(
        ("png", "says"),
        [
            (b"GIF89a", "it is no PNG"),
            (PNG[:8], "it is cut short"),
            (PNG[:-1], "it is cut short"),
            (PNG + b"#!/bin/sh", "it holds more than a picture (after its end)"),
            (png_with(chunk(b"tEXt", b"by\0me")), "it holds more than a picture (tEXt)"),
            (PNG[:50] + b"?" + PNG[51:], "it is damaged"),
            (png_with(header=(1, 1, 8, 6, 0, 0, 0)), "it is no opaque PNG of 8 bits"),
            (png_with(header=(8193, 1, 8, 2, 0, 0, 0)), "it is 8193 × 1 px"),
            (png_with(header=(8000, 8000, 8, 2, 0, 0, 0)), "it is 8000 × 8000 px"),
            (png_with(header=(0, 0, 8, 2, 0, 0, 0), rows=b""), "it is 0 × 0 px"),
            (png_with(rows=b"\0" * 3), "it unpacks to another length than its size"),
            (png_with(rows=b"\0" * 5), "it unpacks to more than its size"),
            (png_with(rows=b"\5\0\0\0"), "it cannot be unpacked (a row without a filter)"),
            (png_with(packed=b"no deflate"), "it cannot be unpacked"),
            (png_with(packed=zlib.compress(b"\0" * 4) + b"more"), "another length than its size"),
        ],
    )
    def test_a_picture_that_is_none_or_more(self, opened, empty, tmp_path, png, says):
        store = opened("other")
        store.calls.keep([painted(1, store.images, png)])
        store.exported(tmp_path / "cassette", reviews={})
        assert says in refusal(empty, tmp_path / "cassette")

    @pytest.mark.parametrize("png", [PNG, png_of(8, side=700), png_with()])
    def test_a_picture_as_it_is_stored_is_taken(self, opened, empty, tmp_path, png):
        store = opened("other")
        store.calls.keep([painted(1, store.images, png)])
        store.exported(tmp_path / "cassette", reviews={})
        assert empty.imported(tmp_path / "cassette").pictures == 1

    @pytest.mark.parametrize(
        "name",
        [
            "../../outside.png",
            "/etc/passwd",
            "images/../../x.png",
            "reviews/../x.csv",
            "reviews/.csv",
            "images/ABC.png",
            f"images/{'A' * 64}.png",
            "notes.txt",
            "images/",
            "calls.jsonl\n",
        ],
    )
    def test_a_part_that_no_cassette_has(self, empty, path, name):
        rewritten(path, parts_of(path) | {name: b"x"})
        assert f"{name!r}: no cassette has such a part" in refusal(empty, path)

    @pytest.mark.parametrize("name", ["manifest.json", "calls.jsonl"])
    def test_a_part_that_every_cassette_has(self, empty, path, name):
        parts = parts_of(path)
        del parts[name]
        if name == "manifest.json":
            with pytest.raises(KeyError):
                rewritten(path, parts)
            rewritten(path, parts | {"manifest.json": b"{}"}, listed=False)
            assert "manifest.json: format: Field required" in refusal(empty, path)
        else:
            rewritten(path, parts)
            assert "calls.jsonl: it is missing" in refusal(empty, path)

    def test_another_version(self, empty, path):
        parts = parts_of(path)
        manifest = json.loads(parts["manifest.json"]) | {"version": 2}
        rewritten(path, parts | {"manifest.json": json.dumps(manifest).encode()})
        said = refusal(empty, path)
        assert "is a cassette of version 2, and this Counterfactory reads version 1" in said

    def test_a_manifest_with_something_else_in_it(self, empty, path):
        parts = parts_of(path)
        manifest = json.loads(parts["manifest.json"]) | {"run": "me"}
        rewritten(path, parts | {"manifest.json": json.dumps(manifest).encode()})
        assert "manifest.json: run: Extra inputs" in refusal(empty, path)

    def test_a_part_twice(self, empty, path):
        with ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("calls.jsonl", b"")
        assert "its list of parts: one is there twice" in refusal(empty, path)

    @pytest.mark.parametrize(
        ("calls", "says"),
        [
            (b"x" * MAX_LINE_BYTES, "calls.jsonl: a line is too long"),
            (b"x" * MAX_LINE_BYTES + b"\n", "calls.jsonl: it would be 16,000,001 bytes"),
        ],
    )
    def test_calls_that_swell(self, empty, path, calls, says):
        parts = parts_of(path)
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            for name, data in (parts | {"calls.jsonl": calls}).items():
                archive.writestr(name, data)
        assert path.stat().st_size < 50_000
        assert says in refusal(empty, path)

    @pytest.mark.parametrize(
        ("entry", "at", "to", "says"),
        [
            (b"PK\5\6", 12, b"\0\0\0\x10", "its list of parts: it would be 268,435,456 bytes"),
            (b"PK\1\2", 8, b"\1", "calls.jsonl: it is encrypted"),
            (b"PK\1\2", 10, b"\x0c", "calls.jsonl: it is packed in a way that cassettes are not"),
        ],
    )
    def test_what_the_list_of_parts_may_not_say(self, empty, path, entry, at, to, says):
        whole = path.read_bytes()
        place = whole.index(entry) + at
        path.write_bytes(whole[:place] + to + whole[place + len(to) :])
        assert says in refusal(empty, path)

    def test_a_link_to_elsewhere_is_data_at_most(self, empty, path, tmp_path):
        """What rights a part has, or that it is said to be a link, is not looked at."""
        parts = parts_of(path)
        with ZipFile(path, "w") as archive:
            for name, data in parts.items():
                info = ZipInfo(name)
                info.external_attr = 0o120777 << 16
                archive.writestr(info, data)
        empty.imported(path)
        assert not [each for each in tmp_path.rglob("*") if each.is_symlink()]


@pytest.mark.parametrize(
    ("before", "listed", "says"),
    [
        # The size in the larger record counts wherever a locator points to it, and only there.
        (struct.pack("<4s36xQ8x4s16x", b"PK\6\6", 1 << 28, b"PK\6\7"), 100, "it would be 268,435,"),
        (struct.pack("<4s36xQ8x20x", b"PK\6\6", 100), 1 << 28, "it would be 268,435,"),
        (b"PK\6\6xxxx", 0xFFFFFFFF, "it would be 4,294,967,295 bytes"),
    ],
    ids=["large, and pointed to", "small, and not pointed to", "cut short"],
)
def test_no_end_hides_how_long_the_list_of_parts_is(empty, tmp_path, before, listed, says):
    path = tmp_path / "made.cassette"
    path.write_bytes(before + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, listed, 0, 0))
    assert says in refusal(empty, path)


class TestAtAnAddress:
    """A cassette in an object store, and one that goes into a data root there."""

    @pytest.fixture
    def home(self, address):
        return open_address(address) / "home"

    def test_everything_arrives_as_it_was(self, full, path, opened, home):
        stored = home / "out" / "all.cassette"
        assert full.exported(stored).bytes == path.stat().st_size
        assert read_file(stored) == path.read_bytes()
        other, images = opened("other").calls, ImageStore(root=str(home))
        assert import_cassette(stored, other, images, home / "reviews") == (5, 5, 0, 2, 1)
        assert read_file(home / "reviews" / "animals.csv") == REVIEWS["animals"]
        assert list(other.iterate_calls(other.iterate_keys())) == full.files()[1]
        assert import_cassette(stored, other, images, home / "reviews") == (5, 0, 0, 2, 0)
        write_atomically(home / "reviews" / "animals.csv", b"image_id,decision\n")
        with pytest.raises(ReviewConflict, match=f"^{home}/reviews/animals.csv is another review"):
            import_cassette(stored, other, images, home / "reviews")

    def test_one_that_cannot_be_taken_is_named(self, opened, path, home):
        stored, store = home / "all.cassette", opened("other")
        with pytest.raises(BadCassette, match=f"^{stored} cannot be read .*Name a cassette that"):
            store.imported(stored)
        write_atomically(stored, path.read_bytes()[:-1])
        with pytest.raises(BadCassette, match=f"^{stored} cannot be taken: its end"):
            store.imported(stored)
        assert not list(store.calls.iterate_keys())


@pytest.mark.slow
def test_a_cassette_that_may_not_be_written_is_named(full, s3, s3_server):
    s3_server.refuses = lambda method, _query: method == "PUT"
    stored = open_address("s3://pictures/out/all.cassette")
    with pytest.raises(UnwritableStore, match=f"^{stored} cannot be written"):
        full.exported(stored)
    with pytest.raises(UnwritableStore, match=r"^s3://nowhere/all\.cassette cannot be written"):
        full.exported(open_address("s3://nowhere/all.cassette"))
