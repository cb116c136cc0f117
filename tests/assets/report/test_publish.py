"""The site as files: what is written, kept, swept away and replaced."""

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from metrics import TASK_MEAN
from tests.assets.vlmbias.site_data import ADDED, Report, build, written


def test_captions_of_differences_read_well(tmp_path: Path) -> None:
    tables = Report(subjects=1, topics=["optical_illusions"]).tables()
    target = "difference of line lengths (ratio - 1)"
    for name in ("images", "measurements", "questions"):
        tables[name]["target"] = target
    images = tables["images"]
    images["targets"] = [[target]] * len(images)
    images["truths"] = [[0.0 if v == "original" else -0.15] for v in images.variant]
    images["standards"] = [[0.0]] * len(images)
    page = written(tmp_path / "report", **tables) / "gallery.html"
    written_so = "Difference of line lengths (ratio − 1): −0.15, not 0<"
    assert page.read_text().replace("\u00a0", " ").replace("&nbsp;", " ").count(written_so) == 6


def test_scenes_of_one_name_are_told_apart(tmp_path: Path) -> None:
    tables = Report(subjects=2, topics=["flags"]).tables()
    tables["images"]["subject"] = "Board"
    folder = written(tmp_path / "report", **tables)
    page = (folder / "scenes/flags/subject-0-add.html").read_text()
    assert "<title>Board, one stripe more (subject-0-add), stripes: 6, not" in page
    assert '<span class="to">Board, one stripe fewer (subject-0-remove)</span>' in page
    assert (folder / "gallery.html").read_text().count("<code>subject-1-add</code>") == 3


def test_what_was_said_of_other_bytes_is_never_shown(tmp_path: Path) -> None:
    tables = Report(subjects=1, topics=["flags"]).tables()
    for name in ("questions", "answers"):
        tables[name].loc[tables[name]["size"] == 384, "sha256"] = "of another image"
    tables["questions"].loc[0, "question"] = "Was it red?"
    folder = written(tmp_path / "report", **tables)
    page = (folder / ADDED).read_text()
    assert "Was it red?" not in page
    assert page.count("not asked") == 3 * 4
    assert (folder / "gallery.html").read_text().count('data-wrong="0 0 0 0 "') == 3


def test_a_rebuild_keeps_sound_images_and_heals_broken_ones(tmp_path: Path) -> None:
    tables = Report(subjects=1, topics=["flags"]).tables()
    folder = written(tmp_path / "report")
    kept, broken = sorted((folder / "images").iterdir())[:2]
    os.utime(kept, (1, 1))
    whole = broken.read_bytes()
    broken.write_bytes(whole[:-1])
    read: list[str] = []

    written(folder, png_of=lambda sha256: read.append(sha256) or tables["png_of"](sha256))
    assert read == [broken.stem]
    assert broken.read_bytes() == whole
    assert kept.stat().st_mtime == 1
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_build_that_fails_leaves_the_old_site_whole(tmp_path: Path) -> None:
    folder = written(tmp_path / "report")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    tables = Report(subjects=2, topics=["flags"]).tables()

    def full(sha256: str) -> bytes:
        raise OSError(28, "No space left on device", sha256)

    with pytest.raises(OSError, match="No space left"):
        build(folder, **{**tables, "png_of": full})
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_what_a_killed_build_left_is_swept_away_but_no_build_that_runs(tmp_path: Path) -> None:
    names = [f".report.{'0' * 32}", f".report.{'1' * 32}.old", f".report.{'2' * 32}"]
    names += [".report.kept", f"report.{'3' * 32}", f".other.{'4' * 32}"]
    hour_ago = time.time() - 3601
    for name in names:
        (tmp_path / name / "images").mkdir(parents=True)
        os.utime(tmp_path / name, (hour_ago, hour_ago))
    os.utime(tmp_path / names[2])
    written(tmp_path / "report")
    assert {path.name for path in tmp_path.iterdir()} == {*names[2:], "report"}


def test_builds_at_once_leave_one_whole_site(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: written(tmp_path / "report"), range(8)))
    assert [path.name for path in tmp_path.iterdir()] == ["report"]
    assert len(list((tmp_path / "report" / "images").iterdir())) == 9


def test_a_task_mean_that_lacks_topics_says_so(tmp_path: Path) -> None:
    tables = Report(subjects=1).tables()
    found = tables["accuracy"]
    found = found[(found.model != "pixels") | (found.topic != "flags")]
    lacking = (found.model == "pixels") & (found.topic == TASK_MEAN)
    found.loc[lacking, ["accuracy", "accuracy_low", "accuracy_high"]] = None
    page = build(tmp_path / "report", **{**tables, "accuracy": found}).read_text()

    def means(judge: str) -> str:
        row = page[page.index(f'"Wrong answers of {judge} in') :]
        return row[: row.index("</td>")]

    assert '<span class="none">1 of 2 topics</span>' in means("pixels")
    assert '<span class="none">no answer</span>' in means("some/vlm-1")
    assert "topics" not in means("random") + means("prior")


def test_a_report_without_questions_or_answers_is_a_gallery(tmp_path: Path) -> None:
    tables = Report(subjects=1, topics=["flags"]).tables()
    empty = {name: tables[name].iloc[:0] for name in ("questions", "answers", "accuracy")}
    folder = written(tmp_path / "report", **empty)
    assert "No answers yet." in (folder / "index.html").read_text()
    assert "No question asks" in (folder / ADDED).read_text()


def test_the_same_tables_give_the_same_site(tmp_path: Path) -> None:
    one, other = written(tmp_path / "one"), written(tmp_path / "other")
    for page in one.rglob("*.html"):
        assert page.read_bytes() == (other / page.relative_to(one)).read_bytes()
