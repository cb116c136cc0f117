"""Seed and sizes of the drawn images."""

from pydantic import Field

from generators.domains import MAX_SIZE, Domain, SizeOutOfRange
from resources.settings.run_config import Resource

MIN_PHOTOGRAPH_SIZE = 64
"""Minimum longer side of a photograph, px."""


class ImageDesign(Resource):
    """Seed and sizes of the drawn images; set once, used by every asset that draws."""

    seed: int = Field(
        default=0,
        ge=-(2**63),
        lt=2**63,
        description="Random seed for squares, added types, cells and shapes; a 64-bit integer.",
    )
    sizes: list[int] = Field(
        default=[384, 768, 1152],
        description="Lengths of the longer side in px, from the topic's smallest to 4096.",
    )

    def select_sizes(self, domain: Domain) -> list[int]:
        """Return the sizes once and ascending; raises `SizeOutOfRange` for one the domain lacks."""
        for size in self._require_ascending():
            domain.check_size(size)
        return self._require_ascending()

    def select_photograph_sizes(self) -> list[int]:
        """Return the sizes of photographs; raises `SizeOutOfRange` for one out of range."""
        for size in self._require_ascending():
            if not MIN_PHOTOGRAPH_SIZE <= size <= MAX_SIZE:
                raise SizeOutOfRange(
                    f"Photographs cannot be rendered at {size} px: choose a size from "
                    f"{MIN_PHOTOGRAPH_SIZE} to {MAX_SIZE}."
                )
        return self._require_ascending()

    def _require_ascending(self) -> list[int]:
        if not self.sizes:
            raise SizeOutOfRange("No size is given: choose at least one, as in [384, 768, 1152].")
        return sorted(set(self.sizes))
