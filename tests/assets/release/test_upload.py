"""Upload to a hub on loopback, with what goes wrong on the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import HfApi, constants
from typer.testing import CliRunner

from assets.release import ReleaseOptions, write_release
from assets.release.upload import (
    UploadFailed,
    UploadRefused,
    check_folder,
    describe_upload,
    find_repository,
    upload_release,
)
from commands.app import app
from tests.assets.release.small import SHAPES
from tests.hub import TOKEN, open_hub

NAME = "owner/shapes"
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with open_hub() as hub:
        yield hub


@pytest.fixture
def folder(sources, tmp_path):
    write_release(tmp_path / "out", SHAPES, sources, ReleaseOptions())
    return tmp_path / "out"


def upload(hub, folder, token=TOKEN):
    api = HfApi(endpoint=hub.url, token=token)
    files = check_folder(folder)
    return upload_release(api, folder, files, find_repository(api, NAME, is_public=False))


def read_files(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_the_hub_has_the_same_bytes_in_one_commit_and_is_private(hub, folder):
    upload(hub, folder)
    assert hub.files == read_files(folder)
    assert (len(hub.commits), hub.is_private) == (1, True)


def test_what_an_earlier_release_had_more_is_named_and_removed_with_the_same_commit(hub, folder):
    upload(hub, folder)
    hub.files |= {
        "data/squares/test-00001-of-00002.parquet": b"old",
        "answers.cassette": b"old",
        "notes/mine.txt": b"of the owner",
    }
    files = check_folder(folder)
    place = find_repository(HfApi(endpoint=hub.url, token=TOKEN), NAME, is_public=False)
    removed = describe_upload(folder, files, place).partition("Removed, as this release lacks")[2]
    assert "answers.cassette\n  data/squares/test-00001-of-00002.parquet" in removed
    assert "mine.txt" not in removed
    upload(hub, folder)
    assert hub.files == read_files(folder) | {"notes/mine.txt": b"of the owner"}
    assert len(hub.commits) == 2


@pytest.mark.parametrize(
    ("place", "fault"),
    [
        *(("/api/datasets/", 429), ("/create", 500), ("/preupload/", 503), ("/batch", "drop")),
        *(("/blob/", fault) for fault in (429, 500, 503, "drop")),
    ],
)
def test_what_passes_is_tried_again(hub, folder, place, fault):
    hub.faults.append((place, fault))
    upload(hub, folder)
    assert hub.files == read_files(folder)
    assert not hub.faults


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "may not write"), (409, "is being changed"), (412, "somebody else has changed it")],
)
def test_what_does_not_pass_is_said_and_goes_on_later(hub, folder, status, words):
    hub.faults.append(("/commit/", status))
    with pytest.raises(UploadFailed, match=words):
        upload(hub, folder)
    assert not hub.files
    sent = len(hub.blobs)
    assert sent > 0
    hub.received.clear()
    upload(hub, folder)
    assert hub.files == read_files(folder)
    assert not [path for _, path, _ in hub.received if "/blob/" in path]


def test_a_token_that_is_unknown(hub, folder):
    with pytest.raises(UploadFailed, match="does not know the token") as caught:
        upload(hub, folder, token="hf_other")
    assert "hf_other" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "README.md").write_text("other"), "changed: README.md"),
        (lambda folder: (folder / "notes.txt").write_text("mine"), "not in SHA256SUMS: notes.txt"),
        (lambda folder: (folder / "croissant.json").unlink(), "missing: croissant.json"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "no release, it lacks SHA256SUMS"),
    ],
)
def test_a_folder_that_was_not_released_so(folder, change, words):
    change(folder)
    with pytest.raises(UploadRefused, match=words):
        check_folder(folder)


def test_it_says_beforehand_what_is_seen_by_whom(hub, folder):
    api = HfApi(endpoint=hub.url, token=TOKEN)
    files = check_folder(folder)
    text = describe_upload(folder, files, find_repository(api, NAME, is_public=True))
    assert "owner/shapes: new public data set; everybody will see:" in text
    assert all(f"  {path}: " in text for path in read_files(folder))
    assert "data/squares/dev-00000-of-00001.parquet: " in text
    assert ", 2 rows" in text
    assert "| Counterfactory | CC-BY-4.0 |" in text


@pytest.mark.parametrize("name", ["/vlmbias", "owner/", "vlmbias", "a/b/c", "owner/two words"])
def test_a_repository_without_owner_and_name_is_refused(tmp_path, name):
    done = CliRunner().invoke(app, ["upload", str(tmp_path), name])
    assert done.exit_code == 2
    assert f"{name}: write owner/name." in done.stderr


def test_a_missing_library_is_named_with_a_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    done = CliRunner().invoke(app, ["upload", str(tmp_path), NAME])
    assert done.exit_code == 2
    page = (Path(__file__).parents[3] / "docs" / "upload.md").read_text("utf-8")
    for command in (
        "pipx runpip counterfactory install 'counterfactory[hub]'",
        ".venv/bin/pip install -e '.[hub]'",
    ):
        assert command in done.stderr
        assert command in page


@pytest.mark.slow
def test_the_command_asks_and_prints_no_token(hub, folder):
    command = [sys.executable, "-m", "commands.app", "upload", str(folder), NAME]
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_TOKEN": TOKEN}
    environment.pop("HF_HUB_OFFLINE", None)

    def run(*options, answer=""):
        return subprocess.run(
            [*command, *options],
            env=environment,
            input=answer,
            capture_output=True,
            text=True,
            check=False,
        )

    declined = run(answer="n\n")
    assert declined.returncode == 1
    assert not hub.files
    done = run("--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert hub.files == read_files(folder)
    assert TOKEN not in declined.stdout + declined.stderr + done.stdout
