"""Code versions of assets: digests of all source files that the code of an asset group imports.

Dagster compares them with those of what was materialized. Imports are found in the text, also
inside functions; a docstring's line that looks like one only adds a file. So an edit changes the
version of each asset that may depend on it, and of no other.
"""

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import requires, version
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_FOLDERS = ("assets", "generators", "metrics", "resources")
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|.*)|import[ \t]+(.*))", re.MULTILINE
)
_WORD = re.compile(r"[\w.]+")
_DISTRIBUTION = re.compile(r"[\w.-]+")
_BENCHMARKS, _BACKENDS = "assets.kit.benchmarks", "resources.models.backends"
_SEARCHING = {
    "generators.domains": "generators.domains.",
    "generators.perturbations.registry": "generators.perturbations.kinds.",
    "generators.photographs": "generators.photographs.",
}
"""Modules that import whatever lies in a folder, and the beginning of its modules' names."""
_DISTRIBUTIONS = {
    "cv2": "opencv-python-headless",
    "dotenv": "python-dotenv",
    "fontTools": "fonttools",
    "google": "google-genai",
    "matplotlib_fontja": "matplotlib-fontja",
    "PIL": "pillow",
    "python_calamine": "python-calamine",
    "upath": "universal-pathlib",
    "ruamel": "ruamel.yaml",
    "yaml": "pyyaml",
}
"""Distributions of packages that are imported by another name."""


class CodeVersions:
    """Source files of the project below `root`, read once.

    Make it before the code is imported: a later edit then has another version the next time,
    whether or not this process has run it.
    """

    def __init__(self, root: Path = _ROOT) -> None:
        self.root = root
        self._sources: dict[str, bytes] = {}
        self._files: dict[str, str] = {}
        self._file_digests: dict[str, bytes] = {}
        self._data_digests: dict[str, list[bytes]] = {}
        self._digests: dict[frozenset[str], str] = {}
        self._find_version = cache(version)  # Parses thousands of lines.
        for folder in _FOLDERS:
            self._read(root / folder, folder, folder)
        self._assembly = (root / "definitions.py").read_bytes()
        self._imports: dict[str, tuple[set[str], set[str]]] = {}

    def digest(self, modules: Iterable[str], backends: Collection[str] = ()) -> str:
        """Digest modules, the packages among them whole, and all that these import.

        A library counts by its version, if the project requires it without an extra. `backends` are
        the modules of `resources.models.backends` that the catalog's models need.
        """
        names = frozenset([*modules, *(f"{_BACKENDS}.{backend}" for backend in backends)])
        if names not in self._digests:
            self._digests[names] = self._digest(names)
        return self._digests[names]

    def list_contents(self, modules: Iterable[str]) -> dict[str, str]:
        """List what `digest` digests: files by their paths below the root, and libraries by name.

        The values are digests of files, and versions of libraries.
        """
        imported, libraries = self._find_closure(modules)
        contents = {"definitions.py": sha256(self._assembly).hexdigest()}
        for name in sorted(imported):
            contents[self._files[name]] = self._file_digests[name].hex()
            if name in self._data_digests:
                folder = self._files[name].removesuffix("__init__.py")
                contents[f"{folder} (files of data)"] = sha256(
                    b"".join(self._data_digests[name])
                ).hexdigest()
        return contents | {name: self._find_version(name) for name in _require(libraries)}

    def list_modules(self, package: str) -> list[str]:
        """List a package, or a module, and all modules in it."""
        return [name for name in self._sources if f"{name}.".startswith(f"{package}.")]

    def _digest(self, names: Iterable[str]) -> str:
        imported, libraries = self._find_closure(names)
        digest = sha256(self._assembly)
        for name in sorted(imported):
            digest.update(f"\n{name}\n".encode())
            digest.update(self._file_digests[name])
            for data_digest in self._data_digests.get(name, ()):
                digest.update(data_digest)
        for name in _require(libraries):
            digest.update(f"\n{name} {self._find_version(name)}".encode())
        return digest.hexdigest()

    def _read(self, folder: Path, name: str, package: str) -> None:
        """Read the files of a folder, the package of which holds its files that are no modules."""
        for path in sorted(folder.iterdir()):
            if path.is_dir() and path.name != "__pycache__":
                is_package = (path / "__init__.py").exists()
                inner = f"{name}.{path.name}"
                self._read(path, inner, inner if is_package else package)
            elif path.suffix == ".py":
                module = name if path.stem == "__init__" else f"{name}.{path.stem}"
                self._sources[module] = source = path.read_bytes()
                self._files[module] = f"{name.replace('.', '/')}/{path.name}"
                self._file_digests[module] = sha256(source).digest()
            elif path.is_file():
                content = f"{path.name}\n".encode() + path.read_bytes()
                self._data_digests.setdefault(package, []).append(sha256(content).digest())

    def _find_closure(self, modules: Iterable[str]) -> tuple[set[str], set[str]]:
        """Find all modules of the project that modules import, and the names of libraries."""
        closure, libraries, waiting = set[str](), set[str](), list(modules)
        while waiting:
            name = waiting.pop()
            if name in closure or name not in self._sources:
                continue
            closure.add(name)
            project_names, libraries_of_module = self._find_imports(name)
            libraries |= libraries_of_module
            waiting += project_names - closure
            # A package's `__init__` runs before its modules.
            waiting.append(name.rpartition(".")[0])
        return closure, libraries

    def _find_imports(self, module: str) -> tuple[set[str], set[str]]:
        if module not in self._imports:
            names = set(_parse_imports(self._sources[module].decode()))
            project_names = {name for name in names if name.partition(".")[0] in _FOLDERS}
            packages = {name.partition(".")[0] for name in names - project_names}
            libraries = packages - sys.stdlib_module_names
            if prefix := _SEARCHING.get(module):
                project_names |= {name for name in self._sources if name.startswith(prefix)}
            # Whoever asks for benchmarks, and not only for a class, may use what any of them says.
            if any(
                name.startswith(f"{_BENCHMARKS}.") and _is_function(name) for name in project_names
            ):
                project_names |= {
                    name
                    for benchmark in self._benchmarks()
                    for name in self.list_modules(benchmark)
                }
            self._imports[module] = project_names & self._sources.keys(), libraries
        return self._imports[module]

    def _benchmarks(self) -> Iterator[str]:
        """Find the packages in `assets` that hold a benchmark."""
        for name, source in self._sources.items():
            if name.startswith("assets.") and name.count(".") == 1 and b"BENCHMARK" in source:
                yield name


@cache
def read_code_versions() -> CodeVersions:
    """Read the source files of this process's project, once: call it before they are imported."""
    return CodeVersions()


def _parse_imports(source: str) -> Iterator[str]:
    """Find every name that a module imports; it may be of something in a module."""
    for module, names, plain in _IMPORT.findall(source):
        if module:
            yield module
            yield from (f"{module}.{name}" for name in _WORD.findall(names))
        else:
            yield from _WORD.findall(plain)


def _is_function(name: str) -> bool:
    return name.rpartition(".")[2][0].islower()


def _require(libraries: Iterable[str]) -> list[str]:
    """Find the distributions of libraries that the project requires without an extra, sorted."""
    distributions = {_DISTRIBUTIONS.get(name, name) for name in libraries}
    return sorted(distributions & _required_distributions())


@cache
def _required_distributions() -> set[str]:
    """List the distributions that the project requires without an extra."""
    requirements = requires("counterfactory") or ()
    matches = (_DISTRIBUTION.match(text) for text in requirements if ";" not in text)
    return {match[0] for match in matches if match}
