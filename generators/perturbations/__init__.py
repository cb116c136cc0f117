"""Pictures changed in one known way: an image in, an image out, the same bytes every time."""

from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

_LIBRARIES = ("fonttools", "matplotlib-fontja", "numpy", "pillow", "resvg_py", "svgwrite")


@cache
def fingerprint() -> str:
    """A digest of all code that a perturbed picture comes from, and of its libraries' versions."""
    digest = sha256()
    here = Path(__file__).parent
    for path in [*sorted(here.parent.glob("*.py")), *sorted(here.glob("*.py"))]:
        digest.update(f"{path.relative_to(here.parent)}\n".encode())
        digest.update(path.read_bytes())
    for library in _LIBRARIES:
        digest.update(f"{library} {version(library)}\n".encode())
    return digest.hexdigest()
