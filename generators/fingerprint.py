"""Fingerprints of code, so that work done by other code is never taken for this code's."""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from sys import stdlib_module_names

FORMER: dict[str, tuple[str, ...]] = {
    "chess_pieces": (
        "c4b49b55382af53c18ba6c40b15656a153f0113f11c138c0da9bbce5eb911950",
        "cdb0b346f68a6f89280ca5df558d8adcba47dde56f11d7db7ef156c14abd658c",
        "a2f3d22809619821894f7d72009c7c5e9e8412739b2ae5dc4004e4fd646f6f05",
        "1aabac36c81cd724694e7a0fb066a06105ea51bc698856ab1b26c3dc02033210",
    ),
    "flags": (
        "5377e86f8b6821877b937a5e55a0134f29fe1fdef1984ee173f25473970bae5a",
        "c9b88bd784b45886da96b006d13f5ef13fb0e997aa3156cccca7c51acfa9d9cb",
        "4e6175d9fa042da3cb637639bd773f7ba72ae7cd9a59b8d3a5158d5142aedb83",
        "e05e864064e58858249983b83b37ef1de49d6a9e5f2f1b2efdcc57a6b84631c4",
    ),
    "game_boards": (
        "b3f9fad9774b5a2e66791b5c439e0aa96868773f50c6bb1954b523733b63a934",
        "db093bded688d93c5d96791057f147081f0260e84ffaab3cdce34e9ca7c12f06",
        "fb43aad3dddf4073ea2f6385672db21c53f0af749103d06e83a694482beb5921",
        "97aa0a9595218aad3dc1185fde1ac27ca95efa39a7a5868c18eaab801dc326a7",
        "3a6bbfaa84f03e9cd89e63774ce2dcd81ea4575b304ee7e5ef647eb5ef54fcc2",
        "f743b8c842acb91eb179fd1310daa77c58c4bc0a7e4e683dfcae279665d6e684",
    ),
    "optical_illusions": (
        "4341f9fb4e55e0fa16dc67afab4e59ae43fd008a87b15b9e22afa844147ed593",
        "791935ee0a69b72ea746c48d294875912c74de9d7ba61340b9f79b4328ac433a",
        "1bd9028cc107b35b668ed59fb26e1cb4c3427a3cf96f3025f0bffa653a85e60c",
    ),
    "patterned_grids": (
        "c84a5166489eebcdccb2cccd2af1270ba2ea9e5e6f7725b9810cd50928dada21",
        "0bf7dd0536e6b47997624ac213b1e6fdd86544f01481da1361b71a54a26bf710",
        "511afdabc6d4d2eba6f0b78c72e9b617c9480ed097ce1bf03debac3bbe88cb0f",
        "b60c29afb9cd89aa269f76390185af9ba8debd605d0148306948f291064e7059",
    ),
    "resize": (
        "1113aad144d991700eaf0c7d26b47866239b3b94d626a5ac1d8d7536096c387c",
        "4c1e5c1c79b31d48d825eb6db55f3e9b90a78600ae174fc73981871036751a23",
        "63a63ad7fb8b941cec1592da47ba77b5ee7322394c4630cbec0e158bbace4dbe",
    ),
    "title": (
        "1c86106f8bd047b9a1e7a2fb10fa03c134dabc19ee9ac9875ce9d8b7a4959189",
        "77d140f445e5448b48e2c98a3c092fc4c3250f7f735bb0b759209ae79fa33809",
        "2899c62422fefe3d8078ce4257a080b204218d05d5595ce10d97067f07f89fe6",
        "63a63ad7fb8b941cec1592da47ba77b5ee7322394c4630cbec0e158bbace4dbe",
    ),
}
"""By domain or perturbation: this release's fingerprint, then those of earlier releases.

All of them give the same pixels and readings: work recorded under an earlier one is taken over.
Other code, or another version of a library, has a fingerprint that is not in this table.
`kinds.…` are FRAME's biases, each alone: a picture with several is made again, byte for byte.
"""

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
    files, libraries = _imported(modules)
    digest = sha256()
    for module, file in sorted(files.items()):
        digest.update(f"{module}\n".encode())
        digest.update(_parsed(file.read_bytes())[0])
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
            left += _parsed(file.read_bytes())[1]
    return files, libraries


@cache
def _parsed(source: bytes) -> tuple[bytes, tuple[str, ...]]:
    """A module's code in a form that can be hashed, and the names that it imports."""
    tree = ast.parse(source)
    return ascii(_plain(tree)).encode(), tuple(_imports(tree))


def _plain(node: object) -> object:
    """A syntax tree as plain values, without docstrings and empty fields.

    Unlike `ast.dump`, this is the same in every version of Python that we support.
    """
    match node:
        case ast.AST():
            fields = ((name, _plain(value)) for name, value in ast.iter_fields(node))
            return type(node).__name__, [field for field in fields if field[1] not in (None, [])]
        case list():
            return [_plain(each) for each in node if not _is_docstring(each)]
        case _:
            return node


def _is_docstring(node: object) -> bool:
    """Whether a node is a string that stands as a statement of its own."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case _:
            return False


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
