from hashlib import sha256
from os import utime

from resources.storage.local_pictures import LocalPictures

PNGS = {sha256(png).hexdigest(): png for png in (bytes([number]) * 100 for number in range(20))}


def list_names(folder):
    return {path.name for path in folder.glob("*/*")}


def test_copies_are_read_again_and_damaged_or_unwritable_ones_are_none(tmp_path):
    copies = LocalPictures(tmp_path / "images")
    digest, png = next(iter(PNGS.items()))
    assert copies.find(digest) is None
    copies.keep(digest, png)
    assert LocalPictures(tmp_path / "images").find(digest) == png
    (tmp_path / "images" / digest[:2] / digest).write_bytes(png[:-1])
    assert copies.find(digest) is None
    (tmp_path / "file").touch()
    unwritable = LocalPictures(tmp_path / "file")
    unwritable.keep(digest, png)
    assert unwritable.find(digest) is None


def test_the_oldest_go_when_they_take_too_much_space(tmp_path):
    copies = LocalPictures(tmp_path, max_bytes=1_000)
    for time, (digest, png) in enumerate(PNGS.items()):
        copies.keep(digest, png)
        utime(tmp_path / digest[:2] / digest, (time, time))
    remaining = list_names(tmp_path)
    assert 10 <= len(remaining) <= 12
    assert remaining == {*[*PNGS][-len(remaining) :]}
