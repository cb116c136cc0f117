"""The footer of a report: date and code, neither of which makes its content another."""

import re
import subprocess
from pathlib import Path

from assets.report.revision import content_version, revision
from tests.assets.vlmbias.site_data import written
from tests.assets.vlmbias.test_front import read


def test_a_footer_names_day_and_code_and_neither_makes_a_report_another(tmp_path: Path) -> None:
    versions = []
    day, another = (
        {"Written": "2026-11-22", "Code": "commit 1a2b3c"},
        {"Written": "2027-01-02", "Code": "counterfactory 1.0.0"},
    )
    for told in (day, another):
        folder = written(tmp_path / told["Written"], facts={"Seed": "0", **told})
        assert f"Written {told['Written']} Code {told['Code']}" in read(folder / "index.html")
        versions.append(content_version(folder, told))
    assert versions[0] == versions[1]
    other = written(tmp_path / "other", facts={"Seed": "1", **day})
    assert content_version(other, day) != versions[0]


def test_the_code_is_named_by_its_commit_where_there_is_one(tmp_path: Path) -> None:
    assert re.fullmatch(r"counterfactory \d+\.\d+\.\d+", revision(tmp_path))
    (tmp_path / ".git").mkdir()
    assert revision(tmp_path).startswith("counterfactory ")
    (tmp_path / ".git").rmdir()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b.example"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one", "--allow-empty"]):
        subprocess.run([*git, *command], check=True)
    named = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert revision(tmp_path) == f"commit {named.stdout[:12]}"
    (tmp_path / "file").touch()
    subprocess.run([*git, "add", "file"], check=True)
    assert revision(tmp_path) == f"commit {named.stdout[:12]} + changes"
