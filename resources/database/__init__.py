"""Databases of records: a SQLite file, or a PostgreSQL server for many machines."""
