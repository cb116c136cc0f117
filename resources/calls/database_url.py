"""Database URLs of the call store."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from resources.calls.database import Database
from resources.calls.postgres import PostgresServer
from resources.calls.sqlite import SqliteFile
from resources.faults import UnusableStore

_FORMS = "sqlite:////folder/calls.sqlite or postgresql://user:password@host:5432/database"


def build_sqlite_url(path: Path) -> str:
    """The URL of a SQLite file, whatever characters its path has."""
    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)


def build_database(url: str) -> Database:
    """The database at a URL, not opened yet; raises `UnusableStore`, which never quotes the URL."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # What the parser says may quote a piece of a password.
        raise UnusableStore(
            f"The URL of the call store cannot be read. Write it as {_FORMS}, with the special "
            "characters of a password percent-encoded."
        ) from None
    if parsed.drivername == "sqlite" and parsed.database and parsed.database != ":memory:":
        return SqliteFile(Path(parsed.database))
    if parsed.drivername in ("postgresql", "postgres", "postgresql+psycopg2"):
        if not parsed.database or "@" in (parsed.host or ""):
            raise UnusableStore(
                f"The URL of the call store names no database. Write it as {_FORMS}, with the "
                "special characters of a password percent-encoded."
            )
        return PostgresServer(parsed)
    if parsed.drivername == "sqlite":
        raise UnusableStore(f"The URL of the call store names no file. Write it as {_FORMS}.")
    raise UnusableStore(
        f"The call store cannot be kept in {parsed.drivername!r}. Write its URL as {_FORMS}."
    )
