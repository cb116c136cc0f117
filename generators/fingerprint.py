"""Fingerprints of code, so that work done by other code is never taken for this code's."""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from sys import stdlib_module_names

_PACKAGE = "generators"
_ROOT = Path(__file__).parent
_REGISTRY = "generators.domains"
"""Finds a domain's modules; no pixel depends on it."""
_DISTRIBUTIONS = {"PIL": "pillow", "cv2": "opencv-python-headless"}
"""Distribution names of libraries that are imported under another name."""
_FINDERS = {"find_spec", "import_module"}


@cache
def fingerprint(*modules: str) -> str:
    """Digest `modules`, all of `generators` that they import, and library versions.

    Comments, docstrings and layout do not count. Imports are found in the source, also inside
    functions; a package's `__init__` runs with its modules, and counts. A library counts by its
    installed version; so does one that is located with `find_spec` for the data in it.
    """
    files, libraries = _find_imported(modules)
    digest = sha256()
    for module, file in sorted(files.items()):
        digest.update(f"{module}\n".encode())
        digest.update(_parse(file.read_bytes())[0])
    for library in sorted(libraries):
        digest.update(f"{library} {version(_DISTRIBUTIONS.get(library, library))}\n".encode())
    return digest.hexdigest()


@cache
def find_dependencies(module: str) -> frozenset[str]:
    """Find the modules of `generators` and the libraries that a module of it imports, or theirs."""
    files, libraries = _find_imported((module,))
    return frozenset(files) | libraries


def _find_imported(modules: tuple[str, ...]) -> tuple[dict[str, Path], set[str]]:
    """Files of `generators` by module, and the names of libraries."""
    files: dict[str, Path] = {}
    libraries: set[str] = set()
    pending = list(modules)
    while pending:
        name = pending.pop()
        top, *inner = name.split(".")
        if top != _PACKAGE:
            libraries |= {top} - stdlib_module_names
            continue
        pending += [name.rpartition(".")[0]] if inner else []
        file = _find_file(inner)
        if file is not None and name not in files and name != _REGISTRY:
            files[name] = file
            pending += _parse(file.read_bytes())[1]
    return files, libraries


@cache
def _parse(source: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A module's code in a form that can be hashed, and the names that it imports."""
    tree = ast.parse(source)
    return ascii(_to_plain(tree)).encode(), tuple(_imports(tree))


def _to_plain(node: object) -> object:
    """A syntax tree as plain values, without docstrings and empty fields.

    Unlike `ast.dump`, this is the same in every version of Python that we support.
    """
    match node:
        case ast.AST():
            fields = ((name, _to_plain(value)) for name, value in ast.iter_fields(node))
            return type(node).__name__, [field for field in fields if field[1] not in (None, [])]
        case list():
            return [_to_plain(item) for item in node if not _is_docstring(item)]
        case _:
            return node


def _is_docstring(node: object) -> bool:
    """True if a node is a string that stands as a statement of its own."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False


def _find_file(inner: list[str]) -> Path | None:
    """The file of a module; None for a name that is not a module but in one."""
    path = _ROOT.joinpath(*inner)
    candidates = (
        file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file()
    )
    return next(candidates, None)


def _imports(source: ast.Module) -> Iterator[str]:
    """List the imported names, which may be of something in a module."""
    for node in ast.walk(source):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(module_name)), *_]):
                if name in _FINDERS:
                    yield module_name
