"""A provider that declines the first thing it is asked in words, and the second by its API."""

from resources.models.catalog import Model
from tests.providers import faults

IN_WORDS = "I'm sorry, I cannot help with that."
EVERYTHING = ("judge", "captioner", "writer", "moderator", "painter", "editor")


class Refusing:
    """The answers of another, but for two items of a step.

    A repair or a follow-up of what was refused is refused alike.
    """

    def __init__(self, answer):
        self.answer, self._places = answer, {}

    def begin(self):
        """Refuse the first two items of the next step."""
        self._places.clear()

    def __call__(self, received):
        item = received.task, received.texts[0], received.images
        place = self._places.setdefault(item, len(self._places))
        if place == 0:
            return IN_WORDS if received.task == "text" else faults.TEXT_FOR_PICTURE
        if place == 1:
            gemini = received.provider == "gemini"
            return faults.FINISHED["IMAGE_SAFETY"] if gemini else faults.REFUSED
        return self.answer(received)

    @property
    def refused(self):
        """How many items were refused."""
        return min(2, len(self._places))


def model_at(server, **entry):
    """An entry of models.yaml for a model with every role, of OpenAI's API."""
    known = {"name": "seer", "backend": "openai", "model": "seer-1", "family": "some"}
    return Model(**known | {"roles": EVERYTHING[:4], "base_url": server.openai_url} | entry)


def artist_at(server):
    """A painter and editor of an API that may answer in words in place of a picture."""
    known = {"name": "artist", "backend": "gemini", "model": "artist-image-1"}
    return model_at(server, **known, base_url=server.url, roles=("painter", "editor"))
