"""LLaVA-NeXT: as LLaVA-1.5, on the whole picture and on tiles of a grid that suits its shape."""

from collections.abc import Sequence

from resources.attacks.encoders.base import Encoder
from resources.attacks.preparation import Size, Tensor, cut_tiles, stack_pictures


class LlavaNext(Encoder):
    """LLaVA-NeXT (LLaVA-1.6) and what is built as it is."""

    architecture = "llava_next"

    def prepare(self, pixels: Tensor) -> Tensor:
        """Tiles x 3 x side x side."""
        return cut_tiles(pixels, self.image_processor)

    def embed(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """Compute one vector for each patch of the picture and of its tiles, without padding."""
        pixels = stack_pictures(pictures).to(self.network.dtype)
        features = self.network.get_image_features(pixel_values=pixels, image_sizes=list(sizes))
        return list(features.pooler_output)
