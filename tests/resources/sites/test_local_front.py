"""Front pages on a disk, which several runs write at once."""

from resources.sites.local_front import LocalFront
from resources.storage.atomic_writes import open_atomically


def test_a_file_that_another_run_is_writing_is_left_to_it(tmp_path):
    front = LocalFront(tmp_path)
    front.write({"judges/old.csv": b"1", "judges/kept.csv": b"2"}, [])
    with open_atomically(tmp_path / "judges" / "new.csv") as file:
        file.write(b"3")
        front.write({"judges/kept.csv": b"2"}, ["judges"])
    names = {path.name: path.read_bytes() for path in (tmp_path / "judges").iterdir()}
    assert names == {"kept.csv": b"2", "new.csv": b"3"}
