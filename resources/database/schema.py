"""The schema of a database: its tables, and the SQL for them in one dialect."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from sqlalchemy import Connection, MetaData, text
from sqlalchemy.schema import CreateIndex, CreateTable

Sql = TypeVar("Sql")

_NAMES = {
    "sqlite": "SELECT name FROM sqlite_master",
    "postgresql": "SELECT relname FROM pg_class WHERE pg_table_is_visible(oid)",
}


class Schema(ABC, Generic[Sql]):
    """Tables that are kept together, in a file of their own or on a server beside others."""

    tables: MetaData
    damage_note: str
    """The part of an error about damage that names what is at stake, and what was done."""

    @abstractmethod
    def build_sql(self, dialect: str) -> Sql:
        """The SQL of "sqlite" or "postgresql"."""

    def build_index_statements(self, dialect: str) -> list[str]:
        """Build the statements for indexes that the tables do not say themselves."""
        return []

    def is_complete(self, connection: Connection) -> bool:
        """True where no table or index is missing."""
        return self.tables.tables.keys() <= list_schema_names(connection)

    def create_missing(self, connection: Connection) -> None:
        """Create missing tables and indexes."""
        for table in self.tables.sorted_tables:
            connection.execute(CreateTable(table, if_not_exists=True))
            for index in table.indexes:
                connection.execute(CreateIndex(index, if_not_exists=True))
        for statement in self.build_index_statements(connection.dialect.name):
            connection.execute(text(statement))


def list_schema_names(connection: Connection) -> set[str]:
    """The names of the tables and indexes that a database has."""
    return set(connection.scalars(text(_NAMES[connection.dialect.name])))
