"""Scores of captions: by image, generator (who wrote the caption) and evaluator (who scored it)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class CaptionScores:
    """Scores of shape (images, generators, evaluators), NaN where there is none.

    NaN stands for a request without a score: refused, failed, not understood. A model that
    writes and scores has the same name both times; an evaluator that writes nothing, such as a
    metric, and a generator that scores nothing have no diagonal cell. `families` names the family
    of a model; one that is absent, or None, is in no family.

    Raises `ValueError` where names and shape differ, or a name is listed twice.
    """

    values: Values
    generators: tuple[str, ...]
    evaluators: tuple[str, ...]
    families: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def from_arrays(
        cls,
        values: ArrayLike,
        generators: Sequence[str],
        evaluators: Sequence[str],
        families: Mapping[str, str | None] | None = None,
    ) -> "CaptionScores":
        """Scores from anything that NumPy reads."""
        scores = np.asarray(values, np.float64)
        return cls(scores, tuple(generators), tuple(evaluators), families or {})

    def __post_init__(self) -> None:
        names = (self.generators, self.evaluators)
        for role, role_names in zip(("Generators", "Evaluators"), names, strict=True):
            duplicates = sorted({name for name in role_names if role_names.count(name) > 1})
            if duplicates:
                raise ValueError(
                    f"{role}: {', '.join(duplicates)} is listed twice. Name each model once, "
                    "or give the other one a name of its own."
                )
        if self.values.ndim != 3 or self.values.shape[1:] != tuple(map(len, names)):
            raise ValueError(
                f"Scores: their shape is {self.values.shape}, not (images, {len(self.generators)} "
                f"generators, {len(self.evaluators)} evaluators). Give one name a row and column."
            )

    @property
    def images(self) -> int:
        """The number of images."""
        return len(self.values)

    @property
    def own_cells(self) -> Mask:
        """The cells whose generator is the evaluator, by name; (generators, evaluators)."""
        return np.array(
            [
                [generator == evaluator for evaluator in self.evaluators]
                for generator in self.generators
            ]
        )

    def family_block(self, family: str) -> Mask:
        """The cells whose models are both of a family, the diagonal included; as `own`."""
        rows, columns = (
            np.array([self.families.get(name) == family for name in names], bool)
            for names in (self.generators, self.evaluators)
        )
        return np.outer(rows, columns)

    @property
    def family_names(self) -> tuple[str, ...]:
        """The families of the models that are here, in sorted order."""
        models = {*self.generators, *self.evaluators}
        return tuple(sorted({family for name in models if (family := self.families.get(name))}))

    @property
    def family_cells(self) -> Mask:
        """The diagonal, and the block of every family that is not all generators or evaluators."""
        blocks = (self.family_block(family) for family in self.family_names)
        partial_blocks = [block for block in blocks if not _holds_all(block)]
        cells: Mask = np.asarray(np.any([self.own_cells, *partial_blocks], axis=0))
        return cells

    def family_problem(self, family: str) -> str:
        """The reason why a family has no cross-model preference; empty where it has one."""
        block = self.family_block(family)
        if not (block & ~self.own_cells).any():
            return "none of its models has scored another one's captions"
        if _holds_all(block):
            return "it holds all generators or all evaluators: no model outside it to compare with"
        return ""

    def select_images(self, images: NDArray[np.bool_]) -> "CaptionScores":
        """The scores of some images."""
        return replace(self, values=self.values[images])

    @property
    def is_complete(self) -> Mask:
        """The images that have a score in every cell in which any image has one; (images,)."""
        filled = ~np.isnan(self.values)
        complete: Mask = np.all(filled | ~filled.any(axis=0), axis=(1, 2))
        return complete


def _holds_all(block: Mask) -> bool:
    return bool(block.any(axis=1).all() or block.any(axis=0).all())
