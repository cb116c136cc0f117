"""LLaVA-1.5: CLIP and a perceptron of two layers, which see the middle of the picture."""

from collections.abc import Sequence

from resources.attacks.encoders.base import Encoder
from resources.attacks.preparation import (
    Size,
    Tensor,
    pad_to_square,
    prepare_picture,
    stack_pictures,
)


class Llava(Encoder):
    """LLaVA-1.5 and what is built as it is."""

    architecture = "llava"

    def prepare(self, pixels: Tensor) -> Tensor:
        """A picture, padded to a square where the processor pads: 3 x side x side."""
        if getattr(self.image_processor, "do_pad", None):
            pixels = pad_to_square(pixels, self.image_processor)
        return prepare_picture(pixels, self.image_processor)

    def embed(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """Compute one vector for each patch of the picture."""
        pixels = stack_pictures(pictures).to(self.network.dtype)
        return list(self.network.get_image_features(pixel_values=pixels).pooler_output)
