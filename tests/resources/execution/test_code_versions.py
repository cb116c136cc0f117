"""An edit changes the code version of whatever may depend on it, and no other."""

import re
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from resources.execution import code_versions
from resources.execution.code_versions import CodeVersions

PROJECT = Path(__file__).parents[3]
FILES = {
    "definitions.py": "",
    "assets/__init__.py": "",
    "assets/flags/__init__.py": "from assets.flags.benchmark import BENCHMARK",
    "assets/flags/benchmark.py": "from assets.kit.benchmarks import Benchmark\nBENCHMARK = 1",
    "assets/flags/table.py": "def table():\n    from generators.draw import (\n    draw,\n    )\n",
    "assets/flags/pages/__init__.py": "",
    "assets/flags/pages/templates/front.html": "<p>",
    "assets/boards/__init__.py": "from assets.boards.benchmark import BENCHMARK",
    "assets/boards/benchmark.py": "import numpy as np, dagster\nBENCHMARK = 1",
    "assets/panel/__init__.py": "from assets.kit.benchmarks import Benchmark, benchmarks",
    "assets/kit/__init__.py": "",
    "assets/kit/benchmarks.py": "",
    "generators/__init__.py": "",
    "generators/draw.py": "from generators.domains import domains",
    "generators/domains/__init__.py": "",
    "generators/domains/chess/__init__.py": "",
    "generators/domains/chess/draw.py": "",
    "metrics/__init__.py": "",
    "resources/__init__.py": "",
    "resources/models/backends/offline.py": "",
}
EVERYBODY = {"flags", "boards", "panel"}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def digests(root, backends=()):
    versions = CodeVersions(root)
    return {
        name: versions.digest(versions.list_modules(f"assets.{name}"), backends)
        for name in EVERYBODY
    }


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("assets/flags/table.py", {"flags", "panel"}),
        ("assets/flags/pages/templates/front.html", {"flags", "panel"}),
        ("assets/boards/benchmark.py", {"boards", "panel"}),
        ("assets/panel/__init__.py", {"panel"}),
        ("assets/kit/benchmarks.py", {"flags", "panel"}),
        ("generators/draw.py", {"flags", "panel"}),
        ("generators/domains/chess/draw.py", {"flags", "panel"}),
        ("assets/__init__.py", EVERYBODY),
        ("definitions.py", EVERYBODY),
        ("metrics/__init__.py", set()),
        ("resources/models/backends/offline.py", set()),
    ],
)
def test_an_edit_changes_the_versions_of_what_imports_the_file(project, file, changed):
    before = digests(project)
    path = project / file
    path.write_text(path.read_text() + "\n# edited\n")
    after = digests(project)
    assert {name for name in EVERYBODY if before[name] != after[name]} == changed


def test_a_new_module_of_a_folder_that_is_searched_counts(project):
    before = digests(project)["flags"]
    (project / "generators/domains/flags.py").write_text("")
    assert digests(project)["flags"] != before


def test_a_backend_counts_where_a_model_needs_it(project):
    before = digests(project, ["offline"])
    (project / "resources/models/backends/offline.py").write_text("# edited\n")
    assert not set(before.values()) & set(digests(project, ["offline"]).values())


@pytest.mark.parametrize(
    ("package", "changed"), [("numpy", {"boards", "panel"}), ("chess", set()), ("pytest", set())]
)
def test_a_required_package_counts_where_it_is_imported(project, monkeypatch, package, changed):
    before = digests(project)
    version = code_versions.version
    monkeypatch.setattr(
        code_versions, "version", lambda name: "99.0" if name == package else version(name)
    )
    after = digests(project)
    assert {name for name in EVERYBODY if before[name] != after[name]} == changed


def test_no_other_module_of_the_project_searches_for_modules():
    """One that does has to be in the table of those, or what it finds would not count."""
    searching = set()
    for folder in ("assets", "generators", "metrics", "resources"):
        for path in (PROJECT / folder).rglob("*.py"):
            if re.search(r"iter_modules\(|walk_packages\(|import_module\(f", path.read_text()):
                searching.add(".".join(path.relative_to(PROJECT).with_suffix("").parts))
    searching = {name.removesuffix(".__init__") for name in searching}
    registries = {code_versions._BENCHMARKS, code_versions._BACKENDS}
    assert searching == {*code_versions._SEARCHING, *registries}


def test_required_packages_are_known_by_the_names_of_their_imports():
    versions = CodeVersions()
    _, libraries = versions._find_closure(versions.list_modules("assets"))
    distributions = packages_distributions()
    for library in libraries & distributions.keys():
        name = code_versions._DISTRIBUTIONS.get(library, library)
        required = {each.lower() for each in distributions[library]}
        required &= code_versions._required_distributions()
        assert not required or name in required, library
