"""Fingerprints: which code work is remembered for."""

import ast
import shutil
from importlib.metadata import packages_distributions
from pathlib import Path

import grimp
import pytest

import generators.fingerprint
from generators.domains import load_domains
from generators.fingerprint import _parse, fingerprint
from generators.perturbations.grids import GRID
from generators.perturbations.registry import fingerprint_perturbations

ROOT = Path(generators.fingerprint.__file__).parent
CODE = {
    name: (
        "generators.worker_jobs",
        *(f"generators.domains.{name}.{verb}" for verb in ("draw", "measure")),
    )
    for name in load_domains()
} | {
    "resize": ("generators.perturbations.resize",),
    "title": ("generators.perturbations.title_strip",),
}


@pytest.fixture(scope="module", autouse=True)
def once():
    """Keep fingerprints of the code itself, whichever test comes first."""
    for modules in CODE.values():
        fingerprint(*modules)


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A copy of the generators that fingerprints are taken of."""
    copy = shutil.copytree(ROOT, tmp_path / "generators")
    monkeypatch.setattr(generators.fingerprint, "_ROOT", copy)
    return copy


def fingerprints():
    return {name: fingerprint.__wrapped__(*modules) for name, modules in CODE.items()}


def changed_by(path, text="\nCHANGED = True\n"):
    """Whose fingerprint is another one once `text` is added to the file of a copy."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes((path.read_bytes() if path.exists() else b"") + text.encode())
    return {name for name, digest in fingerprints().items() if digest != fingerprint(*CODE[name])}


def test_each_has_its_own_wherever_the_code_lies(sources):
    assert len(set(fingerprints().values())) == len(CODE)
    assert fingerprints() == {name: fingerprint(*modules) for name, modules in CODE.items()}
    assert (
        fingerprints().items()
        >= {name: d.fingerprint for name, d in load_domains().items()}.items()
    )


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        ("domains/flags/measure.py", {"flags"}),
        ("domains/flags/__init__.py", {"flags"}),
        ("domains/flags/designs/__init__.py", {"flags"}),
        ("domains/flags/designs/rings.py", {"flags"}),
        ("domains/flags/layouts.py", {"flags"}),
        ("xiangqi.py", {"chess_pieces", "game_boards"}),
        ("glyphs.py", {"chess_pieces", "game_boards", "patterned_grids", "title"}),
        ("canvas.py", {*load_domains(), "title"}),
        ("scene.py", set(load_domains())),
        ("worker_jobs.py", set(load_domains())),
        ("perturbations/title_strip.py", {"title"}),
        ("perturbations/resize.py", {"resize"}),
        ("__init__.py", set(CODE)),
    ],
)
def test_a_module_counts_for_who_imports_it(sources, path, changed):
    assert changed_by(sources / path) == changed


@pytest.mark.parametrize(
    "path",
    [
        "new.py",
        "domains/__init__.py",
        "domains/flags/new.py",
        "domains/flags/ask.py",
        "domains/flags/outline.py",
        "domains/flags/notes.md",
        "domains/flags/__pycache__/draw.pyc",
        "fingerprint.py",
        "perturbations/new.py",
        "photographs/animals.py",
    ],
)
def test_what_no_pixel_and_no_reading_comes_from_counts_for_nothing(sources, path):
    assert changed_by(sources / path) == set()


def test_comments_docstrings_and_layout_do_not_count(sources):
    for path in sources.rglob("*.py"):
        tree = ast.parse(path.read_bytes())
        for node in ast.walk(tree):
            documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            if documented and ast.get_docstring(node) is not None:
                node.body[0].value.value = "Other words."
        path.write_text(f"# A comment.\n\n{ast.unparse(tree)}\n", encoding="utf-8")
    assert fingerprints() == {name: fingerprint(*modules) for name, modules in CODE.items()}


def test_all_else_counts():
    lines = ["X", "X = 1", "X = 1.0", "X = True", "X = None", "X: 1", "X == 1", "X = -1"]
    lines += [
        "X = 'a'",
        "X = b'a'",
        "X = f'a'",
        "X = a",
        "X = [a]",
        "X = (a,)",
        "X = a[:1]",
        "X = a[1:]",
    ]
    lines += ["f(a)", "f('a')", "f(a=1)", "f(**a)", "f(*a)", "def f(a): pass", "def f(*, a): pass"]
    lines += ["def f(*a): pass", "def f(a, /): pass", "def f(a=1): pass", "def f(): return None"]
    lines += ["def f(): return", "import a", "import a as b", "from a import b"]
    assert len({_parse(line.encode())[0] for line in lines}) == len(lines)


def test_an_import_inside_a_function_counts(sources):
    lazy = "\ndef _late():\n    from generators import new\n"
    assert changed_by(sources / "domains" / "flags" / "draw.py", lazy) == {"flags"}
    before = fingerprints()
    (sources / "new.py").touch()
    assert {name for name, digest in fingerprints().items() if digest != before[name]} == {"flags"}


def test_it_is_of_all_modules_and_libraries_that_another_reader_of_imports_finds():
    """grimp follows imports by itself; it leaves out packages whose modules alone are named."""
    graph = grimp.build_graph("generators", include_external_packages=True, cache_dir=None)
    for found in graph.find_modules_directly_imported_by("generators.domains"):
        graph.remove_import(importer="generators.domains", imported=found)
    installed = packages_distributions()
    for name, modules in CODE.items():
        known = set(modules).union(*(graph.find_upstream_modules(module) for module in modules))
        files, libraries = generators.fingerprint._find_imported(modules)
        packages = {module for module in files if (ROOT.parent / module.replace(".", "/")).is_dir()}
        known.discard("generators.domains")
        inside = {module for module in known if module.startswith("generators")}
        assert inside <= files.keys() <= inside | packages, name
        outside = known - inside - generators.fingerprint.stdlib_module_names
        assert libraries - {"matplotlib_fontja"} == outside, name
        assert ("matplotlib_fontja" in libraries) == ("generators.glyphs" in files), name
        for library in libraries:
            [distribution] = set(installed[library])
            named = generators.fingerprint._DISTRIBUTIONS.get(library, library)
            assert distribution.lower().replace("-", "_") == named.lower()


@pytest.mark.parametrize(
    ("library", "changed"),
    [
        ("chess", {"chess_pieces"}),
        ("pyllusion", {"optical_illusions"}),
        ("matplotlib_fontja", {"chess_pieces", "game_boards", "patterned_grids", "title"}),
        ("pillow", set(CODE)),
        ("dagster", set()),
    ],
)
def test_another_version_of_a_library_counts_for_who_imports_it(monkeypatch, library, changed):
    installed = generators.fingerprint.version
    monkeypatch.setattr(
        generators.fingerprint, "version", lambda of: "99" if of == library else installed(of)
    )
    now = fingerprints().items()
    assert {name for name, digest in now if digest != fingerprint(*CODE[name])} == changed


@pytest.mark.parametrize("name", GRID)
def test_a_bias_alone_has_the_code_of_its_kind(name):
    modules = "generators.perturbations.pipeline", f"generators.perturbations.kinds.{name}"
    assert fingerprint(*modules) == fingerprint_perturbations(GRID[name][:1])
