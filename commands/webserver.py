"""Dagster's webserver behind `OriginGuard`: `python -m commands.webserver`, with its options."""

import os
from typing import Any

import dagster_webserver.app
from dagster_webserver.cli import dagster_webserver as webserver_command
from dagster_webserver.webserver import DagsterWebserver
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from commands.environment import ORIGINS_VARIABLE
from commands.origin_guard import OriginGuard


class GuardedWebserver(DagsterWebserver[Any, Any]):
    """Dagster's webserver without requests of other sites, and without GraphQL by GET.

    Dagster executes mutations by GET, which any page's picture may send without an `Origin`.
    """

    def build_middleware(self) -> list[Middleware]:
        """Dagster's own middleware behind the guard."""
        origins = os.environ.get(ORIGINS_VARIABLE, "").split()
        return [Middleware(OriginGuard, origins), *super().build_middleware()]

    async def graphql_http_endpoint(self, request: Request) -> Response:
        """Execute what comes by POST; by GET there is the page for typing queries alone."""
        if request.method != "POST" and "query" in request.query_params:
            return PlainTextResponse("GraphQL: not executed by GET. Send it by POST.\n", 405)
        response: Response = await super().graphql_http_endpoint(request)
        return response


if __name__ == "__main__":
    vars(dagster_webserver.app)["DagsterWebserver"] = GuardedWebserver
    webserver_command.main(auto_envvar_prefix="DAGSTER_WEBSERVER")
