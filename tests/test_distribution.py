"""The wheel and the source distribution: they hold all that runs, without a checkout."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from fnmatch import fnmatch
from hashlib import sha256
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

import pytest
from pyarrow.parquet import read_table
from typer.main import get_command

from commands.app import app
from tests.assistant_files import SKILL
from tests.e2e.server import WITHIN_S, Server, kill_all, wait_until_loaded
from tests.ports import free_port

PROJECT = Path(__file__).parents[1]
PACKAGES = ("assets", "commands", "generators", "metrics", "resources", "sensors")
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
CONTAINER = (PROJECT / "Containerfile").read_text(encoding="utf-8")
BUILD = "from setuptools import build_meta; build_meta.build_sdist('dist')"
IDS = "d6fd5e02ec39cf9ff60f774737a568c9234d89969a2b389c2af306acc55816f7"
"""The sha256 of the ids of the flags' released questions (docs/stability.md)."""
SHOW = "import definitions, sys; print(definitions.__file__, len(definitions.by_key))"


def list_files():
    """The files of all packages, relative to the project; links to folders are followed."""
    for package in PACKAGES:
        for folder, _, names in os.walk(PROJECT / package, followlinks=True):
            if Path(folder).name != "__pycache__":
                yield from (Path(folder, name).relative_to(PROJECT) for name in names)


def test_each_data_file_of_a_package_is_declared():
    declared = SETTINGS["tool"]["setuptools"]["package-data"]
    missing = []
    for path in list_files():
        package = ".".join(path.parent.parts)
        patterns = [*declared["*"], *declared.get(package, [])]
        if path.suffix != ".py" and not any(fnmatch(path.name, pattern) for pattern in patterns):
            missing.append(str(path))
    assert missing == []


def test_each_package_of_the_graph_is_found():
    found = {
        pattern.rstrip("*")
        for pattern in SETTINGS["tool"]["setuptools"]["packages"]["find"]["include"]
    }
    assert found == set(PACKAGES)
    assert found == set(SETTINGS["tool"]["importlinter"]["root_packages"])


def list_copied():
    """The files and folders that the recipe of the container builds the wheel from."""
    stage = CONTAINER.rpartition("\nFROM")[0]
    for words in re.findall(r"^COPY (.+) \S+$", stage, re.MULTILINE):
        yield from words.split()


def test_the_container_starts_a_command_that_exists():
    [entry] = re.findall(r"^ENTRYPOINT (.+)$", CONTAINER, re.MULTILINE)
    [arguments] = re.findall(r"^CMD (.+)$", CONTAINER, re.MULTILINE)
    name, *words = json.loads(arguments)
    assert json.loads(entry) == [*SETTINGS["project"]["scripts"]]
    context = get_command(app).commands[name].make_context(name, words)
    # The port that the address names is the one that is published.
    assert str(context.params["port"]) in re.findall(r"^EXPOSE (\d+)$", CONTAINER, re.MULTILINE)
    assert context.params["address"] == [f"http://localhost:{context.params['port']}"]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """A source distribution, and the wheel that is built from it, of what the container's has."""
    source = tmp_path_factory.mktemp("source")
    for name in list_copied():
        path = PROJECT / name
        if path.is_dir():
            copytree(path, source / name, symlinks=True, ignore=ignore_patterns("__pycache__"))
        else:
            copy(path, source)
    subprocess.run([sys.executable, "-c", BUILD], cwd=source, check=True, capture_output=True)
    [archive] = (source / "dist").iterdir()
    options = ["--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir", source / "wheels"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, archive], check=True)
    [wheel] = (source / "wheels").iterdir()
    return archive, wheel


@pytest.fixture(scope="module")
def installed(distributions, tmp_path_factory):
    """The `bin` folder of an environment with the wheel, and this one's other packages.

    A plain path in a .pth file leads to these: their own .pth files, of which one leads to this
    checkout, are then not read.
    """
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    options = ["--python", python, "install", "--no-deps", "--no-compile", "--quiet"]
    subprocess.run([sys.executable, "-m", "pip", *options, distributions[1]], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin"


@pytest.fixture
def call(installed, tmp_path):
    """Runs a program of the environment in a folder below `tmp_path`, and nothing that is ours."""

    def call(program, *arguments, folder="."):
        return subprocess.run(
            [installed / program, *arguments],
            cwd=tmp_path / folder,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.mark.slow
def test_both_hold_each_file_of_the_packages(distributions):
    files = {str(path) for path in list_files()} | {"definitions.py"}
    with tarfile.open(distributions[0]) as archive:
        assert files <= {name.partition("/")[2] for name in archive.getnames()}
        assert not any(member.issym() for member in archive)
    with zipfile.ZipFile(distributions[1]) as wheel:
        assert files == {name for name in wheel.namelist() if ".dist-info/" not in name}
        assert wheel.read("commands/starter/models.yaml") == (PROJECT / "models.yaml").read_bytes()


@pytest.mark.slow
def test_the_installed_program_says_that_it_needs_a_project(call, tmp_path):
    assert call("counterfactory", "--version").stdout.strip() == SETTINGS["project"]["version"]
    assert call("counterfactory", "run", "--help").returncode == 0
    done = call("counterfactory", "run", "vlmbias/accuracy")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("or make one: counterfactory init FOLDER\n")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_the_installed_program_runs_in_a_new_project(call, tmp_path):
    assert call("counterfactory", "init", "bench").returncode == 0
    shown = call("python", "-c", SHOW, folder="bench")
    assert shown.returncode == 0, shown.stderr
    path, count = shown.stdout.split()
    assert not Path(path).is_relative_to(PROJECT)
    assert int(count) > 50
    judged = '+key:"vlmbias/answers_prior"'
    done = call("counterfactory", "run", judged, "--partitions", "flags", folder="bench")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bench" / "data" / "images").is_dir()

    # The skill's own commands, with a judge that is free.
    skill = SKILL.read_text(encoding="utf-8").replace("gpt_4_1", "prior")
    lines = re.findall(r"^\$ counterfactory ((?:quote|run) [^#\n]+)", skill, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        done = call("counterfactory", *shlex.split(line), folder="bench")
        assert done.returncode == 0, done.stderr
    [query] = re.findall(r"```python\n(.*?)```", skill, re.DOTALL)
    done = call("python", "-c", query, folder="bench")
    assert done.returncode == 0, done.stderr
    assert re.search(r"prior +Q1 & Q2 +40 ", done.stdout)

    release = ["release", "vlmbias", "--to", "released", "--partitions", "flags"]
    done = call("counterfactory", *release, folder="bench")
    assert done.returncode == 0, done.stderr
    paths = (tmp_path / "bench" / "released" / "data" / "questions").glob("*.parquet")
    ids = [name for path in paths for name in read_table(path, columns=["id"])["id"].to_pylist()]
    assert len(ids) == len({*ids}) == 654
    assert sha256("\n".join(sorted(ids)).encode()).hexdigest() == IDS


@pytest.mark.slow
def test_the_installed_ui_loads_the_code_location(call, installed, tmp_path):
    assert call("counterfactory", "init", "bench").returncode == 0
    folder, port = tmp_path / "bench", free_port()
    with (tmp_path / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [installed / "counterfactory", "ui", "--port", str(port)],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
            stdout=log,
            stderr=log,
        )
        try:
            server = Server(f"http://127.0.0.1:{port}", folder / "data", process.pid)
            wait_until_loaded(server, process, tmp_path / "server.log")
            process.send_signal(signal.SIGINT)
            assert process.wait(WITHIN_S) == 0
        finally:
            process.kill()
            kill_all(folder / ".dagster")
