"""The server of the review page, on loopback, behind the guard of the UI."""

import json
import logging
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from commands.origin_guard import OriginGuard
from commands.review_page.agreement import describe_agreement
from commands.review_page.answer_files import parse_annotator
from commands.review_page.session import Decision, ReviewSession
from resources.faults import StoreError
from resources.storage.image_store import ImageStore

_LOG = logging.getLogger(__name__)
_FOLDER = Path(__file__).parent
_FILES = {"/": "page.html", "/page.css": "page.css", "/page.js": "page.js"}
_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
_LONGEST_TEXT = 1000
_CUT_OFF = "The server ended: your last answer may not be written. Start it again, and look."
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; img-src 'self' data:; style-src 'self'; "
    "script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class ReviewServer:
    """Routes of the page: its files, the pictures under review, and what annotators do."""

    def __init__(self, session: ReviewSession, images: ImageStore) -> None:
        self._session, self._images = session, images

    def build_app(self) -> Starlette:
        """Build the application."""
        routes = [
            *(Route(path, self._serve_file(name)) for path, name in _FILES.items()),
            Route("/pictures/{digest}.png", self.serve_picture),
            Route("/form", self.describe_form),
            Route("/state", self.show),
            Route("/agreement", self.describe_agreement),
            Route("/{action}", self.act, methods=["POST"]),
        ]
        return Starlette(routes=routes, middleware=[Middleware(OriginGuard)])

    @staticmethod
    def _serve_file(name: str) -> Callable[[Request], Response]:
        content, kind = (_FOLDER / name).read_bytes(), _KINDS[Path(name).suffix]
        return lambda _: Response(content, media_type=kind, headers=_HEADERS)

    def serve_picture(self, request: Request) -> Response:
        """Serve a picture under review."""
        digest = request.path_params["digest"]
        if digest not in self._session.pictures:
            return PlainTextResponse("This picture is not under review.\n", 404, _HEADERS)
        try:
            png = self._images.get(digest)
        except StoreError as error:
            return PlainTextResponse(f"{error}\n", 404, _HEADERS)
        # Its name is the hash of its content.
        lasting = {"Cache-Control": "private, max-age=31536000, immutable"}
        return Response(png, media_type="image/png", headers=_HEADERS | lasting)

    def describe_form(self, _: Request) -> Response:
        """Describe the form: its task, answers and reasons."""
        form = self._session.form
        reply = {
            **self._session.describe_review(),
            "task": form.task,
            "guidelines": form.guidelines,
            "choices": [*form.choices.items()],
            "reasons": form.reasons,
            "next_step": form.next_step,
        }
        return JSONResponse(reply, headers=_HEADERS)

    def show(self, request: Request) -> Response:
        """Describe what a window shows."""
        query = request.query_params
        return _reply(
            lambda: self._session.show(
                parse_annotator(query.get("annotator", "")), query.get("window", "")
            )
        )

    def describe_agreement(self, request: Request) -> Response:
        """Describe how an annotator agrees with others."""
        annotator = request.query_params.get("annotator", "")
        answered = self._session.list_answers()
        return JSONResponse(
            describe_agreement(self._session.form, answered, annotator), headers=_HEADERS
        )

    async def act(self, request: Request) -> Response:
        """Decide, undo, skip or set aside, as the page says in JSON."""
        try:
            return await self._read_and_act(request)
        except (ClientDisconnect, CancelledError):  # Cancelled, as the server ends.
            return JSONResponse({"error": _CUT_OFF}, 503, _HEADERS)

    async def _read_and_act(self, request: Request) -> Response:
        try:
            body = json.loads(await request.body())
            text = {str(name): str(cell)[:_LONGEST_TEXT] for name, cell in body.items()}
        except (ValueError, AttributeError, RecursionError):
            return JSONResponse({"error": "The request is no JSON object."}, 400, _HEADERS)
        return await run_in_threadpool(self._act, request.path_params["action"], text)

    def _act(self, action: str, text: dict[str, str]) -> Response:
        session, window, item = self._session, text.get("window", ""), text.get("item", "")
        actions: dict[str, Callable[[str], dict[str, Any]]] = {
            "decide": lambda name: session.decide(
                Decision(
                    annotator=name,
                    window=window,
                    item=item,
                    value=text.get("value", ""),
                    reason=" ".join(text.get("reason", "").split()),
                    replaces=text.get("replaces"),
                )
            ),
            "undo": lambda name: session.undo(name, window),
            "skip": lambda name: session.skip(name, window, item),
            "leave": lambda _: session.leave(window),
            "set-aside": lambda name: session.set_aside(name, window),
        }
        if action not in actions:
            return PlainTextResponse("Nothing is here.\n", 404, _HEADERS)
        if text.get("asset") != session.asset:
            problem = (
                f"{session.asset} is under review here now, and your page showed another review: "
                "nothing was written. Go on here, or start the other review again."
            )
            return JSONResponse(session.describe_review() | {"error": problem}, 409, _HEADERS)
        return _reply(lambda: actions[action](parse_annotator(text.get("annotator", ""))))


def _reply(work: Callable[[], dict[str, Any]]) -> Response:
    try:
        return JSONResponse(work(), headers=_HEADERS)
    except (ValueError, StoreError) as error:
        return JSONResponse({"error": str(error)}, 409, _HEADERS)
    except Exception as error:  # noqa: BLE001 - without JSON, the page sends the same for ever
        _LOG.exception("The review page could not answer.")
        text = (
            f"This failed ({type(error).__name__}: {error}). Your last answer may not be written; "
            "the terminal of the server says more."
        )
        return JSONResponse({"error": text}, 500, _HEADERS)
