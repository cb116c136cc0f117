"""Dagster's instances in memory, of which tests make hundreds, at half their cost.

Dagster makes two databases with 34 tables for each of them, and opens a connection for each query.
"""

import logging
import sqlite3
from collections import defaultdict
from contextlib import contextmanager, nullcontext
from threading import get_ident
from unittest.mock import patch

from dagster import DagsterInstance
from dagster._core.storage import event_log, runs

_EMPTY: dict[type, sqlite3.Connection] = {}
_DISPOSED: defaultdict[tuple[type, int], list[dict]] = defaultdict(list)


class _Emptied:
    """A storage that takes over the emptied database of one that was disposed of."""

    def __init__(self, inst_data=None, preload=None):
        assert inst_data is preload is None
        if others := _DISPOSED[type(self), get_ident()]:
            vars(self).update(others.pop())
        else:
            super().__init__()
            self._thread = get_ident()
        if type(self) not in _EMPTY:
            _EMPTY[type(self)] = sqlite3.connect(":memory:", check_same_thread=False)
            self._database.backup(_EMPTY[type(self)])
        self._made = dict(vars(self))

    @property
    def _database(self):
        return self._held_conn.connection.driver_connection

    @contextmanager
    def _connected(self, otherwise):
        """Give the connection that is open anyway, where it may be used."""
        if get_ident() != self._thread or self._held_conn.in_transaction():
            with otherwise() as connection:
                yield connection
        else:
            with self._held_conn.begin():
                yield self._held_conn

    def dispose(self):
        if get_ident() == self._thread:
            _EMPTY[type(self)].backup(self._database)
            _DISPOSED[type(self), self._thread].append(self._made)


class _Runs(_Emptied, runs.InMemoryRunStorage):
    def connect(self):
        return self._connected(super().connect)


class _Events(_Emptied, event_log.InMemoryEventLogStorage):
    terse = False

    def __init__(self, inst_data=None, preload=None):
        super().__init__(inst_data, preload)
        self._handlers = defaultdict(set)

    def _connect(self):
        return self._connected(super()._connect)

    def has_table(self, table_name):
        return True

    def store_event(self, event):
        if not self.terse or _is_looked_up(event):
            super().store_event(event)


def _is_looked_up(event):
    about = event.is_dagster_event and event.dagster_event.asset_key
    return about or event.level >= logging.WARNING


def reuse_databases():
    """Let all instances in memory be such from now on."""
    runs.InMemoryRunStorage, event_log.InMemoryEventLogStorage = _Runs, _Events


@contextmanager
def unread(instance=None):
    """An instance that keeps of logs what is about assets, which steps look up, and warnings.

    Without one it is new, and gone afterwards.
    """
    with (
        nullcontext(instance) if instance else DagsterInstance.ephemeral() as within,
        patch.object(within.event_log_storage, "terse", True, create=True),
    ):
        yield within
