"""A painter without an API: pictures that were painted elsewhere, by a manifest's rows."""

import asyncio
from hashlib import sha256

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.manifests import (
    ManifestError,
    NotPainted,
    digest_file,
    load_manifest,
    to_prompt_key,
)
from resources.models.replies import ImageFile, ModelReply, ModelUnavailable, UnacceptableRequest
from resources.models.requests import PaintRequest
from resources.storage.files import read_file
from resources.untrusted_input.image_decoding import BadImage, decode_image


class Folder:
    """Answers what the manifest has a picture for; all else has no answer, and none is stored."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model = model

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    async def paint(self, request: PaintRequest) -> ModelReply:
        """The picture of the row with the same prompt, and sample or seed.

        Raises `UnacceptableRequest` where there is none, or no image in its file.
        """
        return await asyncio.to_thread(self._paint, request)

    def _paint(self, request: PaintRequest) -> ModelReply:
        try:
            manifest = load_manifest(self._model)
            prompt_key = to_prompt_key(self._model, request.prompt, request.seed, request.sample)
            row = manifest.find(prompt_key)
            digest, data = digest_file(row.path), read_file(row.path)
            png = decode_image(ImageFile(data))
        except ManifestError as error:
            raise ModelUnavailable(str(error)) from None
        except NotPainted as error:
            raise UnacceptableRequest(str(error)) from None
        except BadImage as error:
            location = f"{manifest.path}, {row.place}: {row.path}"
            raise UnacceptableRequest(f"{location} cannot be used: {error}.") from None
        except OSError as error:
            raise UnacceptableRequest(f"{manifest.path}, {row.place}: {error}.") from None
        if sha256(data).hexdigest() != digest:
            raise UnacceptableRequest(f"{row.path} was changed while it was read.")
        provenance = {"manifest": self._model.model, "file": row.file}
        return ModelReply(pictures=(ImageFile(png, "image/png"),), provenance=provenance)
