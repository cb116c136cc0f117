"""Images by content: a PNG's name is the sha256 of its bytes."""

from hashlib import sha256

from dagster import ConfigurableResource
from upath import UPath

from resources.atomic import write_whole
from resources.faults import Corrupt, Missing


class ImageStore(ConfigurableResource[None]):
    """PNG files at `<root>/images/<first two digits>/<sha256>.png`."""

    root: str

    def path(self, digest: str) -> UPath:
        """Where the image of that sha256 lies, or would lie."""
        return UPath(self.root) / "images" / digest[:2] / f"{digest}.png"

    def put(self, png: bytes) -> str:
        """Keep an image and give its sha256; one that is there already is not written again."""
        digest = sha256(png).hexdigest()
        if not self.holds(digest):
            write_whole(self.path(digest), png)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of an image, checked against their sha256.

        Raises `Missing` or `Corrupt`; drawn images heal when their asset is materialized again.
        """
        path = self.path(digest)
        try:
            png = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise Missing(
                f"The image {path} is gone. Materialize the images of its topic again: what is "
                "missing is drawn again, the rest is kept."
            ) from error
        if sha256(png).hexdigest() != digest:
            raise Corrupt(
                f"The image {path} is not what was written there. Materialize the images of its "
                "topic again: what is damaged is drawn again, the rest is kept."
            )
        return png

    def holds(self, digest: str) -> bool:
        """Whether the image is there and whole."""
        try:
            self.get(digest)
        except (Missing, Corrupt):
            return False
        return True
