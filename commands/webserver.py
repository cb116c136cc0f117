"""Dagster's webserver behind `OriginGuard`: `python -m commands.webserver`, with its options."""

import os
from typing import Any

import dagster_webserver.app
from dagster_webserver.cli import dagster_webserver as webserver_command
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from commands.environment import ORIGINS_VARIABLE
from commands.origin_guard import OriginGuard
from commands.published_reports import PublishedReports
from resources.execution.dagster_internals import scaffold_null_defaults
from resources.settings.locations import REPORTS_ROUTE, find_data_root


class GuardedWebserver(DagsterWebserver[Any, Any]):
    """Dagster's webserver without requests of other sites and GraphQL by GET, but with reports.

    Dagster executes mutations by GET, which any page's picture may send without an `Origin`.
    """

    def build_middleware(self) -> list[Middleware]:
        """Dagster's own middleware behind the guard."""
        origins = os.environ.get(ORIGINS_VARIABLE, "").split()
        return [Middleware(OriginGuard, origins), *super().build_middleware()]

    def build_routes(self) -> list[BaseRoute]:
        """The published reports before Dagster's own routes, the last of which takes every path."""
        own_routes: Any = super().build_routes  # Its package has no type for it.
        try:
            reports = PublishedReports(find_data_root() / "report")
        except ValueError:  # Of the same error Dagster's pages tell: the definitions do not load.
            return [*own_routes()]
        front_page = RedirectResponse(f"{REPORTS_ROUTE}/index.html")
        return [
            Route(REPORTS_ROUTE, lambda _: front_page),
            Mount(REPORTS_ROUTE, reports),
            *own_routes(),
        ]

    async def graphql_http_endpoint(self, request: Request) -> Response:
        """Execute what comes by POST; by GET there is the page for typing queries alone."""
        if request.method != "POST" and "query" in request.query_params:
            return PlainTextResponse("GraphQL: not executed by GET. Send it by POST.\n", 405)
        response: Response = await super().graphql_http_endpoint(request)
        return response


if __name__ == "__main__":
    scaffold_null_defaults()
    vars(dagster_webserver.app)["DagsterWebserver"] = GuardedWebserver
    webserver_command.main(auto_envvar_prefix="DAGSTER_WEBSERVER")
