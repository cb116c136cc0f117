"""The script that installs the programs that the tests run."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parent / "outside" / "packages.sh"


def run_script(folder, path):
    """Run the script as a user who may install nothing."""
    (folder / "id").write_text("#!/bin/sh\necho 1000\n")
    (folder / "sudo").write_text("#!/bin/sh\nexit 1\n")
    for name in ("id", "sudo"):
        (folder / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{folder}:{path}"}
    return subprocess.run([SCRIPT], check=False, env=environment, capture_output=True, text=True)


def test_a_user_whose_path_lacks_the_folders_of_root_needs_no_package(tmp_path):
    folders = [folder for folder in os.environ["PATH"].split(":") if not folder.endswith("sbin")]
    done = run_script(tmp_path, ":".join(folders))
    assert (done.returncode, done.stderr) == (0, "")


def test_a_user_who_may_install_nothing_is_told_what_is_missing(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "env", "grep"):
        (tmp_path / "bin" / name).symlink_to(Path("/usr/bin") / name)
    done = run_script(tmp_path, tmp_path / "bin")
    assert done.returncode == 1
    assert "chromium npm util-linux" in done.stderr
    assert "sudo apt-get install" in done.stderr
