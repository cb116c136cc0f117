"""`counterfactory release`: what it is told to do, before anything is read."""

import pytest


@pytest.mark.parametrize("options", [(), ("--to", "out", "--check", "out")])
def test_it_writes_a_folder_or_checks_one(command, options):
    outcome = command("release", "vlmbias", *options)
    assert outcome.exit_code == 2
    assert "Give --to or --check, one of them." in outcome.stderr


@pytest.mark.parametrize("option", ["--to", "--check"])
def test_without_tables_it_says_what_to_materialize(command, tmp_path, option):
    outcome = command("release", "vlmbias", option, tmp_path / "out", COUNTERFACTORY_HOME=tmp_path)
    assert outcome.exit_code == 2
    assert "none of the tables that it is made from is materialized" in outcome.stderr
    assert not (tmp_path / "out").exists()
