"""The attack's view of a model: how it prepares a picture, and how it embeds it."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from PIL import Image

from resources.attacks.preparation import Size, Tensor, prepare_picture


class Encoder(ABC):
    """The vision encoder and connector of a model, with its processor.

    A further architecture is a subclass in a file of its own, listed in
    `resources.attacks.encoders`; models that share it need nothing.
    """

    architecture: ClassVar[str]
    """The `model_type` of its configuration."""
    sees_question: ClassVar[bool] = False
    """Whether the embedding depends on the question as well as on the picture."""

    def __init__(self, network: Any, processor: Any) -> None:
        self.network, self.processor = network, processor

    @property
    def image_processor(self) -> Any:
        """The processor of pictures."""
        return self.processor.image_processor

    def prepare(self, pixels: Tensor) -> Tensor:
        """A picture, 3 x height x width in [0, 1], as the network takes it; has a gradient."""
        return prepare_picture(pixels, self.image_processor)

    def process(self, image: Image.Image) -> Tensor:
        """A picture as the model's own processor prepares it, in the shape of `prepare`."""
        return self.image_processor(images=image, return_tensors="pt")["pixel_values"][0]

    @abstractmethod
    def embed(
        self, pictures: Sequence[Tensor], sizes: Sequence[Size], questions: Sequence[str]
    ) -> list[Tensor]:
        """Connector of encoder, for pictures as they are prepared; of any shape, one each.

        `sizes` are the pictures' own. What the language model would see of each is compared as one
        vector.
        """
