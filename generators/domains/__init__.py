"""The drawn benchmark domains, found by looking into this folder.

A domain is a package with three modules:

- `draw`: `VERSION`, `MIN_SIZE` (the least size in px at which its marks stay separate),
  `list_scenes(seed)` (every counterfactual, then every original) and `draw(scene, size)`
  (the SVG, its longer side `size` px);
- `measure`: `VERSION`, `measure(pixels, targets)` (one reading a target, or `Unreadable`) and
  `measure_legibility(pixels)`; it never sees a scene;
- `ask`: `write_questions(scene)` (Q1, Q2 and Q3 of a scene; after them, for an original of a
  subject that people know, the sanity check's N1 and N2) and `parse_question(prompt)` (the targets
  that a prompt with one of Q1 to Q3 asks for, read from its words alone; None when it is another
  domain's or wants a name).

Three modules are optional; no picture and no reading comes from them. Two are for readers of a
report, and one for drawing the domain anew:

- `outline`: `find_outline(scene, size)`, the boxes around what was changed in a counterfactual;
- `changes`: `describe_change(change)`, what that is in words, where it is no count alone;
- `change_place`: `locate_change(scene)`, where it is, in a domain whose seed chooses that alone.

A package `isolated` in the domain's is optional as well: its `draw` and `measure`, with the names
above, are of the benchmark's scenes with what is counted alone.

`TITLE` in the package itself is the name that readers see. `CAPTION`, where there is one, makes a
subject's name of the column `subject`, as in "{subject} illusion".
"""

from collections.abc import Sequence
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Protocol, TypeAlias, cast

from generators.changes import SceneChange, describe_difference
from generators.fingerprint import fingerprint
from generators.isolation import SUFFIX
from generators.reading import Inquiry, Legibility, Pixels
from generators.scene import Question, Scene
from generators.scene_pairs import ChangePlace

MAX_SIZE = 4096
"""The largest size in px that is drawn, along the longer side."""


OutlineBox: TypeAlias = tuple[float, float, float, float]
"""Left, top, width and height of a part of a picture, in parts of the picture's own."""


class UnknownDomain(ValueError):
    """A domain's name without a folder in `generators/domains`."""


class SizeOutOfRange(ValueError):
    """A size at which a domain cannot be drawn."""


class _Draw(Protocol):
    VERSION: str
    MIN_SIZE: int

    def list_scenes(self, seed: int) -> Sequence[Scene]: ...
    def draw(self, scene: Scene, size: int) -> str: ...


class _Measure(Protocol):
    VERSION: str

    def measure(self, pixels: Pixels, targets: Sequence[str]) -> Sequence[float]: ...
    def measure_legibility(self, pixels: Pixels) -> Legibility: ...


class _Ask(Protocol):
    def write_questions(self, scene: Scene) -> Sequence[Question]: ...
    def parse_question(self, prompt: str) -> Inquiry | None: ...


class _Outline(Protocol):
    def find_outline(self, scene: Scene, size: int) -> Sequence[OutlineBox]: ...


class _Changes(Protocol):
    def describe_change(self, change: SceneChange) -> str: ...


class _ChangePlaces(Protocol):
    def locate_change(self, scene: Scene) -> ChangePlace: ...


class Domain:
    """A drawn domain; its functions are imported when first used."""

    def __init__(self, name: str) -> None:
        self.name = name
        package = import_module(f"{__name__}.{name}")
        self.title: str = package.TITLE
        self._caption: str = getattr(package, "CAPTION", "{subject}")

    @property
    def draw_module(self) -> _Draw:
        """Its `draw` module."""
        return cast(_Draw, import_module(f"{__name__}.{self.name}.draw"))

    @property
    def measure_module(self) -> _Measure:
        """Its `measure` module."""
        return cast(_Measure, import_module(f"{__name__}.{self.name}.measure"))

    @property
    def ask_module(self) -> _Ask:
        """Its `ask` module; an isolated picture is asked about as the whole one is."""
        return cast(_Ask, import_module(f"{__name__}.{self.name.removesuffix(SUFFIX)}.ask"))

    def find_outline(self, scene: Scene, size: int) -> Sequence[OutlineBox]:
        """The boxes around what was changed; empty for a domain without outlines."""
        module = f"{__name__}.{self.name}.outline"
        if scene.variant == "original" or find_spec(module) is None:
            return []
        return cast(_Outline, import_module(module)).find_outline(scene, size)

    def describe_change(self, change: SceneChange) -> str:
        """What was changed in a counterfactual, in words."""
        module = f"{__name__}.{self.name}.changes"
        if find_spec(module) is None:
            return describe_difference(change)
        return cast(_Changes, import_module(module)).describe_change(change)

    @property
    def has_change_places(self) -> bool:
        """Whether a seed chooses the places of its changes, so that another makes new pictures."""
        return find_spec(f"{__name__}.{self.name}.change_place") is not None

    def locate_change(self, scene: Scene) -> ChangePlace:
        """The place of a counterfactual's change, in a domain that `has_change_places`."""
        module = import_module(f"{__name__}.{self.name}.change_place")
        return cast(_ChangePlaces, module).locate_change(scene)

    @cached_property
    def outline_fingerprint(self) -> str:
        """A digest of all code that its outlines come from; empty where there are none."""
        module = f"{__name__}.{self.name}.outline"
        return "" if find_spec(module) is None else fingerprint(module)

    def format_caption(self, subject: str) -> str:
        """A subject's name as it stands alone, as in "Ebbinghaus illusion"."""
        caption = self._caption.format(subject=subject)
        return caption[:1].upper() + caption[1:]

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of the code that a picture or a reading of this domain comes from."""
        home = f"{__name__}.{self.name}"
        return fingerprint("generators.worker_jobs", f"{home}.draw", f"{home}.measure")

    def check_size(self, size: int) -> None:
        """Raise `SizeOutOfRange` unless the domain can be drawn with a longer side of `size` px."""
        smallest = self.draw_module.MIN_SIZE
        if not smallest <= size <= MAX_SIZE:
            raise SizeOutOfRange(
                f"{self.name} cannot be drawn at {size} px: choose a size from {smallest} "
                f"(below it, its marks run together) to {MAX_SIZE}."
            )


@cache
def load_domains() -> dict[str, Domain]:
    """The domains by name, in alphabetical order."""
    return {module.name: Domain(module.name) for module in iter_modules(__path__) if module.ispkg}


@cache
def load_isolated_domains() -> dict[str, Domain]:
    """The domains that draw scenes isolated, by the names of those that draw them whole."""
    return {
        name: Domain(f"{name}{SUFFIX}")
        for name in load_domains()
        if find_spec(f"{__name__}.{name}{SUFFIX}") is not None
    }


def load_domain(name: str) -> Domain:
    """The domain of that name, which may draw another's scenes isolated.

    Raises `UnknownDomain` with the names that exist.
    """
    try:
        if name.endswith(SUFFIX):
            return load_isolated_domains()[name.removesuffix(SUFFIX)]
        return load_domains()[name]
    except KeyError:
        available_names = ", ".join(load_domains())
        raise UnknownDomain(f"Unknown domain {name!r}. Choose from: {available_names}.") from None
