"""Encoders of SigLIP that see the picture scaled to one square, whatever its shape."""

from collections.abc import Sequence

from resources.attacks.encoders.base import Encoder
from resources.attacks.preparation import Size, Tensor, stack_pictures


class Gemma3(Encoder):
    """Gemma 3 without pan and scan, as it comes, with tokens that are pooled from patches."""

    architecture = "gemma3"

    def embed(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """Compute one vector for each token of the picture."""
        pixels = stack_pictures(pictures).to(self.network.dtype)
        return list(self.network.get_image_features(pixel_values=pixels).pooler_output)


class PaliGemma(Gemma3):
    """PaliGemma, with a token for each patch."""

    architecture = "paligemma"
