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

    NaN stands for what was asked and gave no score: refused, failed, not understood. A model that
    writes and scores has the same name both times; an evaluator that writes nothing, such as a
    metric, and a generator that scores nothing have no diagonal cell. `families` names the family
    of a model; one that is absent, or None, is in no family.

    Raises `ValueError` where names and shape differ, or a name comes twice.
    """

    values: Values
    generators: tuple[str, ...]
    evaluators: tuple[str, ...]
    families: Mapping[str, str | None] = field(default_factory=dict)

    @classmethod
    def of(
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
        for what, of in zip(("Generators", "Evaluators"), names, strict=True):
            twice = sorted({name for name in of if of.count(name) > 1})
            if twice:
                raise ValueError(
                    f"{what}: {', '.join(twice)} comes twice. Name each model once, or give the "
                    "other one a name of its own."
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
    def own(self) -> Mask:
        """Where the generator is the evaluator: the diagonal, by name; (generators, evaluators)."""
        return np.array([[one == other for other in self.evaluators] for one in self.generators])

    def block(self, family: str) -> Mask:
        """Where both are of a family, the diagonal included; (generators, evaluators)."""
        rows, columns = (
            np.array([self.families.get(name) == family for name in names], bool)
            for names in (self.generators, self.evaluators)
        )
        return np.outer(rows, columns)

    @property
    def family_names(self) -> tuple[str, ...]:
        """The families of the models that are here, in sorted order."""
        models = {*self.generators, *self.evaluators}
        return tuple(sorted({of for name in models if (of := self.families.get(name))}))

    @property
    def kin(self) -> Mask:
        """The diagonal and every family's block; (generators, evaluators)."""
        blocks = [self.block(family) for family in self.family_names]
        kin: Mask = np.asarray(np.any([self.own, *blocks], axis=0))
        return kin

    def only(self, images: NDArray[np.bool_]) -> "CaptionScores":
        """The scores of some images."""
        return replace(self, values=self.values[images])
