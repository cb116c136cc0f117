"""Why a model cannot be asked at all."""


class ModelError(Exception):
    """A model cannot be asked; the message says why and what to do. What was answered is kept."""


class KeyNotSet(ModelError):
    """The environment variable that holds the API key is not set."""


class CannotDo(ModelError):
    """The model's backend does not do what it was asked for."""


class InBatch(ModelError):
    """Requests wait in a batch, and would be paid for twice if they were asked alone."""


class Stopped(ModelError):
    """The provider takes no more requests, or cannot be reached."""
