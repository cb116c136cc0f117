"""A painter without an API: pictures that were painted elsewhere, by a manifest's rows."""

import asyncio
from hashlib import sha256

from resources.image_decoding import BadImage, decode_image
from resources.models.backends.base import PictureOf
from resources.models.catalog import Model
from resources.models.manifests import (
    ManifestError,
    NotPainted,
    digest_of,
    manifest_of,
    wanted_of,
)
from resources.models.replies import Closed, Picture, Reply, Unacceptable
from resources.models.requests import Paint


class Folder:
    """Answers what the manifest has a picture for; all else has no answer, and none is stored."""

    def __init__(self, model: Model, key: str | None, picture: PictureOf) -> None:
        self._model = model

    async def aclose(self) -> None:
        """Nothing is open."""

    async def paint(self, request: Paint) -> Reply:
        """The picture of the row with the same prompt, and sample or seed.

        Raises `Unacceptable` where there is none, or no image in its file.
        """
        return await asyncio.to_thread(self._painted, request)

    def _painted(self, request: Paint) -> Reply:
        try:
            manifest = manifest_of(self._model)
            wanted = wanted_of(self._model, request.prompt, request.seed, request.sample)
            row = manifest.find(wanted)
            digest, data = digest_of(row.path), row.path.read_bytes()
            png = decode_image(Picture(data))
        except ManifestError as error:
            raise Closed(str(error)) from None
        except NotPainted as error:
            raise Unacceptable(str(error)) from None
        except BadImage as error:
            where = f"{manifest.path}, {row.place}: {row.path}"
            raise Unacceptable(f"{where} cannot be used: {error}.") from None
        except OSError as error:
            raise Unacceptable(f"{manifest.path}, {row.place}: {error}.") from None
        if sha256(data).hexdigest() != digest:
            raise Unacceptable(f"{row.path} was changed while it was read.")
        made = {"manifest": self._model.model, "file": row.file}
        return Reply(pictures=(Picture(png, "image/png"),), made=made)
