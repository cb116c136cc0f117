"""`counterfactory review`."""

import os
import socket
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

import typer

from commands.completion import complete_reviews
from commands.options import split_list
from commands.tables import build_table, print_table

if TYPE_CHECKING:
    from upath import UPath

_HOST = "127.0.0.1"


def review(
    asset: Annotated[
        str | None,
        typer.Argument(
            metavar="ASSET",
            help="Asset whose pictures or texts are reviewed; lists them all by default.",
            autocompletion=complete_reviews,
        ),
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part", metavar="NAME[,NAME…]", help="Parts of it, such as a topic; by default all."
        ),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(metavar="NAME", help="Your name; the page asks by default.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed for the order.")] = 0,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="TCP port.")] = 3100,
) -> None:
    """Decide on pictures and texts by keys, on a page of this machine, until Ctrl-C ends it.

    Each decision is on disk before the next picture shows, in the files that people may fill in by
    hand as well. Several people may work at once. Example:

        counterfactory review vlmbias/candidates --annotator anna
    """
    from resources.settings.locations import find_data_root

    reviews = find_data_root() / "reviews"
    if asset is None:
        _print_list(reviews)
        return
    parts = _find_parts(reviews, asset, split_list(part))
    _serve(reviews, asset, parts, annotator, seed, port)


def _find_parts(reviews: "UPath", asset: str, chosen: list[str]) -> list[str]:
    """The parts to review, or those that were chosen; raises `ValueError` where there are none."""
    from assets.kit.review_forms import list_parts
    from generators.name_suggestions import suggest_names

    parts = [*list_parts(reviews, asset)] if len(asset.split("/")) == 2 else []
    if not parts:
        raise ValueError(_explain_none(asset))
    for name in chosen:
        if name not in parts:
            raise ValueError(f"{asset} has no part {name!r}{suggest_names(name, parts)}")
    return chosen or parts


def _explain_none(asset: str) -> str:
    """Say why there is nothing to review of an asset, and what to do."""
    from assets.kit.benchmarks import list_review_forms
    from generators.name_suggestions import suggest_names

    forms = [form.asset for form in list_review_forms()]
    if asset in forms:
        return (
            f"{asset}: not materialized yet, or before there was this page. Materialize it, which "
            f"pays for nothing twice: counterfactory run {asset}"
        )
    from definitions import by_key

    names = {key.to_user_string() for key in by_key}
    problem = "it has no form for people to fill in" if asset in names else "there is no such asset"
    return f"{asset}: {problem}{suggest_names(asset, forms)}"


def _print_list(reviews: "UPath") -> None:
    from assets.kit.benchmarks import list_review_forms
    from assets.kit.review_forms import list_parts

    table = build_table("asset", "parts to review", "task")
    for form in list_review_forms():
        parts = ", ".join(list_parts(reviews, form.asset))
        table.add_row(form.asset, parts or "not materialized", form.task)
    print_table(table)


def _serve(
    reviews: "UPath", asset: str, parts: list[str], annotator: str | None, seed: int, port: int
) -> None:
    import uvicorn

    from commands.review_page.answer_files import parse_annotator
    from commands.review_page.server import ReviewServer
    from commands.review_page.session import ReviewSession
    from resources.storage.image_store import ImageStore

    name = None if annotator is None else parse_annotator(annotator)
    session = ReviewSession(reviews, asset, parts, seed)
    root = os.environ.get("COUNTERFACTORY_IMAGES") or str(reviews.parent)
    app = ReviewServer(session, ImageStore(root=root)).build_app()
    listener = _listen(port)
    query = f"?{urlencode({'annotator': name})}" if name else ""
    typer.echo(f"{asset}, {', '.join(parts)}: http://{_HOST}:{port}/{query}")
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


def _listen(port: int) -> socket.socket:
    try:
        return socket.create_server((_HOST, port))
    except OSError as error:
        raise ValueError(
            f"Port {port} of {_HOST}: {error.strerror}. Open the review that runs there, or choose "
            "another port, as in --port 3101"
        ) from None
