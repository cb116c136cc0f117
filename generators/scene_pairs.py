"""Pairs of scenes of two seeds: the same design, with its change at another place.

A seed chooses the places at random. Where one seed has a place and the other has not, each of the
two could as well have been of the other seed, so that the scenes of both are equally hard for
whoever has seen neither.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from generators.scene import Scene


class ChangePlace(NamedTuple):
    """The place of a scene's change, and the design of everything else.

    >>> ChangePlace(board="chess", place="b2", design="replace Knight")
    ChangePlace(board='chess', place='b2', design='replace Knight')
    """

    board: str
    """The board or grid, on which all places are alike."""
    place: str
    design: str
    """The change and what is asked, without the place."""


class ScenePair(NamedTuple):
    """Two scenes of one design on one board; `places` names both places."""

    released: Scene
    fresh: Scene
    places: str


_Designs: TypeAlias = Mapping[str, Scene]
"""The scenes of a place by their design."""
_Places: TypeAlias = Mapping[str, _Designs]


def pair_scenes(
    released: Iterable[Scene], fresh: Iterable[Scene], locate: Callable[[Scene], ChangePlace]
) -> list[ScenePair]:
    """Pair the counterfactuals of two seeds, each place with one that the other seed lacks.

    Places that both seeds chose are left out, with all of their scenes: their pictures are the
    same, or nearly so. On a board, places with the same designs are paired first, the others in
    order; of these only the scenes with the same design are pairs.
    """
    released_boards, fresh_boards = (_group_scenes(scenes, locate) for scenes in (released, fresh))
    return [
        pair
        for board in sorted(released_boards.keys() & fresh_boards.keys())
        for pair in _pair_board(board, released_boards[board], fresh_boards[board])
    ]


def _group_scenes(
    scenes: Iterable[Scene], locate: Callable[[Scene], ChangePlace]
) -> dict[str, dict[str, dict[str, Scene]]]:
    boards: dict[str, dict[str, dict[str, Scene]]] = defaultdict(lambda: defaultdict(dict))
    for scene in scenes:
        if scene.variant == "counterfactual":
            board, place, design = locate(scene)
            boards[board][place][design] = scene
    return boards


def _pair_board(board: str, released: _Places, fresh: _Places) -> Iterator[ScenePair]:
    old_places, new_places = sorted(released.keys() - fresh), sorted(fresh.keys() - released)
    for old, new in _match_places(old_places, new_places, released, fresh):
        for design, scene in released[old].items():
            if design in fresh[new]:
                yield ScenePair(scene, fresh[new][design], f"{board}: {old}, {new}")


def _match_places(
    old_places: Sequence[str], new_places: Sequence[str], released: _Places, fresh: _Places
) -> Iterator[tuple[str, str]]:
    """Match places with the same designs first, then the others, in order."""
    unmatched, others = [*new_places], []
    for old in old_places:
        alike = (new for new in unmatched if fresh[new].keys() == released[old].keys())
        if (new := next(alike, None)) is None:
            others.append(old)
        else:
            unmatched.remove(new)
            yield old, new
    yield from zip(others, unmatched, strict=False)
