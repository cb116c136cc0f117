"""Database URLs of the call store."""

from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from resources.calls.answer_file import AnswerFile
from resources.calls.answer_sql import AnswerSql
from resources.calls.schema import CallSchema
from resources.database.database import Database
from resources.database.postgres import PostgresServer
from resources.faults import UnusableStore

_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg2")
_FORMS = "sqlite:////folder/calls.sqlite or postgresql://user:password@host:5432/database"


def build_sqlite_url(path: Path) -> str:
    """The URL of a SQLite file, whatever characters its path has."""
    return URL.create("sqlite", database=str(path)).render_as_string(hide_password=False)


def build_database(url: str) -> Database[AnswerSql]:
    """The call store's database at a URL, not opened yet; raises as `parse_database_url`."""
    parsed = parse_database_url(url)
    if is_postgres(parsed):
        return PostgresServer(parsed, CallSchema())
    return AnswerFile(Path(str(parsed.database)))


def is_postgres(url: URL) -> bool:
    """True for the URL of a PostgreSQL server, which the processes of many machines share."""
    return url.drivername in _POSTGRES


def parse_database_url(url: str) -> URL:
    """Parse the URL of a file or a server; raises `UnusableStore`, which never quotes the URL."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        # What the parser says may quote a piece of a password.
        raise UnusableStore(
            f"The URL of the call store cannot be read. Write it as {_FORMS}, with the special "
            "characters of a password percent-encoded."
        ) from None
    if is_postgres(parsed):
        if not parsed.database or "@" in (parsed.host or ""):
            raise UnusableStore(
                f"The URL of the call store names no database. Write it as {_FORMS}, with the "
                "special characters of a password percent-encoded."
            )
        return parsed
    if parsed.drivername != "sqlite":
        raise UnusableStore(
            f"The call store cannot be kept in {parsed.drivername!r}. Write its URL as {_FORMS}."
        )
    if not parsed.database or parsed.database == ":memory:":
        raise UnusableStore(f"The URL of the call store names no file. Write it as {_FORMS}.")
    return parsed
