"""Cassettes: paid answers in one file, to share."""

from resources.cassette.importer import Imported, import_cassette
from resources.cassette.layout import BadCassette
from resources.cassette.writer import Exported, export_cassette

__all__ = ["BadCassette", "Exported", "Imported", "export_cassette", "import_cassette"]
