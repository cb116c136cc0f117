"""`counterfactory release`: what it is told to do, before anything is read."""

import pytest


@pytest.mark.parametrize("options", [(), ("--to", "out", "--check", "out")])
def test_it_writes_a_folder_or_checks_one(command, tmp_path, options):
    (tmp_path / "out").mkdir()
    outcome = command("release", "vlmbias", *options)
    assert outcome.exit_code == 2
    assert "Give --to or --check, one of them." in outcome.stderr


@pytest.mark.parametrize("option", ["--to", "--check"])
def test_without_tables_it_says_what_to_materialize(command, tmp_path, option):
    folder = tmp_path / "out"
    if option == "--check":
        folder.mkdir()
    outcome = command("release", "vlmbias", option, folder, COUNTERFACTORY_HOME=tmp_path)
    assert outcome.exit_code == 2
    assert "none of the tables that it is made from is materialized" in outcome.stderr
    assert not folder.exists() or not list(folder.iterdir())


def test_only_a_folder_that_is_there_is_checked(command, tmp_path):
    (tmp_path / "file").touch()
    for name, words in (("nowhere", "'nowhere' does not exist"), ("file", "'file' is a file")):
        outcome = command("release", "vlmbias", "--check", name)
        assert outcome.exit_code == 2
        assert words in " ".join(outcome.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--to", "Interrupted: nothing of the release was kept."),
        ("--check", "Interrupted: the check is not finished."),
    ],
)
def test_an_interrupted_release_says_that_nothing_is_kept(
    command, tmp_path, monkeypatch, option, message
):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("assets.release.write_release", interrupt)
    monkeypatch.setattr("assets.release.verify_release", interrupt)
    (tmp_path / "out").mkdir()
    outcome = command("release", "vlmbias", option, "out", COUNTERFACTORY_HOME=tmp_path)
    assert outcome.exit_code == 130
    assert outcome.stderr.strip() == message
