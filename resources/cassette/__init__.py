"""Cassettes: paid answers in one file, to share."""

from resources.cassette.archive_format import BadCassette
from resources.cassette.exporter import ExportResult, export_cassette, require_replaceable
from resources.cassette.importer import ImportResult, import_cassette

__all__ = [
    "BadCassette",
    "ExportResult",
    "ImportResult",
    "export_cassette",
    "import_cassette",
    "require_replaceable",
]
