"""LLaVA-1.5: CLIP and a perceptron of two layers, which see the middle of the picture."""

from collections.abc import Sequence

from resources.attacks.encoders.base import Encoder
from resources.attacks.preparation import Size, Tensor, padded_to_square, prepared, stacked


class Llava(Encoder):
    """LLaVA-1.5 and what is built as it is."""

    architecture = "llava"

    def prepared(self, pixels: Tensor) -> Tensor:
        """A picture, padded to a square where the processor pads: 3 x side x side."""
        if getattr(self.preparing, "do_pad", None):
            pixels = padded_to_square(pixels, self.preparing)
        return prepared(pixels, self.preparing)

    def embedded(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """One vector for each patch of the picture."""
        pixels = stacked(pictures).to(self.network.dtype)
        return list(self.network.get_image_features(pixel_values=pixels).pooler_output)
