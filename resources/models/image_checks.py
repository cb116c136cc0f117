"""Requests whose pictures their model does not take: known before anything is sent."""

from collections.abc import Mapping
from logging import Logger

from resources.models.catalog import Model
from resources.models.image_limits import ImageLimits, find_image_limits
from resources.models.outcomes import FailedOutcome
from resources.models.pricing import Sizes, list_images
from resources.models.requests import EditRequest, Request
from resources.storage.image_store import ImageStore

REMEDY = (
    "Show smaller pictures (a smaller `size` where they are painted or drawn); or, if it takes "
    "them, raise that limit below `image_limits` in its entry in models.yaml."
)


def find_limits(model: Model, request: Request) -> ImageLimits:
    """The limits on the pictures of a request to a model."""
    is_edit = isinstance(request, EditRequest)
    return find_image_limits(model.backend, model.image_limits, is_edit=is_edit)


def find_excesses(
    model: Model, requests: Mapping[str, Request], sizes: Sizes, images: ImageStore
) -> dict[str, str]:
    """Find the requests whose pictures exceed a limit of their model, and say which, by key.

    `sizes` are those of the pictures in px. Files are looked up where they may be too large.
    """
    shown = {
        key: (find_limits(model, request), list_images(request))
        for key, request in requests.items()
    }
    shown = {key: (limit, names) for key, (limit, names) in shown.items() if names}
    weighed = {
        image for limit, names in shown.values() for image in limit.select_weighed(names, sizes)
    }
    file_sizes = images.file_sizes(weighed)
    excesses = {
        key: limit.describe_excess(names, sizes, file_sizes)
        for key, (limit, names) in shown.items()
    }
    return {key: excess for key, excess in excesses.items() if excess is not None}


def refuse_pictures(
    model: Model, requests: Mapping[str, Request], sizes: Sizes, images: ImageStore, log: Logger
) -> dict[str, FailedOutcome]:
    """The outcomes, by key, of requests that are not sent: their pictures exceed a limit."""
    excesses = find_excesses(model, requests, sizes, images)
    if excesses:
        example = next(iter(excesses.values()))
        log.warning(
            "%s: %d of %d requests are not sent, such as %s. %s",
            *(model.name, len(excesses), len(requests), example, REMEDY),
        )
    return {
        key: FailedOutcome(
            "unacceptable", f"Not sent: {model.name} would be shown {excess}. {REMEDY}", attempts=0
        )
        for key, excess in excesses.items()
    }
