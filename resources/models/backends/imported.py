"""A judge without an API: answers that another harness recorded, by `import-answers`."""

from resources.models.backends.base import PictureLoader
from resources.models.catalog import Model
from resources.models.replies import ModelReply, UnacceptableRequest
from resources.models.requests import LookRequest


class Imported:
    """Answers nothing itself: what was imported is in the call store, and all else is missing."""

    def __init__(self, model: Model, key: str | None, picture: PictureLoader) -> None:
        self._model = model

    async def aclose(self) -> None:
        """Do nothing: no connection is open."""

    async def look(self, request: LookRequest) -> ModelReply:
        """Raise `UnacceptableRequest`: no imported log answers the request."""
        raise UnacceptableRequest(
            f"{self._model.name}: no imported log has an answer to this question. Import one that "
            "has, by `counterfactory import-answers`."
        )
