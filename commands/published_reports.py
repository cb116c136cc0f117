"""The published reports, which `counterfactory ui` serves beside Dagster, only to be read."""

from mimetypes import guess_type
from pathlib import PurePosixPath

from anyio.to_thread import run_sync
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope
from upath import UPath

from resources.storage.atomic_writes import is_remote, to_local_path
from resources.storage.files import read_file

_HEADERS = {
    # A report that was published again is seen at once.
    "Cache-Control": "no-cache",
    # Pages quote models: a script in a reply would belong to no site, and the guard refuse it.
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads allow-popups "
    "allow-popups-to-escape-sandbox",
    "X-Content-Type-Options": "nosniff",
}
_MISSING = "No page is here. Materialize reports/front_page, or the report of a benchmark.\n"


class PublishedReports(StaticFiles):
    """ASGI application that reads the files of `folder`, a path of this machine or an address.

    What is hidden, such as a report in the making, and what links lead out to is not there.
    """

    def __init__(self, folder: UPath) -> None:
        directory = None if is_remote(folder) else to_local_path(folder)
        super().__init__(directory=directory, html=True, check_dir=False)
        self._folder = folder

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Respond with a file, or with 404 in words."""
        try:
            response = await self._read(path, scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            response = PlainTextResponse(_MISSING, 404)
        response.headers.update(_HEADERS)
        return response

    async def _read(self, path: str, scope: Scope) -> Response:
        parts = PurePosixPath(path).parts
        if any(part.startswith(("/", ".")) for part in parts):
            raise HTTPException(404)
        if self.directory is not None:
            return await super().get_response(path, scope)
        file = self._folder.joinpath(*parts)
        if scope["path"].endswith("/"):
            file /= "index.html"
        try:
            data = await run_sync(read_file, file)
        except FileNotFoundError:
            raise HTTPException(404) from None
        return Response(data, media_type=guess_type(file.name)[0])

    async def check_config(self) -> None:
        """Serve also before anything was published."""
