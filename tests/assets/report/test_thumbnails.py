"""How large the pictures of a report are."""

import hashlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from assets.report.publish import Thumbnail, is_whole, thumbnail
from tests.assets.protobias.pairs_data import Pictures, painted
from tests.assets.protobias.pairs_data import written as written_pairs
from tests.assets.vlmbias.site_data import Made, Report, build, written

PAINTED = (("animals", Made("artist", "accepted")),)


def photograph(side: int = 1024) -> bytes:
    """A PNG of what compresses as badly as a photograph does."""
    noise = np.random.default_rng(0).integers(0, 256, (side, side, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG")
    return file.getvalue()


def test_a_thumbnail_is_as_large_as_asked_and_never_larger_than_its_picture() -> None:
    small = Image.open(io.BytesIO(thumbnail(photograph(), 384)))
    assert (small.size, small.format) == ((384, 384), "WEBP")
    assert Image.open(io.BytesIO(thumbnail(photograph(100), 384))).size == (100, 100)


def test_what_was_cut_short_is_no_thumbnail() -> None:
    whole = thumbnail(photograph(64), 64)
    assert is_whole(whole)
    assert not is_whole(whole[:-1])
    assert not is_whole(b"")
    assert not is_whole(photograph(64))


@pytest.fixture(scope="module")
def large() -> tuple[dict[str, bytes], Pictures]:
    pictures = Pictures()
    painted("flux", pictures)
    return dict.fromkeys(pictures.pngs, photograph()), pictures


@pytest.mark.slow
def test_a_painter_of_432_large_pictures_stays_below_a_tenth_of_them(
    large: tuple[dict[str, bytes], Pictures], tmp_path: Path
) -> None:
    pngs, pictures = large
    folder = written_pairs(
        tmp_path / "report",
        painted("flux", pictures),
        pictures=pictures,
        png_of=pngs.__getitem__,
    )
    shown = [path.stat().st_size for path in (folder / "thumbs").iterdir()]
    assert len(shown) == 24
    assert sum(shown) < sum(len(png) for png in pngs.values()) / 10
    assert not list((folder / "images").iterdir())
    assert "images/" not in (folder / "pairs-flux.html").read_text()


def test_full_size_pictures_are_there_and_linked_where_that_is_asked_for(
    large: tuple[dict[str, bytes], Pictures], tmp_path: Path
) -> None:
    _, pictures = large
    folder = written_pairs(
        tmp_path / "report", painted("flux", pictures), pictures=pictures, full_size=True
    )
    linked = re.findall(r'<a href="images/(\w+)\.png">', (folder / "pairs-flux.html").read_text())
    assert len(linked) == 24
    for sha256 in linked:
        data = (folder / "images" / f"{sha256}.png").read_bytes()
        assert hashlib.sha256(data).hexdigest() == sha256


@pytest.mark.parametrize("full_size", [False, True])
def test_drawings_lie_there_as_they_are_and_photographs_where_that_is_asked_for(
    full_size: bool, tmp_path: Path
) -> None:
    tables = Report(1, ("flags",), painted=PAINTED).tables()
    folder = build(tmp_path / "report", **tables, full_size=full_size).parent
    images = tables["images"]
    whole = images if full_size else images[images["painter"] == ""]
    assert {path.stem for path in (folder / "images").iterdir()} == set(whole["sha256"])
    thumbs = [io.BytesIO(path.read_bytes()) for path in (folder / "thumbs").iterdir()]
    assert sorted(Image.open(thumb).size[0] for thumb in thumbs) == [384, 384, 768, 768]
    page = (folder / "scenes/animals/subject-0-add/artist.html").read_text()
    assert page.count('.png">') == 3 * full_size
    assert "thumbs/" in (folder / "gallery.html").read_text()


def test_every_picture_of_every_page_is_there(tmp_path: Path) -> None:
    report = Report(1, ("flags",), painted=PAINTED)
    folder = build(tmp_path / "report", **report.tables()).parent
    for page in folder.rglob("*.html"):
        for path in re.findall(r'(?:src|href)="([^"]+\.(?:png|webp))"', page.read_text()):
            assert (page.parent / path).is_file(), (page, path)


def test_a_rebuild_makes_no_thumbnail_again_but_a_broken_one(tmp_path: Path) -> None:
    report = Report(1, ("flags",), painted=PAINTED)
    tables = report.tables()
    folder = written(tmp_path / "report", **tables)
    kept, broken = sorted((folder / "thumbs").iterdir())[:2]
    before = kept.stat().st_ino
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-1])
    read: list[str] = []
    tables["png_of"] = lambda sha256: read.append(sha256) or report.pngs[sha256]
    written(folder, **tables)
    assert read == [broken.stem.rpartition("-")[0]]
    assert broken.read_bytes() == whole
    assert kept.stat().st_ino == before
    assert Thumbnail("a", 384).file == "thumbs/a-384.webp"
