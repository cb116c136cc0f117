"""What has been drawn or measured already, so that it is not done again."""

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from dagster import ConfigurableResource
from pydantic import PrivateAttr
from sqlalchemy import Column, Engine, MetaData, String, Table, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import DatabaseError, OperationalError
from upath import UPath

from resources.faults import Corrupt, writing

_WORK = Table("work", MetaData(), Column("key", String, primary_key=True), Column("result", String))
_AT_ONCE = 500


def work_key(*parts: object) -> str:
    """The key of a piece of work: sha256 of everything that its result depends on."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(canonical.encode()).hexdigest()


class WorkLedger(ConfigurableResource[None]):
    """Results of deterministic work by key, in `<root>/work.sqlite`; safe across processes."""

    root: str
    _engine: Engine | None = PrivateAttr(default=None)

    def known(self, keys: Iterable[str]) -> dict[str, Any]:
        """Those of `keys` whose work has been done, with the results."""
        wanted = list(keys)
        found: dict[str, Any] = {}
        with self._connected().connect() as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                chunk = wanted[start : start + _AT_ONCE]
                rows = connection.execute(select(_WORK).where(_WORK.c.key.in_(chunk)))
                found.update((row.key, json.loads(row.result)) for row in rows)
        return found

    def record(self, results: Mapping[str, Any]) -> None:
        """Keep results; a key that is there already takes the new result."""
        if not results:
            return
        rows = [{"key": key, "result": json.dumps(result)} for key, result in results.items()]
        entry = insert(_WORK)
        statement = entry.on_conflict_do_update(["key"], set_={"result": entry.excluded.result})
        with writing(self._path), self._connected().begin() as connection:
            connection.execute(statement, rows)

    @property
    def _path(self) -> UPath:
        return UPath(self.root) / "work.sqlite"

    def _connected(self) -> Engine:
        if self._engine is None:
            self._engine = self._open()
        return self._engine

    def _open(self) -> Engine:
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            engine = create_engine(f"sqlite:///{self._path}", connect_args={"timeout": 60})
            event.listen(engine, "connect", _durable)
            try:
                _WORK.metadata.create_all(engine)
            except OperationalError:
                raise
            except DatabaseError as error:
                raise Corrupt(
                    f"{self._path} is not a sound database ({error.orig}). Delete it: it only "
                    "remembers what was drawn and measured, and the next run does that work again."
                ) from error
        return engine


def _durable(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
