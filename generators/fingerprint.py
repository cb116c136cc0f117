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
    "kinds.authenticity": (
        "aae97e7d72755ead51e4fdbc4809bd5b33ac50745de628c918160eec4a3a012a",
        "253ca9da2b228f0f9a542b7c5aa7ed87b18298f1cbb39d82b65665e54a65c444",
        "94fbbb80025e8e9d9d667179fbc1d0730b1885a78b783e9905213a6dd6e3b657",
        "f74dc340e6627190e02196db0939ca67f49c7f81455ecee14992d279ea2d3b4e",
    ),
    "kinds.beauty": (
        "6eccd31a8a77a0f16c5fe430dfb1e390aed5008422c589c70a0ed0f7978567ac",
        "36529133a94a6873e17c5594f39a08f986884ff1f79bee2e4a99f018a47dd14d",
        "441e462720c478cb08c9330fa62893b2a19355528e70f5fb29056487cb4cd9e6",
    ),
    "kinds.boxes": (
        "156de191e82a5311af4aa6f224fd5f77abfe03195890f8827c3e42f9055211df",
        "f4079b7bfe87e418fcd335da0068ad127a21cc3119bf8367c6895d9fd586f306",
        "dd618ef4475f50bfd7201ec61af0b135423abeaad7606fb74e33521aa93a564e",
    ),
    "kinds.brightness": (
        "6839614ad0519515b0b5dbd6d956c2734f502a082c60ed73567eefdebcdf6566",
        "10f596997e15ab2a7afd9f4f067787de561d45cda84160ae9ea571c6db272177",
        "4ce4b9e6c04d88d4fac3519f45ede0d3337a028623d4cfa58c09db1746dd62d6",
    ),
    "kinds.gamma": (
        "17fbcf64b87146612a2763d724f8adefba3d004c149b8b93e47a8066c66f97f6",
        "10004939c3fad4b0b425bc35ad1cf60f4ae504896eea1a64eb591563edf8d16a",
        "9e7377179c2dcc34b232b11af175f7b92987dde862bf97692c31c7f3a05ab9d6",
    ),
    "kinds.instruction": (
        "da873d06fc4f239bf0da1bdbfc36d181dc204c00cbbfba7ed69d8ddca8b9a4e2",
        "13e5bd4511af84175b8b82de570367db0aacb6ff718294b9d7475c8bcd338242",
        "7ecb1a0d5ee4ad07da8452ff37e15f3e195aa2fe14045d9e79ebb5cd30c77d68",
        "8dc6127e482e724058968c9882249112b3fdea76987c55d55b8a43b079483f1c",
    ),
    "kinds.keyword": (
        "7ed897d935f2e7a230d2ebe2849be95f79053bc49591c362c886b5ca5a3db527",
        "6766b5ff58977e13cb49137b6089814fddbed49eec90c30b11dddc934bd68818",
        "479c865b372bbf90661e5f9d64fe00ded13e76901a0f8576cca7b4e907919ce1",
        "7fee9270ed4e43339c450e2e99a885482e3209a4bf0a8cb5e3e408bac90bff8e",
    ),
    "kinds.padding": (
        "29976f6ed67fe6d70d51340929877843322d13cac757dd3f1c03f72a8e9c89fc",
        "3f0bbd4d534a4f9c2cd6e5dcdf3e254b2f61849c7c5c993a89d5eddb793971b6",
        "f0a6a45f8acfbe80bc87c25a3099479d2dfad4592866c89279c8213828ff8d73",
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
_DISTRIBUTIONS = {"PIL": "pillow"}
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
