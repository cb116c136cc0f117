"""Fingerprints of code, so that work done by other code is never taken for this code's."""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from sys import stdlib_module_names

FORMER: dict[str, tuple[str, str]] = {
    "chess_pieces": (
        "a2f3d22809619821894f7d72009c7c5e9e8412739b2ae5dc4004e4fd646f6f05",
        "1aabac36c81cd724694e7a0fb066a06105ea51bc698856ab1b26c3dc02033210",
    ),
    "flags": (
        "4e6175d9fa042da3cb637639bd773f7ba72ae7cd9a59b8d3a5158d5142aedb83",
        "e05e864064e58858249983b83b37ef1de49d6a9e5f2f1b2efdcc57a6b84631c4",
    ),
    "game_boards": (
        "3a6bbfaa84f03e9cd89e63774ce2dcd81ea4575b304ee7e5ef647eb5ef54fcc2",
        "f743b8c842acb91eb179fd1310daa77c58c4bc0a7e4e683dfcae279665d6e684",
    ),
    "optical_illusions": (
        "791935ee0a69b72ea746c48d294875912c74de9d7ba61340b9f79b4328ac433a",
        "1bd9028cc107b35b668ed59fb26e1cb4c3427a3cf96f3025f0bffa653a85e60c",
    ),
    "patterned_grids": (
        "511afdabc6d4d2eba6f0b78c72e9b617c9480ed097ce1bf03debac3bbe88cb0f",
        "b60c29afb9cd89aa269f76390185af9ba8debd605d0148306948f291064e7059",
    ),
    "resize": (
        "4c1e5c1c79b31d48d825eb6db55f3e9b90a78600ae174fc73981871036751a23",
        "63a63ad7fb8b941cec1592da47ba77b5ee7322394c4630cbec0e158bbace4dbe",
    ),
    "title": (
        "2899c62422fefe3d8078ce4257a080b204218d05d5595ce10d97067f07f89fe6",
        "63a63ad7fb8b941cec1592da47ba77b5ee7322394c4630cbec0e158bbace4dbe",
    ),
}
"""By domain or perturbation: the fingerprint of this release, and that of an earlier one.

Both give the same pixels and readings, so that what was recorded for the earlier one is taken
over. With other code, or other versions of libraries, a fingerprint is not of this table.
"""

_PACKAGE = "generators"
_ROOT = Path(__file__).parent
_REGISTRY = "generators.domains"
"""It finds a domain's modules, and no pixel comes from it."""
_DISTRIBUTIONS = {"PIL": "pillow"}
"""Of libraries that are imported by another name than they are installed by."""
_FINDERS = {"find_spec", "import_module"}


@cache
def fingerprint(*modules: str) -> str:
    """A digest of `modules`, of all of `generators` that they import, and of library versions.

    Imports are found in the source, those inside functions as well; a package's `__init__` runs
    with its modules, and counts. A library counts by the version that is installed; one that is
    searched with `find_spec`, for the data in it, counts too.
    """
    files, libraries = _imported(modules)
    digest = sha256()
    for module, file in sorted(files.items()):
        digest.update(f"{module}\n".encode())
        digest.update(file.read_bytes())
    for library in sorted(libraries):
        digest.update(f"{library} {version(_DISTRIBUTIONS.get(library, library))}\n".encode())
    return digest.hexdigest()


def _imported(modules: tuple[str, ...]) -> tuple[dict[str, Path], set[str]]:
    """Files of `generators` by module, and the names of libraries."""
    files: dict[str, Path] = {}
    libraries: set[str] = set()
    left = list(modules)
    while left:
        name = left.pop()
        top, *inner = name.split(".")
        if top != _PACKAGE:
            libraries |= {top} - stdlib_module_names
            continue
        left += [name.rpartition(".")[0]] if inner else []
        file = _file_of(inner)
        if file is not None and name not in files and name != _REGISTRY:
            files[name] = file
            left += _imports(ast.parse(file.read_bytes()))
    return files, libraries


def _file_of(inner: list[str]) -> Path | None:
    """The file of a module; None for a name that is not a module but in one."""
    path = _ROOT.joinpath(*inner)
    found = (file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file())
    return next(found, None)


def _imports(source: ast.Module) -> Iterator[str]:
    """Every name that is imported; it may be of something in a module."""
    for node in ast.walk(source):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(found)), *_]):
                if name in _FINDERS:
                    yield found
