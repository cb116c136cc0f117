"""Pictures that came to no numbers: arithmetic in a small dtype overflowed, and all is black."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from PIL import Image

from resources.models.catalog import Model
from resources.models.replies import UnacceptableRequest


class UndefinedPixels:
    """Notices that a pipeline turned what is no number into pixels.

    NumPy says so where pipelines make bytes of floats; in diffusers it is a warning, and the
    picture is of one colour.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._are_cast = False

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Listen to NumPy, in this thread."""
        with np.errstate(invalid="call", call=self._note):
            yield

    def require_none(self, pictures: Sequence[Image.Image]) -> None:
        """Raise `UnacceptableRequest` where a picture is of one colour and had such pixels."""
        if self._are_cast and any(map(_is_plain, pictures)):
            raise UnacceptableRequest(
                f"{self._model.name} painted what is no number: the arithmetic of its dtype "
                "overflowed. Set a wider one among its parameters in models.yaml: dtype: bfloat16 "
                "for float16, float32 for bfloat16"
            )

    def _note(self, _error: str, _flag: int) -> None:
        self._are_cast = True


def _is_plain(picture: Image.Image) -> bool:
    pixels = np.asarray(picture)
    return bool((pixels == pixels[0, 0]).all())
